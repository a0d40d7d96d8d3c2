package shm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// packet is one that was sent or delivered.
type packet struct {
	H       transport.Header
	Payload []byte
}

// two is a pair of ranks in one process: 0 sends, 1 receives.
func two(tb testing.TB, n int, r *receiver) (from, to *Transport) {
	fd := create(tb, n)
	a, b := attach(tb, fd, 0), attach(tb, fd, 1)
	tb.Cleanup(func() { a.Close(); b.Close() })
	return newTransport(tb, a, &receiver{}), newTransport(tb, b, r)
}

func keep(got *[]packet) *receiver {
	return &receiver{deliver: func(h *transport.Header, p []byte) {
		*got = append(*got, packet{*h, bytes.Clone(p)})
	}}
}

func same(t *testing.T, want, got []packet) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d packets, want %d", len(got), len(want))
	}
	for i := range want {
		if want[i].H != got[i].H || !bytes.Equal(want[i].Payload, got[i].Payload) {
			t.Fatalf("packet %d: got %+v, want %+v; payload equal: %v", i, got[i].H, want[i].H,
				bytes.Equal(want[i].Payload, got[i].Payload))
		}
	}
}

// randomPacket is any packet that an engine may send from rank 0 to rank 1.
func randomPacket(r *rand.Rand, t *Transport) packet {
	kinds := []transport.Kind{transport.Data, transport.Data, transport.Data, transport.DataSync, transport.SyncAck,
		transport.Cancel, transport.CancelYes, transport.CancelNo, transport.Taken, transport.Given}
	h := transport.Header{Kind: kinds[r.IntN(len(kinds))], Src: t.world[0], Dst: t.world[1],
		LSRank: int32(r.Uint32()), Tag: int32(r.Uint32()), CID: r.Uint64(), SrqID: r.Uint64() >> r.IntN(64)}
	if h.Kind == transport.Data || h.Kind == transport.DataSync {
		h.Len = r.IntN(t.limits.Packet+1) >> r.IntN(16)
	}
	h.MsgLen = uint64(h.Len)
	if r.IntN(3) == 0 {
		h.MsgLen += uint64(r.IntN(1 << 30))
		h.DrqID, h.Addr = r.Uint64(), r.Uint64()
	}
	p := make([]byte, h.Len)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return packet{h, p}
}

type source []byte

func (s *source) Pack(dst []byte) { *s = (*s)[copy(dst, *s):] }

func TestPacketsArriveAsSentInOrderAndInPlace(t *testing.T) {
	for _, n := range []int{2, 16, 300} { // rings of 256 KiB, 128 KiB, 8 KiB
		var got, want []packet
		from, to := two(t, n, keep(&got))
		r := rand.New(rand.NewPCG(1, uint64(n)))
		laps, refused := uint64(0), 0
		for laps < 20 {
			p := randomPacket(r, from)
			send := func() bool { return from.Send(&p.H, p.Payload) }
			if r.IntN(2) == 0 {
				send = func() bool { s := source(p.Payload); return from.SendFrom(&p.H, &s) }
			}
			for !send() {
				refused++
				if !to.Poll() {
					t.Fatalf("%d ranks: refused by an empty ring", n)
				}
			}
			want = append(want, p)
			if r.IntN(200) == 0 {
				for to.Poll() {
				}
			}
			if len(want) > 100 && len(got) >= 50 {
				k := len(got)
				same(t, want[:k], got)
				want, got = want[k:], nil
			}
			laps = from.seg.peers[1].out.tail / from.ring
		}
		for to.Poll() {
		}
		same(t, want, got)
		if refused == 0 {
			t.Errorf("%d ranks: the ring was never full", n)
		}
	}
}

// TestRecordsAtTheEndOfTheRing sends each size of record from each distance to the end.
func TestRecordsAtTheEndOfTheRing(t *testing.T) {
	var got []packet
	from, to := two(t, 300, keep(&got))
	for before := from.ring - 8*lineBytes; before < from.ring; before += lineBytes {
		for size := 0; size <= 7*lineBytes; size += 32 {
			h := transport.Header{Src: from.world[0], Dst: from.world[1]}
			for from.seg.peers[1].out.tail%from.ring != before {
				if !from.Send(&h, nil) {
					t.Fatal("no room")
				}
				to.Poll()
			}
			got = got[:0]
			h.Len, h.MsgLen = size, uint64(size)
			p := bytes.Repeat([]byte{byte(size)}, size)
			//lint:ignore SA4000 two packets
			if !from.Send(&h, p) || !from.Send(&h, p) {
				t.Fatal("no room")
			}
			to.Poll()
			same(t, []packet{{h, p}, {h, p}}, got)
		}
	}
}

func TestAFullRingRefusesAndDoesNothing(t *testing.T) {
	var got []packet
	from, to := two(t, 2, keep(&got))
	h := transport.Header{Dst: from.world[1]}
	sent := 0
	for from.Send(&h, nil) {
		sent++
	}
	if want := from.seg.ringBytes/lineBytes - 1; sent != want {
		t.Fatalf("%d records of a line, want %d", sent, want)
	}
	for to.Poll() {
	}
	if len(got) != sent || !from.Send(&h, nil) {
		t.Fatalf("%d of %d arrived", len(got), sent)
	}
}

func TestMessagesCostNoAllocation(t *testing.T) {
	from, to := two(t, 2, &receiver{})
	data := make([]byte, 8<<10)
	for _, size := range []int{0, 8, 1 << 10, 8 << 10} {
		h := transport.Header{Dst: from.world[1], Len: size, MsgLen: uint64(size)}
		var src source
		n := testing.AllocsPerRun(500, func() {
			src = data
			if !from.Send(&h, data) || !from.SendFrom(&h, &src) || !to.Poll() {
				t.Fatal("no room")
			}
		})
		if n != 0 {
			t.Errorf("%d bytes: %v allocations", size, n)
		}
	}
}

func TestManySendersHaveTheirTurn(t *testing.T) {
	const n = 100
	fd := create(t, n)
	count := make([]int, n)
	s := attach(t, fd, 0)
	defer s.Close()
	to := newTransport(t, s, &receiver{deliver: func(h *transport.Header, _ []byte) { count[h.Src-100]++ }})
	for i := 1; i < n; i++ {
		s := attach(t, fd, i)
		defer s.Close()
		from := newTransport(t, s, &receiver{})
		for range 2 * batch {
			if !from.Send(&transport.Header{Dst: 100}, nil) {
				t.Fatal("no room")
			}
		}
	}
	to.Poll()
	for i := 1; i < n; i++ {
		if count[i] != batch {
			t.Fatalf("rank %d: %d after one Poll, want %d", i, count[i], batch)
		}
	}
	if !to.PollFrom(7) || count[7] != batch+1 || count[8] != batch {
		t.Fatal("PollFrom(7) is for rank 7")
	}
}

func TestTheEngineMaySendButNotPollWhileItTakesAPacket(t *testing.T) {
	var to *Transport
	var back []packet
	r := &receiver{}
	fd := create(t, 2)
	a, b := attach(t, fd, 0), attach(t, fd, 1)
	defer a.Close()
	defer b.Close()
	from := newTransport(t, a, keep(&back))
	to = newTransport(t, b, r)
	r.deliver = func(h *transport.Header, p []byte) {
		if to.Poll() || to.PollFrom(0) || to.CheckPeers() {
			t.Error("a Poll within Deliver did something")
		}
		if !to.Send(&transport.Header{Dst: h.Src, Src: h.Dst, Len: len(p), MsgLen: uint64(len(p))}, p) {
			t.Error("no room")
		}
	}
	from.Send(&transport.Header{Dst: 101, Len: 3, MsgLen: 3}, []byte("abc"))
	to.Poll()
	from.Poll()
	if len(back) != 1 || string(back[0].Payload) != "abc" {
		t.Fatalf("came back: %v", back)
	}
}

func TestARankHasARingToItselfOnceItAsksForIt(t *testing.T) {
	for _, n := range []int{1, 2} {
		var got []packet
		s := attach(t, create(t, n), 0)
		tr := newTransport(t, s, keep(&got))
		tr.TakeSelf() // there is none yet
		//lint:ignore SA4000 the second call has nothing left to do
		if !tr.OpenSelf() || !tr.OpenSelf() {
			t.Fatal("no ring")
		}
		h := transport.Header{Kind: transport.Data, Src: tr.me, Dst: tr.me, Tag: 7, CID: 3, MsgLen: 100, Len: 100}
		want := make([]packet, 0, 5000)
		for i := range cap(want) { // several times around
			p := bytes.Repeat([]byte{byte(i)}, 100)
			if !tr.Send(&h, p) {
				t.Fatalf("packet %d: no room", i)
			}
			want = append(want, packet{h, p})
			if i%700 == 0 {
				tr.TakeSelf()
				same(t, want, got)
			}
		}
		for tr.Poll() {
		}
		same(t, want, got)
		s.Close()
	}
}
