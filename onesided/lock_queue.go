package onesided

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
	q := &w.requests.lock
	w.requests.origins[rank].lock = lockFree
	q.holders--
	q.exclusive = false
	w.grant()
}

// grant gives the lock to those who may have it now.
func (w *Window) grant() {
	q := &w.requests.lock
	for len(q.waiting) > 0 {
		next := q.waiting[0]
		if q.exclusive || next.exclusive && q.holders > 0 {
			return
		}
		q.waiting = append(q.waiting[:0], q.waiting[1:]...)
		q.holders++
		q.exclusive = next.exclusive
		w.requests.origins[next.rank].lock = lockGranted
		if next.rank != w.me {
			w.asksFor(next.rank, &Request{Kind: TellGranted}, nil)
			continue
		}
		w.requests.targets[next.rank].granted++
		w.engine.Ring()
	}
}
