package shm

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// checked fails when a packet breaks what a transport promises.
func checked(t testing.TB, x **Transport) *receiver {
	return &receiver{deliver: func(h *transport.Header, p []byte) {
		if h.Len != len(p) || h.Len > int((*x).max) || h.Src != 100 || h.Dst != 101 ||
			h.Kind == transport.Fini || h.Kind == transport.ProtoAck || h.Kind > transport.Given ||
			h.Kind <= transport.DataSync && uint64(h.Len) > h.MsgLen {
			t.Errorf("delivered %+v with %d bytes", *h, len(p))
		}
		var sum byte
		for _, b := range p {
			sum += b // every byte can be read
		}
	}}
}

func TestDamagedRecordsEndTheLink(t *testing.T) {
	for name, damage := range map[string]func(w []uint32){
		"unknown form":    func(w []uint32) { w[0] = 5 },
		"only a length":   func(w []uint32) { w[0] = 8 << lengthShift },
		"longest length":  func(w []uint32) { w[0] = formShort | 0xffffff<<lengthShift },
		"over the limit":  func(w []uint32) { w[0] = formFull | uint32(maxPayload(ringSize(2))+1)<<lengthShift },
		"skip at the top": func(w []uint32) { w[0] = formSkip },
		"skip and length": func(w []uint32) { w[0] = formSkip | 1<<lengthShift },
		"growing, short":  func(w []uint32) { w[0] = formGrowing | inlineBytes<<lengthShift },
		"growing beyond":  func(w []uint32) { w[0], w[6] = formGrowing|100<<lengthShift, 101 },
		"kind ProtoAck":   func(w []uint32) { w[0], w[5] = formFull, uint32(transport.ProtoAck) },
		"kind Fini":       func(w []uint32) { w[0], w[5] = formFull, uint32(transport.Fini) },
		"kind 10":         func(w []uint32) { w[0], w[5] = formFull, 10 },
		"kind 256":        func(w []uint32) { w[0], w[5] = formFull, 256 },
		"longer than all": func(w []uint32) { w[0], w[5], w[6], w[7] = formFull|9<<lengthShift, 0, 8, 0 },
	} {
		var to *Transport
		r := checked(t, &to)
		var from *Transport
		from, to = two(t, 2, r)
		r.deliver = func(h *transport.Header, _ []byte) { t.Errorf("%s: delivered %+v", name, *h) }
		from.seg.openOut(1)
		w := words(from.seg, 0, 1)
		damage(w)
		for range 5 {
			to.Poll()
		}
		if r.nlost != 1 {
			t.Errorf("%s: Lost %d times", name, r.nlost)
		}
		if !to.Send(&transport.Header{Dst: 100}, nil) {
			t.Errorf("%s: a packet to a lost peer is not swallowed", name)
		}
	}
}

func TestARecordAcrossTheEndEndsTheLink(t *testing.T) {
	var to, from *Transport
	r := checked(t, &to)
	from, to = two(t, 2, r)
	for from.seg.peers[1].out.tail < from.ring-lineBytes {
		from.Send(&transport.Header{Dst: 101}, nil)
		to.Poll()
	}
	w := words(from.seg, 0, 1)
	w[(from.ring-lineBytes)/4] = formShort | 100<<lengthShift
	to.Poll()
	if r.nlost != 1 {
		t.Errorf("Lost %d times", r.nlost)
	}
}

func TestAFalsePositionEndsTheLink(t *testing.T) {
	for _, read := range []uint64{1 << 63, 1 << 20, ^uint64(0)} {
		from, _ := two(t, 2, &receiver{})
		lost := 0
		from.rx = &receiver{lost: func(peer int32, _ error) { lost++ }}
		h := transport.Header{Dst: 101}
		from.Send(&h, nil)
		atomic.StoreUint64(&from.seg.peers[1].out.pos.read, read)
		for n := 0; from.Send(&h, nil); n++ {
			if n > int(from.ring) {
				t.Fatal("sends for ever")
			}
		}
		from.Poll()
		if lost != 1 {
			t.Errorf("position %d: Lost %d times", read, lost)
		}
	}
}

// TestNoiseInTheSegmentDoesNoHarm lets a rank find random words in everything that its peer can write.
func TestNoiseInTheSegmentDoesNoHarm(t *testing.T) {
	for seed := range uint64(100) {
		noise(t, rand.New(rand.NewPCG(seed, 2)), 4000)
	}
}

func noise(t testing.TB, r *rand.Rand, n int) {
	fd, err := Create(300)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Attach(fd, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var to *Transport
	rx := checked(t, &to)
	to = newTransport(t, s, rx)
	for i := range to.inbound {
		to.inbound[i] = r.Uint64() // also rings of ranks that do not exist
	}
	to.inbound[0] |= 1
	deliver := rx.deliver
	rx.deliver = func(h *transport.Header, p []byte) {
		if h.Src == 100 {
			deliver(h, p)
		}
	}
	w := words(s, 0, 1)
	for range n {
		v := r.Uint32()
		if r.IntN(2) == 0 { // likely words
			v = uint32(1+r.IntN(3)) | uint32(r.IntN(2100))<<lengthShift*uint32(r.IntN(2))
		}
		w[r.IntN(len(w)/16)*16+r.IntN(16)*r.IntN(2)] = v
	}
	s.control(1).sleepers = r.Uint32()
	s.control(0).sleepers = r.Uint32()
	for range 50 {
		to.Poll()
		to.Send(&transport.Header{Dst: 100, Src: 101}, nil)
		to.CheckPeers()
	}
	if v := s.Bell(); s.PrepareSleep(v) {
		s.Wait(v, 1)
		s.DoneSleep(v)
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte{1, 8, 0, 0})
	f.Add([]byte{3, 0, 0, 0})
	f.Add([]byte{2, 0, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var to, from *Transport
		from, to = two(t, 300, checked(t, &to))
		to.rx = checked(t, &to)
		if err := from.seg.openOut(1); err != nil {
			t.Fatal(err)
		}
		w := words(from.seg, 0, 1)
		for i := 0; i < len(b) && i < len(w)*4; i++ {
			w[i/4] |= uint32(b[i]) << (i % 4 * 8)
		}
		for range 20 {
			to.Poll()
		}
	})
}
