package libimpi

// Matching: which receive takes which message.
//
// A context is one message space (a communicator has two: point-to-point and collective). It keeps the
// receives that wait for a message (posted) and the messages that wait for a receive (unexpected), each by
// source and in order. MPI's rule (MPI 5.0, 3.5): a message takes the receive posted first among those that
// fit; a receive takes the message that arrived first among those that fit, and messages of one source
// arrive in the order sent. Receives from any source stand in a list of their own; a posting number tells
// which of two candidates is older.
//
// These lists are searched from the front. Where a search has been long, everything that waits is indexed by source
// and tag as well (match_index.go), until nothing waits any more.
//
// Pure: no locks, no I/O, no allocation but for the growth of indexes. The engine's lock guards it.

import "github.com/libimpi/libimpi/transport"

const (
	anySource = -1 // MPI_ANY_SOURCE
	anyTag    = -2 // MPI_ANY_TAG
)

// context is one message space.
type context struct {
	cid      uint64
	comm     *Comm // whose space it is
	bySource []sourceQueues
	anyRecv  recvList // receives from MPI_ANY_SOURCE
	arrived  messageList
	posts    uint64 // numbers the receives, to find the older of two

	receives index[Request]
	messages index[message] // each under (source, tag) and (any source, tag)
	anyTags  int            // receives among them for any tag

	// waiting counts posted receives and unexpected messages, for the bridge's fast path; it points to own
	// until the bridge has a place for it.
	waiting *uint32
	own     uint32
}

// newContext makes the message space of a communicator with n possible sources.
func newContext(cid uint64, comm *Comm, n int) *context {
	c := &context{cid: cid, comm: comm, bySource: make([]sourceQueues, n)}
	c.waiting = &c.own
	return c
}

type sourceQueues struct {
	posted     recvList
	unexpected messageList
}

// recvList is a FIFO of posted receives, linked through Request.next and prev.
type recvList struct{ head, tail *Request }

func (l *recvList) push(r *Request) {
	r.prev, r.next = l.tail, nil
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.next = r
	}
	l.tail = r
}

func (l *recvList) remove(r *Request) {
	if r.prev == nil {
		l.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
}

// first finds the oldest receive of a list that takes tag.
func (c *context) first(l *recvList, tag int32) *Request {
	passed := 0
	r := l.head
	for r != nil && r.tag != tag && r.tag != anyTag {
		r = r.next
		passed++
	}
	if passed > longScan {
		c.indexReceives()
	}
	return r
}

// messageList is a FIFO of unexpected messages; a message stands in two: its source's and the context's.
type messageList struct{ head, tail *message }

// source returns the queues of one source rank.
func (c *context) source(rank int32) *sourceQueues {
	return &c.bySource[rank]
}

// matchArrival takes the receive that a message from rank source with this tag belongs to out of the
// posted queues; nil if there is none yet.
func (c *context) matchArrival(source, tag int32) *Request {
	var r *Request
	if c.receives.on {
		r = c.indexed(source, tag)
	} else {
		r = c.first(&c.source(source).posted, tag)
		if c.anyRecv.head != nil {
			r = older(r, c.first(&c.anyRecv, tag))
		}
	}
	if r != nil {
		c.unpost(r)
	}
	return r
}

// indexed finds the oldest receive that takes a message in the index.
func (c *context) indexed(source, tag int32) *Request {
	r := c.receives.oldest(source, tag)
	if c.anyTags > 0 {
		r = older(r, c.receives.oldest(source, anyTag))
	}
	if c.anyRecv.head == nil {
		return r
	}
	r = older(r, c.receives.oldest(anySource, tag))
	if c.anyTags > 0 {
		r = older(r, c.receives.oldest(anySource, anyTag))
	}
	return r
}

// older answers the receive that was posted first; either may be nil.
func older(a, b *Request) *Request {
	if a == nil || b != nil && b.posted < a.posted {
		return b
	}
	return a
}

func (c *context) indexReceives() {
	if c.receives.on {
		return
	}
	c.receives.on = true
	for i := range c.bySource {
		c.indexList(&c.bySource[i].posted)
	}
	c.indexList(&c.anyRecv)
}

func (c *context) indexList(l *recvList) {
	for r := l.head; r != nil; r = r.next {
		c.place(r)
	}
}

func (c *context) place(r *Request) {
	r.place = c.receives.add(r, r.source, r.tag)
	if r.tag == anyTag {
		c.anyTags++
	}
}

// post adds a receive that found no message.
func (c *context) post(r *Request) {
	c.posts++
	r.posted = c.posts
	c.recvList(r).push(r)
	if c.receives.on {
		c.place(r)
	}
	*c.waiting++
}

// unpost takes a receive out of the posted queues: it has been matched, or is taken back.
func (c *context) unpost(r *Request) {
	c.recvList(r).remove(r)
	if r.place != nil {
		c.receives.remove(r.place)
		r.place = nil
		if r.tag == anyTag {
			c.anyTags--
		}
	}
	*c.waiting--
}

func (c *context) recvList(r *Request) *recvList {
	if r.source == anySource {
		return &c.anyRecv
	}
	return &c.source(r.source).posted
}

// find answers the oldest unexpected message that a receive for (source, tag) takes, and leaves it there.
func (c *context) find(source, tag int32) *message {
	if c.messages.on && tag != anyTag {
		return c.messages.oldest(source, tag)
	}
	passed := 0
	var m *message
	if source == anySource {
		for m = c.arrived.head; m != nil && tag != anyTag && m.tag != tag; m = m.nextAll {
			passed++
		}
	} else {
		for m = c.source(source).unexpected.head; m != nil && tag != anyTag && m.tag != tag; m = m.nextSame {
			passed++
		}
	}
	if passed > longScan {
		c.indexMessages()
	}
	return m
}

func (c *context) indexMessages() {
	c.messages.on = true
	for m := c.arrived.head; m != nil; m = m.nextAll {
		c.index(m)
	}
}

func (c *context) index(m *message) {
	m.exact = c.messages.add(m, m.source, m.tag)
	m.tagged = c.messages.add(m, anySource, m.tag)
}

// keep adds a message that found no receive.
func (c *context) keep(m *message) {
	*c.waiting++
	same := &c.source(m.source).unexpected
	m.prevSame, m.nextSame = same.tail, nil
	if same.tail == nil {
		same.head = m
	} else {
		same.tail.nextSame = m
	}
	same.tail = m

	m.prevAll, m.nextAll = c.arrived.tail, nil
	if c.arrived.tail == nil {
		c.arrived.head = m
	} else {
		c.arrived.tail.nextAll = m
	}
	c.arrived.tail = m
	if c.messages.on {
		c.index(m)
	}
}

// take removes an unexpected message.
func (c *context) take(m *message) {
	*c.waiting--
	if m.exact != nil {
		c.messages.remove(m.exact)
		c.messages.remove(m.tagged)
		m.exact, m.tagged = nil, nil
	}
	same := &c.source(m.source).unexpected
	if m.prevSame == nil {
		same.head = m.nextSame
	} else {
		m.prevSame.nextSame = m.nextSame
	}
	if m.nextSame == nil {
		same.tail = m.prevSame
	} else {
		m.nextSame.prevSame = m.prevSame
	}
	if m.prevAll == nil {
		c.arrived.head = m.nextAll
	} else {
		m.prevAll.nextAll = m.nextAll
	}
	if m.nextAll == nil {
		c.arrived.tail = m.prevAll
	} else {
		m.nextAll.prevAll = m.prevAll
	}
	m.nextSame, m.prevSame, m.nextAll, m.prevAll = nil, nil, nil, nil
}

// again is the header of the packet that brought an unexpected message.
func (m *message) again(me int32, cid uint64) *transport.Header {
	return &transport.Header{Kind: transport.Kind(m.kind), Src: m.peer, Dst: me, LSRank: m.lsrank, Tag: m.tag, CID: cid,
		MsgLen: uint64(m.length), SrqID: m.srqid, Addr: m.addr, Len: len(m.payload)}
}

// findCancel answers the newest unexpected message of process peer with this request id (IMPI 0.0, 3.7.4:
// newest first, because ids of completed eager sends are used again).
func (c *context) findCancel(peer int32, srqid uint64) *message {
	for m := c.arrived.tail; m != nil; m = m.prevAll {
		if m.peer == peer && m.srqid == srqid && m.self == nil {
			return m
		}
	}
	return nil
}

// findSelf answers the unexpected message that refers to a send of this process.
func (c *context) findSelf(r *Request) *message {
	for m := c.arrived.head; m != nil; m = m.nextAll {
		if m.self == r {
			return m
		}
	}
	return nil
}
