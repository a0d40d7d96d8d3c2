package libimpi

import (
	"time"

	"github.com/libimpi/libimpi/libimpi/match"
	"github.com/libimpi/libimpi/transport"
)

// What tools may know of the engine (MPI 5.0, 15.3). Levels, such as lengths of queues, are found when somebody asks.
// What has to be counted is counted while somebody has asked for it (Watch), and costs a look at a flag at other times.
// The engine sees all of it only while the bridge's C leaves messages to it, which the bridge sees to.

// PeerClass is where the process at the other end of a message is.
type PeerClass int

// The classes.
const (
	PeerSelf    PeerClass = iota
	PeerMachine           // another process of this machine, of another job, too
	PeerClient            // of this client, on another machine
	PeerAbroad            // of another client, or of another job on another machine
	peerClasses
)

// Traffic is messages, and the bytes of their data.
type Traffic struct{ Messages, Bytes uint64 }

func (t *Traffic) add(bytes int64) {
	t.Messages++
	t.Bytes += uint64(bytes)
}

// Counters count what has happened while the engine was watched.
type Counters struct {
	Sent, Received    [peerClasses]Traffic // by PeerClass; those of collective operations and of windows, too
	Eager, Rendezvous uint64               // messages that were sent whole, and those of which the rest waited
	Matches           uint64
	Packed, Unpacked  uint64 // bytes
	Unexpected        uint64 // messages that came before their receive
	Waits             uint64
	Waiting           time.Duration
	Collectives       uint64 // that have started
}

// CommCounters are those of what the program does on one communicator.
type CommCounters struct {
	Sent, Received Traffic
	Collectives    uint64
}

// Levels are what there is of something at a moment.
type Levels struct {
	Unexpected, Posted int
	UnexpectedBytes    int64
	Active             int // operations that are not complete
	Requests           int // for which there is memory
}

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
	on       bool // counts, or verifies types (p2p_verify.go)
	counts   bool
	counters Counters
	peaks    []*Peak
	observer Observer
	observed uint32 // 1<<Happening
}

// Watch begins to count, or ends it.
func (e *Engine) Watch(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.counts = on
	e.watch.on = on || e.collectives.verifies.Load()
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
func (e *Engine) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watch.counters
}

// Counters are what has been counted on the communicator so far.
func (c *Comm) Counters() CommCounters {
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

// Levels are those of this moment, of all communicators together. What has arrived is taken in first, if asked for.
func (e *Engine) Levels(takeIn bool) (l Levels) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	for _, c := range e.contexts.low {
		l.add(c)
	}
	for _, c := range e.contexts.high {
		l.add(c)
	}
	for i := range e.peers {
		l.UnexpectedBytes += e.peers[i].pressure.kept
	}
	e.guests.all(func(p *peer) { l.UnexpectedBytes += p.pressure.kept })
	if q := e.requests.quick; q != nil {
		l.Posted += int(q.Posted)
	}
	l.Active, l.Requests = int(e.shared.UnderWay), e.requests.live()
	if q := e.requests.quick; q != nil {
		l.Active += int(q.Posted)
	}
	return l
}

func (l *Levels) add(c *context) {
	if c != nil && !c.windows() {
		l.Unexpected += c.space.Kept()
		l.Posted += c.space.Posted()
	}
}

// Levels are those of the program's messages on the communicator, none once that is freed.
func (c *Comm) Levels(takeIn bool) (l Levels) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	if e.contexts.find(c.p2p.cid) != c.p2p || c.p2p.comm != c {
		return l
	}
	l.add(c.p2p)
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

// Peak is the most unexpected messages that there have been at a time.
type Peak struct{ most int }

// Follow makes a peak grow from now on, from what there is at the moment. What has arrived is taken in first, if asked
// for.
func (e *Engine) Follow(p *Peak, takeIn bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if takeIn {
		e.pollAll()
	}
	e.watch.peaks = append(e.watch.peaks, p)
	p.most = max(p.most, e.unexpected())
}

// Unfollow freezes a peak.
func (e *Engine) Unfollow(p *Peak) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, other := range e.watch.peaks {
		if other == p {
			e.watch.peaks = append(e.watch.peaks[:i:i], e.watch.peaks[i+1:]...)
			return
		}
	}
}

// Peak is its value, or begins anew with the least that it can be; both at once, if asked for.
func (e *Engine) Peak(p *Peak, reset bool) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	most := p.most
	if reset {
		p.most = e.unexpected()
	}
	return most
}

// SetPeak makes n its value.
func (e *Engine) SetPeak(p *Peak, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.most = n
}

// unexpected is how many unexpected messages there are.
func (e *Engine) unexpected() int {
	var l Levels
	for _, c := range e.contexts.low {
		l.add(c)
	}
	for _, c := range e.contexts.high {
		l.add(c)
	}
	return l.Unexpected
}

// class is where a process is.
func (e *Engine) class(p *peer) PeerClass {
	switch {
	case p.rank == e.me:
		return PeerSelf
	case p.local >= 0 || p.guest != nil && p.guest.near:
		return PeerMachine
	case p.guest != nil:
		return PeerAbroad
	}
	its, mine := &e.job.Procs[p.rank], &e.job.Procs[e.me]
	switch {
	case its.Client != mine.Client:
		return PeerAbroad
	case e.ways.vendor.connected() && its.HostID == mine.HostID: // it shares no memory with us
		return PeerMachine
	}
	return PeerClient
}

// countSent counts a message that leaves, whole or with the rest to follow.
func (e *Engine) countSent(ctx *context, p *peer, bytes int64, whole bool) {
	w := &e.watch.counters
	w.Sent[e.class(p)].add(bytes)
	if whole {
		w.Eager++
	} else {
		w.Rendezvous++
	}
	if c := ctx.comm; ctx == c.p2p && !ctx.windows() {
		c.counters.Sent.add(bytes)
	}
}

// countShort is countSent, for a message that has left without a request, and whose send is over with that.
func (e *Engine) countShort(ctx *context, p *peer, tag int32, bytes int64) {
	e.countSent(ctx, p, bytes, true)
	if e.watch.observes(RequestCompleted) && ctx == ctx.comm.p2p && !ctx.windows() {
		e.tellCompleted(ctx.comm, tellsSend, int64(p.rank), int64(tag), bytes)
	}
}

// countReceived counts a message that has found its receive.
func (e *Engine) countReceived(ctx *context, peer int32, bytes int64) {
	w := &e.watch.counters
	w.Received[e.class(e.peer(peer))].add(bytes)
	w.Matches++
	if c := ctx.comm; ctx == c.p2p && !ctx.windows() {
		c.counters.Received.add(bytes)
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
		for n, i := e.unexpected(), 0; i < len(w.peaks); i++ {
			w.peaks[i].most = max(w.peaks[i].most, n)
		}
	}
	if w.observes(MessageUnexpected) {
		c := ctx.comm
		if ctx != c.p2p {
			c = nil // none of the program's
		}
		w.observer(MessageUnexpected, c, [5]int64{int64(m.peer), int64(m.tag), int64(ctx.cid), m.length})
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
	e.watch.counters.Waits++
	e.watch.counters.Waiting += time.Since(since)
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
