package filetest

import (
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/coll"
)

// Engine is the engine of one process (file.Engine), and compares calls of one member (file.Checker).
type Engine struct {
	// Verify says that calls are compared, Differ is what that finds.
	Verify bool
	Differ error

	sync.Mutex
	change   sync.Cond
	lost     error
	requests map[uint64]*request
	Compared []string // the functions, in order
}

type request struct {
	done  bool
	bytes int64
	err   error
}

// NewEngine makes one without requests.
func NewEngine() *Engine {
	e := &Engine{requests: map[uint64]*request{}}
	e.change.L = e
	return e
}

// Lose says that a process is lost.
func (e *Engine) Lose(err error) {
	e.Lock()
	defer e.Unlock()
	e.lost = err
	e.change.Broadcast()
}

// Done reports whether a request is complete.
func (e *Engine) Done(id uint64) bool {
	e.Lock()
	defer e.Unlock()
	return e.requests[id].done
}

// Wait waits for a request.
func (e *Engine) Wait(id uint64) (int64, error) {
	e.Lock()
	defer e.Unlock()
	r := e.requests[id]
	if err := e.WaitFor(func() bool { return r.done }); err != nil {
		return 0, err
	}
	return r.bytes, r.err
}

// WaitFor implements file.Engine, as the following do.
func (e *Engine) WaitFor(cond func() bool) error {
	for !cond() {
		if e.lost != nil {
			return e.lost
		}
		e.change.Wait()
	}
	return nil
}

// Ring wakes all who wait.
func (e *Engine) Ring() { e.change.Broadcast() }

// NewRequest makes a request.
func (e *Engine) NewRequest(bool) uint64 {
	id := uint64(1000 + len(e.requests))
	e.requests[id] = new(request)
	return id
}

// Complete ends it.
func (e *Engine) Complete(id uint64, bytes int64, err error) {
	r := e.requests[id]
	if r.done {
		panic(fmt.Sprintf("request %d ends twice", id))
	}
	*r = request{true, bytes, err}
}

// Verifies implements file.Checker, as Compare does.
func (e *Engine) Verifies() bool { return e.Verify }

// Compare notes the call.
func (e *Engine) Compare(_ string, call coll.Call) error {
	e.Lock()
	defer e.Unlock()
	e.Compared = append(e.Compared, fmt.Sprint(call.Routine))
	return e.Differ
}
