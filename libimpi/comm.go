package libimpi

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file/members"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/counters"
	"github.com/libimpi/libimpi/libimpi/group"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/onesided"
)

// Group is package group's.
type Group = group.Group

// Range is a (first, last, stride) triplet of ranks (MPI 5.0, 7.3.2).
type Range = group.Range

// EmptyGroup is MPI_GROUP_EMPTY.
var EmptyGroup = group.Empty

// NewGroup makes a group of distinct world ranks; it keeps the slice.
func NewGroup(world []int32) *Group { return group.New(world) }

// Comm is a communicator: a group and two message spaces, one for point-to-point and one for
// collective messages. How their context ids are found is told in package contexts.
type Comm struct {
	Collectives // at once

	Name   string
	Bridge any // what the bridge keeps with it

	engine *Engine
	group  *Group // whom ranks name: the members or, of an intercommunicator, the remote group
	rank   int32  // the caller's, among the members
	p2p    *context
	coll   *context

	inter        groupPair // of an intercommunicator
	native       bool      // data looks the same in the memory of all members
	seats        seats
	neighborhood neighborhood
	foreigners   foreigners
	losses       losses
	window       *onesided.Window // that has the communicator for itself, and hears of losses; nil: none

	doing  doing // the blocking collective operation that the program has called last
	ops    collective
	freed  bool
	uses   int // requests, matched messages and duplications under way that need the contexts
	ids    idSupply
	buffer attachedBuffer // for buffered sends on it
	shared *Buffer        // the next choice; nil if there is none
	parts  partitionedSpace
	tasks  taskCounter

	counters counters.Comm // while the engine is watched

	board commBoard     // of its short collective operations (board.go)
	line  line          // of those that another MPI library carries out (vendor.go)
	files members.Space // what files that are opened on it find

	ofFile bool // a file has it for itself: all of its messages are of collective operations

	owner string // what has it for itself, a window or a file; "": it is the program's
}

// groupPair is what an intercommunicator and the communicator of its local group know of each other.
type groupPair struct {
	local  *Comm // of the local group, beside an intercommunicator (intercomm.go); nil for an intracommunicator
	beside *Comm // the intercommunicator that this is the local group's of; nil: none
	spans  bool  // an intercommunicator's groups belong to several IMPI clients
	ruled  bool  // one of these is not libimpi: ids of what is made of it follow IMPI's rule
}

// neighborhood is the virtual topology.
type neighborhood struct {
	topology  topo.Topology              // nil if there is none
	neighbors atomic.Pointer[coll.Edges] // see edges
}

// seats is where the members are.
type seats struct {
	layout   *span.Layout   // nil unless the group of an intracommunicator spans IMPI clients
	machines *coll.Machines // of the members, of one client; nil if it does not matter where they are
	crowded  bool           // the members are on one machine, and more than its cores
	twoCores bool           // which are two at most
}

// foreigners are the members from other jobs.
type foreigners struct{ known []*peer }

// idSupply is where the context ids of communicators come from that will be made of this one.
type idSupply struct {
	supply    contexts.Supply
	voting    chan struct{} // closed at the end of the last vote in the background; nil: there was none
	subgroups *context      // made by its first use; nil before (CreateGroup)
	making    []*subset     // subgroups
}

// Rank is the calling process's rank.
func (c *Comm) Rank() int { return int(c.rank) }

// Size is the number of processes, of the local group if there are two.
func (c *Comm) Size() int { return c.Group().Size() }

// Ranks is the number of processes that the ranks of messages name: of the remote group if there are two.
func (c *Comm) Ranks() int { return c.group.Size() }

// Group is the group of processes, the local one if there are two.
func (c *Comm) Group() *Group {
	if c.inter.local != nil {
		return c.inter.local.group
	}
	return c.group
}

// spans reports whether the communicator has processes of more than one IMPI client.
func (c *Comm) spans() bool { return c.seats.layout != nil || c.inter.spans }

func (c *Comm) describe() string {
	if c.Name != "" {
		return c.Name
	}
	if c.owner != "" {
		return c.owner
	}
	if c.Inter() {
		return fmt.Sprintf("intercommunicator %d of sizes %d and %d", c.p2p.cid, c.Size(), c.Ranks())
	}
	return fmt.Sprintf("communicator %d of size %d", c.p2p.cid, c.Size())
}

// belongsTo says what has the communicator for itself, for errors.
func (c *Comm) belongsTo(owner string) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.owner = owner
}

// Rename gives the communicator a name.
func (c *Comm) Rename(name string) {
	c.engine.mu.Lock() // State reads it
	defer c.engine.mu.Unlock()
	c.Name = name
}

// String names the communicator for messages.
func (c *Comm) String() string { return c.describe() }

// isSource reports whether rank in the communicator is the process with the given world rank.
func (c *Comm) isSource(rank, world int32) bool {
	return uint32(rank) < uint32(c.group.Size()) && c.group.World(int(rank)) == world
}

// sourceOf is the rank of a process in the communicator, -1 if it has none.
func (c *Comm) sourceOf(world int32) int32 {
	if r := c.group.Rank(world); r != abi.MPI_UNDEFINED {
		return int32(r)
	}
	return -1
}

// newComm builds a communicator on a context id and makes its contexts known.
func (e *Engine) newComm(g *Group, cid uint64) (*Comm, error) {
	layout, err := e.layoutOf(g)
	if err != nil {
		return nil, err
	}
	c := &Comm{engine: e, group: g, rank: int32(g.Rank(e.me))}
	c.seats.layout, c.inter.ruled = layout, layout != nil && !layout.Own
	if layout == nil {
		c.seats.machines = e.machinesOf(g.Worlds())
	}
	e.open(c, cid)
	return c, nil
}

// newOn is newComm on the first of some context ids; the others are for the communicators that will be made of it.
func (e *Engine) newOn(g *Group, ids contexts.Block) (*Comm, error) {
	e.mu.Lock()
	err := e.free(ids.Next)
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c, err := e.newComm(g, ids.Next)
	if c != nil {
		c.ids.supply.Stock(ids.Rest())
	}
	return c, err
}

// open makes a communicator's contexts, with ids from cid on.
func (e *Engine) open(c *Comm, cid uint64) {
	e.describeMembers(c)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.openHere(c, cid)
}

// describeMembers finds out what the members of a communicator are.
func (e *Engine) describeMembers(c *Comm) {
	c.ops.c = c
	c.Collectives = Collectives{c: c, on: &c.ops}
	c.seats.crowded, c.seats.twoCores = e.crowded(c.group), e.home.Cores <= 2
	c.native = e.alike(c.group) && (c.inter.local == nil || e.alike(c.inter.local.group))
}

// openHere is the rest of open. Engine lock held.
func (e *Engine) openHere(c *Comm, cid uint64) {
	if guests, _ := e.guestsOf(c.group); guests != nil {
		c.foreigners.known = guests
		e.need(guests)
	}
	c.p2p = e.newContext(cid, c, c.Ranks())
	c.coll = e.newContext(cid+1, c, c.Ranks())
	e.openContext(c.p2p)
	e.openContext(c.coll)
	if e.contexts.early.First(cid|contexts.Survivors) != nil { // other members need them already
		c.survivors()
	}
	e.noticeLost(c)
}

// Crowded reports whether the members are on one machine, and more than its cores.
func (c *Comm) Crowded() bool { return c.seats.crowded }

// crowded reports whether the members of g, all of them in one segment, have to share cores. Each of them gets the same
// answer.
func (e *Engine) crowded(g *Group) bool {
	if len(e.home.World) <= e.home.Cores {
		return false
	}
	for i := range g.Size() {
		if w := g.World(i); w != e.me && e.peer(w).local < 0 {
			return false
		}
	}
	return true
}

// alike reports whether data looks the same in the memory of all members of g.
func (e *Engine) alike(g *Group) bool {
	if guests, _ := e.guestsOf(g); guests != nil {
		return e.position.memory != [16]byte{} &&
			!slices.ContainsFunc(guests, func(p *peer) bool { return p.guest.Memory != e.position.memory })
	}
	if e.job.Clients <= 1 {
		return true
	}
	for i := range g.Size() {
		if p := &e.job.Procs[g.World(i)]; p.Client != e.job.Procs[e.me].Client && !e.job.Hosts[p.Host].Native {
			return false
		}
	}
	return true
}

// Native reports whether data looks the same in the memory of all members: then nothing is converted on its way, and
// what MPI_Pack makes is what a message has.
func (c *Comm) Native() bool { return c.native }

// rep is how messages between this process and process world look on their way: as in memory where all members of the
// communicator are alike; else in external32, as IMPI mandates between clients. It depends on all members, and not on
// the two ends of a message, because it is what MPI_Pack makes for the communicator: what was packed may be received as
// what it is, and the other way round (MPI 5.0, 5.2), also inside a client, and by the process itself. Collective
// operations see to that themselves (coll/external): their own messages inside a client are as in memory.
func (ctx *context) rep(world int32) datatype.Rep {
	c := ctx.comm
	if c.native || ctx == c.coll && c.engine.peer(world).rep == datatype.Native {
		return datatype.Native
	}
	return datatype.External32
}

// layoutOf tells which clients a group spans; nil if it is only one, or the group has processes of several jobs, of
// which IMPI knows nothing.
func (e *Engine) layoutOf(g *Group) (*span.Layout, error) {
	if e.job.Clients <= 1 || g.Size() == 0 || e.foreignJobs(g) {
		return nil, nil
	}
	several := false
	client := make([]int32, g.Size())
	for i, w := range g.Worlds() {
		client[i] = e.job.Procs[w].Client
		several = several || client[i] != client[0]
	}
	if !several {
		return nil, nil
	}
	l, err := span.NewLayout(client, int64(e.job.XSize), int64(e.job.MaxLinear))
	if err == nil {
		l.Own, l.Native = e.exchanges(g), e.alike(g)
		l.Machines = e.machinesWithin(l, g)
		l.Place(e.machinesOfClients(l, g))
	}
	return l, err
}

// Compare returns MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL.
func (c *Comm) Compare(o *Comm) int {
	if c == o {
		return abi.MPI_IDENT
	}
	if c.Inter() != o.Inter() {
		return abi.MPI_UNEQUAL
	}
	if c.Inter() {
		return c.compareInter(o)
	}
	if r := c.group.Compare(o.group); r != abi.MPI_IDENT {
		return r
	}
	return abi.MPI_CONGRUENT
}

// Free gives the communicator up. On one that spans clients it is a barrier, as IMPI mandates (4.5), unless the job is
// fault tolerant (part). Messages that are still under way keep what they need.
func (c *Comm) Free() error {
	if err := c.part(); err != nil && !(c.engine.job.FaultTolerant && isLoss(AsError(err))) {
		return err
	}
	c.Discard()
	return nil
}

// Disconnect gives the communicator up after all communication on it is complete, everywhere (MPI 5.0, 11.10.4).
func (c *Comm) Disconnect() error {
	e := c.engine
	e.mu.Lock()
	e.waitFor(func() bool { return !e.requests.underWay(c) }, anyPeer, cause{what: report.ForRequests, comm: c})
	e.mu.Unlock()
	if err := c.Barrier(); err != nil {
		if e.failure() == nil { // a member is lost: there is nobody to wait for
			c.Discard()
		}
		return err
	}
	return c.Free()
}

// Discard takes back a communicator that nobody has used, without a message.
func (c *Comm) Discard() {
	several := c.severalJobs()
	c.LeaveFiles()
	c.drop()
	if c.inter.local != nil {
		c.inter.local.drop()
	}
	if several {
		e := c.engine
		e.mu.Lock()
		e.seeOff()
		e.mu.Unlock()
	}
}

// part waits for the others before the communicator is freed, where that is mandated. In a job that is fault tolerant
// those of this library do not: others may have left to recover from a loss elsewhere, or may not have it at all.
func (c *Comm) part() (err error) {
	switch {
	case c.engine.job.FaultTolerant && !c.inter.ruled:
	case c.seats.layout != nil:
		err = c.Barrier()
	case c.inter.spans:
		_, err = c.agreeAcross(tagInterFree, nil, nil)
	}
	return err
}

// drop forgets the communicator once nothing uses it any more.
func (c *Comm) drop() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.freed = true; c.uses == 0 {
		e.forget(c)
	} else if c.losses.first != nil { // what uses it may have been given up
		e.spare(c.foreigners.known)
		c.foreigners.known = nil
	}
}

// letGo ends a use of the communicator. The last one ends what a freed communicator has. Engine lock held.
func (c *Comm) letGo() {
	if c.uses--; c.uses == 0 && c.freed {
		c.engine.forget(c)
	}
}

// contexts are those of the communicator; nil where one has not been made.
func (c *Comm) contexts() [5]*context {
	return [...]*context{c.p2p, c.coll, c.parts.offers, c.parts.data, c.ids.subgroups}
}

// forget drops the contexts of a freed communicator, with the messages in them: no receive can take those, since
// the program has no handle and there is no receive left. Engine lock held.
func (e *Engine) forget(c *Comm) {
	c.leaveBoard()
	c.leaveLine()
	e.spare(c.foreigners.known)
	c.foreigners.known = nil
	if c.losses.survivors != nil {
		c.losses.survivors.retire()
	}
	for _, ctx := range c.contexts() {
		if ctx == nil {
			continue
		}
		e.contexts.drop(ctx.cid)
		for m := ctx.space.Oldest(); m != nil; m = ctx.space.Oldest() {
			ctx.take(m)
			e.giveBack(m)
		}
		e.useAgain(ctx)
	}
}

// Contexts of communicators that have been freed are used again: a program that makes and frees them needs no new
// memory for each.
const (
	spareContexts = 64 // that are kept
	spareSources  = 64 // of the largest that is
)

// useAgain keeps a context that nothing waits in and nothing refers to any more. Engine lock held.
func (e *Engine) useAgain(ctx *context) {
	if len(e.contexts.spare) < spareContexts && ctx.space.Sources() <= spareSources {
		ctx.comm = nil
		e.contexts.spare = append(e.contexts.spare, ctx)
	}
}

// newContext is newContext in old memory, if there is some. Engine lock held.
func (e *Engine) newContext(cid uint64, c *Comm, n int) *context {
	last := len(e.contexts.spare) - 1
	if last < 0 || e.contexts.spare[last].space.Room() < n {
		return newContext(cid, c, n)
	}
	ctx := e.contexts.spare[last]
	e.contexts.spare = e.contexts.spare[:last]
	ctx.cid, ctx.comm, ctx.serve, ctx.closed, ctx.survives = cid, c, nil, false, false
	ctx.space.Open(n)
	return ctx
}

// CountWaiting makes the engine count the receives and messages that wait in the point-to-point context at p, or
// in a place of its own again if p is nil.
func (c *Comm) CountWaiting(p *uint32) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.p2p.space.Count(p)
}

// CID is the context id of point-to-point messages.
func (c *Comm) CID() uint64 { return c.p2p.cid }

// Eager is the largest message, in bytes, that is sent at once to a rank of this machine.
func (e *Engine) Eager() int { return e.ways.local.Limits().Eager }

// Packet is the largest message, in bytes, that fits one packet to a rank of this machine.
func (e *Engine) Packet() int { return e.ways.local.Limits().Packet }

// LocalRank is the rank in this machine's segment of a process, which may be the caller; -1 if it is elsewhere.
func (e *Engine) LocalRank(world int32) int {
	if world == e.me {
		return e.home.Rank
	}
	return e.peer(world).local
}

// FastRank is the index by which the bridge's fast path reaches whom a rank names: a local rank, or what the transport
// gives a guest on this machine; -1 if there is none, or C must not use it. Engine lock held.
func (c *Comm) FastRank(rank int) int {
	e, world := c.engine, c.group.World(rank)
	p := e.peer(world)
	switch {
	case p.lost != nil, c.losses.revoked != nil:
	case !e.isGuest(world):
		return e.LocalRank(world)
	case e.guests.indexer != nil && p.guest.near:
		return e.guests.indexer.Local(world)
	}
	return -1
}

// WithRanks calls f under the engine's lock, so that FastRank stays as it is meanwhile.
func (c *Comm) WithRanks(f func()) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	f()
}

// Colors are IMPI's attributes of a communicator (IMPI 0.0, 2.5): how many clients its processes belong to, the
// number of the caller's among them, and the same for hosts. Clients and hosts are numbered in the order of
// their appearance in MPI_COMM_WORLD.
func (c *Comm) Colors() [4]int32 {
	job := c.engine.job
	clients, hosts := map[int32]bool{}, map[int32]bool{}
	for _, w := range c.everybody().Worlds() {
		if c.engine.isGuest(w) {
			continue // of another MPI_COMM_WORLD
		}
		clients[job.Procs[w].Client] = true
		hosts[job.Procs[w].Host] = true
	}
	me := job.Procs[c.engine.me]
	return [4]int32{int32(len(clients)), below(clients, me.Client), int32(len(hosts)), below(hosts, me.Host)}
}

// below counts the members of a set that are smaller than n.
func below(set map[int32]bool, n int32) (count int32) {
	for m := range set {
		if m < n {
			count++
		}
	}
	return count
}
