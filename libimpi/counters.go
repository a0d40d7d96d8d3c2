package libimpi

import (
	"time"

	"github.com/libimpi/libimpi/libimpi/counters"
	"github.com/libimpi/libimpi/libimpi/match"
	"github.com/libimpi/libimpi/transport"
)

// What tools may know of the engine (MPI 5.0, 15.3). Levels, such as lengths of queues, are found when somebody asks.
// What has to be counted is counted while somebody has asked for it (Watch), and costs a look at a flag at other times.
// The engine sees all of it only while the bridge's C leaves messages to it, which the bridge sees to.

// Happening is something that a tool may want to hear of at once.
type Happening int

// What happens, and the numbers that come with it.
const (
	MessageUnexpected Happening = iota // source in the world, tag, context id, bytes
	RequestCompleted                   // kind, peer in the world, tag, context id, bytes
	PeerLost                           // peer in the world
	CollectiveStarted                  // operation, context id
	CollectiveEnded
)

// Observer is told what happens. It is called with the engine's lock held, or without, and must not call the engine.
type Observer func(what Happening, c *Comm, numbers [5]int64)

// watch is the engine's part in all this.
type watch struct {
	on       bool // counts, or types
	counts   bool
	types    bool // compares those of messages (verify.go)
	counters counters.Counters
	peaks    counters.Peaks // of unexpected messages
	observer Observer
	observed uint32 // 1<<Happening
}

// Watch begins to count, or ends it.
func (e *Engine) Watch(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.counts = on
	e.watch.on = on || e.watch.types
}

// Observe makes the engine tell o of what is in the set, in which what is 1<<what.
func (e *Engine) Observe(set uint32, o Observer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.observer, e.watch.observed = o, set
}

// observes reports whether anybody wants to hear of something.
func (w *watch) observes(what Happening) bool { return w.observed&(1<<what) != 0 }

// Counters are what has been counted so far.
func (e *Engine) Counters() counters.Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watch.counters
}

// Counters are what has been counted on the communicator so far.
func (c *Comm) Counters() counters.Comm {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.counters
}

// Network is what the connections with other machines and clients, and another MPI library, have carried; nothing if
// there are none.
func (e *Engine) Network() (c transport.Counts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, from := range [...]transport.Counter{e.ways.network.counter, e.ways.vendor.counter} {
		if from != nil {
			n := from.Counts()
			c.Sent, c.Received = c.Sent+n.Sent, c.Received+n.Received
			c.Waits, c.Retransmitted = c.Waits+n.Waits, c.Retransmitted+n.Retransmitted
		}
	}
	return c
}

// Traffic is what this process has exchanged with each host of other machines and clients; nil if there are none.
func (e *Engine) Traffic() []transport.Traffic {
	e.mu.Lock()
	defer e.mu.Unlock()
	if network, can := e.ways.network.Transport.(transport.Observable); can {
		return network.Traffic()
	}
	return nil
}

// Levels are those of this moment, of all communicators together. What has arrived is taken in first, if asked for.
func (e *Engine) Levels(takeIn bool) (l counters.Levels) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	for _, c := range e.contexts.low {
		addLevels(&l, c)
	}
	for _, c := range e.contexts.high {
		addLevels(&l, c)
	}
	for i := range e.peers {
		l.UnexpectedBytes += e.peers[i].Pressure.Kept()
	}
	e.guests.all(func(p *peer) { l.UnexpectedBytes += p.Pressure.Kept() })
	if q := e.requests.quick; q != nil {
		l.Posted += int(q.Posted)
	}
	l.Active, l.Requests = int(e.shared.UnderWay), e.requests.live()
	if q := e.requests.quick; q != nil {
		l.Active += int(q.Posted)
	}
	return l
}

// addLevels adds those of a context.
func addLevels(l *counters.Levels, c *context) {
	if c != nil && !c.windows() {
		l.Unexpected += c.space.Kept()
		l.Posted += c.space.Posted()
	}
}

// Levels are those of the program's messages on the communicator, none once that is freed.
func (c *Comm) Levels(takeIn bool) (l counters.Levels) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	if e.contexts.find(c.p2p.cid) != c.p2p || c.p2p.comm != c {
		return l
	}
	addLevels(&l, c.p2p)
	if q := e.requests.quick; q != nil && q.Posted > 0 {
		l.Posted += q.postedOn(c.p2p.cid)
	}
	return l
}

// postedOn is how many receives wait in C for messages of a context.
func (q *Quick) postedOn(cid uint64) (n int) {
	left := q.Posted
	for i := 0; left > 0 && i < len(q.From); i++ {
		for at := q.From[i].Head; at != 0; at = q.Slots[at-1].Next {
			left--
			if q.Slots[at-1].CID == cid {
				n++
			}
		}
	}
	return n
}

// Follow makes a peak of unexpected messages grow from now on, from what there is at the moment. What has arrived is
// taken in first, if asked for.
func (e *Engine) Follow(p *counters.Peak, takeIn bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	e.watch.peaks.Follow(p, e.unexpected())
}

// Unfollow freezes a peak.
func (e *Engine) Unfollow(p *counters.Peak) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.peaks.Unfollow(p)
}

// Peak returns its value, and makes it begin anew with the least that it can be, if asked for.
func (e *Engine) Peak(p *counters.Peak, reset bool) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	most := p.Most
	if reset {
		p.Most = e.unexpected()
	}
	return most
}

// SetPeak makes n its value.
func (e *Engine) SetPeak(p *counters.Peak, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.Most = n
}

// unexpected is how many unexpected messages there are.
func (e *Engine) unexpected() int {
	var l counters.Levels
	for _, c := range e.contexts.low {
		addLevels(&l, c)
	}
	for _, c := range e.contexts.high {
		addLevels(&l, c)
	}
	return l.Unexpected
}

// class is where a process is.
func (e *Engine) class(p *peer) counters.Class {
	switch {
	case p.Rank == e.me:
		return counters.Self
	case p.local >= 0 || p.guest != nil && p.guest.near:
		return counters.Machine
	case p.guest != nil:
		return counters.Abroad
	}
	its, mine := &e.job.Procs[p.Rank], &e.job.Procs[e.me]
	switch {
	case its.Client != mine.Client:
		return counters.Abroad
	case e.ways.vendor.connected() && its.HostID == mine.HostID: // it shares no memory with us
		return counters.Machine
	}
	return counters.Client
}

// countSent counts a message that leaves, whole or with the rest to follow.
func (e *Engine) countSent(ctx *context, p *peer, bytes int64, whole bool) {
	e.watch.counters.AddSent(e.class(p), bytes, whole)
	if c := ctx.comm; ctx == c.p2p && !ctx.windows() {
		c.counters.Sent.Add(bytes)
	}
}

// countShort is countSent, for a message that has left without a request, and whose send is over with that.
func (e *Engine) countShort(ctx *context, p *peer, tag int32, bytes int64) {
	e.countSent(ctx, p, bytes, true)
	if e.watch.observes(RequestCompleted) && ctx == ctx.comm.p2p && !ctx.windows() {
		e.tellCompleted(ctx.comm, tellsSend, int64(p.Rank), int64(tag), bytes)
	}
}

// countUnpacked counts what a receive has unpacked, which is complete.
func (e *Engine) countUnpacked(r *Request) {
	if r.kind == recvRequest && !r.wire.Flat {
		e.watch.counters.Unpacked += uint64(min(r.wire.Moved, r.wire.Total))
	}
}

// countReceived counts a message that has found its receive.
func (e *Engine) countReceived(ctx *context, peer int32, bytes int64) {
	e.watch.counters.AddReceived(e.class(e.peer(peer)), bytes)
	if c := ctx.comm; ctx == c.p2p && !ctx.windows() {
		c.counters.Received.Add(bytes)
	}
}

// noteUnexpected counts a message that waits from now on, and tells of it.
func (e *Engine) noteUnexpected(ctx *context, m *message) {
	if ctx.windows() {
		return
	}
	w := &e.watch
	w.counters.Unexpected++
	if len(w.peaks) > 0 {
		w.peaks.Grow(e.unexpected())
	}
	if w.observes(MessageUnexpected) {
		c := ctx.comm
		if ctx != c.p2p {
			c = nil // none of the program's
		}
		w.observer(MessageUnexpected, c, [5]int64{int64(m.Peer), int64(m.Tag), int64(ctx.cid), m.Length})
	}
}

// The kinds of operations, as they are told of.
const (
	tellsSend = iota
	tellsReceive
	tellsOther
)

// noteCompleted tells of an operation of the program that is over. Messages that others are made of, such as those of
// collective operations, are no operations of the program.
func (e *Engine) noteCompleted(r *Request) {
	kind, tag := int64(tellsOther), int64(match.AnyTag)
	bytes := r.status.Bytes
	switch r.kind {
	case sendRequest, recvRequest:
		if r.of != nil || r.ctx == nil || r.ctx != r.comm.p2p || r.ctx.windows() {
			return
		}
		if kind, tag = tellsSend, int64(r.env.tag); r.kind == recvRequest {
			kind, tag = tellsReceive, int64(r.status.Tag)
		} else if r.env.peer != noPeer {
			bytes = r.mem.size
		}
	}
	e.tellCompleted(r.comm, kind, int64(r.env.peer), tag, bytes)
}

// tellCompleted is noteCompleted for what never was a request.
func (e *Engine) tellCompleted(c *Comm, kind, peer, tag, bytes int64) {
	var cid uint64
	if c != nil {
		cid = c.p2p.cid
	}
	e.watch.observer(RequestCompleted, c, [5]int64{kind, peer, tag, int64(cid), bytes})
}

// waited counts a wait that is over.
func (e *Engine) waited(since time.Time) {
	e.watch.counters.AddWait(time.Since(since))
}

// Started notes that a collective operation begins, and Ended that it is over here. Called without the lock.
func (c *Comm) Started(operation int) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.started(operation)
}

// Ended tells of the end of an operation that Started has been called for.
func (c *Comm) Ended(operation int) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.ended(operation)
}

// started is Started under the lock.
func (c *Comm) started(operation int) {
	w := &c.engine.watch
	if !w.on {
		return
	}
	w.counters.Collectives++
	c.counters.Collectives++
	c.tell(CollectiveStarted, operation)
}

// ended is Ended under the lock.
func (c *Comm) ended(operation int) { c.tell(CollectiveEnded, operation) }

func (c *Comm) tell(what Happening, operation int) {
	if w := &c.engine.watch; w.observes(what) {
		w.observer(what, c, [5]int64{int64(operation), int64(c.p2p.cid)})
	}
}
