package libimpi

import (
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Early messages: those for a communicator that this process has not made yet, because the others were quicker. They
// wait by context id, in the order in which they came. A program may send any number of them, so that they are
// unexpected messages like all others: they count for what is kept of their sender, which is held if that is too much
// (held.go), and may be cancelled (kept.go).
//
//	arrive -> keepEarly -> the communicator is made: openContext -> they wait for their receives
//	                    -> cancelled, or their sender parts from this process
//
// All functions run under the engine's lock.

// earlyQueue is the messages of one context, linked through message.next and message.prev.
type earlyQueue struct{ head, tail *message }

// keepEarly keeps the first packet of a message whose context is not known.
func (e *Engine) keepEarly(h *transport.Header, payload []byte) {
	if e.isGuest(h.Src) && e.peer(h.Src).tr == nil {
		return // from a process that is gone: no communicator with it will be made
	}
	m := e.copyOf(h, payload)
	e.contexts.pushEarly(m, h.CID)
	e.count(m)
}

// pushEarly makes a message the last that waits for a context.
func (t *contextTable) pushEarly(m *message, cid uint64) {
	if t.early == nil {
		t.early = make(map[uint64]earlyQueue)
	}
	q := t.early[cid]
	m.early, m.cid, m.prev, m.next = true, cid, q.tail, nil
	if q.tail == nil {
		q.head = m
	} else {
		q.tail.next = m
	}
	q.tail = m
	t.early[cid] = q
}

// removeEarly takes a message away from those that wait for a context.
func (t *contextTable) removeEarly(m *message) {
	q := t.early[m.cid]
	if m.prev == nil {
		q.head = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		q.tail = m.prev
	} else {
		m.next.prev = m.prev
	}
	m.early, m.prev, m.next = false, nil, nil
	if q.head != nil {
		t.early[m.cid] = q
	} else if delete(t.early, m.cid); len(t.early) == 0 {
		t.early = nil // a map keeps the room of the most it has had
	}
}

// openContext makes a context known. What has come too early for it waits there from now on.
func (e *Engine) openContext(c *context) {
	e.contexts.add(c)
	for m := e.contexts.early[c.cid].head; m != nil; {
		next := m.next
		e.contexts.removeEarly(m)
		if m.source = e.sourceIn(c, m.lsrank, m.peer); m.source < 0 {
			e.peer(m.peer).forget(m)
			e.giveBack(m)
		} else {
			m.external = c.rep(m.peer) != datatype.Native
			e.settleIn(c, m)
		}
		m = next
	}
}

// closeContext is the opposite of openContext: what waits in the context is early again.
func (e *Engine) closeContext(c *context) {
	e.contexts.drop(c.cid)
	for m := c.space.Oldest(); m != nil; m = c.space.Oldest() {
		c.space.Take(&m.waits)
		e.contexts.pushEarly(m, c.cid)
	}
}

// drop forgets a message that waits: it is cancelled, or nobody will receive it.
func (e *Engine) drop(m *message) {
	if m.early {
		e.contexts.removeEarly(m)
		e.peer(m.peer).forget(m)
	} else {
		e.contexts.find(m.cid).take(m)
	}
	e.giveBack(m)
}

// dropEarly forgets what a process has sent too early.
func (e *Engine) dropEarly(p *peer) {
	for m := p.unmatched.newest; m != nil; {
		older := m.older
		if m.early {
			e.drop(m)
		}
		m = older
	}
}
