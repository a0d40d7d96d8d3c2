package onesided

import (
	"cmp"

	"github.com/libimpi/libimpi/abi"
)

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

// ended changes the state of the window after a call.
func (w *Window) ended(f func(*Epochs)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.epochs)
}

// Fence is MPI_Win_fence.
func (w *Window) Fence(assert int) error {
	if err := w.guarded((*Epochs).Fence); err != nil {
		return err
	}
	first, last := assert&abi.MPI_MODE_NOPRECEDE != 0, assert&abi.MPI_MODE_NOSUCCEED != 0
	err := w.fence(first)
	if err != nil && !w.Broken() {
		return err
	}
	w.inFence.Store(w.counts && !last)
	w.ended(func(s *Epochs) { s.Fenced(last) })
	return err
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

// Post is MPI_Win_post for members of the window, by their ranks in it. That some of them are lost, Wait and Test say.
func (w *Window) Post(group []int, assert int) error {
	if err := w.losses.revocation(); err != nil {
		return err
	}
	if err := w.guarded(func(s *Epochs) *Error { return s.Post(group) }); err != nil {
		return err
	}
	return w.sync.post(group, assert&abi.MPI_MODE_NOCHECK != 0)
}

// Start is MPI_Win_start. That some of the group are lost, communication with them says, and Complete.
func (w *Window) Start(group []int, assert int) error {
	if err := w.losses.revocation(); err != nil {
		return err
	}
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
	err = w.sync.complete(group)
	w.ended((*Epochs).Completed)
	return err
}

// Wait is MPI_Win_wait.
func (w *Window) Wait() error {
	group, err := w.posted("MPI_Win_wait")
	if err != nil {
		return err
	}
	err = w.sync.wait(group)
	w.ended((*Epochs).Waited)
	return err
}

// Test is MPI_Win_test.
func (w *Window) Test() (bool, error) {
	group, err := w.posted("MPI_Win_test")
	if err != nil {
		return false, err
	}
	w.engine.Turn()
	if w.sync.test(group) {
		w.ended((*Epochs).Waited)
		return true, w.lostOf(group)
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
	err := w.take(target, h)
	if err != nil {
		w.ended(func(s *Epochs) { s.Unlocked(target) })
	}
	return err
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
			for held := range r {
				w.giveUp(held, h) // the first error counts
			}
			w.ended((*Epochs).UnlockedAll)
			return err
		}
	}
	return nil
}

// take waits for a lock.
func (w *Window) take(target int, h Hold) error {
	if h == Unchecked {
		return w.losses.in(target)
	}
	return w.sync.lock(target, h == Exclusive)
}

// giveUp ends a lock when all that it was for is done.
func (w *Window) giveUp(target int, h Hold) error {
	err := w.flush(target)
	if h == Unchecked || err != nil && w.lost(target) != nil {
		return err
	}
	return cmp.Or(err, w.sync.unlock(target, h == Exclusive))
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
	w.ended(func(s *Epochs) { s.Unlocked(target) })
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
	w.ended((*Epochs).UnlockedAll)
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
	var err error
	for r := range w.parts {
		err = cmp.Or(err, w.flushLocal(r))
	}
	return err
}
