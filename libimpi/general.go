package libimpi

import "github.com/libimpi/libimpi/abi"

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
