package onesided

// When requests are done, at this process or at their target. A target answers a flush when all is done that has been
// asked of it before. Functions run under the engine's lock, but for those that take it.

// change notes that a request is on its way whose end only the target knows. The first of some asks for the flush at
// once: a program that calls one as a rule waits for one answer then, and not for another one after that. A fence that
// counts waits for none.
func (w *Window) change(t *target, r *Request) {
	if t.changed || !t.idle() || w.inFence.Load() {
		t.changed = true
		return
	}
	r.Tell = true
	t.flushes++
}

// askFlush asks a target to say when all is done that has been asked of it. It leaves together with what has gathered.
func (w *Window) askFlush(to int) {
	t := &w.requests.targets[to]
	if !t.changed {
		return
	}
	t.changed = false
	t.flushes++
	w.engine.Post(to)
	w.asksFor(to, &Request{Kind: AskFlush}, nil)
	w.engine.Posted(to)
}

// idle reports whether nothing is under way to a target.
func (t *target) idle() bool { return t.open == 0 && t.flushed >= t.flushes }

// What is waited for at a target: pointers, so that to wait allocates nothing.
type (
	isIdle  target
	isSent  target // this process's memory is no more in use
	hasRoom target // for copies
	isOpen  target // MPI_Win_post has been called there as often as MPI_Win_start here
	isHeld  target // its lock has been granted
)

func (t *isIdle) Holds() bool { return t.gone && t.open == 0 || (*target)(t).idle() }
func (t *isSent) Holds() bool { return t.open == 0 }
func (t *hasRoom) Holds() bool {
	return t.gone || t.copies <= copiesBytes && !(*target)(t).isTooFarAhead()
}
func (t *isOpen) Holds() bool { return t.gone || t.posted >= t.started }
func (t *isHeld) Holds() bool { return t.gone || t.granted >= t.asked }

// outcome is what has gone wrong at a target since the last time. Engine lock held.
func (w *Window) outcome(to int) error {
	t := &w.requests.targets[to]
	if err := t.failed; err != nil {
		t.failed = nil
		return err
	}
	return w.lost(to)
}

// flush returns when all communication with a target is done there.
func (w *Window) flush(to int) error {
	if !w.asks {
		return w.losses.in(to)
	}
	w.engine.Lock()
	defer w.engine.Unlock()
	w.askFlush(to)
	w.reach((*isIdle)(&w.requests.targets[to]))
	return w.outcome(to)
}

// reach awaits a condition. If it is true at once, the call makes progress nevertheless: a program may repeat it until
// another process has changed something, for which this one has to serve its requests. Engine lock held, given up
// meanwhile.
func (w *Window) reach(c Condition) {
	if c.Holds() {
		w.engine.Poll()
	} else {
		w.engine.WaitFor(c)
	}
}

// flushAll is flush for all targets at the same time.
func (w *Window) flushAll() (err error) {
	if !w.asks {
		return w.losses.any()
	}
	w.engine.Lock()
	defer w.engine.Unlock()
	for r := range w.requests.targets {
		w.askFlush(r)
	}
	waited := false
	for r := range w.requests.targets {
		if t := (*isIdle)(&w.requests.targets[r]); !t.Holds() {
			w.engine.WaitFor(t)
			waited = true
		}
		if bad := w.outcome(r); err == nil {
			err = bad
		}
	}
	if !waited {
		w.engine.Poll()
	}
	return err
}

// flushLocal returns when this process's memory is no more in use by communication with a target.
func (w *Window) flushLocal(to int) error {
	if !w.asks {
		return w.losses.in(to)
	}
	w.engine.Lock()
	defer w.engine.Unlock()
	w.reach((*isSent)(&w.requests.targets[to]))
	return w.lost(to)
}
