package tcp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// brief has all hosts agree on short headers.
func brief(job *transport.Job) {
	for i := range job.Hosts {
		job.Hosts[i].Short = true
	}
}

// shortPacket is h with payload, as it looks between two hosts that have agreed on short headers.
func shortPacket(h transport.Header, payload string) []byte {
	if h.Len = len(payload); h.MsgLen == 0 {
		h.MsgLen = uint64(len(payload))
	}
	b := make([]byte, wire.ShortSize(&h))
	if !wire.PutShort(b, &h, false) {
		panic("no packet")
	}
	return append(b, payload...)
}

// againstShort connects a real host of process 0 to a plain socket, which is that of process 1.
func againstShort(t *testing.T) (*engine, *fake) {
	t.Helper()
	lay := layout{{1}, {1}}
	ls, at := listen(t, lay)
	job := makeJob(lay, at, brief)
	e := newEngine()
	done := make(chan error)
	go func() {
		var err error
		e.host, err = Connect(deadline(t), job, 0, ls[0], e, e.wake, Options{})
		done <- err
	}()
	c, err := net.Dial("tcp", at[0].String())
	if err != nil {
		t.Fatal(err)
	}
	c.Write(rank(1))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		e.mu.Lock()
		e.host.Abort()
		e.mu.Unlock()
		<-e.host.watch.done
	})
	return e, &fake{t, c.(*net.TCPConn), job}
}

func TestHeadersAreShortBetweenTwoProcessesThatAgreeOnIt(t *testing.T) {
	for _, tt := range []struct {
		lay  layout
		tune func(*transport.Job)
		want bool
	}{
		{layout{{1}, {1}}, brief, true},
		{layout{{1}, {1}}, nil, false},
		{layout{{2}, {1}}, brief, false}, // names are needed
		{layout{{1}, {2}}, brief, false},
	} {
		es := connect(t, tt.lay, tt.tune, Options{})
		for i, e := range es {
			if got := e.host.links[1-i].short; got != tt.want {
				t.Errorf("%v, host %d: short headers %v", tt.lay, i, got)
			}
		}
	}
}

func TestShortHeadersLookOnTheWireAsPackageWireSays(t *testing.T) {
	e, f := againstShort(t)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, MsgLen: 3, Len: 3, Tag: 5, CID: 2, Seq: 9}
	from := plain("abc")
	e.mu.Lock()
	ok := e.host.Send(&h, []byte("abc")) && e.host.SendFrom(&h, &from)
	e.mu.Unlock()
	want := unhex(strings.Repeat("00 00 00000003 00000005 00000000 00000002 616263", 2))
	got := make([]byte, len(want))
	f.c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(f.c, got); !ok || err != nil || string(got) != want {
		t.Errorf("%v, %v: %x, want %x", ok, err, got, want)
	}
}

func TestShortPacketsComeInWhateverPieces(t *testing.T) {
	e, f := againstShort(t)
	var all []byte
	for i := range 5 {
		all = append(all, shortPacket(transport.Header{Kind: transport.DataSync, Tag: int32(i), SrqID: uint64(i),
			CID: 1 << 40}, strings.Repeat("z", i*i))...)
	}
	for _, b := range all {
		f.say([]byte{b})
		e.mu.Lock()
		e.host.Poll()
		e.mu.Unlock()
	}
	f.say(all)
	e.await(t, 10)
	for i, g := range e.got {
		if k := i % 5; g.h.Tag != int32(k) || g.h.SrqID != uint64(k) || len(g.payload) != k*k || g.h.Src != 1 ||
			g.h.Dst != 0 || g.h.CID != 1<<40 {
			t.Errorf("packet %d: %+v", i, g)
		}
	}
}

func TestShortPacketsAgainstTheRulesEndTheConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		bytes string
		want  error
	}{
		"kind 8":                     {"08 00", wire.ErrType},
		"unknown field":              {"00 40", wire.ErrType},
		"more than the message":      {"00 01 00000002 00000000 00000000 00000000 0000000000000001", wire.ErrLength},
		"over the limit":             {"00 00 7fffffff 00000000 00000000 00000000", errTooLong},
		"over all limits":            {"00 01 ffffffff 00000000 00000000 00000000 ffffffffffffffff", errTooLong},
		"acknowledgement of nothing": {"02 00", errAckTooMuch},
		"data after the end":         {"07 00 00 00 00000000 00000000 00000000 00000000", errAfterFini},
	} {
		e, f := againstShort(t)
		f.say(shortPacket(transport.Header{Kind: transport.Data}, "fine"))
		f.say([]byte(unhex(tt.bytes)))
		e.until(t, name, func() bool { return len(e.lost) == 1 })
		if err := e.lost[1]; !errors.Is(err, tt.want) || len(e.got) != 1 {
			t.Errorf("%s: %v with %d packets, want %v", name, err, len(e.got), tt.want)
		}
	}
}

func TestAShortAcknowledgementTellsToHold(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, func(j *transport.Job) { brief(j); j.AckMark, j.HiWater = 1, 4 }, Options{})
	for _, held := range []bool{true, false} {
		es[1].mu.Lock()
		es[1].host.Hold(1, 0, held)
		es[1].mu.Unlock()
		n := len(es[1].got)
		es[0].put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 1}, "x")
		es[1].await(t, n+1)
		es[0].until(t, "its word", func() bool {
			es[1].mu.Lock()
			defer es[1].mu.Unlock()
			es[1].host.Poll()
			return es[0].host.Held(0, 1) == held
		})
	}
}

// pureShort is an inbound of host 0 whose only process hears of the only one of host 1, with nothing around it.
func pureShort(t testing.TB) *inbound {
	job := makeJob(layout{{1}, {1}}, make([]netip.AddrPort, 2), marked(2, 4))
	dir, err := NewDirectory(job)
	if err != nil {
		t.Fatal(err)
	}
	in := &inbound{dir: dir, flow: newFlow(job, 0), procs: job.Procs, from: 1, to: 0, short: true, srcR: 1,
		maxLen: 100, stream: fuzzStream, buf: make([]byte, 4096)}
	in.pair = in.flow.pair(0, 1)
	return in
}

// However a stream of short packets is cut into pieces, and wherever continuations are put, it means the same.
func FuzzShortInbound(f *testing.F) {
	long := shortPacket(transport.Header{Kind: transport.Data, DrqID: 9, MsgLen: 1 << 20},
		strings.Repeat("0123456789", 900))
	var all []byte
	for _, k := range []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Cancel,
		transport.CancelNo, transport.Fini} {
		all = append(all, shortPacket(transport.Header{Kind: k, SrqID: 3, CID: math.MaxUint64},
			strings.Repeat("p", 50*max(0, 1-int(k))))...)
		f.Add(all, uint16(k)+1, uint8(0))
	}
	f.Add(shortPacket(transport.Header{Kind: transport.ProtoAck}, ""), uint16(1), uint8(0))
	f.Add(long, uint16(700), uint8(0xff))
	f.Add(bytes.Repeat(append(long, all[:20]...), 3), uint16(5000), uint8(0x55))
	f.Add([]byte{0, 1, 0xff, 0xff, 0xff, 0xff}, uint16(3), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16, places uint8) {
		if len(stream) > 8*fuzzStream || int(piece)*2000 < len(stream) {
			t.Skip()
		}
		meansTheSame(t, func() *inbound { return pureShort(t) }, stream, int(piece), places)
	})
}
