package protocol

import (
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
)

// Long messages whose first bytes the receiver fetches when it matches the envelope (transport.Offerer). The transport
// has its own rendezvous, which begins with the envelope, and not with our answer.
//
//	all of a message is offered     sender: Open -> makeOffer -> Opened: the transport has the memory -> Released -> Done
//	                                receiver: Accept -> fetch -> Released -> Done
//	its beginning is                the receiver asks for the rest by SyncAck when it fetches. It comes as continuations;
//	                                Done when it has been moved, and Released has been called
//
// When all of a message is offered, nothing tells the sender that it has been matched: so of a synchronous one a byte
// is not offered. A message that is dropped is fetched, too, and thrown away (engine): the sender's memory is free only
// then.

// makeOffer offers the first bytes of a flat message, if the transport takes any now.
func (t *Transfer) makeOffer(h *transport.Header, synchronous bool) {
	n := t.Total
	if synchronous {
		n--
	}
	if t.offer = min(n, int64(t.Peer.Offers.Offers(t.Peer.Rank))); t.offer > 0 {
		h.Len = 0
	}
}

// Offered is the bytes that a first packet offers; nil: none.
func (t *Transfer) Offered() []byte { return t.Bytes(t.offer) }

// sent ends a send of which everything has been handed over, unless the transport still has some of its memory.
func (m *Machine) sent(t *Transfer) {
	if !t.lent {
		m.Do.Done(t)
	}
}

// gone goes on with a send when all that it has offered has left: if it is to be cancelled, the answer tells.
func (m *Machine) gone(t *Transfer) {
	switch {
	case t.lent, t.cancelling, t.streams:
	case !t.expects:
		m.Do.Done(t)
	case t.Moved == t.Total: // no answer comes
		m.answered(t)
		m.Do.Done(t)
	}
}

// fetch takes the first bytes of a message that a receive has matched, and asks for the rest: at once if they go to
// their place, else when they have been stored.
func (m *Machine) fetch(t *Transfer, o transport.Offer) {
	p := t.Peer
	t.lent, t.expects = true, true
	m.await(p)
	if p.Elsewhere {
		m.flowing++
	}
	if !t.Flat || o.Bytes() > t.Total {
		t.aside = make([]byte, o.Bytes())
		p.Offers.Fetch(p.Rank, o, t.aside, t.ID)
		return
	}
	p.Offers.Fetch(p.Rank, o, t.Bytes(o.Bytes()), t.ID)
	t.Moved = o.Bytes()
	m.askForRest(t)
}

// askForRest asks for what has not been offered.
func (m *Machine) askForRest(t *Transfer) {
	if t.Moved < t.Length {
		m.ask(t, t.Moved, direct.Ring)
	}
}

// Released takes back the memory of an offer (transport.Releaser).
func (m *Machine) Released(id uint64) {
	t := m.Do.Find(id)
	if t == nil || !t.lent {
		return // it has been dropped
	}
	t.lent = false
	if t.role == sender {
		m.gone(t)
		return
	}
	if t.aside != nil {
		t.Fill(t.aside)
		t.aside = nil
		m.askForRest(t)
	}
	m.endOfStream(t)
}
