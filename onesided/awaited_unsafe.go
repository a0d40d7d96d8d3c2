package onesided

import "unsafe"

// Whom a wait of synchronization is for, for whoever asks why a process does not go on.

// Awaited returns the rank for which a wait on a word of shared memory, or for a condition, is: who has to call
// MPI_Win_post or MPI_Win_complete or the fence, or whose lock is asked for. False: nobody has to call anything. It is
// called under the engine's lock.
func (w *Window) Awaited(word *uint64, c Condition) (rank int, ok bool) {
	switch c := c.(type) {
	case *isOpen:
		return w.targetAt((*target)(c))
	case *isHeld:
		return w.targetAt((*target)(c))
	case *areComplete:
		for _, r := range c.group {
			if o := &w.requests.origins[r]; o.completed < o.exposed {
				return r, true
			}
		}
	case nil:
		if word != nil && w.words != nil {
			return w.words.owner(word)
		}
	}
	return 0, false
}

// targetAt is the rank of a target.
func (w *Window) targetAt(t *target) (rank int, ok bool) {
	for r := range w.requests.targets {
		if &w.requests.targets[r] == t {
			return r, true
		}
	}
	return 0, false
}

// owner is the member that a word is of, or that writes it.
func (w *Words) owner(word *uint64) (rank int, ok bool) {
	at, size := uintptr(unsafe.Pointer(word)), unsafe.Sizeof(Member{})
	if first := uintptr(unsafe.Pointer(&w.members[0])); at >= first && at < first+uintptr(w.n)*size {
		return int((at - first) / size), true
	}
	for r := range w.n {
		if word == &w.posted[w.me*w.n+r] || word == w.targets[r].Completed {
			return r, true
		}
	}
	return 0, false
}
