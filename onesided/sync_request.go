package onesided

// Synchronization by requests, where the members of a window do not share memory. All functions take the engine's lock.

// tells sends a request that is answered by nothing, unless a flush asks for it.
func (w *Window) tells(to int, k Kind) {
	w.requests.targets[to].changed = true
	w.asksFor(to, &Request{Kind: k}, nil)
}

// tellPost tells a group that it may access this process.
func (w *Window) tellPost(group []int) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	for _, r := range group {
		w.requests.origins[r].exposed++
		if r == w.me {
			w.requests.targets[r].posted++
			w.engine.Ring()
		} else {
			w.tells(r, TellPost)
		}
	}
	return w.engine.Failure()
}

// awaitPosts returns when all of a group have let this process in.
func (w *Window) awaitPosts(group []int, unasked bool) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	for _, r := range group {
		t := &w.requests.targets[r]
		if t.started++; !unasked && t.posted < t.started {
			w.engine.WaitFor((*isOpen)(t))
		}
	}
	return w.engine.Failure()
}

// tellComplete tells a group that this process is done, and returns when its own memory is no more in use.
func (w *Window) tellComplete(group []int) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	for _, r := range group {
		if r == w.me {
			w.requests.origins[r].completed++
			w.engine.Ring()
		} else {
			w.tells(r, TellComplete)
		}
	}
	for _, r := range group {
		if t := &w.requests.targets[r]; t.open > 0 {
			w.engine.WaitFor((*isSent)(t))
		}
	}
	return w.engine.Failure()
}

// awaitCompletes returns when a group is done, and completed says whether it is.
func (w *Window) awaitCompletes(group []int) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	w.engine.WaitFor(&areComplete{w, group})
	return w.engine.Failure()
}

func (w *Window) completed(group []int) bool {
	w.engine.Lock()
	defer w.engine.Unlock()
	return (&areComplete{w, group}).Holds()
}

// areComplete is what MPI_Win_wait waits for.
type areComplete struct {
	w     *Window
	group []int
}

func (a *areComplete) Holds() bool {
	for _, r := range a.group {
		if o := &a.w.requests.origins[r]; o.completed < o.exposed {
			return false
		}
	}
	return true
}

// askLock returns when this process has the lock of a target.
func (w *Window) askLock(to int, exclusive bool) error {
	t := &w.requests.targets[to]
	w.engine.Lock()
	defer w.engine.Unlock()
	t.asked++
	if to == w.me {
		w.queue(to, exclusive)
	} else {
		kind := AskLock
		if exclusive {
			kind = AskExclusive
		}
		w.asksFor(to, &Request{Kind: kind}, nil)
	}
	w.engine.WaitFor((*isHeld)(t))
	return w.engine.Failure()
}

// tellUnlock gives it back.
func (w *Window) tellUnlock(to int) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	if to == w.me {
		w.unlocked(to)
	} else {
		w.tells(to, TellUnlock)
	}
	return w.engine.Failure()
}
