package file

import (
	"sync/atomic"
	"time"
)

// Queued is an open file, accesses to which may be under way while the program goes on.
//
//	independent: blocking    -> on the calling thread
//	             nonblocking -> at once if it is short, else a goroutine of the process's pool (queue.go)
//	collective:  blocking    -> after those before it, on the calling thread
//	             nonblocking, split -> the file's queue: one at a time, in the order of calls, on a goroutine
//
// All members call the collective ones in the same order. They use what the members share (Members), so that one runs
// at a time. What is not here is File's, and waits for nobody.
type Queued struct {
	*File
	queue   Queue
	checker Checker
	release func()
	given   Hints // by this member; the first one's hold

	// Where calls are verified: the members' views differ, so that the shared pointer means different things to them.
	differ atomic.Bool

	slow atomic.Bool // the last short nonblocking access took long

	split *task // of the split collective operation under way, nil if there is none
}

// OpenQueued opens a file, as Open does, in a process.
func OpenQueued(p Process, m Members, system FileSystem, name string, mode int, hints Hints) (*Queued, error) {
	f, err := Open(m, system, name, mode, hints)
	if err != nil {
		p.Release()
		return nil, err
	}
	return &Queued{File: f, queue: Queue{engine: p.Engine, pool: p.Pool}, checker: p.Checker, release: p.Release,
		given: hints}, nil
}

// Close closes the file when all accesses under way are done. If a process is lost that one of them waits for, the file
// stays open.
func (f *Queued) Close() error {
	if err := f.queue.rest(); err != nil {
		return err
	}
	err := f.File.Close()
	f.release()
	return err
}

// Abandon closes the file in this process alone, which other members have not opened.
func (f *Queued) Abandon() {
	f.storage.Close()
	f.release()
}

// String names the file for messages.
func (f *Queued) String() string { return f.Name() }

// Given returns the hints that this member has given, to which others may be added.
func (f *Queued) Given() Hints { return f.given }

// SetSize and the following are File's, after the collective operations under way.
func (f *Queued) SetSize(n int64) error {
	return f.queue.inTurn(func() error { return f.File.SetSize(n) })
}

// Preallocate is File's, in turn.
func (f *Queued) Preallocate(n int64) error {
	return f.queue.inTurn(func() error { return f.File.Preallocate(n) })
}

// Sync is File's, in turn.
func (f *Queued) Sync() error { return f.queue.inTurn(f.File.Sync) }

// SetAtomic is File's, in turn.
func (f *Queued) SetAtomic(on bool) error {
	return f.queue.inTurn(func() error { return f.File.SetAtomic(on) })
}

// SeekShared is File's, in turn.
func (f *Queued) SeekShared(off int64, whence int) error {
	return f.queue.inTurn(func() error { return f.File.SeekShared(off, whence) })
}

// SetHints replaces the hints; those of the first member hold.
func (f *Queued) SetHints(h Hints) error {
	f.given = h
	return f.queue.inTurn(func() error { return f.File.SetHints(h) })
}

// SetView gives this member a view, and the file hints. refused is what is wrong with the arguments, or nil.
func (f *Queued) SetView(v View, h Hints, refused error) error {
	err := f.queue.inTurn(func() error { return f.File.SetView(v.Disp, v.Etype, v.Filetype, v.Rep, refused) })
	if err == nil {
		err = f.compareViews()
	}
	if err != nil {
		return err
	}
	return f.SetHints(h)
}

// Do carries an access out, and returns how many bytes it has moved, counted as they are in memory.
func (f *Queued) Do(a *Access) (n int64, err error) {
	if !a.Collective {
		return f.File.Do(a)
	}
	err = f.queue.inTurn(func() error {
		n, err = f.File.Do(a)
		return err
	})
	return n, err
}

// Start starts an access, and returns its request; none for one that is refused, which the other members then learn.
// name is the function's.
func (f *Queued) Start(name string, a Access) (uint64, error) {
	op, err := f.Prepare(a)
	if err != nil {
		return noRequest, err
	}
	if a.Refused != nil {
		f.queue.enqueue(f.compared(name, a, op.Run))
		return noRequest, a.Refused
	}
	switch {
	case !f.short(a):
		return f.queue.begin(a.Collective, f.compared(name, a, op.Run)), nil
	case f.slow.Load():
		return f.queue.begin(false, func() (int64, error) { return f.timed(op.Run) }), nil
	}
	return f.queue.complete(f.timed(op.Run)), nil
}

// Begin begins a split collective access, and End ends it. name is the function's.
func (f *Queued) Begin(name string, a Access) error {
	if err := f.Agree(name, nil); err != nil {
		return err
	}
	prepare := func() (op *Op, err error) { return f.Prepare(a) }
	if a.Where == Ordered { // all members prepare it together
		prepare = func() (op *Op, err error) {
			err = f.queue.inTurn(func() error {
				op, err = f.Prepare(a)
				return err
			})
			return op, err
		}
	}
	op, err := prepare()
	if err != nil {
		return err
	}
	t := f.queue.enqueue(op.Run)
	if a.Refused != nil {
		return a.Refused
	}
	f.split = t
	return nil
}

// End waits for the split collective access under way, and returns what Do does.
func (f *Queued) End() (int64, error) {
	t := f.split
	f.split = nil
	return f.queue.result(t)
}

// Short accesses are carried out at once, as long as the last of them was: in the page cache they take less time than
// it takes to wake a thread.
const (
	shortAccess = 64 << 10 // bytes
	longTime    = 100 * time.Microsecond
)

// short reports whether an access is one of those.
func (f *Queued) short(a Access) bool {
	return !a.Collective && a.Buf.Size() <= shortAccess && !f.Atomic()
}

// timed carries out a short access, and notes whether the next had better have a thread.
func (f *Queued) timed(run func() (int64, error)) (int64, error) {
	began := time.Now()
	n, err := run()
	f.slow.Store(time.Since(began) > longTime)
	return n, err
}
