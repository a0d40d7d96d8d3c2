// Package onesided holds what one-sided communication (MPI 5.0, chapter 12) needs and no messages: which call is
// allowed when, which memory of a target a call may touch, what an accumulate does to it, and how the processes of one
// machine synchronize over words of shared memory.
//
//	epochs.go             the state of a window at one process: what may be called in it
//	regions.go            the memory of a dynamic window: what is attached, and whether data lies in it
//	range.go              displacement, unit and size: where a call's data lies in the target's memory
//	words_unsafe.go       fences, posts and locks as words of memory that all members of a window map
//	accumulate_unsafe.go  one accumulate, element by element, into memory that this process can reach
//	request.go            what is asked of a target's engine where its memory cannot be reached, as bytes
//
// The engine (libimpi/window.go) has the windows, and carries requests. Everything here takes values and memory, and
// sees of the engine only what Machine says, so that tests run whole jobs on goroutines.
package onesided

import "fmt"

// Error is what a call reports: an MPI error class, and what a user needs to act.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

func errorf(class int, format string, args ...any) *Error {
	return &Error{class, fmt.Sprintf(format, args...)}
}
