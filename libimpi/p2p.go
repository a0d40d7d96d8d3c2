package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Point-to-point communication as the bridge calls it. Arguments have been checked: ranks are in the
// communicator or MPI_PROC_NULL (and MPI_ANY_SOURCE for a source), tags are in range, types are committed.

// SendMode is one of MPI's send modes.
type SendMode = sendMode

// The send modes. Ready sends are standard ones: the receive is there.
const (
	Standard    = modeStandard
	Synchronous = modeSynchronous
	Ready       = modeReady
	Buffered    = modeBuffered
)

// Send blocks until the buffer may be used again; a synchronous one until the receive has begun.
func (c *Comm) Send(base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32, mode SendMode) error {
	return c.send(c.p2p, base, count, t, dest, tag, mode)
}

func (c *Comm) send(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32,
	mode SendMode) error {
	if dest == abi.MPI_PROC_NULL {
		return nil
	}
	e := c.engine
	e.mu.Lock()
	world := c.group.World(int(dest))
	if mode != modeSynchronous {
		paced := ctx == c.p2p && e.postPaced(world)
		sent := e.sendShort(ctx, base, count, t, world, tag)
		if paced {
			e.posted(world)
		} else if sent {
			e.settle()
		}
		if sent {
			e.mu.Unlock()
			return nil
		}
	}
	r := e.newSend(ctx, base, count, t, world, tag, mode)
	e.start(r)
	e.wait(r)
	_, err := e.finish(r)
	e.mu.Unlock()
	return err
}

// sendShort sends a short message that is one run of bytes, if nothing is before it and there is room.
func (e *Engine) sendShort(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, dest, tag int32) bool {
	p := e.peer(dest)
	if p.tr == nil || p.Waits() || ctx.closed || e.withhold(p, ctx) {
		return false
	}
	data, n, single := t.Span(base, count)
	if !single || n > int64(p.Limits.Eager) || !t.Portable() && ctx.rep(dest) != datatype.Native {
		return false
	}
	h := e.protocol.Packet(transport.Data, dest)
	h.LSRank, h.Tag, h.CID = ctx.comm.rank, tag, ctx.cid
	h.MsgLen, h.Len = uint64(n), int(n)
	h.Seq, h.Count, h.Dtype = e.sent+1, count, t.ID()
	if e.watch.on {
		return e.sendWatched(h, ctx, p, count, t, bytesAt(data, n))
	}
	if !p.tr.Send(h, bytesAt(data, n)) {
		return false
	}
	e.sent++
	p.sent(n)
	return true
}

// sendWatched is the end of sendShort while messages are counted, or their types compared.
func (e *Engine) sendWatched(h *transport.Header, ctx *context, p *peer, count int64, t *datatype.Type,
	data []byte) bool {
	tag := h.Tag
	h.DrqID = e.types(ctx, p, count, t)
	if !p.tr.Send(h, data) {
		return false
	}
	e.sent++
	p.sent(int64(len(data)))
	e.countShort(ctx, p, tag, int64(len(data)))
	return true
}

// Recv blocks until a message is received. st may be nil.
func (c *Comm) Recv(base datatype.Pointer, count int64, t *datatype.Type, source int, tag int32, st *Status) error {
	return c.recv(c.p2p, base, count, t, source, tag, st)
}

func (c *Comm) recv(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, source int, tag int32,
	st *Status) error {
	if source == abi.MPI_PROC_NULL {
		if st != nil {
			*st = procNullStatus
		}
		return nil
	}
	e := c.engine
	e.mu.Lock()
	r := e.newRecv(ctx, base, count, t, source, tag)
	e.postRecv(r)
	e.wait(r)
	got, err := e.finishBlocking(r)
	e.mu.Unlock()
	if st != nil {
		*st = got
	}
	return err
}

// Isend starts a send and returns its request's id.
func (c *Comm) Isend(base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32, mode SendMode) uint64 {
	return c.isend(c.p2p, base, count, t, dest, tag, mode)
}

func (c *Comm) isend(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32,
	mode SendMode) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if dest == abi.MPI_PROC_NULL {
		return sentRequest
	}
	world := c.group.World(int(dest))
	e.post(world)
	if mode != modeSynchronous && (e.requests.checked == nil || ctx != ctx.comm.p2p) &&
		e.sendShort(ctx, base, count, t, world, tag) {
		e.posted(world)
		return sentRequest
	}
	r := e.newSend(ctx, base, count, t, world, tag, mode)
	e.start(r)
	e.posted(world)
	e.leaveRunning(r)
	return r.id
}

// Irecv starts a receive and returns its request's id.
func (c *Comm) Irecv(base datatype.Pointer, count int64, t *datatype.Type, source int, tag int32) uint64 {
	return c.irecv(c.p2p, base, count, t, source, tag)
}

func (c *Comm) irecv(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, source int, tag int32) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if source == abi.MPI_PROC_NULL {
		return e.newDone(ctx, procNullStatus)
	}
	r := e.newRecv(ctx, base, count, t, source, tag)
	e.postRecv(r)
	e.leaveRunning(r)
	return r.id
}

// SendInit and RecvInit make persistent requests (MPI 5.0, 3.9).
func (c *Comm) SendInit(base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32,
	mode SendMode) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.get(c)
	r.kind, r.ctx, r.state.persistent, r.mode = sendRequest, c.p2p, true, mode
	r.env.rank, r.env.tag, r.env.peer = int32(dest), tag, noPeer
	if dest != abi.MPI_PROC_NULL {
		r.env.peer = c.group.World(int(dest))
	}
	r.mem.base, r.mem.count, r.mem.typ = base, count, t
	return r.id
}

// RecvInit makes a persistent receive.
func (c *Comm) RecvInit(base datatype.Pointer, count int64, t *datatype.Type, source int, tag int32) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.get(c)
	r.kind, r.ctx, r.state.persistent = recvRequest, c.p2p, true
	r.env.rank, r.env.tag, r.env.peer = int32(source), tag, noPeer
	r.mem.base, r.mem.count, r.mem.typ = base, count, t
	return r.id
}

// Start activates a persistent request.
func (e *Engine) Start(id uint64) *Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.find(id)
	switch {
	case r == nil || !r.state.persistent:
		return errorf(abi.MPI_ERR_REQUEST, "not a persistent request")
	case r.state.active:
		return errorf(abi.MPI_ERR_REQUEST, "the persistent request is already active")
	}
	if e.requests.checked != nil {
		if err := buffersWrong(e.requests.checked.Start(id)); err != nil {
			return err
		}
	}
	e.activate(r)
	if err := e.startAgain(r); err != nil {
		e.requests.deactivate(r)
		e.shared.UnderWay--
		return err
	}
	e.leaveRunning(r)
	return nil
}

// startAgain starts the operation of an active persistent request.
func (e *Engine) startAgain(r *Request) *Error {
	switch {
	case r.kind == compoundRequest:
		r.of.start(e)
	case r.env.rank == abi.MPI_PROC_NULL:
		if r.kind == recvRequest {
			r.status = procNullStatus
		}
		e.complete(r)
	case r.kind == sendRequest && r.mode == modeBuffered:
		if err := e.bsend(r.ctx, r.mem.base, r.mem.count, r.mem.typ, r.env.rank, r.env.tag); err != nil {
			return AsError(err)
		}
		e.complete(r)
	case r.kind == sendRequest:
		e.post(r.env.peer)
		e.start(r)
		e.posted(r.env.peer)
	default:
		r.env.source, r.env.peer = r.env.rank, noPeer
		e.postRecv(r)
	}
	return nil
}

// activate begins an operation of a persistent request.
func (e *Engine) activate(r *Request) {
	r.state.active, r.state.done, r.state.seen = true, false, false
	e.shared.UnderWay++
	r.wire.Restart()
	r.status = emptyStatus
	if p := e.requests.persistentOf(r.id); p != nil {
		p.State = persistentEngine
	}
	if r.kind != compoundRequest {
		r.setBuffer(r.mem.base, r.mem.count, r.mem.typ)
	}
}

// noPeer stands where the other process is not known.
const noPeer int32 = -1

// newSend takes a request for a send; it has not started.
func (e *Engine) newSend(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, dest, tag int32,
	mode sendMode) *Request {
	r := e.requests.get(ctx.comm)
	r.kind, r.mode, r.state.active = sendRequest, mode, true
	e.shared.UnderWay++
	r.ctx = ctx
	r.env.peer, r.env.tag = dest, tag
	r.status = emptyStatus
	r.setBuffer(base, count, t)
	return r
}

// newRecv takes a request for a receive; it has not been posted.
func (e *Engine) newRecv(ctx *context, base datatype.Pointer, count int64, t *datatype.Type,
	source int, tag int32) *Request {
	r := e.requests.get(ctx.comm)
	r.kind, r.state.active = recvRequest, true
	e.shared.UnderWay++
	r.ctx = ctx
	r.env.source, r.env.tag, r.env.peer = int32(source), tag, noPeer
	if source >= 0 {
		r.env.peer = ctx.comm.group.World(int(source))
	}
	r.setBuffer(base, count, t)
	return r
}

// newDone takes a request that is complete from the start.
func (e *Engine) newDone(ctx *context, st Status) uint64 {
	r := e.requests.get(ctx.comm)
	r.kind, r.state.active, r.state.done = sendRequest, true, true
	r.ctx, r.env.peer = ctx, noPeer
	r.status = st
	return r.id
}

// failure is the error of a lost job, as an error that is nil when all is well.
func (e *Engine) failure() error {
	if f := e.loss.failed.Load(); f != nil {
		return f
	}
	return nil
}

// finish takes the result of a request that has been waited for and gives the request back; a persistent one
// becomes inactive. If it is not done it pends, or the job has failed, and it stays with the transports.
func (e *Engine) finish(r *Request) (Status, error) {
	if !r.state.done {
		return emptyStatus, e.unfinished(r)
	}
	st := r.status
	var err error
	if st.Err != nil {
		err = st.Err
	} else if r.wire.Cursor.Err() != nil {
		err = AsError(r.wire.Cursor.Err())
	}
	if r.state.persistent {
		e.requests.deactivate(r)
	} else {
		e.discard(r)
	}
	return st, err
}

// Sendrecv sends and receives at the same time.
func (c *Comm) Sendrecv(sbuf datatype.Pointer, scount int64, stype *datatype.Type, dest int, stag int32,
	rbuf datatype.Pointer, rcount int64, rtype *datatype.Type, source int, rtag int32, st *Status) error {
	e := c.engine
	// The send first, as in coll's Exchange.
	send := c.Isend(sbuf, scount, stype, dest, stag, modeStandard)
	recv := c.Irecv(rbuf, rcount, rtype, source, rtag)
	e.mu.Lock()
	defer e.mu.Unlock()
	r, s := e.requests.find(recv), e.requests.find(send)
	e.wait(r)
	e.wait(s)
	_, sendErr := e.finish(s)
	got, err := e.finishBlocking(r)
	*st = got
	if err != nil {
		return err
	}
	return sendErr
}

// SendrecvReplace is Sendrecv with one buffer for both: what is sent is a copy in the same layout.
func (c *Comm) SendrecvReplace(buf datatype.Pointer, count int64, t *datatype.Type, dest int, stag int32, source int,
	rtag int32, st *Status) error {
	if count == 0 || t.Size() == 0 {
		return c.Sendrecv(buf, count, t, dest, stag, buf, count, t, source, rtag, st)
	}
	s := coll.NewScratch()
	var err error
	defer s.Done(&err)
	var outgoing coll.Buf
	if outgoing, err = s.Typed(count, t); err != nil {
		return err
	}
	datatype.Copy(outgoing.Base, count, outgoing.Type, buf, count, t)
	err = c.Sendrecv(outgoing.Base, count, outgoing.Type, dest, stag, buf, count, t, source, rtag, st)
	return err
}

// Sends of the program to other clients and machines that come in a burst leave together (transport/tcp/gather.go):
// those that do not block, and blocking ones of short messages. Those of collectives leave at once, since other
// processes are known to wait for them. What has gathered leaves when the program waits or tests; the functions that do
// so call settle, in case they find at once what they ask for and do not poll. C sends them here if something has
// gathered, and counts those that it answers itself.

// post begins the start of a send to dest. Engine lock held, and kept until posted.
func (e *Engine) post(dest int32) {
	if g := e.peer(dest).gather; g != nil {
		e.turned(g)
		g.Post()
	}
}

// postPaced is post for a blocking send. False: there is nothing to gather.
func (e *Engine) postPaced(dest int32) bool {
	g := e.peer(dest).gather
	if g == nil {
		return false
	}
	e.turned(g)
	g.PostPaced()
	return true
}

// turned ends bursts if the fast path has completed requests since.
func (e *Engine) turned(g transport.Gatherer) {
	if turns := atomic.LoadUint32(&e.shared.Turns); turns != e.waiting.turns {
		e.waiting.turns = turns
		g.Settle()
	}
}

// posted ends post and postPaced.
func (e *Engine) posted(dest int32) {
	if g := e.peer(dest).gather; g != nil && g.Posted() {
		e.shared.Gathered = 1
	}
}

// settle sends what has gathered.
func (e *Engine) settle() {
	if g := e.ways.network.gatherer; g != nil {
		e.shared.Gathered = 0
		g.Settle()
	}
}
