package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/file"
)

// File is an open file (MPI 5.0, chapter 14): package file's, and what the engine has to do for it.
//
//	independent: blocking    -> on the calling thread
//	             nonblocking -> a goroutine of the engine's (file_request.go) -> the request is complete
//	collective:  blocking    -> after those before it, on the calling thread
//	             nonblocking, split -> the file's queue: one at a time, in the order of calls, on a goroutine
//
// All members call the collective ones in the same order. They use what the members share (fileMembers), so that one
// runs at a time.
type File struct {
	Bridge any // what the bridge keeps with it

	file    *file.File
	engine  *Engine
	members *fileMembers
	hints   file.Hints // that this member has given; the first one's hold

	// Guarded by the engine's lock.
	queue []*fileTask // collective ones that have not begun
	busy  bool        // one is carried out
	own   int         // independent ones under way

	// Where calls are verified: the members' views differ, so that the shared pointer means different things to them.
	apart atomic.Bool

	slow atomic.Bool // the last short nonblocking access took long

	split *fileTask // of the split collective operation under way, nil if there is none
}

// Refusal is what the members of a file tell each other of the wrong arguments of one of them; nil if there are none.
func Refusal(err *Error) error {
	if err == nil {
		return nil
	}
	return &file.Error{Class: err.Class, Text: err.Text}
}

// OpenFile opens a file for the members of c, all of which call it. refused is what is wrong with the arguments of this
// one. All members get an error, or none.
func (c *Comm) OpenFile(fs file.FileSystem, name string, mode int, hints file.Hints, refused *Error) (*File, error) {
	m, err := c.takeFileMembers(refused)
	if err != nil {
		return nil, err
	}
	f := &File{engine: c.engine, members: m, hints: hints}
	if f.file, err = file.Open(m, fs, name, mode, hints); err != nil {
		m.release()
		return nil, err
	}
	return f, nil
}

// Close closes the file when all that is under way is done.
func (f *File) Close() error {
	e := f.engine
	e.mu.Lock()
	err := f.await(f.quiet)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	err = f.file.Close()
	f.members.release()
	return err
}

// Group is the group of the members.
func (f *File) Group() *Group { return f.members.comm.Group() }

// String names the file for messages.
func (f *File) String() string { return f.file.Name() }

// Name, Mode and Hints are those of the open file, in force.
func (f *File) Name() string       { return f.file.Name() }
func (f *File) Mode() int          { return f.file.Mode() }
func (f *File) Hints() []file.Hint { return f.file.Hints() }
func (f *File) View() file.View    { return f.file.View() }
func (f *File) Atomic() bool       { return f.file.Atomic() }
func (f *File) First() bool        { return f.members.Rank() == 0 }

// The following are package file's, which says what they do. Those that all members call wait for collective operations
// under way.
func (f *File) Size() (int64, error)                { return f.file.Size() }
func (f *File) SeekTo(off int64, whence int) error  { return f.file.SeekTo(off, whence) }
func (f *File) Position() (int64, error)            { return f.file.Position() }
func (f *File) PositionShared() (int64, error)      { return f.file.PositionShared() }
func (f *File) ByteOffset(off int64) (int64, error) { return f.file.ByteOffset(off) }

func (f *File) SetSize(n int64) error { return f.inTurn(func() error { return f.file.SetSize(n) }) }
func (f *File) Preallocate(n int64) error {
	return f.inTurn(func() error { return f.file.Preallocate(n) })
}
func (f *File) Sync() error { return f.inTurn(f.file.Sync) }
func (f *File) SetAtomic(on bool) error {
	return f.inTurn(func() error { return f.file.SetAtomic(on) })
}
func (f *File) SeekShared(off int64, whence int) error {
	return f.inTurn(func() error { return f.file.SeekShared(off, whence) })
}

// Given are the hints that this member has given, to which others may be added.
func (f *File) Given() file.Hints { return f.hints }

// SetHints replaces the hints; those of the first member hold.
func (f *File) SetHints(h file.Hints) error {
	f.hints = h
	return f.inTurn(func() error { return f.file.SetHints(h) })
}

// SetView gives this member a view, and the file hints. refused is what is wrong with the arguments.
func (f *File) SetView(v file.View, h file.Hints, refused *Error) error {
	err := f.inTurn(func() error { return f.file.SetView(v.Disp, v.Etype, v.Filetype, v.Rep, Refusal(refused)) })
	if err == nil {
		err = f.compareViews()
	}
	if err != nil {
		return err
	}
	return f.SetHints(h)
}

// Do carries an access out, and returns how many bytes it has moved, counted as they are in memory.
func (f *File) Do(a *file.Access) (n int64, err error) {
	if !a.Collective {
		return f.file.Do(a)
	}
	err = f.inTurn(func() error {
		n, err = f.file.Do(a)
		return err
	})
	return n, err
}

// Start starts an access, and returns its request; none for one that is refused, which the other members then learn.
// name is the function's.
func (f *File) Start(name string, a file.Access) (uint64, error) {
	op, err := f.file.Prepare(a)
	if err != nil {
		return nullRequest, err
	}
	if a.Refused != nil {
		f.enqueue(f.compared(name, a, op.Run))
		return nullRequest, a.Refused
	}
	switch {
	case !f.short(a):
		return f.begin(a, f.compared(name, a, op.Run)).request.id, nil
	case f.slow.Load():
		return f.begin(a, func() (int64, error) { return f.timed(op.Run) }).request.id, nil
	}
	return f.complete(f.timed(op.Run)), nil
}

// Begin begins a split collective access, and End ends it. name is the function's.
func (f *File) Begin(name string, a file.Access) error {
	if err := f.Agree(name, nil); err != nil {
		return err
	}
	prepare := func() (op *file.Op, err error) { return f.file.Prepare(a) }
	if a.Where == file.Ordered { // all members prepare it together
		prepare = func() (op *file.Op, err error) {
			err = f.inTurn(func() error {
				op, err = f.file.Prepare(a)
				return err
			})
			return op, err
		}
	}
	op, err := prepare()
	if err != nil {
		return err
	}
	t := f.enqueue(op.Run)
	if a.Refused != nil {
		return a.Refused
	}
	f.split = t
	return nil
}

// End waits for the split collective access under way, and returns what Do does.
func (f *File) End() (int64, error) {
	t := f.split
	f.split = nil
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := f.await(func() bool { return t.done }); err != nil {
		return 0, err
	}
	return t.bytes, t.err
}
