package libimpi

import "github.com/libimpi/libimpi/abi"

// The loss of a guest ends what needs it, and the job goes on (docs/failure.md). These end with an error that
// names the guest:
//
//   - messages to it and from it;
//   - on communicators that it belongs to: receives from any source, and everything of collective operations, as other
//     members may have waited for it and then given up, too. So do windows and files, which are made of these.
//
// Messages that are under way between others end as they would: their other ends count on it. A send of a collective
// operation that its receiver may never ask for is cancelled.

// guestLost notes that a guest is gone.
func (e *Engine) guestLost(p *peer, err error) {
	g := p.guest
	if g.lost != nil {
		return
	}
	lost := errorf(abi.MPI_ERR_PROC_ABORTED, "%v, a process of another job, is lost: %v", g.Identity, err)
	e.contexts.all(func(ctx *context) {
		if c := ctx.comm; c.foreigners.lost == nil && c.sourceOf(p.Rank) >= 0 {
			c.lose(lost)
		}
	})
	e.without(p, lost)
}

// noticeParted looks for guests that have ended their links in order, which a process does when it needs this one no
// more: what still waits for such a one waits in vain.
func (e *Engine) noticeParted() {
	e.guests.all(func(p *peer) {
		if g := p.guest; g.lost == nil && g.parter != nil && g.parter.Parted(p.Rank) {
			e.without(p, errorf(abi.MPI_ERR_PROC_ABORTED, "%v, a process of another job, has ended the connection",
				g.Identity))
		}
	})
}

// without goes on without a guest.
func (e *Engine) without(p *peer, lost *Error) {
	g := p.guest
	g.lost, p.tr = lost, nil
	p.DropControls()
	e.adoptQuick()
	for i := 0; i < len(e.requests.slots); i++ { // there may be more of them soon
		if r := e.requests.slots[i]; r != nil && r.kind != noRequest && r.state.active && !r.state.done {
			if err := e.hopeless(r); err != nil {
				e.giveUp(r, err)
			}
		}
	}
	if !g.leaving {
		g.leaving = true
		e.guests.leaving = append(e.guests.leaving, p)
	}
	e.ring()
}

// lose notes that a member of the communicator is gone.
func (c *Comm) lose(err *Error) {
	for _, one := range [...]*Comm{c, c.inter.local, c.inter.beside} {
		if one != nil && one.foreigners.lost == nil {
			one.foreigners.lost = err
			one.foreigners.gone.Store(err)
			if one.Bridge != nil && one.engine.loss.onGone != nil {
				one.engine.loss.onGone(one)
			}
		}
	}
}

// all calls f with each context.
func (t *contextTable) all(f func(*context)) {
	for _, c := range t.low {
		if c != nil {
			f(c)
		}
	}
	for _, c := range t.high {
		f(c)
	}
}

// hopeless returns the error of a request that can no longer complete, or must not be waited for; nil if it may be.
func (e *Engine) hopeless(r *Request) *Error {
	if r.kind != sendRequest && r.kind != recvRequest || r.ctx == nil {
		return nil
	}
	peer := r.env.peer
	if peer == noPeer && r.kind == recvRequest && r.env.source >= 0 {
		peer = r.comm.group.World(int(r.env.source))
	}
	if peer != noPeer && e.isGuest(peer) {
		if lost := e.peer(peer).guest.lost; lost != nil {
			return lost
		}
	}
	c := r.comm
	switch {
	case c.foreigners.lost == nil:
	case r.kind == recvRequest && r.wire.Expects(): // its sender is at it
	case r.ctx == c.coll, r.kind == recvRequest && peer == noPeer:
		return c.foreigners.lost
	}
	return nil
}

// inVain ends a message that is hopeless from the start, and reports whether it is.
func (e *Engine) inVain(r *Request) bool {
	lost := e.hopeless(r)
	if lost != nil {
		r.status.Err = lost
		e.complete(r)
	}
	return lost != nil
}

// giveUp ends a message that is hopeless.
func (e *Engine) giveUp(r *Request, lost *Error) {
	p := &e.guests.nobody
	if r.env.peer != noPeer {
		p = e.peer(r.env.peer)
	}
	if r.kind == sendRequest && r.env.peer != e.me && p.tr != nil && !e.protocol.TakeBack(&r.wire) {
		// It has left, to one who is there and will answer.
		if r.status.Err, r.wire.GivenUp = lost, true; r.wire.Unmatched() {
			e.cancelSend(r)
		}
		return
	}
	switch {
	case r.kind == sendRequest && r.env.peer == e.me:
		if m := r.ctx.findSelf(r); m != nil {
			r.ctx.take(m)
			e.giveBack(m)
		}
	case r.isPosted():
		r.ctx.space.Withdraw(&r.waits)
	}
	e.protocol.Drop(&r.wire)
	r.status.Err = lost
	e.complete(r)
}

// without is the error of what waits for a message of a source of a communicator, or does something collective there,
// when it waits in vain; nil if it does not.
func (c *Comm) without(source int32) error {
	if c.foreigners.lost == nil {
		return c.engine.failure()
	}
	if source >= 0 {
		if w := c.group.World(int(source)); !c.engine.isGuest(w) || c.engine.peer(w).guest.lost == nil {
			return c.engine.failure()
		}
	}
	return c.foreigners.lost
}
