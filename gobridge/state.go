package main

// #include "shim/z_callbacks.h"
import "C"

import "sync"

// Functions of the program that are called with a state of their own: operations and error handlers of mpix.h. A
// destructor is told when nothing calls them any more: neither the program has the handle nor the library a use for it.
//
//	the handle                                  -> held until the program frees it
//	a blocking reduction                        -> held until it returns
//	a nonblocking or persistent one, an object
//	that has the error handler                  -> held until Go has collected what refers to it, or MPI ends
//
// Destructors are functions of the program: a thread that is in a call of MPI calls them, with no lock held.
type state struct {
	extra, destructor uintptr

	mu    sync.Mutex
	uses  int
	freed bool // the program has no handle
	ended bool
}

// extension is what a function of mpix.h gets for a state; nil: a function of MPI's has none.
type extension struct{ extra, destructor uintptr }

func (x *extension) state() *state {
	if x == nil {
		return nil
	}
	endUnused()
	return newState(x.extra, x.destructor)
}

// states are those with a destructor that has not been called.
var states struct {
	sync.Mutex
	all    map[*state]bool
	unused []*state // whose last use Go has collected
}

func newState(extra, destructor uintptr) *state {
	s := &state{extra: extra, destructor: destructor}
	if destructor != 0 {
		states.Lock()
		defer states.Unlock()
		if states.all == nil {
			states.all = map[*state]bool{}
		}
		states.all[s] = true
	}
	return s
}

// hold is a use more. It fails if the last one has ended. A nil state, that of other functions, is always there.
func (s *state) hold() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.uses++
	return true
}

// release ends a use, and with the last one the state.
func (s *state) release() {
	if s != nil && s.drop() {
		s.end()
	}
}

// collected is release where a destructor may not be called.
func (s *state) collected() {
	if s.drop() && s.destructor != 0 {
		states.Lock()
		defer states.Unlock()
		states.unused = append(states.unused, s)
	}
}

// drop reports whether the use was the last one.
func (s *state) drop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses--
	s.ended = s.ended || s.uses == 0
	return s.uses == 0
}

// holdHandle is hold of a handle of the program.
func (s *state) holdHandle() {
	if s.hold() && s != nil {
		s.setFreed(false)
	}
}

// releaseHandle is release of it.
func (s *state) releaseHandle() {
	if s != nil {
		s.setFreed(true)
		s.release()
	}
}

func (s *state) setFreed(freed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed = freed
}

// end calls the destructor, once.
func (s *state) end() {
	if s.destructor == 0 {
		return
	}
	states.Lock()
	left := states.all[s]
	delete(states.all, s)
	states.Unlock()
	if left {
		C.impi_call_destructor(C.uintptr_t(s.destructor), C.uintptr_t(s.extra))
	}
}

// endUnused ends the states whose last use Go has collected.
func endUnused() {
	states.Lock()
	list := states.unused
	states.unused = nil
	states.Unlock()
	for _, s := range list {
		s.end()
	}
}

// endFreed ends the states that the program has freed, if nothing of MPI is in use any more. The handler of
// MPI_FILE_NULL stays.
func endFreed() {
	if started() != nil {
		return
	}
	var list []*state
	states.Lock()
	for s := range states.all {
		s.mu.Lock()
		if s.freed && noFile.errhandler().state != s {
			s.ended = true
			list = append(list, s)
		}
		s.mu.Unlock()
	}
	states.Unlock()
	for _, s := range list {
		s.end()
	}
}
