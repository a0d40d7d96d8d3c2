package tcp

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// keyed gives a job's hosts the same key, and TLS if sealed.
func keyed(key byte, sealed bool) func(*transport.Job) {
	return func(j *transport.Job) {
		for i := range j.Hosts {
			j.Hosts[i].Key, j.Hosts[i].Sealed = bytes.Repeat([]byte{key}, transport.KeySize), sealed
		}
	}
}

func TestHostsThatKnowTheKeyTalkAndEndInOrder(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		es := connect(t, layout{{1}, {2}, {1}}, keyed(1, sealed), Options{})
		long := strings.Repeat("0123456789abcdef", 4096)
		for range 40 {
			es[0].put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 3}, long)
			es[2].put(t, transport.Header{Kind: transport.Data, Src: 3, Dst: 0}, long)
			es[0].await(t, 1)
			es[2].await(t, 1)
			for _, e := range []*engine{es[0], es[2]} {
				e.mu.Lock()
				if e.got[0].payload != long {
					t.Fatal("another payload")
				}
				e.got = nil
				e.mu.Unlock()
			}
		}
		finishAll(t, es)
	}
}

func TestTheLossOfASealedHostIsNoticed(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, keyed(1, true), Options{})
	es[1].mu.Lock()
	es[1].host.Abort()
	es[1].mu.Unlock()
	es[0].until(t, "loss", func() bool { return es[0].lost[1] != nil })
}

// Who is in the middle of proving who he is when the job ends is none of the user's business.
func TestTheEndOfAJobTurnsNobodyAwayAloud(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		lay := layout{{1}, {1}}
		ls, at := listen(t, lay)
		warned := make(chan string, 100)
		ctx, cancel := context.WithCancel(deadline(t))
		ended := make(chan error)
		e := newEngine()
		go func() {
			_, err := Connect(ctx, makeJob(lay, at, keyed(1, sealed)), 0, ls[0], e, e.wake,
				Options{Warn: func(s string) { warned <- s }})
			ended <- err
		}()
		c := strange(t, at[0], rank(1))
		c.SetReadDeadline(time.Now().Add(patience))
		if !sealed { // the challenge has come
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("a host without its peer is connected")
		}
		io.Copy(io.Discard, c) // until the other end has done with it
		select {
		case s := <-warned:
			t.Errorf("sealed %v: warned: %s", sealed, s)
		default:
		}
	}
}

// A rank that is ended with its job hangs up, and the others are about to be ended, too: they do not report it.
func TestWhoHangsUpBeforeTheEndIsNotReported(t *testing.T) {
	for _, says := range [][]byte{nil, rank(1)} {
		lay := layout{{1}, {1}}
		ls, at := listen(t, lay)
		warned := make(chan string, 100)
		ctx, cancel := context.WithCancel(deadline(t))
		ended := make(chan error)
		e := newEngine()
		go func() {
			_, err := Connect(ctx, makeJob(lay, at, keyed(1, false)), 0, ls[0], e, e.wake,
				Options{Warn: func(s string) { warned <- s }})
			ended <- err
		}()
		c := strange(t, at[0], says)
		c.(*net.TCPConn).CloseWrite()
		c.SetReadDeadline(time.Now().Add(patience))
		io.Copy(io.Discard, c) // until the other end has done with it
		cancel()
		if err := <-ended; err == nil {
			t.Error("a host without its peer is connected")
		}
		select {
		case s := <-warned:
			t.Errorf("%x: warned: %s", says, s)
		default:
		}
	}
}

// Nobody is let in who does not know the key, and he does not keep out the one who does.
func TestImpostorsAreTurnedAway(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		lay := layout{{1}, {1}}
		ls, at := listen(t, lay)
		warned := make(chan string, 100)
		opts := Options{Warn: func(s string) { warned <- s }}
		e := newEngine()
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			if e.host, err = Connect(deadline(t), makeJob(lay, at, keyed(1, sealed)), 0, ls[0], e, e.wake, opts); err != nil {
				t.Error(err)
			}
		})
		// One sends the rank and nonsense, one the rank and a wrong proof, and one is host 1 of another job.
		for _, after := range []string{strings.Repeat("x", 64), ""} {
			c := strange(t, at[0], append(rank(1), after...))
			if after == "" {
				c.(*net.TCPConn).CloseWrite()
			}
			c.SetReadDeadline(time.Now().Add(patience))
			io.Copy(io.Discard, c)
			if s := <-warned; !strings.Contains(s, "turned away") {
				t.Errorf("warned: %s", s)
			}
		}
		other := newEngine()
		ctx, cancel := context.WithCancel(deadline(t))
		ended := make(chan error)
		go func() {
			_, err := Connect(ctx, makeJob(lay, []netip.AddrPort{at[0], at[1]}, keyed(2, sealed)),
				1, ls[1], other, other.wake, Options{})
			ended <- err
		}()
		select {
		case s := <-warned:
			if !strings.Contains(s, errProof.Error()) {
				t.Errorf("warned: %s", s)
			}
		case err := <-ended:
			t.Fatalf("the host without the key ends with %v", err)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("a host without the key was let in")
		}
		right := newEngine()
		l, err := ListenBetween(loopback, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		job := makeJob(lay, at, keyed(1, sealed))
		if right.host, err = Connect(deadline(t), job, 1, l, right, right.wake, Options{}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if e.host != nil {
			e.host.Abort()
		}
		right.host.Abort()
	}
}

// It has the time of a stranger, which here is longer than the test has.
func TestASilentConnectionThatClaimsToBeAHostDoesNotDelayTheMesh(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		lay := layout{{1}, {1}}
		ls, at := listen(t, lay)
		job := makeJob(lay, at, keyed(1, sealed))
		strange(t, at[0], rank(1))
		var sockets [2][][]int
		var wg sync.WaitGroup
		for i := range sockets {
			wg.Go(func() {
				var err error
				if sockets[i], err = Mesh(deadline(t), job, int32(i), ls[i], Options{greetTime: time.Hour}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, list := range sockets {
			(&mesh{sockets: list}).closeAll()
		}
	}
}
