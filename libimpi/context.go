package libimpi

import "github.com/libimpi/libimpi/libimpi/match"

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
