package tcp

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// Several connections between two hosts: the tests of what they carry are in transport/bundle.

// several gives a job's hosts n connections, and what they take for it.
func several(n uint32, sealed bool) func(*transport.Job) {
	return func(j *transport.Job) {
		keyed(1, sealed)(j)
		streams(1 << 20)(j)
		for i := range j.Hosts {
			j.Hosts[i].Streams = n
		}
	}
}

func TestSeveralConnectionsCarryWhatOneDoesAndEndInOrder(t *testing.T) {
	const size = 3_000_001
	data := pattern(size)
	for _, tt := range []struct {
		streams uint32
		sealed  bool
		opts    Options
	}{{2, false, Options{}}, {3, true, Options{}},
		{4, false, Options{SendBuffer: 100_000, ReceiveBuffer: 200_000}}, {16, false, Options{}}} {
		es := connect(t, layout{{1}, {1}}, several(tt.streams, tt.sealed), tt.opts)
		used := 0
		es[0].host.links[1].many.Each(func(int, int) { used++ })
		if used != int(tt.streams) {
			t.Errorf("%d connections, want %d", used, tt.streams)
		}
		memory := make([]byte, size)
		p := take(es[1], memory)
		short := transport.Header{Kind: transport.Data, Src: 0, Dst: 1}
		es[0].put(t, short, "before")
		es[0].sendLong(t, es[1], data)
		es[0].put(t, short, "behind")
		es[1].until(t, "the message", func() bool { return p.moved == size && p.other == 2 })
		if !bytes.Equal(memory, data) {
			t.Errorf("%d connections: the bytes are not those that were sent", tt.streams)
		}
		if p.placed < size/2 {
			t.Errorf("%d connections: %d of %d bytes came in place", tt.streams, p.placed, size)
		}
		finishAll(t, es)
	}
}

func TestSeveralConnectionsInEitherDirectionAndOverIPv6(t *testing.T) {
	nowhere := netip.MustParseAddrPort("127.0.0.1:1") // reserved: nobody listens there
	for out := range int32(2) {
		es := connect(t, layout{{1}, {2}}, func(j *transport.Job) {
			several(3, false)(j)
			j.Hosts[out].Outbound, j.Hosts[out].Addr = true, nowhere
		}, Options{})
		talk(t, es, func(a, b int32) bool { return true })
	}
	six, err := listenAt(netip.MustParseAddrPort("[::1]:0"))
	if err != nil {
		t.Skip(err)
	}
	ls, at := []*Listener{six, nil}, []netip.AddrPort{six.Addr(), netip.MustParseAddrPort("[::1]:1")}
	if ls[1], err = listenAt(netip.MustParseAddrPort("[::1]:0")); err != nil {
		t.Fatal(err)
	}
	es := []*engine{newEngine(), newEngine()}
	var wg sync.WaitGroup
	for i, e := range es {
		wg.Go(func() {
			var err error
			if e.host, err = Connect(deadline(t), makeJob(layout{{1}, {1}}, at, several(2, false)), int32(i), ls[i], e, e.wake,
				Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	talk(t, es, func(a, b int32) bool { return true })
	for _, e := range es {
		e.mu.Lock()
		e.host.Abort()
		e.mu.Unlock()
	}
}

func TestWithoutAKeyThereIsOneConnection(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, func(j *transport.Job) {
		for i := range j.Hosts {
			j.Hosts[i].Streams = 4
		}
	}, Options{})
	for i, e := range es {
		if l := e.host.links[1-i]; l.many != nil {
			t.Errorf("host %d has several", i)
		}
	}
}

func TestTheDeathOfOneConnectionIsThatOfThePeer(t *testing.T) {
	for dead := range 3 {
		es := connect(t, layout{{1}, {1}}, several(3, false), Options{})
		es[1].mu.Lock()
		es[1].host.links[0].many.Each(func(k, fd int) {
			if k == dead {
				unix.Shutdown(fd, unix.SHUT_RDWR)
			}
		})
		es[1].mu.Unlock()
		es[0].until(t, "loss", func() bool { return es[0].lost[1] != nil })
		if err := es[0].lost[1].Error(); !strings.Contains(err, "host 1 (client 1, ") || !strings.Contains(err,
			"of 3 closed") {
			t.Errorf("connection %d: %s", dead, err)
		}
	}
}

func TestAnAbortWithSeveralConnectionsIsNoEndInOrder(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, several(3, false), Options{})
	es[1].mu.Lock()
	es[1].host.Abort()
	es[1].mu.Unlock()
	es[0].until(t, "loss", func() bool { return es[0].lost[1] != nil })
}

func TestASilentConnectionOfSeveralIsNoticed(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, several(3, false), Options{Silence: time.Hour})
	es[0].mu.Lock()
	var last int
	es[0].host.links[1].many.Each(func(k, fd int) { last = fd })
	es[0].host.guard.heard = func(fd int) (time.Duration, bool) {
		if fd == last {
			return 2 * time.Hour, true
		}
		return 0, true
	}
	es[0].host.guard.due.Store(true)
	es[0].mu.Unlock()
	es[0].until(t, "loss", func() bool { return es[0].lost[1] != nil })
	if err := es[0].lost[1].Error(); !strings.Contains(err, "nothing has been heard") {
		t.Error(err)
	}
}

// Nobody attaches a connection who does not know the key, says a number that was not agreed on, or says none.
func TestNoStrangerAttachesAConnection(t *testing.T) {
	lay := layout{{1}, {1}}
	ls, at := listen(t, lay)
	warned := make(chan string, 100)
	e := newEngine()
	var wg sync.WaitGroup
	wg.Go(func() {
		var err error
		if e.host, err = Connect(deadline(t), makeJob(lay, at, several(3, false)), 0, ls[0], e, e.wake, Options{
			Warn: func(s string) { warned <- s }}); err != nil {
			t.Error(err)
		}
	})
	number := func(k uint32) []byte { return binary.BigEndian.AppendUint32(rank(1), k) }
	for _, tt := range []struct {
		says []byte
		want string
	}{
		{rank(1), "0 bytes instead of the number of a connection"},
		{number(1)[:6], "2 bytes instead of the number"},
		{number(3), "connection 3 to host 1, of 3"},
		{number(1<<32 - 1), "of 3 that were agreed on"},
		{append(number(1), make([]byte, 64)...), errProof.Error()},
		{number(2), "no answer to our challenge"},
	} {
		c := strange(t, at[0], tt.says)
		c.(*net.TCPConn).CloseWrite()
		c.SetReadDeadline(time.Now().Add(patience))
		io.Copy(io.Discard, c)
		if s := <-warned; !strings.Contains(s, tt.want) {
			t.Errorf("%x: warned %q, want %q", tt.says, s, tt.want)
		}
	}
	right := newEngine()
	var err error
	job := makeJob(lay, at, several(3, false))
	if right.host, err = Connect(deadline(t), job, 1, ls[1], right, right.wake, Options{}); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if !t.Failed() {
		talk(t, []*engine{e, right}, func(a, b int32) bool { return true })
	}
	for _, e := range []*engine{e, right} {
		e.mu.Lock()
		e.host.Abort()
		e.mu.Unlock()
	}
}

func TestAProofHoldsForOneConnectionOnly(t *testing.T) {
	lay := layout{{1}, {1}}
	_, at := listen(t, lay)
	job := makeJob(lay, at, several(2, false))
	one, other := net.Pipe()
	defer one.Close()
	defer other.Close()
	dialer, listener := newMesh(job, 1, Options{}), newMesh(job, 0, Options{})
	ended := make(chan error, 1)
	go func() {
		x := dialer.exchangeFor(0, 1, true)
		ended <- exchange(one, &x, &job.Hosts[0], true)
		one.Close()
	}()
	x := listener.exchangeFor(1, 0, false)
	if err := exchange(other, &x, &job.Hosts[1], false); err != errProof {
		t.Errorf("a proof for connection 1 on connection 0: %v", err)
	}
	other.Close()
	<-ended
}

func TestAMissingConnectionOfSeveralIsNamed(t *testing.T) {
	lay := layout{{1}, {1}}
	ls, at := listen(t, lay)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := Mesh(ctx, makeJob(lay, at, several(3, false)), 0, ls[0], Options{})
	if err == nil || !strings.Contains(err.Error(), "3 of 3 connections to other hosts are missing") ||
		strings.Count(err.Error(), "has not connected") != 1 {
		t.Error(err)
	}
}
