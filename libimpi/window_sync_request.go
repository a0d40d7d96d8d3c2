package libimpi

import "github.com/libimpi/libimpi/onesided"

// Synchronization by requests, where the members of a window do not share memory. All functions take the engine's lock.

// tells sends a request that is answered by nothing, unless a flush asks for it.
func (w *Window) tells(to int, k onesided.Kind) {
	w.requests.targets[to].changed = true
	w.asksFor(to, &onesided.Request{Kind: k}, nil)
}

// tellPost tells a group that it may access this process.
func (w *Window) tellPost(group []int) error {
	e := w.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range group {
		w.requests.origins[r].exposed++
		if r == int(w.comm.rank) {
			w.requests.targets[r].posted++
			e.ring()
		} else {
			w.tells(r, onesided.TellPost)
		}
	}
	return w.failure()
}

// awaitPosts returns when all of a group have let this process in.
func (w *Window) awaitPosts(group []int, unasked bool) error {
	e := w.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range group {
		t := &w.requests.targets[r]
		if t.started++; !unasked && t.posted < t.started {
			w.await(func() bool { return t.posted >= t.started })
		}
	}
	return w.failure()
}

// tellComplete tells a group that this process is done, and returns when its own memory is no more in use.
func (w *Window) tellComplete(group []int) error {
	e := w.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range group {
		if r == int(w.comm.rank) {
			w.requests.origins[r].completed++
			e.ring()
		} else {
			w.tells(r, onesided.TellComplete)
		}
	}
	for _, r := range group {
		if t := &w.requests.targets[r]; t.open > 0 {
			w.await(func() bool { return t.open == 0 })
		}
	}
	return w.failure()
}

// awaitCompletes returns when a group is done, and completed says whether it is.
func (w *Window) awaitCompletes(group []int) error {
	e := w.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	w.await(func() bool { return w.areComplete(group) })
	return w.failure()
}

func (w *Window) completed(group []int) bool {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	return w.areComplete(group)
}

func (w *Window) areComplete(group []int) bool {
	for _, r := range group {
		if o := &w.requests.origins[r]; o.completed < o.exposed {
			return false
		}
	}
	return true
}

// askLock returns when this process has the lock of a target.
func (w *Window) askLock(to int, exclusive bool) error {
	e, t := w.engine, &w.requests.targets[to]
	e.mu.Lock()
	defer e.mu.Unlock()
	t.asked++
	if to == int(w.comm.rank) {
		w.queue(to, exclusive)
	} else {
		kind := onesided.AskLock
		if exclusive {
			kind = onesided.AskExclusive
		}
		w.asksFor(to, &onesided.Request{Kind: kind}, nil)
	}
	w.await(func() bool { return t.granted >= t.asked })
	return w.failure()
}

// tellUnlock gives it back.
func (w *Window) tellUnlock(to int) error {
	e := w.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if to == int(w.comm.rank) {
		w.unlocked(to)
	} else {
		w.tells(to, onesided.TellUnlock)
	}
	return w.failure()
}
