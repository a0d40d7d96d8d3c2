package libimpi

import (
	"github.com/libimpi/libimpi/abi"
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
	if p.tr == nil || p.queued || e.withhold(p, ctx) {
		return false
	}
	data, n, single := t.Span(base, count)
	if !single || n > int64(p.limits.Eager) || !t.Portable() && ctx.rep(dest) != datatype.Native {
		return false
	}
	h := e.packet(transport.Data, dest)
	h.LSRank, h.Tag, h.CID = ctx.comm.rank, tag, ctx.cid
	h.MsgLen, h.Len = uint64(n), int(n)
	h.Seq, h.Count, h.Dtype = e.sending.seq+1, count, t.ID()
	if e.watch.on {
		return e.sendWatched(h, ctx, p, count, t, bytesAt(data, n))
	}
	if !p.tr.Send(h, bytesAt(data, n)) {
		return false
	}
	e.sending.seq++
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
	e.sending.seq++
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
	got, err := e.finish(r)
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
	if mode != modeSynchronous && e.sendShort(ctx, base, count, t, world, tag) {
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
	r.state.active, r.state.done, r.state.seen, r.expects, r.state.ended, r.state.cancelAsked = true, false, false,
		false, false, false
	e.shared.UnderWay++
	r.wire.moved, r.wire.length = 0, 0
	r.status = emptyStatus
	if p := e.requests.persistentOf(r.id); p != nil {
		p.State = persistentEngine
	}
	if r.kind != compoundRequest {
		r.setBuffer(r.mem.base, r.mem.count, r.mem.typ)
	}
}

// Probe blocks until a message for (source, tag) can be received; IMPI and MPI alike see a message when its
// first packet is complete.
func (c *Comm) Probe(source int, tag int32, st *Status) error {
	_, err := c.probe((*Comm).await, source, tag, st, false)
	return err
}

// Iprobe is Probe that does not block.
func (c *Comm) Iprobe(source int, tag int32, st *Status) (bool, error) {
	m, err := c.probe((*Comm).look, source, tag, st, false)
	return m != nil, err
}

// Matched is a message taken out of matching by a matched probe, and the communicator it came on, which it keeps.
type Matched struct {
	comm *Comm
	m    *message
}

// noProcMessage is what a probe for MPI_PROC_NULL finds.
var noProcMessage = &message{}

// NoProc reports whether this is the answer to a probe for MPI_PROC_NULL, which is not a message that can be received.
func (m *Matched) NoProc() bool { return m.m == noProcMessage }

// Comm is the communicator the message came on.
func (m *Matched) Comm() *Comm { return m.comm }

// Mprobe is Probe that takes the message, so that only Imrecv can receive it.
func (c *Comm) Mprobe(source int, tag int32, st *Status) (*Matched, error) {
	return c.matched(c.probe((*Comm).await, source, tag, st, true))
}

// Improbe is Mprobe that does not block; nil if there is no such message yet.
func (c *Comm) Improbe(source int, tag int32, st *Status) (*Matched, error) {
	return c.matched(c.probe((*Comm).look, source, tag, st, true))
}

func (c *Comm) matched(m *message, err error) (*Matched, error) {
	if m == nil {
		return nil, err
	}
	return &Matched{c, m}, nil
}

// probe is the four of them: find waits for a message or only looks, and take says whether it leaves matching.
func (c *Comm) probe(find func(c *Comm, source, tag int32) (*message, error), source int, tag int32, st *Status,
	take bool) (*message, error) {
	if source == abi.MPI_PROC_NULL {
		*st = procNullStatus
		return noProcMessage, nil
	}
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	m, err := find(c, int32(source), tag)
	if m == nil {
		return nil, err
	}
	*st = Status{Source: m.Source, Tag: m.Tag, Bytes: m.Length, External: m.External}
	if take {
		c.p2p.take(m)
		c.uses++
	}
	return m, nil
}

// await waits for a message for (source, tag). Without one the job has failed.
func (c *Comm) await(source, tag int32) (m *message, err error) {
	c.engine.seek(c.p2p, source, func() bool {
		m = c.p2p.space.Find(source, tag)
		return m != nil
	})
	if m == nil {
		return nil, c.without(source)
	}
	return m, nil
}

// look is await that does not block: nil if there is no such message yet.
func (c *Comm) look(source, tag int32) (*message, error) {
	e := c.engine
	m := c.p2p.space.Find(source, tag)
	if m == nil {
		e.look()
		if m = c.p2p.space.Find(source, tag); m == nil {
			e.invite(c.p2p, source)
			return nil, c.without(source)
		}
	}
	return m, nil
}

// Imrecv receives a matched message.
func (m *Matched) Imrecv(base datatype.Pointer, count int64, t *datatype.Type) uint64 {
	e := m.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newRecv(m.comm.p2p, base, count, t, int(m.m.Source), m.m.Tag)
	m.comm.letGo() // the request has it
	e.receiveKept(r, m.m)
	e.bringOn(r)
	e.leaveRunning(r)
	return r.id
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
// becomes inactive. If it is not done the job has failed, and the request stays with the transports.
func (e *Engine) finish(r *Request) (Status, error) {
	if !r.state.done {
		r.state.detached = !r.state.persistent
		return emptyStatus, e.failure()
	}
	st := r.status
	var err error
	if st.Err != nil {
		err = st.Err
	} else if r.wire.cur.Err() != nil {
		err = AsError(r.wire.cur.Err())
	}
	if r.state.persistent {
		e.requests.deactivate(r)
	} else {
		e.discard(r)
	}
	return st, err
}
