package libimpi

import (
	"slices"
	"time"
)

// Restraining processes of other machines whose messages are not received (see held.go for those of this one).
//
// A process of this library is told, and sends envelopes only. Where even that is too much, and with every other
// process, what it sends is not acknowledged any more, so that it stops at the high-water mark (IMPI 0.0, 3.6). That
// must not stop what somebody waits for: behind the flood there may be the message that ends it. So packets are
// acknowledged as long as this process needs anything from there: a receive that one of the messages could match is
// posted, a probe looks for one, an answer or the rest of a long message is due.
//
//	kept > restrainAt    -> restrain: told; beyond twice of it, and not needed: shut
//	receive, probe, question -> invite, await: open again, until more comes that nobody needs
//	kept < restrainAt/2  -> relax: all is as before
//
// A sender may also wait for the answer to a CANCEL that is queued behind its own flood, of which the receiver knows
// nothing. So a closed window reopens briefly after 1, 2, 4 ... seconds.

// probe is one that waits: a message of context ctx from source, perhaps MPI_ANY_SOURCE, would end it.
type probe struct {
	ctx    *context
	source int32
}

// firstLapse is after what time a window opens for a moment; each time after that is twice as long.
const firstLapse = time.Second

// restrain is called for a process, in another machine, of which more than restrainAt bytes are kept.
func (e *Engine) restrain(p *peer) {
	if p.hold != nil && !p.pressure.held {
		e.hold(p, true)
	}
	if p.shutter == nil || p.pressure.shut || p.pressure.kept < p.pressure.lookAt {
		return
	}
	if p.pressure.lookAt = max(p.pressure.lookAt, 2*e.pressure.restrainAt); p.pressure.kept < p.pressure.lookAt {
		return
	}
	if e.needs(p) {
		p.pressure.lookAt = p.pressure.kept + e.pressure.restrainAt/8 // to look costs a walk through all communicators
		return
	}
	e.close(p)
}

// close stops acknowledging what a process sends.
func (e *Engine) close(p *peer) {
	p.pressure.shut = true
	e.pressure.shut = append(e.pressure.shut, p.rank)
	p.shutter.Shut(e.me, p.rank, true)
	p.pressure.lapse = max(2*p.pressure.lapse, firstLapse)
	p.pressure.timer = time.AfterFunc(p.pressure.lapse, func() { e.lapsed(p) })
}

// lapsed opens a window for a moment. It is called on a goroutine of its own, and perhaps when all is over.
func (e *Engine) lapsed(p *peer) {
	e.waiting.watcher.Lock()
	defer e.waiting.watcher.Unlock()
	if e.waiting.over {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reopen(p)
}

// reopen acknowledges what a process has sent, and will send.
func (e *Engine) reopen(p *peer) {
	if !p.pressure.shut {
		return
	}
	p.pressure.shut = false
	p.pressure.timer.Stop()
	e.pressure.shut = slices.DeleteFunc(e.pressure.shut, func(rank int32) bool { return rank == p.rank })
	p.shutter.Shut(e.me, p.rank, false)
}

// relax ends all restraint: few messages of a process are left.
func (e *Engine) relax(p *peer) {
	e.reopen(p)
	p.pressure.lookAt, p.pressure.lapse = 0, 0
	if p.pressure.held {
		e.hold(p, false)
	}
}

// invite opens the windows of all whose message a receive or probe of this context and source takes.
func (e *Engine) invite(ctx *context, source int32) {
	if len(e.pressure.shut) == 0 {
		return
	}
	for _, rank := range slices.Clone(e.pressure.shut) {
		if ctx.takes(source, rank) {
			e.reopen(e.peer(rank))
		}
	}
}

// takes reports whether a receive from source may get a message of process rank of MPI_COMM_WORLD.
func (c *context) takes(source, rank int32) bool {
	r := c.comm.sourceOf(rank)
	return r >= 0 && (source == anySource || source == r)
}

// await notes that a process will send something because it has been asked.
func (e *Engine) await(p *peer) {
	if p.local < 0 {
		p.pressure.owes++
		e.reopen(p)
	}
}

// came notes that it has done so.
func (p *peer) came() {
	if p.local < 0 {
		p.pressure.owes--
	}
}

// seek waits, as a probe does, until find finds a message, or in vain (Comm.without).
func (e *Engine) seek(ctx *context, source int32, find func() bool) {
	if find() {
		return
	}
	e.pressure.probes = append(e.pressure.probes, probe{ctx, source})
	e.invite(ctx, source)
	e.waitFor(func() bool { return find() || ctx.comm.foreigners.lost != nil && ctx.comm.without(source) != nil }, anyPeer)
	i := slices.Index(e.pressure.probes, probe{ctx, source})
	e.pressure.probes = slices.Delete(e.pressure.probes, i, i+1)
}

// needs reports whether something is awaited from a process.
func (e *Engine) needs(p *peer) bool {
	if p.pressure.owes > 0 || slices.ContainsFunc(e.pressure.probes, func(x probe) bool {
		return x.ctx.takes(x.source,
			p.rank)
	}) {
		return true
	}
	for _, c := range e.contexts.low {
		if c != nil && c.awaits(p.rank) {
			return true
		}
	}
	for _, c := range e.contexts.high {
		if c.awaits(p.rank) {
			return true
		}
	}
	return false
}

// awaits reports whether a receive is posted that a message of process rank may match.
func (c *context) awaits(rank int32) bool {
	if c.space.Waiting() == 0 {
		return false
	}
	r := c.comm.sourceOf(rank)
	return r >= 0 && c.space.Awaits(r)
}
