package libimpi

import (
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/match"
	"github.com/libimpi/libimpi/transport"
)

const (
	anySource = match.AnySource
	anyTag    = match.AnyTag
)

// context is one message space of a communicator. The engine's lock guards it.
type context struct {
	cid   uint64
	comm  *Comm // whose space it is
	space match.Space[Request, message]
	serve server // hears of messages that no receive has waited for; nil: nobody does

	closed   bool // the communicator is revoked: nothing is sent here, and what comes is dropped
	survives bool // what is said here is about losses: it goes on when the communicator is revoked, or members are lost
}

// server takes messages of its context as requests: all of a window's, or some.
type server interface {
	// arrived looks for messages of a source. Engine lock held.
	arrived(source int32)
}

// windows reports whether all messages are a window's requests, which are none of the program's.
func (c *context) windows() bool {
	_, all := c.serve.(*windowEngine)
	return all
}

// newContext makes the message space of a communicator with n possible sources.
func newContext(cid uint64, comm *Comm, n int) *context {
	c := &context{cid: cid, comm: comm}
	c.space.Open(n)
	return c
}

// post adds a receive that found no message.
func (c *context) post(r *Request) {
	r.waits.Of = r
	c.space.Post(&r.waits, r.env.source, r.env.tag)
}

// keep adds a message that found no receive.
func (c *context) keep(m *message) {
	m.Waits.Of, m.CID = m, c.cid
	c.space.Keep(&m.Waits, m.Source, m.Tag)
}

// take removes an unexpected message: it is matched, or dropped.
func (c *context) take(m *message) {
	c.space.Take(&m.Waits)
	c.comm.engine.peer(m.Peer).unmatched.Forget(m)
}

// findSelf returns the unexpected message that refers to a send of this process.
func (c *context) findSelf(r *Request) *message {
	return c.space.Newest(func(m *message) bool { return m.Self == r })
}

// Early messages: those for a communicator that this process has not made yet, because the others were quicker. They
// wait by context id, in the order in which they came. A program may send any number of them, so that they are
// unexpected messages like all others: they count for what is kept of their sender, which is held if that is too much
// (package pressure), and may be cancelled.
//
//	arrive -> keepEarly -> the communicator is made: openContext -> they wait for their receives
//	                    -> cancelled, or their sender parts from this process
//
// All functions run under the engine's lock.

// keepEarly keeps the first packet of a message whose context is not known.
func (e *Engine) keepEarly(h *transport.Header, payload []byte) {
	if h.Src != e.me && e.peer(h.Src).tr == nil {
		return // from a process that is gone: no communicator with it will be made
	}
	if h.CID&contexts.Survivors != 0 && e.hearEarly(h, payload) {
		return
	}
	m := e.copyOf(h, payload)
	e.contexts.early.Push(m, h.CID)
	e.count(m)
}

// openContext makes a context known. What has come too early for it waits there from now on.
func (e *Engine) openContext(c *context) {
	e.contexts.add(c)
	for m := e.contexts.early.First(c.cid); m != nil; m = e.contexts.early.First(c.cid) {
		e.contexts.early.Remove(m)
		if m.Source = e.sourceIn(c, m.LSRank, m.Peer); m.Source < 0 {
			e.peer(m.Peer).unmatched.Forget(m)
			e.giveBack(m)
		} else {
			m.External = c.rep(m.Peer) != datatype.Native
			e.settleIn(c, m)
		}
	}
}

// closeContext is the opposite of openContext: what waits in the context is early again.
func (e *Engine) closeContext(c *context) {
	e.contexts.drop(c.cid)
	for m := c.space.Oldest(); m != nil; m = c.space.Oldest() {
		c.space.Take(&m.Waits)
		e.contexts.early.Push(m, c.cid)
	}
}

// drop forgets a message that waits: it is cancelled, or nobody will receive it.
func (e *Engine) drop(m *message) {
	if m.Early {
		e.contexts.early.Remove(m)
		e.peer(m.Peer).unmatched.Forget(m)
	} else {
		e.contexts.find(m.CID).take(m)
	}
	e.giveBack(m)
}

// dropEarly forgets what a process has sent too early.
func (e *Engine) dropEarly(p *peer) {
	for m := p.unmatched.Newest(); m != nil; {
		older := m.Older
		if m.Early {
			e.drop(m)
		}
		m = older
	}
}
