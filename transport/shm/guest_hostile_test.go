package shm

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// What a guest may write into the memory that it shares with us.

// checkedGuest fails when a packet of the guest breaks what a transport promises.
func checkedGuest(t testing.TB) *receiver {
	return &receiver{deliver: func(h *transport.Header, p []byte) {
		if h.Len != len(p) || h.Len > maxPayload(maxRingBytes) || h.Src != visitor || h.Kind == transport.Fini ||
			h.Kind == transport.ProtoAck || h.Kind > transport.Given || h.Kind <= transport.DataSync &&
			uint64(h.Len) > h.MsgLen {
			t.Errorf("delivered %+v with %d bytes", *h, len(p))
		}
		var sum byte
		for _, b := range p {
			sum += b
		}
	}}
}

func TestAGuestThatBreaksTheRulesIsLostAndHearsOfIt(t *testing.T) {
	ra, rb := &receiver{}, &receiver{}
	var lost []int32
	ra.lost = func(peer int32, err error) { lost = append(lost, peer) }
	a, b := visit(t, 1, 1, ra, rb)
	other := alone(t, 1, &receiver{})
	introduce(t, a, other, 8000, 8000)
	if err := b.seg.openOut(1); err != nil {
		t.Fatal(err)
	}
	wordsFrom(b)[0] = 5
	for range 5 {
		a.Poll()
	}
	if len(lost) != 1 || lost[0] != visitor || a.Parted(visitor) {
		t.Errorf("lost: %v", lost)
	}
	if !a.Send(&transport.Header{Dst: visitor}, nil) {
		t.Error("a packet to a lost guest is not swallowed")
	}
	for range 3 {
		b.CheckPeers()
	}
	if rb.nlost != 1 || b.Parted(visitor) {
		t.Errorf("the other has lost %d", rb.nlost)
	}
	if !other.Send(&transport.Header{Dst: 8000}, nil) || !a.Poll() {
		t.Error("another guest suffers")
	}
	a.Part(visitor)
	b.Part(visitor)
	introduce(t, a, b, visitor, visitor) // a new beginning
	if !b.Send(&transport.Header{Dst: visitor}, nil) || !a.Poll() {
		t.Error("the second link does not work")
	}
}

func TestALossThatIsNotYetReportedEndsWithThePart(t *testing.T) {
	ra := &receiver{}
	a, b := visit(t, 1, 1, ra, &receiver{})
	if err := b.seg.openOut(1); err != nil {
		t.Fatal(err)
	}
	wordsFrom(b)[0] = 5
	a.drain(1)
	if a.mourn != 1 {
		t.Fatal("the link is not broken")
	}
	a.Part(visitor)
	for range 3 {
		a.Poll()
		a.CheckPeers()
	}
	if ra.nlost != 0 || a.mourn != 0 {
		t.Errorf("Lost %d times, %d to mourn", ra.nlost, a.mourn)
	}
}

func TestAFalsePositionOfAGuestEndsTheLink(t *testing.T) {
	for _, read := range []uint64{1 << 63, 1 << 20, ^uint64(0)} {
		ra := &receiver{}
		a, b := visit(t, 2, 1, ra, &receiver{})
		h := transport.Header{Dst: visitor}
		a.Send(&h, nil)
		atomic.StoreUint64(&b.peers[1].in.pos.read, read)
		for n := 0; a.Send(&h, nil) && n <= int(a.ring); n++ {
		}
		if a.Poll(); ra.nlost != 1 {
			t.Errorf("position %d: Lost %d times", read, ra.nlost)
		}
	}
}

// TestNoiseInThePairDoesNoHarm lets a process find random words in everything that its guest can write.
func TestNoiseInThePairDoesNoHarm(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := visit(t, 1+r.IntN(2)*299, 1+r.IntN(2)*299, checkedGuest(t), &receiver{})
		now := uint64(0)
		a.seg.clock = func() uint64 { now += uint64(time.Minute); return now }
		noiseFrom(t, b, func(i int) byte { return byte(r.Uint32()) >> r.IntN(9) }, 3000)
		endure(a)
	}
}

// noiseFrom writes bytes where a transport's guest will find them.
func noiseFrom(t testing.TB, b *Transport, next func(i int) byte, n int) {
	g := b.seg.guests[0]
	if err := b.seg.openOut(g.at); err != nil {
		t.Fatal(err)
	}
	w := wordsFrom(b)
	for i := range n {
		w[i/4%len(w)] |= uint32(next(i)) << (i % 4 * 8)
	}
	pick := func(i int) uint64 { return uint64(next(i)) << (next(i+1) % 64) }
	g.view().ends[g.end].left = uint32(pick(1))
	g.view().positions[1-g.end] = position{read: pick(2), hold: uint32(pick(3)), claims: [6]uint64{pick(4)}}
	c := b.seg.control(b.seg.rank)
	c.sleepers, c.bell, c.attention = uint32(pick(5)), uint32(pick(6)), uint32(pick(7))
	c.pid, c.probeAddr, c.probeValue = uint32(pick(8)), pick(9), pick(10)
	c.state = uint32(next(11) % 5)
}

// endure does all that an engine does with a guest.
func endure(a *Transport) {
	h := transport.Header{Dst: visitor, Len: 100, MsgLen: 100}
	for range 30 {
		a.Poll()
		a.Send(&h, make([]byte, 100))
		a.Spin(visitor, 2)
		a.CheckPeers()
		a.Held(a.me, visitor)
		a.Hold(a.me, visitor, true)
		a.Read(visitor, 64, make([]byte, 8))
		a.Parted(visitor)
	}
	a.Part(visitor)
	a.Poll()
}

func FuzzPair(f *testing.F) {
	f.Add([]byte{1, 8, 0, 0})
	f.Add([]byte{3, 0, 0, 0})
	f.Add([]byte{2, 0, 1, 0, 0, 0, 0, 0})
	f.Add([]byte{4, 255, 15, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		from, to := visit(t, 300, 1, &receiver{}, checkedGuest(t))
		noiseFrom(t, from, func(i int) byte { return b[i%len(b)] }, len(b))
		endure(to)
	})
}
