package vendor

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/libimpi/libimpi/transport"
)

// Offers. The library sends what is offered out of the user's memory, and receives it there, under the tag of a slot,
// which no other offer has meanwhile. A slot is free again when all has left, and a packet of the receiver has told
// that it is fetched: each packet has a bit for each slot, and none is sent for that alone. While no slot is free, long
// messages wait for their receiver's SyncAck.
//
//	Offer -> packet, MPI.Isend -> moving -> Released            Fetch -> MPI.Irecv -> moving -> Released
//
// What nobody has fetched at the end is received and thrown away (finish.go).

// moving is an offer that the library sends or receives.
type moving struct {
	requests [offerPieces]Request
	done, of int    // of these
	id       uint64 // of Released; 0: nobody waits
	to       *peer  // nil: it is received
	slot     int
}

// move begins to move the memory of an offer in pieces, each by one call of the library. Their order is that of the
// messages that have the slot's tag.
func (t *Transport) move(m *moving, memory []byte, by func(b []byte, peer, tag int) (Request, error), p *peer) {
	for piece := range slices.Chunk(memory, offerPiece) {
		r, err := by(piece, p.rank, tagOffer+m.slot)
		if err != nil {
			t.broken(err)
			return
		}
		m.requests[m.of] = r
		m.of++
	}
	t.moving = append(t.moving, *m)
}

// Offers implements transport.Offerer.
func (t *Transport) Offers(dst int32) int {
	if t.owner == nil || t.index[dst].freeSlot() == slots {
		return 0
	}
	return maxOffer
}

// freeSlot is the first slot for an offer to a process that is free; slots: none is.
func (p *peer) freeSlot() int { return bits.TrailingZeros64(^(p.leaving | p.unfetched)) }

// Offer implements transport.Offerer.
func (t *Transport) Offer(h *transport.Header, payload []byte) bool {
	p := t.to(h)
	if p.err != nil || t.over {
		return true
	}
	if !t.room(p) {
		return false
	}
	slot := p.freeSlot()
	b := packet(t.buffer()[:headerLen])
	b.put(h, 0, 0)
	b.offer(transport.NewOffer(slot, int64(len(payload))))
	t.count(p, b)
	if p.err != nil {
		return true
	}
	m := moving{id: h.SrqID, to: p, slot: slot}
	t.move(&m, payload, t.mpi.Isend, p)
	t.posted[p.rank] += uint32(m.of)
	p.leaving |= 1 << slot
	p.unfetched |= 1 << slot
	return true
}

// note takes what a packet says of offers: what its sender has fetched, and what it offers, 0 if nothing. The error is
// what is wrong with that.
func (p *peer) note(fetched uint64, o transport.Offer) error {
	changed := fetched ^ p.itsFetched
	if changed&^p.unfetched != 0 {
		return fmt.Errorf("offers in slots %#x have been fetched, where %#x are", changed, p.unfetched)
	}
	p.unfetched &^= changed
	p.itsFetched = fetched
	if o == 0 {
		return nil
	}
	n := &p.offered[o.Slot()]
	if *n > 0 {
		return fmt.Errorf("an offer in slot %d, where there is one", o.Slot())
	}
	*n = int32(o.Bytes())
	return nil
}

// Fetch implements transport.Offerer.
func (t *Transport) Fetch(src int32, o transport.Offer, into []byte, id uint64) {
	p := t.index[src]
	if p.err != nil || t.over {
		return
	}
	n := int(p.offered[o.Slot()])
	if into == nil {
		into, id = make([]byte, n), 0
	}
	if n == 0 || n != len(into) {
		panic(fmt.Sprintf("vendor: process %d fetches %d bytes of world rank %d, which offers %d", t.me, len(into), src, n))
	}
	t.fetchInto(p, o.Slot(), into, id)
}

func (t *Transport) fetchInto(p *peer, slot int, into []byte, id uint64) {
	p.offered[slot] = 0
	p.fetched ^= 1 << slot
	m := moving{id: id, slot: slot}
	t.move(&m, into, t.mpi.Irecv, p)
	t.taken += uint32(m.of)
}

// moved looks which offers have been moved, until one has not: each look makes the library work. The next call goes on
// with the next, since one that nobody fetches must not hide the others.
func (t *Transport) moved() (did bool) {
	for len(t.moving) > 0 {
		if t.looked >= len(t.moving) {
			t.looked = 0
		}
		if !t.gone(&t.moving[t.looked]) {
			t.looked++
			return did
		}
		m := t.moving[t.looked]
		t.moving = slices.Delete(t.moving, t.looked, t.looked+1)
		did = true
		if m.to != nil {
			m.to.leaving &^= 1 << m.slot
		}
		if m.id != 0 && !t.finishing {
			t.owner.Released(m.id)
		}
	}
	return did
}

// gone reports whether all pieces of an offer have been moved.
func (t *Transport) gone(m *moving) bool {
	for ; m.done < m.of; m.done++ {
		if r := m.requests[m.done]; r != Done {
			done, err := t.mpi.Test(r)
			if err != nil {
				t.broken(err)
			}
			if !done {
				return false
			}
		}
	}
	return true
}

// fetchRest receives what nobody has fetched.
func (t *Transport) fetchRest() {
	for _, p := range t.peers {
		if p == nil || p.err != nil {
			continue
		}
		for slot, n := range p.offered {
			if n > 0 {
				t.fetchInto(p, slot, make([]byte, n), 0)
			}
		}
	}
}
