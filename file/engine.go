package file

import "github.com/libimpi/libimpi/coll"

// Process is what an open file needs of the process that has it, besides what its members share (Members).
type Process struct {
	Engine  Engine
	Checker Checker
	Pool    *Pool  // all files of the process have the same
	Release func() // gives the members up: called when the file is closed, or could not be opened
}

// Engine is the engine of a process, as accesses that are under way need it. Its lock guards them; no
// other lock is taken while it is held.
type Engine interface {
	Lock()
	Unlock()
	// WaitFor makes progress until cond returns true, and returns the loss of a process if it does not any more. cond
	// is called under the lock. Lock held, given up while waiting.
	WaitFor(cond func() bool) error
	// Ring wakes the threads of this process that sleep in WaitFor or wait for a request. Lock held.
	Ring()
	// NewRequest returns a request under way, for an access that is collective or not. Lock held.
	NewRequest(collective bool) uint64
	// Complete ends a request. It has moved some bytes, counted as they are in memory, and has an error or nil. Lock
	// held.
	Complete(request uint64, bytes int64, err error)
}

// Checker compares the calls of all members, where a user wants that (IMPI_CHECK).
type Checker interface {
	// Verifies reports whether calls are compared, which is the same at all members.
	Verifies() bool
	// Compare blocks until all members have called it for a file, and returns the same error at each of them if their
	// calls differ. It is collective.
	Compare(file string, call coll.Call) error
}
