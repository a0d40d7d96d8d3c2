package main

import "testing"

// A state lasts as long as the program's handle and what uses it, whichever ends last.
func TestAStateEndsWithItsLastUse(t *testing.T) {
	var none *state
	if !none.hold() {
		t.Error("a function without a state cannot be used")
	}
	none.release()
	none.releaseHandle()

	s := newState(7, 0)
	s.holdHandle()
	if !s.hold() {
		t.Error("a state with a handle cannot be used")
	}
	s.releaseHandle()
	if s.ended || !s.freed {
		t.Errorf("ended %v, freed %v while it is used", s.ended, s.freed)
	}
	s.holdHandle() // as MPI_Comm_get_errhandler has it
	if s.freed {
		t.Error("it is freed, and has a handle")
	}
	s.release()
	s.releaseHandle()
	if !s.ended || s.hold() {
		t.Error("it can be used after its last use")
	}

	s = newState(7, 0)
	s.holdHandle()
	s.hold()
	s.releaseHandle()
	s.collected()
	if !s.ended {
		t.Error("the end of the last use that Go has collected is not its end")
	}
}
