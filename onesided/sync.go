package onesided

import "github.com/libimpi/libimpi/abi"

// Synchronization of windows (MPI 5.0, 12.5). Each call asks the state of the window, completes what the epoch has
// under way, and tells the others, by words or by requests.

// synchronization is how the members of a window synchronize, by words of memory (byWords) or by requests (byRequests).
// Errors: a member is lost.
type synchronization interface {
	// post lets a group access this process. start waits until all of a group have let this process in, unless the
	// program knows that without asking (MPI_MODE_NOCHECK on both sides).
	post(group []int, unasked bool) error
	start(group []int, unasked bool) error
	// complete ends what start has begun, and returns when this process's memory is no more in use by it. The group does
	// not hear of it before all is done that it has been asked for. wait returns when a group has completed what post has
	// begun, and test reports whether it has.
	complete(group []int) error
	wait(group []int) error
	test(group []int) bool
	// lock waits for the lock of a target, and unlock gives it back. All is done for which it was.
	lock(target int, exclusive bool) error
	unlock(target int, exclusive bool) error
}

// guarded calls f with the state of the window.
func (w *Window) guarded(f func(*Epochs) *Error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := f(w.epochs); err != nil {
		return err
	}
	return nil
}

// Fence is MPI_Win_fence.
func (w *Window) Fence(assert int) error {
	if err := w.guarded((*Epochs).Fence); err != nil {
		return err
	}
	first, last := assert&abi.MPI_MODE_NOPRECEDE != 0, assert&abi.MPI_MODE_NOSUCCEED != 0
	if err := w.fence(first); err != nil {
		return err
	}
	w.inFence.Store(w.counts && !last)
	return w.guarded(func(s *Epochs) *Error {
		s.Fenced(last)
		return nil
	})
}

// fence completes the epoch that a fence ends, if there may be one, and lets the members begin another one.
func (w *Window) fence(first bool) error {
	if w.counts {
		return w.fenceByCounts(first)
	}
	if err := w.flushAll(); err != nil {
		return err
	}
	return w.barrier()
}

// Post is MPI_Win_post for members of the window, by their ranks in it.
func (w *Window) Post(group []int, assert int) error {
	if err := w.guarded(func(s *Epochs) *Error { return s.Post(group) }); err != nil {
		return err
	}
	return w.sync.post(group, assert&abi.MPI_MODE_NOCHECK != 0)
}

// Start is MPI_Win_start.
func (w *Window) Start(group []int, assert int) error {
	if err := w.guarded(func(s *Epochs) *Error { return s.Start(group) }); err != nil {
		return err
	}
	w.inFence.Store(false)
	return w.sync.start(group, assert&abi.MPI_MODE_NOCHECK != 0)
}

// Complete is MPI_Win_complete.
func (w *Window) Complete() (err error) {
	var group []int
	err = w.guarded(func(s *Epochs) (bad *Error) {
		group, bad = s.Started()
		return bad
	})
	if err != nil {
		return err
	}
	if err := w.sync.complete(group); err != nil {
		return err
	}
	w.mu.Lock()
	w.epochs.Completed()
	w.mu.Unlock()
	return nil
}

// Wait is MPI_Win_wait.
func (w *Window) Wait() error {
	group, err := w.posted("MPI_Win_wait")
	if err != nil {
		return err
	}
	if err := w.sync.wait(group); err != nil {
		return err
	}
	w.waited()
	return nil
}

// Test is MPI_Win_test.
func (w *Window) Test() (bool, error) {
	group, err := w.posted("MPI_Win_test")
	if err != nil {
		return false, err
	}
	w.engine.Turn()
	if w.sync.test(group) {
		w.waited()
		return true, nil
	}
	return false, w.engine.Failure()
}

func (w *Window) posted(call string) (group []int, err error) {
	err = w.guarded(func(s *Epochs) (bad *Error) {
		group, bad = s.Posted(call)
		return bad
	})
	return group, err
}

func (w *Window) waited() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epochs.Waited()
}

// holdOf is how MPI_Win_lock and MPI_Win_lock_all hold a target.
func holdOf(exclusive bool, assert int) Hold {
	switch {
	case assert&abi.MPI_MODE_NOCHECK != 0:
		return Unchecked
	case exclusive:
		return Exclusive
	}
	return Shared
}

// Lock is MPI_Win_lock.
func (w *Window) Lock(target int, exclusive bool, assert int) error {
	h := holdOf(exclusive, assert)
	if err := w.guarded(func(s *Epochs) *Error { return s.Lock(target, h) }); err != nil {
		return err
	}
	w.inFence.Store(false)
	return w.take(target, h)
}

// LockAll is MPI_Win_lock_all: a shared lock of each target, in the order of ranks.
func (w *Window) LockAll(assert int) error {
	h := holdOf(false, assert)
	if err := w.guarded(func(s *Epochs) *Error { return s.LockAll(h) }); err != nil {
		return err
	}
	w.inFence.Store(false)
	for r := range w.parts {
		if err := w.take(r, h); err != nil {
			return err
		}
	}
	return nil
}

// take waits for a lock.
func (w *Window) take(target int, h Hold) error {
	if h == Unchecked {
		return nil
	}
	return w.sync.lock(target, h == Exclusive)
}

// giveUp ends a lock when all that it was for is done.
func (w *Window) giveUp(target int, h Hold) error {
	if err := w.flush(target); err != nil {
		return err
	}
	if h == Unchecked {
		return nil
	}
	return w.sync.unlock(target, h == Exclusive)
}

// Unlock is MPI_Win_unlock.
func (w *Window) Unlock(target int) error {
	var h Hold
	err := w.guarded(func(s *Epochs) (bad *Error) {
		h, bad = s.Locked(target)
		return bad
	})
	if err != nil {
		return err
	}
	err = w.giveUp(target, h)
	w.mu.Lock()
	w.epochs.Unlocked(target)
	w.mu.Unlock()
	return err
}

// UnlockAll is MPI_Win_unlock_all.
func (w *Window) UnlockAll() error {
	var h Hold
	err := w.guarded(func(s *Epochs) (bad *Error) {
		h, bad = s.LockedAll()
		return bad
	})
	if err != nil {
		return err
	}
	err = w.flushAll()
	for r := range w.parts {
		if bad := w.giveUp(r, h); err == nil {
			err = bad
		}
	}
	w.mu.Lock()
	w.epochs.UnlockedAll()
	w.mu.Unlock()
	return err
}

// Flush is MPI_Win_flush, or MPI_Win_flush_local if local says so.
func (w *Window) Flush(target int, local bool, call string) error {
	if err := w.guarded(func(s *Epochs) *Error { return s.Flush(target, call) }); err != nil {
		return err
	}
	if local {
		return w.flushLocal(target)
	}
	return w.flush(target)
}

// FlushAll is Flush for all targets.
func (w *Window) FlushAll(local bool, call string) error {
	if err := w.guarded(func(s *Epochs) *Error { return s.FlushAll(call) }); err != nil {
		return err
	}
	if !local {
		return w.flushAll()
	}
	for r := range w.parts {
		if err := w.flushLocal(r); err != nil {
			return err
		}
	}
	return nil
}
