package file_test

import (
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/coll"
)

// engine is the engine of one process (file.Engine), and compares calls of one member (file.Checker).
type engine struct {
	// Verify says that calls are compared, Differ is what that finds.
	Verify bool
	Differ error

	sync.Mutex
	change   sync.Cond
	lost     error
	requests map[uint64]*engineRequest
	Compared []string // the functions, in order
}

type engineRequest struct {
	done  bool
	bytes int64
	err   error
}

// newEngine makes one without requests.
func newEngine() *engine {
	e := &engine{requests: map[uint64]*engineRequest{}}
	e.change.L = e
	return e
}

// Lose says that a process is lost.
func (e *engine) Lose(err error) {
	e.Lock()
	defer e.Unlock()
	e.lost = err
	e.change.Broadcast()
}

// Done reports whether a request is complete.
func (e *engine) Done(id uint64) bool {
	e.Lock()
	defer e.Unlock()
	return e.requests[id].done
}

// Wait waits for a request.
func (e *engine) Wait(id uint64) (int64, error) {
	e.Lock()
	defer e.Unlock()
	r := e.requests[id]
	if err := e.WaitFor(func() bool { return r.done }); err != nil {
		return 0, err
	}
	return r.bytes, r.err
}

// WaitFor implements file.Engine, as the following do.
func (e *engine) WaitFor(cond func() bool) error {
	for !cond() {
		if e.lost != nil {
			return e.lost
		}
		e.change.Wait()
	}
	return nil
}

// Ring wakes all who wait.
func (e *engine) Ring() { e.change.Broadcast() }

// NewRequest makes a request.
func (e *engine) NewRequest(bool) uint64 {
	id := uint64(1000 + len(e.requests))
	e.requests[id] = new(engineRequest)
	return id
}

// Complete ends it.
func (e *engine) Complete(id uint64, bytes int64, err error) {
	r := e.requests[id]
	if r.done {
		panic(fmt.Sprintf("request %d ends twice", id))
	}
	*r = engineRequest{true, bytes, err}
}

// Verifies implements file.Checker, as Compare does.
func (e *engine) Verifies() bool { return e.Verify }

// Compare notes the call.
func (e *engine) Compare(_ string, call coll.Call) error {
	e.Lock()
	defer e.Unlock()
	e.Compared = append(e.Compared, fmt.Sprint(call.Routine))
	return e.Differ
}
