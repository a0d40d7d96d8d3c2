package onesided

import "slices"

// lockState is what an origin has of the lock of this process. It gives back only what it has been granted: the lock of
// one that waits is another's.
type lockState uint8

const (
	lockFree lockState = iota
	lockAsked
	lockGranted
)

// lockQueue is the lock of this process, where it is asked for by requests. All get it in the order in which they
// asked.
type lockQueue struct {
	holders   int
	exclusive bool
	waiting   []lockWanted
	broken    *Error // a holder is lost: nobody gets the lock any more
}

// failure is why nobody gets the lock; nil if they may.
func (q *lockQueue) failure() error {
	if q.broken != nil {
		return q.broken
	}
	return nil
}

type lockWanted struct {
	rank      int
	exclusive bool
}

// queue asks for the lock in the name of a member.
func (w *Window) queue(rank int, exclusive bool) {
	w.requests.origins[rank].lock = lockAsked
	w.requests.lock.waiting = append(w.requests.lock.waiting, lockWanted{rank, exclusive})
	w.grant()
}

// unlocked gives it back in the name of a member that has it.
func (w *Window) unlocked(rank int) {
	q, o := &w.requests.lock, &w.requests.origins[rank]
	o.lock = lockFree
	q.holders--
	q.exclusive = false
	if o.failed == nil && rank != w.me {
		o.failed = q.broken
	}
	w.grant()
}

// breakLock looks for a member that is lost among those that have the lock or wait for it. One that waits leaves the
// queue.
func (w *Window) breakLock(rank int, why *Error) {
	q, o := &w.requests.lock, &w.requests.origins[rank]
	if o.lock == lockGranted && q.broken == nil {
		q.broken = why
	}
	o.lock = lockFree
	q.waiting = slices.DeleteFunc(q.waiting, func(l lockWanted) bool { return l.rank == rank })
	w.grant()
}

// grant gives the lock to those who may have it now.
func (w *Window) grant() {
	q := &w.requests.lock
	for len(q.waiting) > 0 {
		next := q.waiting[0]
		if q.broken == nil && (q.exclusive || next.exclusive && q.holders > 0) {
			return
		}
		q.waiting = append(q.waiting[:0], q.waiting[1:]...)
		if q.broken != nil {
			w.requests.origins[next.rank].lock = lockFree
		} else {
			q.holders++
			q.exclusive = next.exclusive
			w.requests.origins[next.rank].lock = lockGranted
		}
		w.tellGranted(next.rank)
	}
}

// tellGranted tells a member that it has the lock, or that nobody gets it.
func (w *Window) tellGranted(rank int) {
	q := &w.requests.lock
	if rank != w.me {
		r := Request{Kind: TellGranted}
		r.fails(q.broken)
		w.asksFor(rank, &r, nil)
		return
	}
	t := &w.requests.targets[rank]
	t.granted++
	t.refused = q.failure()
	w.engine.Ring()
}
