package onesided

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// The loss of a member, and the revocation of a window (docs/failure.md). The engine tells the window, which goes on
// among the members that are left:
//
//	Lost, Revoke -> C leaves the window to Go -> what waits for a lost member ends (the conditions of flush.go, vain)
//	             -> who holds or awaits the lock of this process by requests is looked through (lock_queue.go)
//	a call of communication with a lost target raises; so does each call of synchronization that involves one, when it
//	has done all that it does for the others: the epoch is over then as it would be otherwise
//
// What a dead process may leave behind in shared memory:
//
//	its fence, its posts and its completions  words that rise no more: waits for them end
//	a lock that it has, or waits for          nobody gets that lock any more: it raises. A member says that it is about
//	                                          to queue before it takes a ticket (Words.locking), as nobody could tell
//	                                          afterwards which ticket was whose
//	the accumulate lock of a member           it names its holder, and whoever finds it held by a lost one takes it over
//
// Memory that a lost process was changing is what it has left it, element by element.

// losses are the members of a window that are lost. They are set under the engine's lock, and read without.
type losses struct {
	first   atomic.Pointer[Error]   // of a member, or the revocation; nil: all is well
	revoked atomic.Pointer[Error]   // nil: it is not
	of      []atomic.Pointer[Error] // by rank: why it is lost
}

func newLosses(n int) *losses { return &losses{of: make([]atomic.Pointer[Error], n)} }

// any is why a call that needs all members fails; nil if it does not.
func (l *losses) any() error {
	if first := l.first.Load(); first != nil {
		return first
	}
	return nil
}

// in is why a call that needs a member fails; nil if it does not.
func (l *losses) in(rank int) error {
	if l.first.Load() == nil {
		return nil
	}
	if revoked := l.revoked.Load(); revoked != nil {
		return revoked
	}
	if lost := l.of[rank].Load(); lost != nil {
		return lost
	}
	return nil
}

// revocation is the error of a revoked window; nil: it is not revoked.
func (l *losses) revocation() error {
	if revoked := l.revoked.Load(); revoked != nil {
		return revoked
	}
	return nil
}

// gone reports whether a member is lost. The rank may come from another process.
func (l *losses) gone(rank int) bool {
	return l.first.Load() != nil && rank >= 0 && rank < len(l.of) && l.of[rank].Load() != nil
}

// Lost notes that a member is lost, and why. Engine lock held.
func (w *Window) Lost(rank int, class int, text string) {
	why := errorf(class, "%s", text)
	if !w.losses.of[rank].CompareAndSwap(nil, why) {
		return
	}
	w.losses.first.CompareAndSwap(nil, why)
	w.hide()
	if q := &w.requests; q.targets != nil {
		q.targets[rank].gone, q.origins[rank].early = true, nil
		w.endEarly()
		w.breakLock(rank, why)
	}
}

// Revoke ends all that the window needs other members for, now and from now on. Engine lock held.
func (w *Window) Revoke(text string) {
	why := errorf(abi.MPIX_ERR_REVOKED, "%s", text)
	w.losses.revoked.Store(why)
	w.losses.first.Store(why)
	w.hide()
	for r := range w.requests.targets {
		w.requests.targets[r].gone = true
	}
}

// endEarly serves what has waited for a fence: none succeeds any more, after which it would be its turn.
func (w *Window) endEarly() {
	w.requests.lossy = true
	for r := range w.requests.origins {
		w.serveEarly(int32(r))
	}
}

// lost is why nothing can be had of a member; nil: it is there.
func (w *Window) lost(rank int) error {
	if err := w.losses.in(rank); err != nil {
		return err
	}
	return w.engine.Failure()
}

// failure is why a call that needs all members fails; nil if it does not.
func (w *Window) failure() error {
	if err := w.losses.any(); err != nil {
		return err
	}
	return w.engine.Failure()
}

// lostOf is why a call that needs some members fails; nil if it does not.
func (w *Window) lostOf(group []int) error {
	for _, r := range group {
		if err := w.lost(r); err != nil {
			return err
		}
	}
	return nil
}

// Broken reports whether the window has lost members, or is revoked: the job may go on, without the window.
func (w *Window) Broken() bool { return w.losses.first.Load() != nil }
