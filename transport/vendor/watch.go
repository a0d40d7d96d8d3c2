package vendor

import (
	"sync"
	"syscall"
	"time"
)

// Another MPI library cannot wake anybody. So while a thread of the program sleeps, or has left a long message under
// way, a goroutine, the watcher, has the engine poll now and then: soon at first, and more and more seldom, so that a
// message is noticed late by a fraction of the time for which it was awaited. It naps for an eighth of that time, and
// for a time between these. Likewise while the library has packets that it could not send yet: it does so only when it
// is called, and for their senders they are sent. Else there is no watcher.
const (
	shortNap = 50 * time.Microsecond
	longNap  = 10 * time.Millisecond
	napShare = 8
	// timerNap is the shortest nap for which Go's timers will do: those of an idle process are late by up to that.
	timerNap = time.Millisecond
)

type watch struct {
	mu    sync.Mutex
	since time.Time // the last Arm or leave, or traffic that the watcher has found
	waits bool      // somebody waits
	left  bool      // the library has packets that it has not sent
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
	w.waits = true
	t.begin()
}

// begin has the watcher look soon. Under mu.
func (t *Transport) begin() {
	w := &t.watch
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

// leave tells the watcher whether the library has packets that it has not sent. Mostly the next poll sends them.
func (t *Transport) leave(some bool) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left = some; some && (!w.runs || time.Since(w.since) > napShare*timerNap) {
		t.begin()
	}
}

// Rest implements transport.Rester.
func (t *Transport) Rest() {
	t.watch.mu.Lock()
	defer t.watch.mu.Unlock()
	t.watch.waits = false
}

// look is the watcher. While others poll it leaves the polling to them, and naps for longer: they need the core.
func (t *Transport) look() {
	w := &t.watch
	timer := time.NewTimer(timerNap)
	defer timer.Stop()
	for busy := false; ; {
		nap, ok := w.next()
		if !ok {
			return
		}
		if busy {
			nap = max(nap, timerNap)
		}
		seen := t.polls.Load()
		slept := w.sleep(nap, timer)
		if busy = slept && t.polls.Load() != seen; slept && !busy {
			worked := t.worked.Load()
			t.wake()
			if t.worked.Load() != worked {
				w.renew()
			}
		}
	}
}

// sleep returns after a nap. false: it was called from it.
func (w *watch) sleep(nap time.Duration, timer *time.Timer) bool {
	if nap < timerNap {
		ts := syscall.NsecToTimespec(int64(nap))
		_ = syscall.Nanosleep(&ts, nil) // a signal may end it early
		return true
	}
	timer.Reset(nap)
	select {
	case <-timer.C:
		return true
	case <-w.kick:
	case <-w.ended:
	}
	return false
}

// next is how long the watcher naps now; false: it is not wanted any more.
func (w *watch) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = (w.waits || w.left) && !w.over
	shortest := shortNap
	if !w.waits {
		shortest = timerNap
	}
	return min(max(time.Since(w.since)/napShare, shortest), longNap), w.runs
}

// renew is for a watcher that has found traffic: more may follow soon.
func (w *watch) renew() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
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
