package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// The loss of a process ends what needs it, and the job goes on: that of a guest in every job, and in a job that is
// fault tolerant (transport.Job.FaultTolerant) that of any process (docs/failure.md). These end with an error that
// names it, whose class is MPIX_ERR_PROC_FAILED in a fault tolerant job and otherwise MPI_ERR_PROC_ABORTED:
//
//   - messages to it and from it;
//   - on communicators that it belongs to, everything of collective operations, as other members may have waited for it
//     and then given up, too. So do windows and files, which are made of these;
//   - there, receives from any source, as it may be the one that would have sent. In a fault tolerant job a request for
//     one stays, and pends: calls that wait for it raise MPIX_ERR_PROC_FAILED_PENDING until the program has
//     acknowledged the loss (AckFailed).
//
// Messages that are under way between others end as they would: their other ends count on it. A send of a collective
// operation that its receiver may never ask for is cancelled.
//
//	LostElsewhere, Lost (recv.go) -> lose -> Comm.lose: which communicators have lost a member
//	                       -> without -> endHopeless: requests and operations on boards that wait in vain
//	start, postRecv, seek, opened -> hopeless, without: those that would
//
// All functions run under the engine's lock. What survivors do together is told in survivors.go and agree.go.

// losses are what a communicator knows of members that are lost, of either group if there are two. Calls of collective
// operations look at gone without the lock; the engine's lock guards the rest.
type losses struct {
	first        *Error                // what ends all that needs each member; nil: nothing
	gone         atomic.Pointer[Error] // the same
	failed       []int32               // the members that are lost, by number, in the order in which this was noticed
	acknowledged int                   // so many of them, the first, are known to the program
	revoked      *Error                // nil: it is not
	survivors    *survivors            // nil: nobody has needed them
	requested    bool                  // members have begun agreements with requests
}

// classOfLoss is the class of what needs a process that is lost.
func (e *Engine) classOfLoss() int {
	if e.job.FaultTolerant {
		return abi.MPIX_ERR_PROC_FAILED
	}
	return abi.MPI_ERR_PROC_ABORTED
}

// isLoss reports whether an error says that a process is lost, or the communicator revoked.
func isLoss(err *Error) bool {
	switch err.Class {
	case abi.MPI_ERR_PROC_ABORTED, abi.MPIX_ERR_PROC_FAILED, abi.MPIX_ERR_REVOKED:
		return true
	}
	return false
}

// survives reports whether processes are lost and the job goes on nevertheless.
func (e *Engine) survives() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.job.FaultTolerant && e.loss.some && e.loss.failed.Load() == nil
}

// lose notes that a process is gone.
func (e *Engine) lose(p *peer, lost *Error) {
	p.lost = lost // before onGone looks at it
	e.contexts.all(func(ctx *context) {
		if c := ctx.comm; c.sourceOf(p.Rank) >= 0 {
			c.lose(p.Rank, lost)
		}
	})
	e.without(p, lost)
}

// LostElsewhere takes the launcher's word that processes of the job are lost, by rank in MPI_COMM_WORLD, and why.
func (e *Engine) LostElsewhere(ranks []int32, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range ranks {
		switch {
		case r < 0 || int(r) >= len(e.job.Procs):
		case r == e.me:
			e.expelled(why)
		default:
			e.peer(r).certain = true
			e.noteLost(r, why)
		}
	}
	e.tellSurvivors()
	e.tellOfLosses()
}

// isSettled reports whether a process is lost for all others, too. This process may be the one that is cut off from the
// rest, as long as it alone says so: what survivors agree on would then have nobody of the other side in it, on both
// sides. So they count those as lost of whom the launcher has said it, which hears of all sides (condemn), or other
// survivors, to whom it has. Calls that need such a process fail at once nevertheless.
func (e *Engine) isSettled(p *peer) bool {
	return p.lost != nil && (p.certain || e.loss.condemn == nil || p.guest != nil)
}

// LostGuests takes the launcher's word that processes of another job are lost, by rank there, and why.
func (e *Engine) LostGuests(job [16]byte, ranks []int32, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.guests.all(func(p *peer) {
		if p.guest.Job == job && slices.Contains(ranks, p.guest.Rank) {
			e.noteLost(p.Rank, why)
		}
	})
}

// noticeParted looks for guests that have ended their links in order, which a process does when it needs this one no
// more: what still waits for such a one waits in vain.
func (e *Engine) noticeParted() {
	parted := false
	e.guests.all(func(p *peer) {
		if g := p.guest; p.lost == nil && g.parter != nil && g.parter.Parted(p.Rank) {
			e.without(p, errorf(abi.MPI_ERR_PROC_ABORTED, "%v, a process of another job, has ended the connection",
				g.Identity))
			parted = true
		}
	})
	if parted {
		e.tellSurvivors()
	}
}

// noticeLost looks for members of a new communicator that are gone, or have revoked it already.
func (e *Engine) noticeLost(c *Comm) {
	if !e.loss.some && !e.foreignJobs(c.group) {
		return
	}
	for _, world := range c.group.Worlds() {
		if p := e.peer(world); p.lost != nil {
			c.lose(world, p.lost)
		}
	}
	if e.loss.early.Take(c.p2p.cid) {
		c.revoke()
	}
}

// without goes on without a process.
func (e *Engine) without(p *peer, lost *Error) {
	e.loss.some = true
	tr := p.tr
	p.lost, p.tr = lost, nil
	if f, ok := tr.(transport.Forgetter); ok && p.guest == nil { // from guests one parts in order
		f.Forget(p.Rank)
	}
	p.DropControls()
	e.pressure.Reopen(&p.Pressure)
	e.endHopeless()
	if g := p.guest; g != nil && !g.leaving {
		g.leaving = true
		e.guests.leaving = append(e.guests.leaving, p)
	}
}

// endHopeless ends what waits in vain.
func (e *Engine) endHopeless() {
	e.adoptQuick()
	e.endOnBoards()
	for i := 0; i < len(e.requests.slots); i++ { // there may be more of them soon
		if r := e.requests.slots[i]; r != nil && r.kind != noRequest && r.state.active && !r.state.done {
			if err := e.hopeless(r); err != nil {
				e.giveUp(r, err)
			}
		}
	}
	e.ring()
}

// lose notes that a member of the communicator is gone.
func (c *Comm) lose(world int32, err *Error) {
	for _, one := range c.both() {
		if l := &one.losses; !slices.Contains(l.failed, world) {
			l.failed = append(l.failed, world)
			one.needs(err)
			one.tellWindow(world, err)
		}
	}
}

// both are the communicator, and that of the other group that it is made of or is part of.
func (c *Comm) both() (all []*Comm) {
	for _, one := range [...]*Comm{c, c.inter.local, c.inter.beside} {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// needs makes an error the one of what needs all members, if there is none yet.
func (c *Comm) needs(err *Error) {
	if c.losses.first == nil {
		c.losses.first = err
		c.losses.gone.Store(err)
	}
	if c.Bridge != nil && c.engine.loss.onGone != nil {
		c.engine.loss.onGone(c)
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
	var lost *Error
	if peer != noPeer {
		lost = e.peer(peer).lost
	}
	c := r.comm
	coming := r.kind == recvRequest && r.wire.Expects() && lost == nil // its sender is at it
	switch l := &c.losses; {
	case l.revoked != nil && !r.ctx.survives && !coming:
		return l.revoked
	case lost != nil:
		return lost
	case l.first == nil, r.ctx.survives, coming:
	case r.ctx == c.ids.subgroups:
		return c.lostOf(r.env.tag)
	case r.ctx == c.coll, c.ofFile, r.kind == recvRequest && peer == noPeer && !c.mayPend(r):
		return l.first
	}
	return nil
}

// lostOf is why a subgroup that is being made under a tag has lost a member, for which others may have given up; nil if
// it has not, or none is made.
func (c *Comm) lostOf(tag int32) *Error {
	for _, s := range c.ids.making {
		if int32(s.first) == tag {
			return s.lost()
		}
	}
	return nil
}

// mayPend reports whether a receive from any source stays although a member is lost.
func (c *Comm) mayPend(r *Request) bool {
	return c.engine.job.FaultTolerant && (r.of == nil || !c.unknown())
}

// unknown reports whether processes are lost, of those that messages may come from, of whom the program may not know.
func (c *Comm) unknown() bool {
	return slices.ContainsFunc(c.losses.failed[c.losses.acknowledged:], func(w int32) bool { return c.sourceOf(w) >= 0 })
}

// pends reports whether a call must not wait for a request that is not done: a receive from any source which, for all
// that the program knows, may be from a process that is lost. It stands in its queue as before.
func (e *Engine) pends(r *Request) bool {
	if !e.loss.some || !e.job.FaultTolerant || r.kind != recvRequest || r.comm == nil {
		return false
	}
	return r.env.peer == noPeer && r.env.source < 0 && r.isPosted() && r.comm.unknown()
}

// anyPends reports whether one of some requests pends.
func (e *Engine) anyPends(ids []uint64) bool {
	return e.loss.some && slices.ContainsFunc(ids, func(id uint64) bool {
		r := e.active(id)
		return r != nil && !r.state.done && e.pends(r)
	})
}

// unfinished is the error of a request that is not done, after it has been waited for: it pends, or the job has failed,
// and then it stays with the transports. It is nil if the request may be done later.
func (e *Engine) unfinished(r *Request) error {
	if e.pends(r) {
		return errorf(abi.MPIX_ERR_PROC_FAILED_PENDING,
			"a receive from any source may be from a process that is lost: %v", r.comm.losses.first)
	}
	return e.failure()
}

// finishBlocking is finish for a receive that the program has no request for. So it does not pend.
func (e *Engine) finishBlocking(r *Request) (Status, error) {
	if e.pends(r) && !r.state.done {
		e.giveUp(r, r.comm.losses.first)
	}
	return e.finish(r)
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

// endOnBoards ends the nonblocking operations on boards of communicators that have lost a member.
func (e *Engine) endOnBoards() {
	for _, t := range slices.Clone(e.collectives.onBoards) {
		if lost := t.comm.losses.first; lost != nil {
			t.abandonBoard(e)
			t.end(e, lost)
		}
	}
}

// without is the error of what waits for a message of a source of a communicator, or does something collective there,
// when it waits in vain; nil if it does not.
func (c *Comm) without(source int32) error {
	e, l := c.engine, &c.losses
	switch {
	case l.first == nil:
	case l.revoked != nil:
		return l.revoked
	case source >= 0:
		if lost := e.peer(c.group.World(int(source))).lost; lost != nil {
			return lost
		}
	case !e.job.FaultTolerant || c.unknown():
		return l.first
	}
	return e.failure()
}

// failure is the error of what needs all members: one is lost, the communicator is revoked, or the job has failed. It
// is nil when all is well.
func (c *Comm) failure() error {
	if c.losses.first != nil {
		return c.losses.first
	}
	return c.engine.failure()
}
