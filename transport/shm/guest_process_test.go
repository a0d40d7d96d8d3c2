package shm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/conformance"
	"github.com/libimpi/libimpi/transport/futex"
	"golang.org/x/sys/unix"
)

// Guests that are processes of their own, as a rule.

// host is the number that a guest's role gives the process of the test, which is local rank 0 of its segment.
const host = 0

// invite starts a role as the guest of a transport, with a number, as one of a segment of n. It returns the end of the
// process.
func invite(tb testing.TB, a *Transport, role string, number int32, n int) (kill func()) {
	tb.Helper()
	fd := create(tb, n)
	p, err := a.Offer()
	if err != nil {
		tb.Fatal(err)
	}
	pair, home, local := p.Descriptors()
	if local != 0 {
		tb.Fatal("the host is not rank 0")
	}
	cmd := start(tb, role, fd, n-1, pair, home)
	for !attached(tb, fd, n, n-1) {
		time.Sleep(time.Millisecond)
	}
	if err := a.Admit(number, pair, dup(tb, fd), n-1, true); err != nil {
		tb.Fatal(err)
	}
	return func() { cmd.Process.Kill(); cmd.Wait() }
}

// attached reports whether a rank of a segment of n is there.
func attached(tb testing.TB, fd, n, rank int) bool {
	var state [4]byte
	at := controlOffset + rank*controlBytes(n) + 64
	if _, err := unix.Pread(fd, state[:], int64(at)); err != nil {
		tb.Fatal(err)
	}
	return state != [4]byte{}
}

// visitHost is join for a role that is a guest.
func visitHost(fd, rank int, r transport.Receiver) *Transport {
	t := join(fd, rank, r)
	if err := t.Admit(host, 4, 5, 0, false); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return t
}

// idleGuestRole says hello and stays.
func idleGuestRole(fd, rank int) {
	t := visitHost(fd, rank, &receiver{})
	t.Send(&transport.Header{Dst: host}, nil)
	time.Sleep(time.Minute)
}

// sleepyGuestRole sends back each message, sleeps in between, and parts in the end.
func sleepyGuestRole(fd, rank int) {
	end := false
	r := &receiver{lost: func(int32, error) { os.Exit(1) }}
	t := visitHost(fd, rank, r)
	t.seg.maxWait = forever
	r.deliver = func(h *transport.Header, p []byte) {
		end = h.Tag == tagEnd
		back := *h
		back.Dst = host
		t.Send(&back, p)
	}
	sleepUntil(t, func() bool { return end })
	t.Part(host)
	t.seg.Close()
}

// sourceGuestRole sends numbered messages of random sizes for ever.
func sourceGuestRole(fd, rank int) {
	t := visitHost(fd, rank, &receiver{})
	r := rand.New(rand.NewPCG(3, 4))
	buf := make([]byte, t.limits.Packet)
	for k := uint64(0); ; k++ {
		n := 8 + r.IntN(len(buf)-8)>>r.IntN(12)
		fill(buf[:n], k)
		h := transport.Header{Dst: host, Tag: int32(n), CID: k, Len: n, MsgLen: uint64(n)}
		for !t.Send(&h, buf) {
			runtime.Gosched()
		}
	}
}

// lendGuestRole publishes some of its memory by a DataSync and waits.
func lendGuestRole(fd, rank int) {
	t := visitHost(fd, rank, &receiver{})
	lent := bytes.Repeat([]byte("guest"), 1000)
	h := transport.Header{Kind: transport.DataSync, Dst: host, MsgLen: uint64(len(lent)), Addr: addressOf(lent)}
	t.Send(&h, nil)
	time.Sleep(time.Minute)
	runtime.KeepAlive(lent)
}

// usurpRole tries to become a rank that is there, of the segment that is descriptor 4.
func usurpRole(_, rank int) {
	if _, err := Attach(4, rank); err == nil {
		os.Exit(1)
	}
}

func TestGuestsConform(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {300, 1}, {1, 300}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			conformance.Run(t, func(t *testing.T, rx []*conformance.Receiver) *conformance.World {
				return guestsOf(t, n, rx)
			})
		})
	}
}

// guestsOf is a world of jobs of so many ranks, of which one talks to those of the other jobs. The third is a process
// of its own, which can die.
func guestsOf(t *testing.T, n [2]int, rx []*conformance.Receiver) *conformance.World {
	w := &conformance.World{Victim: 2, Traitor: 1, Treason: map[string]func(){}}
	var all []*Transport
	for r := range int32(2) {
		s := attach(t, create(t, n[r]), 0)
		t.Cleanup(func() { s.Close() })
		world := make([]int32, n[r])
		for i := range world {
			world[i] = r + int32(i)*1000
		}
		x, err := New(Config{Segment: s, World: world, Receiver: rx[r]})
		if err != nil {
			t.Fatal(err)
		}
		all, w.Transports = append(all, x), append(w.Transports, x)
	}
	introduce(t, all[0], all[1], 1, 0)
	w.Transports = append(w.Transports, nil)
	w.Kill = func() {
		now := uint64(0)
		all[0].seg.clock = func() uint64 { now += uint64(time.Minute); return now } // each look is due
		kill := invite(t, all[0], "idle guest", 2, 3)
		in := &all[0].peers[all[0].Local(2)].in
		for in.read == 0 && !all[0].CheckPeers() {
			all[0].Poll()
			time.Sleep(time.Millisecond)
		}
		kill()
	}
	for name, words32 := range map[string]map[int]uint32{
		"an unknown form":       {0: 5},
		"longer than all":       {0: formShort | 0xffffff<<lengthShift},
		"beyond its own ring":   {0: formFull | uint32(maxPayload(ringSize(n[1]))+1)<<lengthShift},
		"a skip at the top":     {0: formSkip},
		"flow control":          {0: formFull, 5: uint32(transport.ProtoAck)},
		"an end":                {0: formFull, 5: uint32(transport.Fini)},
		"more than the message": {0: formFull | 9<<lengthShift, 5: 0, 6: 8, 7: 0},
	} {
		w.Treason[name] = func() {
			if err := all[1].seg.openOut(n[1]); err != nil {
				t.Fatal(err)
			}
			ring := wordsFrom(all[1])
			for i := range 8 {
				ring[7-i] = words32[7-i] // the state last
			}
		}
	}
	return w
}

// TestAKilledGuestIsLostOnceAfterAllItSent kills a process in the middle of its sending.
func TestAKilledGuestIsLostOnceAfterAllItSent(t *testing.T) {
	r := &receiver{}
	a := alone(t, 1, r)
	for round := range 3 {
		number, next := visitor+int32(round), uint64(0)
		kill := invite(t, a, "source guest", number, 1+round)
		want := make([]byte, maxPacket)
		r.nlost = 0
		r.lost = func(peer int32, err error) {
			if peer != number {
				t.Errorf("%d is lost: %v", peer, err)
			}
		}
		r.deliver = func(h *transport.Header, p []byte) {
			fill(want[:len(p)], next)
			if r.nlost != 0 || h.Src != number || h.CID != next || int(h.Tag) != len(p) ||
				!bytes.Equal(p, want[:len(p)]) {
				t.Fatalf("message %d: %+v, %d bytes, lost %d", next, *h, len(p), r.nlost)
			}
			next++
		}
		for target := uint64(300 + 177*round); next < target; {
			if !a.Poll() {
				runtime.Gosched()
			}
		}
		now := uint64(0)
		a.seg.clock = func() uint64 { now += uint64(time.Second); return now } // each is a look
		if a.CheckPeers(); r.nlost != 0 || a.seg.Dead(1) {
			t.Fatal("lost while it lived")
		}
		kill()
		if !a.seg.Dead(1) {
			t.Error("not dead")
		}
		for range 3 {
			a.CheckPeers()
			a.Poll()
		}
		if r.nlost != 1 || a.Parted(number) {
			t.Fatalf("Lost %d times", r.nlost)
		}
		a.Part(number)
	}
	if len(a.seg.guests) != 1 {
		t.Errorf("%d places for one after the other", len(a.seg.guests))
	}
}

// TestNoRingOfAGuestIsLost passes a message to and fro between two processes that sleep for each, and parts.
func TestNoRingOfAGuestIsLost(t *testing.T) {
	got, r := 0, &receiver{}
	r.deliver = func(*transport.Header, []byte) { got++ }
	a := alone(t, 1, r)
	a.seg.maxWait = forever
	kill := invite(t, a, "sleepy guest", visitor, 2)
	rnd := rand.New(rand.NewPCG(5, 6))
	h := transport.Header{Dst: visitor}
	for k := range 20000 {
		if !a.Send(&h, nil) {
			t.Fatal("no room")
		}
		if n := rnd.IntN(300); n > 0 {
			futex.Pause(uint32(n))
		}
		sleepUntil(a, func() bool { return got > k })
	}
	h.Tag = tagEnd
	a.Send(&h, nil)
	sleepUntil(a, func() bool { return a.Parted(visitor) }) // it rings when it parts
	kill()
	now := uint64(0)
	a.seg.clock = func() uint64 { now += uint64(time.Minute); return now }
	for range 3 {
		a.CheckPeers()
	}
	if got != 20001 || r.nlost != 0 || !a.Parted(visitor) {
		t.Errorf("%d messages; lost %d times after it had parted", got, r.nlost)
	}
}

func TestMemoryOfAGuestIsReadIfItIsItsOwn(t *testing.T) {
	var lent transport.Header
	r := &receiver{deliver: func(h *transport.Header, _ []byte) { lent = *h }}
	a := alone(t, 1, r)
	invite(t, a, "lend guest", visitor, 2)
	sleepUntil(a, func() bool { return lent.Addr != 0 })
	if !a.CanRead(visitor) {
		t.Skip("the kernel does not let us read another process")
	}
	dst := make([]byte, 10)
	if !a.Read(visitor, lent.Addr, dst) || string(dst) != "guestguest" {
		t.Errorf("there is %q", dst)
	}
	if !a.Write(visitor, lent.Addr+5, []byte("G")) || !a.Move(visitor,
		[]transport.Run{{Addr: addressOf(dst), Len: 10}}, []transport.Run{{Addr: lent.Addr, Len: 10}}, false) ||
		string(dst) != "guestGuest" {
		t.Errorf("there is %q after a store", dst)
	}
	// One that names a process which is not its own, and knows a word of that: here this one's.
	g := a.seg.guests[0]
	g.readable = 0
	c := a.seg.control(1)
	atomic.StoreUint32(&c.pid, uint32(os.Getpid()))
	atomic.StoreUint64(&c.probeAddr, a.seg.probeAddress())
	atomic.StoreUint64(&c.probeValue, a.seg.priv.probe)
	if a.CanRead(visitor) || a.Write(visitor, a.seg.probeAddress(), dst) {
		t.Error("a guest has named another process")
	}
}

// TestOurOwnSegmentMayBeSentToUs: to close that descriptor would make the others believe that we are dead.
func TestOurOwnSegmentMayBeSentToUs(t *testing.T) {
	fd := create(t, 2)
	s := attach(t, fd, 1)
	defer s.Close()
	a := newTransport(t, s, &receiver{})
	b := alone(t, 1, &receiver{})
	home, local := b.Residence()
	var sent []int // which stay open, so that the test closes them
	own := func() int { sent = append(sent, dup(t, fd)); return sent[len(sent)-1] }
	p, err := createPair()
	if err != nil {
		t.Fatal(err)
	}
	if a.Admit(visitor, p, own(), 0, false) == nil || a.Admit(visitor, own(), dup(t, home), local, false) == nil {
		t.Error("admitted")
	}
	a.Discard(own())
	if err := start(t, "usurp", create(t, 1), 1, fd).Wait(); err != nil {
		t.Errorf("another process can be this rank now: %v", err)
	}
	for _, fd := range sent {
		unix.Close(fd)
	}
}

// TestManyGuestsAreLookedAtInTurn, and those that their own people have found dead at once.
func TestManyGuestsAreLookedAtInTurn(t *testing.T) {
	const n = 2*guestLooks + 10
	var lost []int32
	a := alone(t, 1, &receiver{lost: func(peer int32, err error) { lost = append(lost, peer) }})
	now := uint64(time.Hour)
	a.seg.clock = func() uint64 { return now }
	for i := range int32(n) {
		if i == n/2 || i == n-1 {
			kill := invite(t, a, "idle guest", visitor+i, 1)
			kill()
		} else {
			introduce(t, a, alone(t, 1, &receiver{}), visitor+i, visitor)
		}
	}
	a.CheckPeers()
	if len(lost) != 0 {
		t.Fatalf("lost: %v; the first look is at %d", lost, guestLooks)
	}
	atomic.StoreUint32(&a.seg.control(a.Local(visitor+n-1)).state, stateDead)
	now += n*uint64(lookEvery) - 1
	if a.CheckPeers(); len(lost) != 0 {
		t.Fatalf("lost: %v; no look is due", lost)
	}
	now++
	if a.CheckPeers(); len(lost) != 2 || lost[0] != visitor+n/2 || lost[1] != visitor+n-1 {
		t.Fatalf("lost: %v", lost)
	}
}
