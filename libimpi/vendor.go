package libimpi

import (
	"math/bits"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
)

// Collective operations that another MPI library carries out as a whole (transport.Collective, coll/vendor.go): of all
// processes of a client that talk by it. They are the members of a communicator, in any order, or those that one which
// spans clients has in this client. Smaller groups have no communicator of the library. To make one blocks inside the
// library, where a process does not look after its other messages, and those for whom it waits may wait for these.
//
//	blocking call -> package coll: is it one for the library? -> Vendor: the communicator's line -> Leave: begun
//	              -> the thread waits as for a message -> Poll finds it done -> Over
//
// A line is a communicator of the library, made when that starts. A communicator gets one at its first operation: each
// member says which lines are free here, and the first that is free everywhere is taken. While a member asks it
// offers none to its other threads, so that no line is taken twice. A communicator for which there is none does without
// for good. A line is free here when its communicator is freed, so that it is taken again only when all members have
// done that. Nonblocking and persistent operations go by messages, and so the order in which members start them beside
// blocking ones does not matter to the library.

// line is a communicator's.
type line struct {
	asked  bool
	number int // from 1 on; 0: none

	under transport.Operation // the one under way
	over  bool
	err   error
}

// openLines finds what lines there are.
func (e *Engine) openLines() {
	if e.ways.vendor.collective != nil {
		e.ways.library.freeLines = 1<<e.ways.vendor.collective.Lines() - 1
	}
	for i := range e.job.Procs {
		if e.job.Procs[i].Client == e.job.Procs[e.me].Client {
			e.position.companions++
		}
	}
}

// Vendor implements coll.Vendored.
func (k *collective) Vendor(among coll.Comm) bool {
	c, e := k.c, k.c.engine
	if e.position.companions < 2 || among.Size() != e.position.companions ||
		(among == coll.Comm(k)) != (c.seats.layout == nil) ||
		c.foreigners.known != nil || c.inter.local != nil {
		return false
	}
	if !c.line.asked {
		c.line.asked = true // what is said about it goes by messages
		c.takeLine(among)
	}
	return c.line.number > 0
}

// takeLine finds a line that is free at all of those.
func (c *Comm) takeLine(among coll.Comm) {
	e := c.engine
	e.mu.Lock()
	offer := e.ways.library.freeLines
	e.ways.library.freeLines = 0
	e.mu.Unlock()
	common := make([]uint64, 1)
	err := coll.Allreduce(among, countBuf([]uint64{offer}), countBuf(common), op.Predefined(abi.MPI_BAND))
	if first := common[0] & -common[0]; err == nil && first != 0 {
		offer &^= first
		c.line.number = bits.Len64(first)
		c.line.under.Over = func(err error) {
			c.line.over, c.line.err = true, err
			e.ring()
		}
	}
	e.mu.Lock()
	e.ways.library.freeLines |= offer
	e.mu.Unlock()
}

// leaveLine gives the line of a communicator back that has been freed. Engine lock held.
func (c *Comm) leaveLine() {
	if c.line.number > 0 {
		c.engine.ways.library.freeLines |= 1 << (c.line.number - 1)
		c.line.number = 0
	}
}

// Leave implements coll.Vendored.
func (k *collective) Leave(o transport.Operation) error {
	e, l := k.c.engine, &k.c.line
	o.Root, o.Over = int(k.c.group.World(o.Root)), l.under.Over
	e.mu.Lock()
	defer e.mu.Unlock()
	l.under, l.over = o, false
	e.ways.vendor.collective.Begin(l.number-1, &l.under)
	if e.ways.library.left++; e.ways.library.left%networkEvery == 0 {
		e.poll(anyPeer) // also where operations are over at once: others may wait for this process
	}
	if !l.over {
		e.waitFor(func() bool { return l.over }, anyPeer, forMembers(k.c))
	}
	switch {
	case !l.over:
		return e.failure()
	case l.err != nil:
		return errorf(abi.MPI_ERR_OTHER, "in a collective operation of all that talk by %s: %v", e.ways.library.name, l.err)
	}
	return nil
}

// leaveRunning is called when a thread that has just started r leaves MPI: a long message to or from another client the
// sockets' watcher carries on from now on, and not only when it has found out that nobody polls.
func (e *Engine) leaveRunning(r *Request) {
	e.thread.Away()
	byNetwork := e.ways.network.waker != nil && r.mem.size >= carried
	byVendor := e.ways.vendor.waker != nil && (r.mem.size > int64(e.ways.vendor.Limits().Eager) || e.waitsForRoom(r))
	if r.state.done || !byNetwork && !byVendor {
		return
	}
	peer := r.env.peer
	if peer == noPeer && r.env.source >= 0 {
		peer = r.comm.group.World(int(r.env.source))
	}
	if peer == e.me || peer != noPeer && e.peer(peer).local >= 0 {
		return
	}
	if byNetwork {
		e.ways.network.waker.Arm()
	}
	if byVendor {
		e.carryOn(r)
	}
}

// waitsForRoom reports whether a send may not have left, because its receiver has not acknowledged enough.
func (e *Engine) waitsForRoom(r *Request) bool {
	return r.kind == sendRequest && r.env.peer >= 0 && e.peer(r.env.peer).Waits()
}

// carryOn has the watcher of the other MPI library look after it until r is done: the library does not do so by itself.
func (e *Engine) carryOn(r *Request) {
	e.ways.vendor.waker.Arm()
	if !r.carried {
		r.carried = true
		e.ways.library.carried++
	}
}

// carried is the length, in bytes, from which a message takes longer than its carrying on costs.
const carried = 512 << 10
