package conformance

import (
	"bytes"

	"github.com/libimpi/libimpi/transport"
)

// offers offers each pair as much as there is room for, some times, and fetches it in another order.
func (s *suite) offers() {
	for _, pair := range s.pairs() {
		from, ok := s.Transports[pair[0]].(transport.Offerer)
		if !ok || from.Offers(pair[1]) == 0 {
			continue
		}
		for round := range 4 {
			s.offerAll(from, pair[0], pair[1], round)
		}
	}
}

// mostOffers is more of them than a process keeps for another.
const mostOffers = 1 << 10

// offerAll makes offers until no more are taken. One of them nobody wants.
func (s *suite) offerAll(from transport.Offerer, a, b int32, round int) {
	const unwanted = 1
	var out [][]byte
	s.rx[a].back, s.rx[b].back, s.rx[b].got[a] = map[uint64]int{}, map[uint64]int{}, nil
	for from.Offers(b) > 0 {
		id := uint64(len(out) + 1)
		piece := bytes.Repeat([]byte{byte(id), byte(round)}, 1+s.rng.IntN(from.Offers(b)/8))
		h := transport.Header{Kind: transport.DataSync, Src: a, Dst: b, SrqID: id, MsgLen: uint64(len(piece)) + id%2}
		s.until("room", func() bool { return from.Offer(&h, piece) })
		if out = append(out, piece); len(out) == mostOffers {
			s.t.Fatalf("%d offers are taken that nobody has fetched", len(out))
		}
	}
	s.mustSend(packet{transport.Header{Kind: transport.Cancel, Src: a, Dst: b, SrqID: 99}, nil})
	s.until("what follows the offers", func() bool { return len(s.rx[b].got[a]) == len(out)+1 })
	in := make([][]byte, len(out))
	for i := len(out) - 1; i >= 0; i-- {
		h := s.rx[b].got[a][i].h
		offer := transport.Offer(h.Addr)
		if offer.Bytes() != int64(len(out[i])) || h.SrqID != uint64(i+1) {
			s.t.Fatalf("offer %d of %d bytes came as %+v", i, len(out[i]), h)
		}
		if i != unwanted {
			in[i] = make([]byte, len(out[i]))
		}
		s.Transports[b].(transport.Offerer).Fetch(a, offer, in[i], h.SrqID)
	}
	s.until("what is offered", func() bool { return len(s.rx[a].back) == len(out) && len(s.rx[b].back) == len(out)-1 })
	for i := range out {
		id := uint64(i + 1)
		if i != unwanted && (!bytes.Equal(in[i], out[i]) || s.rx[b].back[id] != 1) || s.rx[a].back[id] != 1 {
			s.t.Errorf("offer %d has changed, or is released %d and %d times", i, s.rx[a].back[id], s.rx[b].back[id])
		}
	}
	s.mustSend(packet{transport.Header{Kind: transport.Cancel, Src: b, Dst: a, SrqID: 99}, nil})
	s.until("room for offers", func() bool { return from.Offers(b) > 0 })
}
