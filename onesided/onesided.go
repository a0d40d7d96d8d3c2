// Package onesided is MPI's one-sided communication (MPI 5.0, chapter 12): windows, their epochs, access to the memory
// of other processes and its synchronization, in pure Go against small interfaces to the engine (engine.go).
//
//	window.go         a window: how all members make and free it
//	sharers.go        memory that those of a machine map; spare.go: what freed windows have left of it
//	access.go         a call of communication, and which way its data goes: memory that is mapped here, or
//	direct.go         memory of another process that the kernel reads and writes, or
//	ask.go            requests to the target's engine; request.go and types.go: as bytes; flush.go: their ends
//	serve.go          what the engine of a target does for them; lock_queue.go: its lock
//	dynamic.go        what is attached to a window; regions.go: whether data lies in it
//	range.go          displacement, unit and size: where a call's data lies in the target's memory
//	accumulate_unsafe.go  one accumulate, element by element, into memory that this process can reach
//	sync.go           a call of synchronization; epochs.go: may it be called in this state of the window?
//	sync_by_words.go  posts and locks as words of memory (words_unsafe.go) that all members map, or
//	sync_by_requests.go  by requests; fence.go: a fence that counts these
//	view_unsafe.go    what C sees of a window: it carries the short calls out by itself
//
// The engine's side is libimpi/window.go. Tests run whole jobs on goroutines (fake_test.go).
package onesided

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Error is what a call reports: an MPI error class, and what a user needs to act.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

// asError gives any error a class: its own, or MPI_ERR_OTHER.
func asError(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	return errorf(abi.MPI_ERR_OTHER, "%v", err)
}

func errorf(class int, format string, args ...any) *Error {
	return &Error{class, fmt.Sprintf(format, args...)}
}
