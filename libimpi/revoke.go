package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
)

// What a program does about members of a communicator that are lost (ULFM): it asks which they are, acknowledges them,
// and revokes the communicator, so that members end what they wait for there who do not wait for one that is lost.
//
//	Revoke -> revoke -> endHopeless (loss.go), loss.spread tells the other members
//	a member's word -> revokedAt -> the same, or later: noticeLost (loss.go)
//
// Messages in contexts that survive are about losses: they fail only if their peer is lost.

// Revoke ends everything on the communicator, now and from now on, at all members (MPIX_Comm_revoke).
func (c *Comm) Revoke() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c.revoke()
}

// revokedAt is Revoke at the word of another member, who knows the communicator by the id of its first context. One that
// is not known here is still being made, and is revoked when it is, or has been freed; its id is not given again.
func (e *Engine) revokedAt(cid uint64) {
	if ctx := e.contexts.find(cid); ctx != nil {
		ctx.comm.revoke()
		return
	}
	if e.loss.early == nil {
		e.loss.early = map[uint64]bool{}
	}
	e.loss.some, e.loss.early[cid] = true, true
}

// revoke is Revoke under the lock.
func (c *Comm) revoke() {
	e := c.engine
	if c.losses.revoked != nil {
		return
	}
	e.loss.some = true
	revoked := errorf(abi.MPIX_ERR_REVOKED, "%s has been revoked", c.describe())
	for _, one := range c.both() {
		l := &one.losses
		l.revoked, l.first = revoked, nil // what follows it counts more than what has led to it
		one.needs(revoked)
		one.close()
	}
	e.endHopeless()
	if e.loss.spread != nil {
		e.loss.spread(c)
	}
}

// close ends communication in the contexts of a communicator that is revoked, but for those that survive. Messages that
// nobody has received are dropped, as those of a communicator that is freed are.
func (c *Comm) close() {
	for _, ctx := range c.contexts() {
		if ctx == nil || ctx.survives {
			continue
		}
		ctx.closed = true
		for m := ctx.space.Oldest(); m != nil; m = ctx.space.Oldest() {
			if m.Self != nil {
				c.engine.giveUp(m.Self, c.losses.revoked)
				continue
			}
			ctx.take(m)
			c.engine.giveBack(m)
		}
	}
}

// contexts are those of the communicator; nil where one has not been made.
func (c *Comm) contexts() [5]*context {
	return [...]*context{c.p2p, c.coll, c.parts.offers, c.parts.data, c.ids.subgroups}
}

// Revoked reports whether the communicator is revoked (MPIX_Comm_is_revoked).
func (c *Comm) Revoked() bool {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.losses.revoked != nil
}

// Failed are the members that are known here to be lost, in the order in which this was noticed (MPIX_Comm_get_failed).
// What comes later is added at the end.
func (c *Comm) Failed() *Group {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return NewGroup(slices.Clone(c.losses.failed))
}

// AckFailed acknowledges the first n members of Failed, or all of them if they are fewer, and returns how many have been
// acknowledged by now (MPIX_Comm_ack_failed). When all are, receives from any source do not pend.
func (c *Comm) AckFailed(n int) int {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	l := &c.losses
	l.acknowledged = max(l.acknowledged, min(n, len(l.failed)))
	return l.acknowledged
}

// Acknowledged are the members whose loss has been acknowledged (MPIX_Comm_failure_get_acked).
func (c *Comm) Acknowledged() *Group {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return NewGroup(slices.Clone(c.losses.failed[:c.losses.acknowledged]))
}
