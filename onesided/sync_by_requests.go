package onesided

// byRequests is synchronization by requests, where the members of a window do not share memory. All methods take the
// engine's lock, but for tells, which runs under it.
type byRequests struct{ *Window }

// tells sends a request that is answered by nothing, unless a flush asks for it.
func (w byRequests) tells(to int, k Kind) {
	w.requests.targets[to].changed = true
	w.asksFor(to, &Request{Kind: k}, nil)
}

// post tells a group that it may access this process. Who does not ask need not be told now: the next that are told
// learn how many there have been.
func (w byRequests) post(group []int, unasked bool) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	for _, r := range group {
		o, t := &w.requests.origins[r], &w.requests.targets[r]
		switch o.exposed++; {
		case r == w.me:
			t.posted = o.exposed
			w.engine.Ring()
		case !unasked:
			t.changed = true
			w.asksFor(r, &Request{Kind: TellPost, Disp: int64(o.exposed)}, nil)
		}
	}
	return w.engine.Failure()
}

// start returns when all of a group that are not lost have let this process in.
func (w byRequests) start(group []int, unasked bool) error {
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

// complete tells a group that this process is done, and returns when its own memory is no more in use.
func (w byRequests) complete(group []int) error {
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
	return w.lostOf(group)
}

// wait returns when a group is done, and test reports whether it is.
func (w byRequests) wait(group []int) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	w.engine.WaitFor(&areComplete{w.Window, group})
	return w.lostOf(group)
}

func (w byRequests) test(group []int) bool {
	w.engine.Lock()
	defer w.engine.Unlock()
	return (&areComplete{w.Window, group}).Holds()
}

// areComplete is what MPI_Win_wait waits for.
type areComplete struct {
	w     *Window
	group []int
}

func (a *areComplete) Holds() bool {
	for _, r := range a.group {
		if o := &a.w.requests.origins[r]; o.completed < o.exposed && !a.w.requests.targets[r].gone {
			return false
		}
	}
	return true
}

// lock returns when this process has the lock of a target.
func (w byRequests) lock(to int, exclusive bool) error {
	t := &w.requests.targets[to]
	w.engine.Lock()
	defer w.engine.Unlock()
	if err := w.lost(to); err != nil {
		return err
	}
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
	if err := t.refused; err != nil {
		t.refused = nil
		return err
	}
	return w.lost(to)
}

// unlock gives it back. Where members are lost it asks whether one of them has the lock, or has had it.
func (w byRequests) unlock(to int, _ bool) error {
	w.engine.Lock()
	defer w.engine.Unlock()
	if to == w.me {
		w.unlocked(to)
		return w.requests.lock.failure()
	}
	w.tells(to, TellUnlock)
	if w.Broken() {
		w.askFlush(to)
		w.engine.WaitFor((*isIdle)(&w.requests.targets[to]))
		return w.outcome(to)
	}
	return w.engine.Failure()
}
