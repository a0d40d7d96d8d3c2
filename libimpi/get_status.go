package libimpi

import "github.com/libimpi/libimpi/abi"

// Looking at requests without completing them (MPI_Request_get_status_all, _any and _some; MPI 5.0, 3.7.6).

// describe fills st with the result of a request that is done. Engine lock held, given up to ask a generalized one.
func (e *Engine) describe(r *Request, st *CStatus) error {
	r.state.seen = true
	if g := r.general; g != nil {
		e.mu.Unlock()
		defer e.mu.Lock()
		return g.Query(st)
	}
	if st != nil {
		st.Set(&r.status)
	}
	return nil
}

// describeOneOf is describe for one of several: the status has an error of its own.
func (e *Engine) describeOneOf(r *Request, st *CStatus) error {
	failed := r.failure()
	err := e.describe(r, st)
	if st == nil {
		return err
	}
	st.Error = abi.MPI_SUCCESS
	if err != nil {
		failed = AsError(err)
	}
	if failed != nil {
		st.Error = int32(failed.Class)
	}
	return err
}

// GetStatusAll reports whether all requests are done, and then fills st, which is nil or has an element for each.
func (e *Engine) GetStatusAll(ids []uint64, st []CStatus) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done, err := e.testAll(ids); !done {
		return false, err
	}
	var first error
	for i, id := range ids {
		s := element(st, i)
		r := e.active(id)
		if r == nil {
			s.setEmpty()
			continue
		}
		if err := e.describeOneOf(r, s); err != nil && first == nil {
			first = err
		}
	}
	return true, first
}

// GetStatusAny returns the index of a done request, MPI_UNDEFINED if there is none; flag is false if one is active
// and none is done.
func (e *Engine) GetStatusAny(ids []uint64, st *CStatus) (at int, flag bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, active, err := e.seekDone(ids, false)
	switch {
	case err != nil || at < 0 && active:
		return abi.MPI_UNDEFINED, false, err
	case at < 0:
		st.setEmpty()
		return abi.MPI_UNDEFINED, true, nil
	}
	return at, true, e.describe(e.active(ids[at]), st)
}

// GetStatusSome stores the indices of all done requests and returns how many they are, MPI_UNDEFINED if none is
// active. st is nil or has room for all.
func (e *Engine) GetStatusSome(ids []uint64, done []int32, st []CStatus) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, active, err := e.seekDone(ids, false)
	if err != nil || !active {
		return abi.MPI_UNDEFINED, err
	}
	if at < 0 {
		return 0, nil
	}
	n := 0
	var first error
	for i, id := range ids {
		r := e.active(id)
		if r == nil || !r.state.done {
			continue
		}
		done[n] = int32(i)
		if err := e.describeOneOf(r, element(st, n)); err != nil && first == nil {
			first = err
		}
		n++
	}
	return n, first
}
