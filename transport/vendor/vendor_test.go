package vendor

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
)

func TestAnotherMPIConforms(t *testing.T) {
	for name, how := range map[string][2]int{
		"eager":             {1 << 30, 0},
		"rendezvous":        {0, 0},
		"both, and slowly":  {1000, 3},
		"eager, and slowly": {1 << 30, 3},
	} {
		if testing.Short() && how[1] == 0 {
			continue // under the race detector, where the slow ones tell as much
		}
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
				return conform(t, rx, newWorld(conformance.Processes, how[0], how[1]))
			})
		})
	}
}

func conform(t *testing.T, rx []*conformance.Receiver, w *world) *conformance.World {
	c := &conformance.World{Victim: 2, Kill: w.kill, Traitor: 2, Together: true, Collective: true,
		Treason: map[string]func(){}}
	for r := range rx {
		c.Transports = append(c.Transports, make1(t, w, r, rx[r], nil))
	}
	good := func(payload string) packet {
		b := packet(make([]byte, headerLen, headerLen+len(payload)))
		b.put(&transport.Header{Kind: transport.Data, Len: len(payload), MsgLen: uint64(len(payload))}, 0, 0)
		return append(b, payload...)
	}
	for name, spoil := range map[string]func(b packet) packet{
		"too short":                     func(b packet) packet { return b[:headerLen-1] },
		"too long":                      func(b packet) packet { return append(b, make([]byte, bufferLen)...) },
		"less than it says":             func(b packet) packet { return b[:headerLen+1] },
		"more than the message":         func(b packet) packet { le.PutUint64(b[24:], 3); return b },
		"no kind":                       func(b packet) packet { b[0] = 9; return b },
		"an end":                        func(b packet) packet { b[0] = byte(transport.Fini); return b },
		"read from memory":              func(b packet) packet { b[0] = byte(transport.Taken); return b },
		"an acknowledgement with more":  func(b packet) packet { b[0] = byte(transport.ProtoAck); return b },
		"unknown flags":                 func(b packet) packet { b[1] = 8; return b },
		"what was never sent":           func(b packet) packet { le.PutUint32(b[4:], 1); return b },
		"a long payload in the packet":  func(b packet) packet { b[1] = flagLong; return b },
		"a long one of too many bytes":  func(b packet) packet { return long(b, maxStream+1) },
		"a long one of another message": func(b packet) packet { b = long(b, 100); b[0] = byte(transport.Cancel); return b },
	} {
		c.Treason[name] = func() { say(t, w, 2, 0, tagPacket, spoil(good("evil"))) }
	}
	for name, b := range badOffers() {
		c.Treason[name] = func() { say(t, w, 2, 0, tagPacket, b) }
	}
	c.Treason["a long payload of another length"] = func() {
		say(t, w, 2, 0, tagPacket, long(good(""), 100))
		say(t, w, 2, 0, tagLong, make([]byte, 99))
	}
	return c
}

// long makes a packet one whose payload, of n bytes, is a message of its own.
func long(b packet, n uint64) packet {
	b[1] = flagLong
	le.PutUint64(b[24:], 1<<40)
	le.PutUint64(b[48:], n)
	return b[:headerLen]
}

func say(t *testing.T, w *world, from, to, tag int, b []byte) {
	t.Helper()
	if _, err := w.procs[from].Isend(b, to, tag); err != nil {
		t.Fatal(err)
	}
}

// make1 makes the transport of a process. If wake polls, the test ends it under the lock that this takes.
func make1(t *testing.T, w *world, rank int, rx transport.Receiver, wake func()) *Transport {
	t.Helper()
	polled := wake != nil
	if !polled {
		wake = func() {}
	}
	var ranks []int32
	for r := range w.procs {
		ranks = append(ranks, int32(r))
	}
	tr, err := New(Config{MPI: w.procs[rank], World: ranks, Rank: rank, Receiver: rx, Wake: wake})
	if err != nil {
		t.Fatal(err)
	}
	if !polled {
		t.Cleanup(tr.Abort)
	}
	return tr
}

// sink is a receiver that counts.
type sink struct {
	packets, bytes int
	lost           []error
}

func (s *sink) Deliver(_ *transport.Header, payload []byte) { s.packets++; s.bytes += len(payload) }
func (s *sink) Lost(_ int32, err error)                     { s.lost = append(s.lost, err) }

// fill sends what there is room for.
func fill(tr *Transport, to int32) (n int) {
	h := transport.Header{Kind: transport.Data, Src: tr.me, Dst: to, Len: 1, MsgLen: 1}
	for tr.Send(&h, []byte("x")) {
		n++
	}
	return n
}

func TestAProcessThatDoesNotReadIsSentAWindowAndNoMore(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	var rx [2]sink
	a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
	if n := fill(a, 1); n != window {
		t.Fatalf("%d packets are sent, the window is %d", n, window)
	}
	for range 5 {
		a.Poll()
	}
	if n := fill(a, 1); n != 0 {
		t.Fatalf("%d packets more, though nobody has read", n)
	}
	for b.Poll() {
	}
	for a.Poll() {
	}
	if n := fill(a, 1); n < ackEvery || n > window {
		t.Errorf("%d packets leave after %d have been read", n, rx[1].packets)
	}
	if c := a.Counts(); c.Waits == 0 || c.Sent < window {
		t.Errorf("counted: %+v", c)
	}
}

func TestTheLibraryHasABoundedAmountOfPacketsThatItHasNotSent(t *testing.T) {
	w := newWorld(2, 0, 0)
	var rx [2]sink
	a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: maxPacket, MsgLen: 1 << 30}
	const most = (maxUnsent + bufferLen - 1) / bufferLen
	for range 3 { // and it is not used up
		n := 0
		for a.Send(&h, make([]byte, maxPacket)) {
			n++
		}
		if n != most {
			t.Fatalf("%d packets of %d bytes, and %d bytes may be unsent", n, bufferLen, maxUnsent)
		}
		for b.Poll() || a.Poll() {
		}
	}
	if rx[1].packets != 3*most {
		t.Errorf("%d packets came", rx[1].packets)
	}
}

func TestWhoIsShutStopsAndGoesOnAfterwards(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	var rx [2]sink
	a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
	settle := func() {
		for a.Poll() || b.Poll() {
		}
	}
	b.Shut(1, 0, true)
	sent := 0
	for range 5 {
		sent += fill(a, 1)
		settle()
	}
	if sent != window || rx[1].packets != window {
		t.Fatalf("%d packets sent and %d received by one who acknowledges nothing", sent, rx[1].packets)
	}
	b.Shut(1, 0, false)
	settle()
	if n := fill(a, 1); n != window {
		t.Errorf("%d packets leave when all is acknowledged", n)
	}
}

func TestAHoldIsToldAndTakenBack(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	var rx [2]sink
	a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
	settle := func() {
		for a.Poll() || b.Poll() {
		}
	}
	b.Hold(1, 0, true)
	settle()
	if a.Held(0, 1) {
		t.Error("who has sent nothing is held")
	}
	fill(a, 1)
	settle()
	for _, on := range []bool{true, false} {
		b.Hold(1, 0, on)
		settle()
		if a.Held(0, 1) != on {
			t.Errorf("held: %v, was told %v", !on, on)
		}
	}
}

func TestALongPayloadLeavesFromTheUsersMemoryAndArrivesInIt(t *testing.T) {
	w := newWorld(2, 0, 0)
	var rx [2]sink
	a, b := make1(t, w, 0, &rx[0], nil), make1(t, w, 1, &rx[1], nil)
	from, into := bytes.Repeat([]byte("abc"), 100000), make([]byte, 300000)
	b.placer = place(into)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: len(from), MsgLen: 1 << 40}
	if n, ok := a.SendLong(&h, from); n != 0 || !ok {
		t.Fatal(n, ok)
	}
	from[0] = 'x' // it has not been copied
	for b.Poll() {
	}
	if n := a.SendRest(1, from); n != len(from) || !bytes.Equal(from, into) {
		t.Errorf("%d bytes are gone, and are the same: %v", n, bytes.Equal(from, into))
	}
	if rx[1].bytes != len(from) || len(a.free) > 1 || len(b.free) > 1 {
		t.Errorf("%d bytes came, with %d and %d buffers", rx[1].bytes, len(a.free), len(b.free))
	}
}

type place []byte

func (p place) Place(*transport.Header) []byte { return p }

// Packets that nobody has taken when the end comes are received, so that the library may end.
func TestNothingIsLeftInTheLibraryAtTheEnd(t *testing.T) {
	for _, eager := range []int{0, 1 << 30} {
		w := newWorld(3, eager, 2)
		var rx [3]sink
		var all [3]*Transport
		for r := range all {
			all[r] = make1(t, w, r, &rx[r], nil)
		}
		for a := range all {
			for b := range all {
				if a != b {
					fill(all[a], int32(b))
				}
			}
		}
		var wg sync.WaitGroup
		for _, tr := range all {
			wg.Go(func() {
				if err := tr.Finish(time.Now().Add(time.Minute)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if m, r := w.left(); m > 0 || r > 0 {
			t.Errorf("%d messages and %d requests are left", m, r)
		}
		for r := range all {
			if rx[r].packets > 0 || all[r].Poll() {
				t.Errorf("process %d was given %d packets", r, rx[r].packets)
			}
		}
	}
}

func TestWhoDoesNotComeToTheEndIsNotWaitedForLongerThanTheDeadline(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	a := make1(t, w, 0, &sink{}, nil)
	if err := a.Finish(time.Now()); err == nil || !strings.Contains(err.Error(), "come to the end") {
		t.Error(err)
	}
	w = newWorld(2, 1<<30, 0)
	a = make1(t, w, 0, &sink{}, nil)
	w.kill()
	if err := a.Finish(time.Now().Add(time.Minute)); !errors.Is(err, errDead) {
		t.Error(err)
	}
}

func TestRanksThatAreNoneAreRefused(t *testing.T) {
	w := newWorld(2, 0, 0)
	for _, c := range []Config{
		{World: []int32{0, 0}, Rank: 1}, {World: []int32{4, 5, 4}, Rank: 1}, {World: []int32{0, 1}, Rank: 2}, {Rank: 0},
	} {
		c.MPI, c.Receiver = w.procs[0], &sink{}
		if _, err := New(c); err == nil {
			t.Errorf("%v as %d", c.World, c.Rank)
		}
	}
}
