package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Compound requests: one request of the program that stands for several messages. The messages are requests of
// their own, detached, which tell the compound when they are done (discard); the last of them completes it.
// All methods of a compound run under the engine's lock, and may start further messages.
type compound interface {
	start(e *Engine)                      // the program starts it again; persistent ones only
	partDone(e *Engine, message *Request) // a message of it is done
	released()                            // its request goes back to the pool
}

// nothing is the compound of a request that something else completes.
type nothing struct{}

func (nothing) start(*Engine)              {}
func (nothing) partDone(*Engine, *Request) {}
func (nothing) released()                  {}

// newCompound takes an active request.
func (e *Engine) newCompound(ctx *context, of compound) *Request {
	r := e.requests.get(ctx.comm)
	r.kind, r.state.active = compoundRequest, true
	e.shared.UnderWay++
	r.ctx, r.env.peer = ctx, noPeer
	r.status = emptyStatus
	r.of = of
	return r
}

// join makes a message, which has not started, the given part of a compound.
func (r *Request) join(of compound, part int) *Request {
	r.of, r.part, r.state.detached = of, part, true
	return r
}

// discard gives back a request that is done and that the program does not hold, or no more.
func (e *Engine) discard(r *Request) {
	switch {
	case r.of == nil:
	case r.kind == compoundRequest:
		r.of.released()
	default:
		r.of.partDone(e, r)
	}
	e.requests.put(r)
}

// failure is what went wrong with a message that is done.
func (r *Request) failure() *Error {
	if r.status.Err != nil {
		return r.status.Err
	}
	return AsError(r.wire.Cursor.Err())
}

// exchange is the compound of MPI_Isendrecv: a request that counts in Request.count what it waits for, its own
// construction included.
type exchange Request

func (x *exchange) start(*Engine) {}
func (x *exchange) released()     {}

// partDone takes the status from the receive and an error from either.
func (x *exchange) partDone(e *Engine, message *Request) {
	r := (*Request)(x)
	err := r.status.Err
	if message.kind == recvRequest {
		r.status = message.status
	}
	if err == nil {
		err = message.failure()
	}
	r.status.Err = err
	x.less(e)
}

func (x *exchange) less(e *Engine) {
	if x.mem.count--; x.mem.count == 0 {
		e.complete((*Request)(x))
	}
}

// newExchange takes the request of an MPI_Isendrecv and posts its receive.
func (c *Comm) newExchange(buf datatype.Pointer, count int64, t *datatype.Type, source int, tag int32) *exchange {
	e := c.engine
	r := e.newCompound(c.p2p, nil)
	x := (*exchange)(r)
	r.of, r.mem.count = x, 1
	if source == abi.MPI_PROC_NULL {
		r.status = procNullStatus
		return x
	}
	r.mem.count++
	e.postRecv(e.newRecv(c.p2p, buf, count, t, source, tag).join(x, 0))
	return x
}

// send adds the send of an exchange, if there is one. The request is the program's from then on, and may be done.
func (x *exchange) send(e *Engine, s *Request) uint64 {
	id := x.id
	if s != nil {
		x.mem.count++
		e.start(s.join(x, 1))
	}
	x.less(e)
	e.thread.Away()
	return id
}

// Isendrecv starts a receive and a send, and answers the request that is done when both are; its status is the
// receive's (MPI 5.0, 3.10).
func (c *Comm) Isendrecv(sbuf datatype.Pointer, scount int64, stype *datatype.Type, dest int, stag int32,
	rbuf datatype.Pointer, rcount int64, rtype *datatype.Type, source int, rtag int32) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	x := c.newExchange(rbuf, rcount, rtype, source, rtag)
	if dest == abi.MPI_PROC_NULL {
		return x.send(e, nil)
	}
	return x.send(e, e.newSend(c.p2p, sbuf, scount, stype, c.group.World(dest), stag, modeStandard))
}

// IsendrecvReplace is Isendrecv with one buffer for both: what is sent is a copy.
func (c *Comm) IsendrecvReplace(buf datatype.Pointer, count int64, t *datatype.Type, dest int, stag int32, source int,
	rtag int32) (uint64, error) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if dest == abi.MPI_PROC_NULL {
		return c.newExchange(buf, count, t, source, rtag).send(e, nil), nil
	}
	world := c.group.World(dest)
	copied, err := packed(buf, count, t, c.p2p.rep(world))
	if err != nil {
		return nullRequest, err
	}
	x := c.newExchange(buf, count, t, source, rtag)
	return x.send(e, e.newSendOfCopy(c.p2p, copied, count, t, world, stag, modeStandard)), nil
}

// General is what a generalized request calls: functions of the program. None is called with the engine's lock
// held (MPI 5.0, 13.2). A duplication uses it to learn that the program sees its end.
type General interface {
	Query(st *CStatus) error    // fills the status; st is nil if the program does not want it
	Free() error                // the request is gone
	Cancel(complete bool) error // MPI_Cancel; complete says whether the program has completed the request
}

// StartGeneral makes a request that the program completes.
func (e *Engine) StartGeneral(g General) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.get(e.predefined.self)
	r.kind, r.state.active, r.general, r.env.peer = generalRequest, true, g, noPeer
	r.status = emptyStatus
	return r.id
}

// CompleteGeneral completes such a request (MPI_Grequest_complete). If the program has freed it, this ends it.
func (e *Engine) CompleteGeneral(id uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.find(id)
	if r == nil || r.kind != generalRequest || r.state.done {
		return errorf(abi.MPI_ERR_REQUEST, "request %#x is not a generalized request that waits for its completion", id)
	}
	r.state.done = true
	if r.state.detached {
		return e.dispose(r)
	}
	e.ring()
	return nil
}

// collectGeneral takes the result of a completed request that has a General. Engine lock held, given up for the calls.
func (e *Engine) collectGeneral(r *Request, id *uint64, st *CStatus) error {
	if !r.state.done {
		r.state.detached = true
		return e.failure()
	}
	g := r.general
	*id = nullRequest
	e.requests.put(r)
	e.mu.Unlock()
	defer e.mu.Lock()
	err := g.Query(st)
	if ferr := g.Free(); err == nil {
		err = ferr
	}
	return err
}

// dispose gives back a request that is done or inactive, and that the program has freed. Engine lock held, given up
// to tell a generalized one.
func (e *Engine) dispose(r *Request) error {
	g := r.general
	e.discard(r)
	if g == nil {
		return nil
	}
	e.mu.Unlock()
	defer e.mu.Lock()
	return g.Free()
}

// cancelGeneral passes a cancellation on. Engine lock held, given up for the call.
func (e *Engine) cancelGeneral(r *Request) error {
	g, complete := r.general, r.state.done
	e.mu.Unlock()
	defer e.mu.Lock()
	return g.Cancel(complete)
}
