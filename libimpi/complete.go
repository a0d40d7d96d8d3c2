package libimpi

import (
	"github.com/libimpi/libimpi/abi"
)

// Completion of requests as programs ask for it: wait and test, for one, any, some and all (MPI 5.0, 3.7).
// Requests are given by their ids, as the program holds them; the id of a completed one is replaced by
// MPI_REQUEST_NULL, unless it is persistent.

const nullRequest = abi.MPI_REQUEST_NULL

// CStatus is MPI_Status of the ABI.
type CStatus struct {
	Source, Tag, Error int32
	// Hidden: bytes of the message (low and high word), and flags.
	bytes [2]uint32
	flags uint32
	_     [2]int32
}

const (
	statusCancelled = 1 << iota
	statusExternal
)

// Set stores what an operation reports, and leaves Error alone: MPI sets that only where a call has several
// statuses (MPI 5.0, 3.2.5).
func (s *CStatus) Set(st *Status) {
	s.Source, s.Tag = st.Source, st.Tag
	s.SetBytes(st.Bytes)
	s.flags = 0
	if st.Cancelled {
		s.flags |= statusCancelled
	}
	if st.External {
		s.flags |= statusExternal
	}
}

// Bytes is the length of the message; external32 bytes if External says so.
func (s *CStatus) Bytes() int64 { return int64(uint64(s.bytes[1])<<32 | uint64(s.bytes[0])) }

// SetBytes stores the length of the message.
func (s *CStatus) SetBytes(n int64) { s.bytes = [2]uint32{uint32(n), uint32(uint64(n) >> 32)} }

// External reports whether Bytes counts external32 bytes.
func (s *CStatus) External() bool { return s.flags&statusExternal != 0 }

// SetExternal says what Bytes counts.
func (s *CStatus) SetExternal(on bool) { s.setFlag(statusExternal, on) }

// Cancelled reports whether the operation was cancelled.
func (s *CStatus) Cancelled() bool { return s.flags&statusCancelled != 0 }

// SetCancelled says whether the operation was cancelled.
func (s *CStatus) SetCancelled(on bool) { s.setFlag(statusCancelled, on) }

func (s *CStatus) setFlag(flag uint32, on bool) {
	s.flags &^= flag
	if on {
		s.flags |= flag
	}
}

// setEmpty stores the status of no operation, whose Error is MPI_SUCCESS (MPI 5.0, 3.7.3).
func (s *CStatus) setEmpty() {
	if s != nil {
		s.Set(&emptyStatus)
		s.Error = abi.MPI_SUCCESS
	}
}

// lookup finds the request of an id. A null request, or an inactive persistent one, is idle.
func (e *Engine) lookup(id uint64) (r *Request, idle bool, err *Error) {
	if id == nullRequest {
		return nil, true, nil
	}
	if r = e.find(id); r == nil || r.state.detached {
		return nil, false, errorf(abi.MPI_ERR_REQUEST, "request %#x is not an active request", id)
	}
	return r, !r.state.active, nil
}

// active returns the request of an id that is being waited for; nil if the id is null, inactive, or, because it
// stands twice in an array or another thread has completed it, no longer a request.
func (e *Engine) active(id uint64) *Request {
	if r, idle, err := e.lookup(id); err == nil && !idle {
		return r
	}
	return nil
}

// collect takes the result of a done request into st and replaces its id.
func (e *Engine) collect(r *Request, id *uint64, st *CStatus) error {
	if r.general != nil {
		return e.collectGeneral(r, id, st)
	}
	persistent, comm := r.state.persistent, r.comm
	if e.requests.checked != nil && r.state.done {
		if err := buffersWrong(e.requests.checked.End(r.id)); err != nil && r.status.Err == nil {
			r.status.Err = err
		}
	}
	got, err := e.finish(r)
	if st != nil {
		st.Set(&got)
	}
	if !persistent {
		*id = nullRequest
	}
	if err != nil {
		raised := *AsError(err)
		if raised.Comm = comm; raised.Class == abi.MPIX_ERR_PROC_FAILED_PENDING {
			*id = r.id // it stays
		}
		return &raised
	}
	return nil
}

// Wait completes one request. st may be nil.
func (e *Engine) Wait(id *uint64, st *CStatus) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, idle, err := e.lookup(*id)
	if err != nil {
		return err
	}
	if idle {
		st.setEmpty()
		return nil
	}
	if e.requests.checked == nil {
		e.wait(r)
		return e.collect(r, id, st)
	}
	ids := []uint64{*id}
	if err := e.claim(ids); err != nil {
		return err
	}
	e.wait(r)
	e.disclaim(ids)
	return e.collect(r, id, st)
}

// Test completes one request if it is done.
func (e *Engine) Test(id *uint64, st *CStatus) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, done, err := e.test(*id, st)
	if r == nil {
		return done, err
	}
	return true, e.collect(r, id, st)
}

// test finds the request of an id if it is done, after a poll if need be. An idle request is done, too: st is then set,
// and r is nil, as it is if the request is not done.
func (e *Engine) test(id uint64, st *CStatus) (r *Request, done bool, err error) {
	e.settle()
	r, idle, unknown := e.lookup(id)
	switch {
	case unknown != nil:
		return nil, false, unknown
	case idle:
		st.setEmpty()
		return nil, true, nil
	case !r.state.done:
		e.look()
		if !r.state.done {
			return nil, false, e.unfinished(r)
		}
	}
	return r, true, nil
}

// check looks at every id before any is waited for.
func (e *Engine) check(ids []uint64) *Error {
	for i, id := range ids {
		if _, _, err := e.lookup(id); err != nil {
			err.Text = errorf(0, "array_of_requests[%d]: %s", i, err.Text).Text
			return err
		}
	}
	return nil
}

// WaitAll completes all requests. st is nil or has an element for each. If any failed the answer is an Error of
// class MPI_ERR_IN_STATUS, and the statuses say which. If one pends because a process is lost (loss.go) it completes
// those that are done; the statuses of others have the class MPI_ERR_PENDING.
func (e *Engine) WaitAll(ids []uint64, st []CStatus) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.check(ids); err != nil {
		return err
	}
	if err := e.claim(ids); err != nil {
		return err
	}
	e.thread.Enter()
	for _, id := range ids {
		if r := e.active(id); r != nil {
			e.waitOf(r, ids)
		}
	}
	e.thread.Leave()
	e.disclaim(ids)
	return e.collectAll(ids, st)
}

// TestAll completes all requests if all are done.
func (e *Engine) TestAll(ids []uint64, st []CStatus) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done, err := e.testAll(ids); !done {
		return false, err
	}
	return true, e.collectAll(ids, st)
}

// testAll reports whether all requests are done, after a poll if need be.
func (e *Engine) testAll(ids []uint64) (bool, error) {
	e.settle()
	if err := e.check(ids); err != nil {
		return false, err
	}
	if e.allDone(ids) {
		return true, nil
	}
	e.look()
	if !e.allDone(ids) {
		return false, e.failure()
	}
	return true, nil
}

func (e *Engine) allDone(ids []uint64) bool {
	for _, id := range ids {
		if r := e.active(id); r != nil && !r.state.done && !e.pends(r) {
			return false
		}
	}
	return true
}

func (e *Engine) collectAll(ids []uint64, st []CStatus) error {
	var first error
	failed := 0
	for i := range ids {
		s := element(st, i)
		r, idle, unknown := e.lookup(ids[i])
		if idle {
			s.setEmpty()
			continue
		}
		var err error = unknown
		switch {
		case r == nil:
		case r.state.done || e.pends(r) || e.failure() != nil:
			err = e.collect(r, &ids[i], s)
		default:
			err = errorf(abi.MPI_ERR_PENDING, "the operation goes on; another one may be with a process that is lost")
		}
		if err == nil {
			continue
		}
		if failed == 0 {
			clearErrors(st)
		}
		if first == nil || AsError(first).Class == abi.MPI_ERR_PENDING {
			first = err
		}
		failed++
		if s != nil {
			s.Error = int32(AsError(err).Class)
		}
	}
	return inStatus(first, failed, len(ids))
}

// clearErrors gives MPI_SUCCESS to all statuses; called when the first failure shows that they matter.
func clearErrors(st []CStatus) {
	for i := range st {
		st[i].Error = abi.MPI_SUCCESS
	}
}

// inStatus is the error of a call for several requests, of which some have failed: that of the first goes to its error
// handler (MPI 5.0, 9.3.1), and this one to the caller.
func inStatus(first error, failed, of int) error {
	if failed == 0 {
		return nil
	}
	err := errorf(abi.MPI_ERR_IN_STATUS, "%d of %d operations failed; the first: %v", failed, of, first)
	err.First = AsError(first)
	err.Comm, err.File = err.First.Comm, err.First.File
	return err
}

func element(st []CStatus, i int) *CStatus {
	if st == nil {
		return nil
	}
	return &st[i]
}

// WaitAny completes one of the requests and returns its index, MPI_UNDEFINED if none is active.
func (e *Engine) WaitAny(ids []uint64, st *CStatus) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, _, err := e.seekDone(ids, true)
	if err != nil {
		return abi.MPI_UNDEFINED, err
	}
	return e.collectAny(ids, at, st)
}

// TestAny is WaitAny that does not block; flag is false if one is active and none is done.
func (e *Engine) TestAny(ids []uint64, st *CStatus) (at int, flag bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, active, err := e.seekDone(ids, false)
	if err != nil || at < 0 && active {
		return abi.MPI_UNDEFINED, false, err
	}
	at, err = e.collectAny(ids, at, st)
	return at, true, err
}

// seekDone finds a done request, -1 if there is none, and reports whether any is active. It waits for one, or polls
// once.
func (e *Engine) seekDone(ids []uint64, wait bool) (at int, active bool, err error) {
	e.settle()
	if err := e.check(ids); err != nil {
		return -1, false, err
	}
	at, active = e.anyDone(ids)
	if at >= 0 || !active {
		return at, active, nil
	}
	if wait {
		if err := e.claim(ids); err != nil {
			return -1, false, err
		}
		e.waitAmong(func() bool {
			at, _ = e.anyDone(ids)
			return at >= 0
		}, anyPeer, forAny, ids)
		e.disclaim(ids)
	} else {
		e.look()
		at, active = e.anyDone(ids)
	}
	if at < 0 && active {
		return at, active, e.failure()
	}
	return at, active, nil
}

// anyDone finds a done request, -1 if there is none, and reports whether any is active. It looks at the first one
// first, as programs expect; but where the persistent request that was completed last stands again, it begins behind
// that, so that one which is started again and again, and always done, does not keep the others waiting.
// gobridge/executor/fast_wait.c does the same (first_to_look_at).
func (e *Engine) anyDone(ids []uint64) (at int, active bool) {
	i := -1
	if e.requests.last.id != 0 && e.requests.last.index < len(ids) && ids[e.requests.last.index] == e.requests.last.id {
		i = e.requests.last.index
	}
	for range ids {
		if i++; i >= len(ids) {
			i = 0
		}
		r := e.active(ids[i])
		if r == nil {
			continue
		}
		if r.state.done || e.pends(r) {
			return i, true
		}
		active = true
	}
	return -1, active
}

func (e *Engine) collectAny(ids []uint64, at int, st *CStatus) (int, error) {
	if at < 0 {
		st.setEmpty()
		return abi.MPI_UNDEFINED, nil
	}
	r, _, _ := e.lookup(ids[at])
	e.requests.last.index, e.requests.last.id = at, 0
	if r.state.persistent {
		e.requests.last.id = r.id
	}
	return at, e.collect(r, &ids[at], st)
}

// WaitSome completes all requests that are done, at least one; done receives their indices and the answer is
// how many, MPI_UNDEFINED if none is active. st is nil or has room for all.
func (e *Engine) WaitSome(ids []uint64, done []int32, st []CStatus) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.some(ids, done, st, true)
}

// TestSome is WaitSome that does not block.
func (e *Engine) TestSome(ids []uint64, done []int32, st []CStatus) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.some(ids, done, st, false)
}

func (e *Engine) some(ids []uint64, done []int32, st []CStatus, wait bool) (int, error) {
	at, active, err := e.seekDone(ids, wait)
	if err != nil || !active {
		return abi.MPI_UNDEFINED, err
	}
	if at < 0 {
		return 0, nil
	}
	e.pollMore(len(ids))
	return e.collectSome(ids, done, st)
}

// pollMore takes in what else has arrived before n requests are looked at; the more these are, the more often it polls.
// A program that completes very many requests a few at a time would otherwise look at all of them each time.
func (e *Engine) pollMore(n int) {
	for k := 0; k < n/256 && e.look(); k++ {
	}
}

func (e *Engine) collectSome(ids []uint64, done []int32, st []CStatus) (int, error) {
	var first error
	n, failed := 0, 0
	for i := range ids {
		r := e.active(ids[i])
		if r == nil || !r.state.done && !e.pends(r) {
			continue
		}
		done[n] = int32(i)
		s := element(st, n)
		n++
		err := e.collect(r, &ids[i], s)
		if err == nil {
			continue
		}
		if failed == 0 {
			clearErrors(st)
			first = err
		}
		failed++
		if s != nil {
			s.Error = int32(AsError(err).Class)
		}
	}
	return n, inStatus(first, failed, n)
}

// GetStatus looks at a request without completing it (MPI_Request_get_status).
func (e *Engine) GetStatus(id uint64, st *CStatus) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, done, err := e.test(id, st)
	if r == nil {
		return done, err
	}
	return true, e.describe(r, st)
}

// FreeRequest gives a request up; what it does goes on (MPI_Request_free).
func (e *Engine) FreeRequest(id *uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, _, err := e.lookup(*id)
	if err != nil {
		return err
	}
	if r == nil {
		return errorf(abi.MPI_ERR_REQUEST, "argument request is MPI_REQUEST_NULL, which cannot be freed")
	}
	if r.state.active && !r.mayBeFreed() {
		return errorf(abi.MPI_ERR_REQUEST, "a collective operation is under way, whose request cannot be freed")
	}
	*id = nullRequest
	if r.state.done || r.state.persistent && !r.state.active {
		return e.dispose(r)
	}
	r.state.detached = true
	e.freed(r)
	return nil
}

// mayBeFreed reports whether the program may free an active request. That of a collective operation it may not
// (MPI 5.0, 6.12 and 6.13). But a program that has been told by MPI_Request_get_status that the operation is complete
// has no reason to think that it still is active, and all ranks that do so have to get the same answer. Operations that
// are started once may be complete in that very call, and then their request is that of a send: so it may be freed
// whenever they are complete.
func (r *Request) mayBeFreed() bool {
	if !r.isTask() {
		return true
	}
	return r.state.seen || r.state.done && !r.state.persistent && r.general == nil
}

// Cancel takes back a receive that has not been matched, or a send whose first packet has not left; a send
// that waits for its receiver is cancelled if that agrees (IMPI 0.0, 3.7.4). The request still has to be
// completed.
func (e *Engine) Cancel(id uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, idle, err := e.lookup(id)
	if err != nil {
		return err
	}
	if idle || r == nil {
		return errorf(abi.MPI_ERR_REQUEST, "the request is not active")
	}
	if r.kind == generalRequest {
		return e.cancelGeneral(r)
	}
	if r.isTask() {
		return errorf(abi.MPI_ERR_REQUEST, "a collective operation cannot be cancelled")
	}
	if r.state.done || r.wire.Cancelling() {
		return nil
	}
	switch r.kind {
	case recvRequest:
		if r.isPosted() {
			r.ctx.space.Withdraw(&r.waits)
			r.status.Cancelled = true
			e.complete(r)
		}
	case sendRequest:
		e.cancelSend(r)
	}
	return nil
}

// isPosted reports whether the receive stands in its context's queue.
func (r *Request) isPosted() bool {
	return r.waits.Waits()
}

func (e *Engine) cancelSend(r *Request) {
	if r.env.peer == e.me {
		if m := r.ctx.findSelf(r); m != nil {
			r.ctx.take(m)
			e.giveBack(m)
			r.status.Cancelled = true
			e.complete(r)
		}
		return
	}
	if e.protocol.Cancel(&r.wire) {
		r.status.Cancelled = true
		e.complete(r)
	}
}

// RequestBySlot is the id of the request in a slot, as the low half of ids counts them; null if there is none.
func (e *Engine) RequestBySlot(slot uint32) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slot&quickBit != 0 && e.requests.quick != nil {
		return e.requests.quick.bySlot(slot)
	}
	if r := e.requests.at(slot); r != nil {
		return r.id
	}
	return nullRequest
}
