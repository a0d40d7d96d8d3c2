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

// Machine is what the words of a window need of the engine.
type Machine interface {
	// Await returns when the word is at least so large, and makes progress until then. Errors: a peer is lost.
	Await(word *uint64, least uint64) error
	// Wake wakes a member of the window, by its rank, if it sleeps. The word that it may wait for has been stored.
	Wake(rank int)
	// Relax lets others go on, who may hold a lock that is held for moments only, and makes progress. Errors: a peer is
	// lost.
	Relax() error
}

// Error is what a call reports: an MPI error class, and what a user needs to act.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

func errorf(class int, format string, args ...any) *Error {
	return &Error{class, fmt.Sprintf(format, args...)}
}
