package libimpi

import (
	"cmp"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/transport"
)

// Communicators that are made of others: duplicates, subgroups, splits (MPI 5.0, 7.4.2).

// Dup makes a communicator of the same group and topology (MPI_Comm_dup without attributes).
func (c *Comm) Dup() (*Comm, error) {
	cid, err := c.nextCID()
	if err != nil {
		return nil, err
	}
	d := c.Unopened()
	d.openOn(cid)
	return d, nil
}

// Unopened makes a communicator of the same groups and topology that has no contexts yet: it can be named, and asked
// for its groups, but not communicate.
func (c *Comm) Unopened() *Comm {
	d := &Comm{engine: c.engine, group: c.group, rank: c.rank}
	d.neighborhood.topology = c.neighborhood.topology
	d.neighborhood.neighbors.Store(c.neighborhood.neighbors.Load())
	d.seats.layout, d.seats.machines = c.seats.layout, c.seats.machines
	d.inter.spans, d.inter.ruled = c.inter.spans, c.inter.ruled
	if c.inter.local != nil {
		d.inter.local = c.inter.local.Unopened()
		d.inter.local.inter.beside = d
	}
	return d
}

// openOn opens a communicator on a context id.
func (c *Comm) openOn(cid uint64) {
	if c.inter.local != nil {
		c.engine.open(c.inter.local, contexts.Home|cid)
	}
	c.engine.open(c, cid)
}

// prepare is the part of openOn that needs no context id, and openPrepared the rest. Engine lock held for that.
func (c *Comm) prepare() {
	if c.inter.local != nil {
		c.engine.describeMembers(c.inter.local)
	}
	c.engine.describeMembers(c)
}

func (c *Comm) openPrepared(cid uint64) {
	if c.inter.local != nil {
		c.engine.openHere(c.inter.local, contexts.Home|cid)
	}
	c.engine.openHere(c, cid)
}

// Create makes a communicator of a subgroup of c; nil for processes outside it (MPI_Comm_create).
func (c *Comm) Create(g *Group) (*Comm, error) {
	cid, err := c.nextCID()
	if err != nil {
		return nil, err
	}
	if c.inter.local != nil {
		return c.createInter(g, cid)
	}
	if g.Rank(c.engine.me) == abi.MPI_UNDEFINED {
		return nil, nil
	}
	return c.engine.newComm(g, cid)
}

// CreateGroup makes a communicator of a subgroup of c; only the members of g call it (MPI_Comm_create_group).
// tag keeps apart calls of several threads.
func (c *Comm) CreateGroup(g *Group, tag int32) (*Comm, error) {
	e := c.engine
	members := &subset{c: c, g: g, on: c.ofSubgroups(), first: int(tag), one: true}
	ids, err := members.newBlock()
	if err != nil {
		return nil, err
	}
	return e.newOn(g, ids)
}

// ofSubgroups is the context beside the communicator in which subgroups find their ids, made by its first use. The tags
// in it are the program's, all of them: each call sends at most one message from a process to another.
func (c *Comm) ofSubgroups() *context {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.ids.subgroups == nil {
		c.ids.subgroups = newContext(c.p2p.cid|contexts.Subgroups, c, c.p2p.space.Sources())
		e.openContext(c.ids.subgroups)
	}
	return c.ids.subgroups
}

// subset is the members of g as the algorithms see them: their messages travel in a context of the communicator that
// all of them belong to, under tags of their own.
type subset struct {
	coll.AtOnce
	c     *Comm
	g     *Group
	on    *context
	first int  // of the tags for this kind of subset
	one   bool // it has only that one
}

// subsetTags lies above the tags of collectives on the whole communicator.
const subsetTags = 1 << 30

func (s *subset) Rank() int      { return s.g.Rank(s.c.engine.me) }
func (s *subset) Size() int      { return s.g.Size() }
func (s *subset) rank(i int) int { return s.c.group.Rank(s.g.World(i)) }

func (s *subset) tagged(t int) int32 {
	if s.one {
		t = 0
	}
	return int32(s.first + t)
}

func (s *subset) Send(b coll.Buf, to, tag int) error {
	return s.c.send(s.on, b.Base, b.Count, b.Type, s.rank(to), s.tagged(tag), modeStandard)
}
func (s *subset) Recv(b coll.Buf, from, tag int) error {
	return s.c.recv(s.on, b.Base, b.Count, b.Type, s.rank(from), s.tagged(tag), nil)
}
func (s *subset) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	return coll.Req(s.c.isend(s.on, b.Base, b.Count, b.Type, s.rank(to), s.tagged(tag), modeStandard)), nil
}
func (s *subset) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	return coll.Req(s.c.irecv(s.on, b.Base, b.Count, b.Type, s.rank(from), s.tagged(tag))), nil
}
func (s *subset) Wait(reqs ...coll.Req) error { return s.c.ops.Wait(reqs...) }

// newBlock is Comm.newBlock for a subset.
func (s *subset) newBlock() (contexts.Block, error) {
	e := s.c.engine
	if guests, _ := e.guestsOf(s.g); guests != nil {
		return e.vote(contexts.Place{Context: s.on.cid, Tag: s.first}, s.largest)
	}
	word := make([]uint64, 1)
	if s.Rank() == 0 {
		word[0] = e.give()
	}
	if err := coll.Bcast(s, countBuf(word), 0); err != nil {
		return contexts.Block{}, err
	}
	return e.givenBlock(s.g.World(0), word)
}

// largest is the largest of what the members say.
func (s *subset) largest(mine uint64) (uint64, error) {
	all := make([]uint64, 1)
	if err := coll.Reduce(s, countBuf([]uint64{mine}), countBuf(all), op.Predefined(abi.MPI_MAX), 0); err != nil {
		return 0, err
	}
	return all[0], coll.Bcast(s, countBuf(all), 0)
}

// Split makes one communicator for each color, ordered by key and then by rank; nil where color is negative
// (MPI_UNDEFINED). Clients may differ in the value of MPI_UNDEFINED (IMPI 0.0, 4.7).
func (c *Comm) Split(color, key int32) (*Comm, error) {
	cid, err := c.nextCID()
	if err != nil {
		return nil, err
	}
	home := c
	if c.inter.local != nil {
		home = c.inter.local
	}
	all, err := home.splitTable(color, key)
	if err != nil {
		return nil, err
	}
	if c.inter.local != nil {
		return c.splitInter(all, color, cid)
	}
	if color < 0 {
		return nil, nil
	}
	g, err := c.splitGroup(all, color)
	if err != nil {
		return nil, err
	}
	return c.engine.newComm(g, cid)
}

// splitTable is what each process says in a split: color, key and rank.
type splitTable []int32

// splitWords are the words of a process in the table.
const splitWords = 3

func (t splitTable) color(rank int) int32 { return t[splitWords*rank] }
func (t splitTable) key(rank int) int32   { return t[splitWords*rank+1] }
func (t splitTable) rank(rank int) int32  { return t[splitWords*rank+2] }

// splitTable collects what the processes of an intracommunicator say.
func (c *Comm) splitTable(color, key int32) (splitTable, error) {
	all := make(splitTable, splitWords*(c.Size()+1)) // and the caller's, to send
	mine := all[splitWords*c.Size():]
	mine[0], mine[1], mine[2] = color, key, c.rank
	all = all[:splitWords*c.Size()]
	if c.seats.layout == nil && c.Size() == 2 {
		copy(all[splitWords*c.rank:], mine)
		return all, c.swapWithOther(intBuf(mine), intBuf(all[splitWords*(1-c.rank):][:splitWords]))
	}
	recv := intBuf(all)
	recv.Count = splitWords
	return all, c.Allgather(intBuf(mine), recv)
}

// tagSplit lies above the tags of algorithms.
const tagSplit = 242

// swapWithOther exchanges a short message with the other of two processes, as an allgather would at a higher cost. The
// message leaves before the receive is posted, since both are on their way at the same time.
func (c *Comm) swapWithOther(send, recv coll.Buf) error {
	other := 1 - int(c.rank)
	out := c.isend(c.coll, send.Base, send.Count, send.Type, other, tagSplit, modeStandard)
	err := c.recv(c.coll, recv.Base, recv.Count, recv.Type, other, tagSplit, nil)
	if out != sentRequest {
		if e := c.ops.Wait(coll.Req(out)); err == nil {
			err = e
		}
	}
	return err
}

// splitGroup is the group of those with the given color.
func (c *Comm) splitGroup(all splitTable, color int32) (*Group, error) {
	n := 0
	for r := range c.group.Size() {
		if int(all.rank(r)) != r {
			return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s answered the split as rank %d", r, c.describe(), all.rank(r))
		}
		if all.color(r) == color {
			n++
		}
	}
	members, ordered := make([]int32, 0, n), true // ranks, and then what they are in the world
	for r := range c.group.Size() {
		if all.color(r) == color {
			ordered = ordered && (len(members) == 0 || all.key(int(members[len(members)-1])) <= all.key(r))
			members = append(members, int32(r))
		}
	}
	if !ordered {
		slices.SortStableFunc(members, func(a, b int32) int { return cmp.Compare(all.key(int(a)), all.key(int(b))) })
	}
	for i, r := range members {
		members[i] = c.group.World(int(r))
	}
	return NewGroup(members), nil
}

// MachineColor is the same for two processes exactly if they can share memory.
func (c *Comm) MachineColor() int32 {
	if !c.severalJobs() {
		return c.engine.position.machine
	}
	for i, w := range c.inOrder().Worlds() {
		if w == c.engine.me || c.engine.peer(w).local >= 0 {
			return int32(i)
		}
	}
	return abi.MPI_UNDEFINED
}

// inOrder is all processes of the communicator in an order that is the same for all of them.
func (c *Comm) inOrder() *Group {
	if c.inter.local != nil && c.engine.before(c.group.World(0), c.inter.local.group.World(0)) {
		return c.group.Union(c.inter.local.group)
	}
	return c.everybody()
}

// foreign returns the first member of another implementation; nil if there is none.
func (c *Comm) foreign() (rank int, p *transport.Proc) {
	for r := range c.group.Size() {
		if p := c.engine.foreign(c.group.World(r)); p != nil {
			return r, p
		}
	}
	return 0, nil
}

// foreign returns a process if it is of another implementation; nil if it is not.
func (e *Engine) foreign(world int32) *transport.Proc {
	if e.isGuest(world) {
		return nil // of this library, as all that meet are
	}
	p := &e.job.Procs[world]
	if p.Client == e.job.Procs[e.me].Client || e.job.Hosts[p.Host].SameImpl {
		return nil
	}
	return p
}
