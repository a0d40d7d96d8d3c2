// Package file is MPI's files (MPI 5.0, chapter 14): views, data access in all its families, consistency and hints, in
// pure Go against a small interface to the engine (Members) and one to the file system (Storage).
//
// A file view is a datatype that is navigated, never expanded: no list of offsets and lengths exists on any side.
// Memory is in proportion to the depth of the type.
//
//	Access -> Prepare: is it allowed, where does it begin? pointers move
//	       -> Op.Run, on any goroutine: independent (independent.go) or collective (collective.go, windows.go)
package file

import (
	"errors"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Members are the processes that have opened a file, as the engine shows them. Collective calls are made by all of them
// in the same order, by one goroutine at a time.
type Members interface {
	Rank() int
	Size() int
	// Machine is a number of the machine where a member is: members of one machine share memory.
	Machine(rank int) int
	// Memory returns each bytes of memory for each member, by rank, which the members of a machine map; nil for
	// members of other machines. It is collective, and the memory is kept until the file is closed.
	Memory(each int) ([]datatype.Pointer, error)
	Exchange
	Messages
	Pointer // the shared file pointer
	// Leave returns when all members that are not lost have called it, in a job that goes on without those that are: with
	// an error if there are any. In other jobs it does nothing. Collective.
	Leave() error
}

// Exchange is what members tell each other. Its calls are collective, and block; an error is the loss of a member.
type Exchange interface {
	Barrier() error
	// Allgather gathers len(own) numbers of each member, in the order of ranks; all has room for them.
	Allgather(own, all []int64) error
	// Gather gathers bytes of each member, of any length.
	Gather(own []byte) (all [][]byte, err error)
}

// Messages are messages of bytes between two members. Isend and Irecv start them, and Wait ends them; their memory
// stays as it is until then.
type Messages interface {
	Isend(b []byte, to, tag int) (coll.Req, error)
	Irecv(b []byte, from, tag int) (coll.Req, error)
	Wait(reqs ...coll.Req) error
}

// Pointer is a number that all members see, in etypes.
type Pointer interface {
	// FetchAdd adds to the number and returns what it was.
	FetchAdd(by int64) (int64, error)
	// Store replaces the number; no member calls FetchAdd meanwhile.
	Store(v int64) error
}

// Storage is an open file of a file system. Calls may be made by several goroutines. An error is a *Error, with the MPI
// class, the system's text, the name of the file, offset and length.
type Storage interface {
	// ReadAt reads from byte off on until p is full or the file ends, and returns how much. The end is no error.
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt writes all of p.
	WriteAt(p []byte, off int64) (int, error)
	Size() (int64, error)
	Truncate(size int64) error
	// Allocate sees to it that bytes 0 to size can be written. It does not make the file shorter.
	Allocate(size int64) error
	Sync() error
	// Identity is what tells this file from all others, the same on every machine that sees it: its number, and when it
	// was changed.
	Identity() ([2]int64, error)
	// Lock waits until no other process, and no other goroutine, holds a lock on bytes lo to hi, or none but shared
	// ones if this is one, and holds them then until unlock is called. The kernel gives up the locks of a process that
	// ends. ErrNoLocks: this file system has none.
	Lock(lo, hi int64, shared bool) (unlock func(), err error)
	Close() error
}

// Limits is what a Storage has besides that cannot do everything.
type Limits interface {
	// Readable tells whether the file can be read: one for MPI_MODE_WRONLY may be not.
	Readable() bool
	// Seekable tells whether bytes have offsets. Those of a FIFO or a terminal have none: they are read and written in
	// order, whatever the offset, and Size is 0.
	Seekable() bool
}

// FileSystem opens and removes files by their names.
type FileSystem interface {
	// Open opens a file for MPI_MODE_RDONLY, MPI_MODE_WRONLY or MPI_MODE_RDWR, with MPI_MODE_CREATE and MPI_MODE_EXCL
	// if mode says so; other modes it does not look at. perm are the permissions of a new file.
	Open(name string, mode int, perm uint32) (Storage, error)
	Remove(name string) error
}

// ErrNoLocks says that a file system has no locks.
var ErrNoLocks = &Error{abi.MPI_ERR_UNSUPPORTED_OPERATION, "the file system has no locks"}

// Error is what a call reports: an MPI error class, and what a user needs to act.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

// class is the MPI class of an error of a call; MPI_SUCCESS if it is nil.
func class(err error) int64 {
	var known *Error
	switch {
	case err == nil:
		return abi.MPI_SUCCESS
	case errors.As(err, &known):
		return int64(known.Class)
	}
	return abi.MPI_ERR_OTHER
}

func errorf(class int, format string, args ...any) *Error {
	return &Error{class, fmt.Sprintf(format, args...)}
}
