package libimpi

import (
	"cmp"
	stdcontext "context"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/transport"
)

// Communicators that are made of others: duplicates, subgroups, splits (MPI 5.0, 7.4.2); and below, those of groups
// that have no parent communicator.

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
	if err := members.begin(); err != nil {
		return nil, err
	}
	ids, err := members.newBlock()
	members.end()
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

// begin begins to make a subgroup, unless a member is lost; end ends that.
func (s *subset) begin() error {
	e := s.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loss.some {
		if lost := s.lost(); lost != nil {
			return lost
		}
	}
	s.c.ids.making = append(s.c.ids.making, s)
	return nil
}

func (s *subset) end() {
	e := s.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	s.c.ids.making = slices.DeleteFunc(s.c.ids.making, func(o *subset) bool { return o == s })
}

// lost is why a member is lost; nil if none is. Engine lock held.
func (s *subset) lost() *Error {
	for _, w := range s.g.Worlds() {
		if p := s.c.engine.peer(w); p.lost != nil {
			return p.lost
		}
	}
	return nil
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
	if err := s.tell(word); err != nil {
		return contexts.Block{}, err
	}
	return e.givenBlock(s.g.World(0), word)
}

// tell gives all members the first one's word, over a binomial tree. Words say for whom they are: when members are
// lost, a call under the same tag may have failed before, in which some words have not been received.
func (s *subset) tell(word []uint64) error {
	me, b := s.Rank(), []uint64{word[0], s.digest()}
	if me > 0 {
		for b[1] = 0; b[1] != s.digest(); {
			if err := s.Recv(countBuf(b), me&(me-1), 0); err != nil {
				return err
			}
		}
	}
	below := me & -me
	if me == 0 {
		below = 1 << bits.Len(uint(s.Size()))
	}
	for step := below / 2; step > 0; step /= 2 {
		if me+step < s.Size() {
			if err := s.Send(countBuf(b), me+step, 0); err != nil {
				return err
			}
		}
	}
	word[0] = b[0]
	return nil
}

// digest tells groups apart.
func (s *subset) digest() uint64 {
	h := fnv.New64a()
	binary.Write(h, binary.LittleEndian, s.g.Worlds())
	return h.Sum64() | 1
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

// Communicators of groups that have no parent communicator (MPI 5.0, 7.4.2 and 7.6.2): the members agree on
// context ids over a temporary communicator that each of them can make alone. Its own context ids are a digest of the
// program's string tag and of the members, so that calls with other tags, or of other members, use another one at the
// same time. Between calls with the same tag, one after the other, a quick process may open the next agreement before a
// slow one has closed the last: its messages wait behind those of the last one, and stay when that is closed.
//
// IMPI knows nothing of this; processes of another implementation cannot take part in it.

// kinds of agreements
const (
	agreeToCreate = "create"
	agreeAtHome   = "home"    // one group of a new intercommunicator
	agreeLeaders  = "leaders" // its leaders
	agreeAll      = "all"     // both groups
)

// openAgreement makes the temporary communicator of the members of g; closeAgreement ends it.
func (e *Engine) openAgreement(kind, tag string, g *Group) (*Comm, error) {
	members := g.Worlds()
	if guests, lost := e.guestsOf(g); lost != nil {
		return nil, lost
	} else if guests != nil { // others have other numbers for them
		kind, members = kind+" of jobs", e.identitiesAsWords(g)
	}
	e.mu.Lock()
	cid := contexts.OfGroup(kind, tag, members)
	busy := e.contexts.find(cid) != nil
	e.mu.Unlock()
	if busy {
		return nil, errorf(abi.MPI_ERR_ARG,
			"another thread makes a communicator of the same group with the same string tag %q", tag)
	}
	return e.newComm(g, cid)
}

// closeAgreement ends an agreement; messages for the next one with the same tag and members stay.
func (c *Comm) closeAgreement() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spare(c.foreigners.known)
	c.foreigners.known = nil
	for _, ctx := range [...]*context{c.p2p, c.coll} {
		e.closeContext(ctx)
	}
}

// CreateFromGroup makes a communicator of the members of g, all of which call it with the same string tag
// (MPI_Comm_create_from_group).
func (e *Engine) CreateFromGroup(g *Group, tag string) (*Comm, error) {
	agreement, err := e.openAgreement(agreeToCreate, tag, g)
	if err != nil {
		return nil, err
	}
	defer agreement.closeAgreement()
	ids, err := agreement.newBlock()
	if err != nil {
		return nil, err
	}
	return e.newOn(g, ids)
}

// CreateInterFromGroups makes an intercommunicator (MPI_Intercomm_create_from_groups). remote and remoteLeader are
// looked at where the caller is the leader of its group.
func (e *Engine) CreateInterFromGroups(local *Group, leader int,
	remote *Group, remoteLeader int, tag string) (*Comm, error) {
	home, err := e.openAgreement(agreeAtHome, tag, local)
	if err != nil {
		return nil, err
	}
	defer home.closeAgreement()
	var world []int32
	m := home.newEncounter(stdcontext.Background(), leader, nil)
	var failed error
	if home.Rank() == leader {
		leaders, err := e.meetLeader(tag, local.World(leader), remote.World(remoteLeader))
		if err == nil {
			defer leaders.closeAgreement()
		}
		if !e.foreignJobs(local) && !e.foreignJobs(remote) {
			if err != nil {
				return nil, err
			}
			world = remote.Worlds()
		} else if failed = err; err == nil { // who they are is told over a line
			failed = m.openLine(leaders, 1-leaders.Rank(), 0)
		}
	}
	if world, err = home.bcastList(world, leader, len(e.peers)); err != nil {
		return nil, err
	}
	if len(world) == 0 {
		return m.join(failed)
	}
	if err := e.checkRemote(local, world); err != nil {
		return nil, err
	}
	return e.meetAndJoin(tag, local, NewGroup(world))
}

// meetAndJoin makes an intercommunicator of two groups that know each other.
func (e *Engine) meetAndJoin(tag string, local, remote *Group) (*Comm, error) {
	both := local.Union(remote)
	if e.before(remote.World(0), local.World(0)) { // the same order on both sides
		both = remote.Union(local)
	}
	all, err := e.openAgreement(agreeAll, tag, both)
	if err != nil {
		return nil, err
	}
	defer all.closeAgreement()
	ids, err := all.newBlock()
	if err != nil {
		return nil, err
	}
	return e.newInterOn(local, remote, ids)
}

// newInterOn is newInter on the first of some context ids; the others are for the communicators that will be made of
// it.
func (e *Engine) newInterOn(local, remote *Group, ids contexts.Block) (*Comm, error) {
	made, err := e.newInter(local, remote, ids.Next)
	if made != nil {
		made.ids.supply.Stock(ids.Rest())
	}
	return made, err
}

// meetLeader waits for the leader of the other group, so that a wrong one is found before its group is believed. It
// returns an agreement with it, for the caller to close.
func (e *Engine) meetLeader(tag string, mine, theirs int32) (leaders *Comm, err error) {
	if mine == theirs {
		return nil, errorf(abi.MPI_ERR_COMM, "both groups have the same leader, rank %d of MPI_COMM_WORLD", mine)
	}
	both := []int32{mine, theirs}
	if e.before(theirs, mine) {
		both[0], both[1] = theirs, mine
	}
	if leaders, err = e.openAgreement(agreeLeaders, tag, NewGroup(both)); err != nil {
		return nil, err
	}
	if err := leaders.Barrier(); err != nil {
		leaders.closeAgreement()
		return nil, err
	}
	return leaders, nil
}

// bcastList gives the root's list of at most limit integers to all.
func (c *Comm) bcastList(list []int32, root, limit int) ([]int32, error) {
	n := []int32{int32(len(list))}
	if err := c.Bcast(intBuf(n), root); err != nil {
		return nil, err
	}
	if n[0] < 0 || int(n[0]) > limit {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s sends %d integers, where at most %d make sense", root,
			c.describe(), n[0], limit)
	}
	if c.Rank() != root {
		list = make([]int32, n[0])
	}
	if len(list) == 0 {
		return list, nil
	}
	return list, c.Bcast(intBuf(list), root)
}
