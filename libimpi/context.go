package libimpi

import (
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
	serve *Window // takes all messages of its context as requests; nil: the program receives them
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
	c.space.Post(&r.waits, r.source, r.tag)
}

// keep adds a message that found no receive.
func (c *context) keep(m *message) {
	m.waits.Of = m
	c.space.Keep(&m.waits, m.source, m.tag)
}

// take removes an unexpected message.
func (c *context) take(m *message) { c.space.Take(&m.waits) }

// again is the header of the packet that brought an unexpected message.
func (m *message) again(me int32, cid uint64) *transport.Header {
	return &transport.Header{Kind: transport.Kind(m.kind), Src: m.peer, Dst: me, LSRank: m.lsrank, Tag: m.tag, CID: cid,
		MsgLen: uint64(m.length), SrqID: m.srqid, Addr: m.addr, Len: len(m.payload)}
}

// findCancel answers the newest unexpected message of process peer with this request id (IMPI 0.0, 3.7.4:
// newest first, because ids of completed eager sends are used again).
func (c *context) findCancel(peer int32, srqid uint64) *message {
	return c.space.Newest(func(m *message) bool { return m.peer == peer && m.srqid == srqid && m.self == nil })
}

// findSelf answers the unexpected message that refers to a send of this process.
func (c *context) findSelf(r *Request) *message {
	return c.space.Newest(func(m *message) bool { return m.self == r })
}
