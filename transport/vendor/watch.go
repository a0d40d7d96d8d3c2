package vendor

import (
	"sync"
	"time"
)

// Another MPI library cannot wake anybody. So while a thread of the program sleeps, or has left a long message under
// way, a goroutine, the watcher, has the engine poll now and then: soon at first, and more and more seldom, so that a
// message is noticed late by a fraction of the time for which it was awaited. It naps for an eighth of that time, and
// for a time between these. While nobody waits there is no watcher.
const (
	shortNap = 50 * time.Microsecond
	longNap  = 10 * time.Millisecond
	napShare = 8

	// armTime is how long a call of Arm holds: longer than a thread sleeps at once (transport.Waker).
	armTime = 3 * time.Second
)

type watch struct {
	mu    sync.Mutex
	since time.Time // the last Arm; zero: nobody sleeps
	runs  bool
	over  bool
	kick  chan struct{} // tells it to nap no longer than a new wait demands
	ended chan struct{} // closed at the end
}

// Arm implements transport.Waker.
func (t *Transport) Arm() {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
	switch {
	case w.over:
	case !w.runs:
		w.runs = true
		go t.look()
	default:
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
}

// Rest implements transport.Rester.
func (t *Transport) Rest() {
	t.watch.mu.Lock()
	defer t.watch.mu.Unlock()
	t.watch.since = time.Time{}
}

// look is the watcher. While others poll it leaves the polling to them.
func (t *Transport) look() {
	w := &t.watch
	timer := time.NewTimer(shortNap)
	defer timer.Stop()
	for {
		seen := t.polls.Load()
		select {
		case <-timer.C:
			if t.polls.Load() == seen {
				t.wake()
			}
		case <-w.kick:
		case <-w.ended:
			return
		}
		nap, ok := w.next()
		if !ok {
			return
		}
		timer.Reset(nap)
	}
}

// next is how long the watcher naps now; false: it is not wanted any more.
func (w *watch) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waited := time.Since(w.since)
	w.runs = waited < armTime && !w.over
	return min(max(waited/napShare, shortNap), longNap), w.runs
}

// stop ends the watcher for good.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		close(w.ended)
	}
}
