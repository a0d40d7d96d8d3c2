package libimpi

import (
	stdcontext "context"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/contexts"
)

// Intercommunicators (MPI 5.0, 7.6): two groups, each of which talks to the other. To the engine such a Comm is one
// like all, in which ranks name the processes of the remote group, and the caller's rank is that in its own. Beside
// it stands an intracommunicator of the local group for what the collectives do at home.
//
// How the two sides agree is mandated where they are different clients (IMPI 0.0, 4.5 to 4.9), and the same
// elsewhere: all but the leaders, which are the ranks 0, tell the remote leader; the leaders exchange; each leader
// tells the others of the remote group. Inside a client threads may do so at the same time.

// Tags in the collective context of the intercommunicator (IMPI 0.0, 4.11), and above them our own.
const (
	tagInterDup   = 210
	tagInterMerge = 220
	tagInterFree  = 230
	tagSwap       = 1000
	tagInterColl  = 1001
	tagLeaders    = 1002 // for the leaders of MPI_Intercomm_create, before they know that their tags agree
)

// Inter reports whether the communicator is an intercommunicator.
func (c *Comm) Inter() bool { return c.inter.local != nil }

// RemoteGroup is the remote group of an intercommunicator.
func (c *Comm) RemoteGroup() *Group { return c.group }

// newInter builds an intercommunicator on a context id.
func (e *Engine) newInter(local, remote *Group, cid uint64) (*Comm, error) {
	home, err := e.newComm(local, contexts.Home|cid)
	if err != nil {
		return nil, err
	}
	layout, err := e.layoutOf(local.Union(remote))
	if err != nil {
		return nil, err
	}
	c := &Comm{engine: e, group: remote, rank: home.rank,
		inter: groupPair{local: home, spans: layout != nil, ruled: layout != nil && !layout.Own}}
	home.inter.beside = c
	e.open(c, cid)
	return c, nil
}

// CreateInter joins the group of c with that of another communicator (MPI_Intercomm_create; IMPI 0.0, 4.8). The
// leaders, one of each group, meet on peer, which only they need to know. IMPI leaves open in which of its contexts;
// it is the collective one, as for everything inside a collective, and what comes in the other one is taken, too.
func (c *Comm) CreateInter(leader int, peer *Comm, remoteLeader int, tag int32) (*Comm, error) {
	e := c.engine
	choice := e.choose() // nobody but the leader knows yet who else will be a member
	defer e.chosen(&choice)
	most := make([]uint64, 1)
	if err := c.Reduce(countBuf([]uint64{e.offerCID(&choice)}), countBuf(most), op.Predefined(abi.MPI_MAX),
		leader); err != nil {
		return nil, err
	}
	there := make([]uint64, 2)
	if c.Rank() == leader {
		size := c.sizeFor(peer, remoteLeader)
		if err := peer.exchangeAnywhere(countBuf([]uint64{most[0], size}), countBuf(there), remoteLeader,
			tag); err != nil {
			return nil, err
		}
		there[0] = max(there[0], most[0])
		if size == 0 {
			there[1] = 0
		} else if there[1] != 0 {
			there[1] |= size & ofSeveralJobs
		}
	}
	if err := c.Bcast(countBuf(there), leader); err != nil {
		return nil, err
	}
	if there[1]&ofSeveralJobs != 0 {
		return c.createInterOfJobs(leader, peer, remoteLeader, tag)
	}
	if there[1] < 1 || there[1] > uint64(len(e.peers)) {
		return nil, errorf(abi.MPI_ERR_COMM, "the remote group has %d processes", there[1])
	}
	world := make([]int32, there[1])
	if c.Rank() == leader {
		if err := peer.exchangeAnywhere(intBuf(c.group.Worlds()), intBuf(world), remoteLeader, tag); err != nil {
			return nil, err
		}
	}
	if err := c.Bcast(intBuf(world), leader); err != nil {
		return nil, err
	}
	if err := e.checkRemote(c.group, world); err != nil {
		return nil, err
	}
	remote := NewGroup(world)
	if layout, err := e.layoutOf(c.group.Union(remote)); err != nil {
		return nil, err
	} else if layout == nil || layout.Own {
		e.chosen(&choice)
		return c.createInterApart(leader, peer, remoteLeader, tag, remote)
	}
	cid, err := e.takeCID(&choice, there[0])
	if err != nil {
		return nil, err
	}
	return e.newInter(c.group, remote, cid)
}

// ofSeveralJobs stands in what a leader says of its group's size: the processes of the two groups are of several jobs.
// IMPI knows nothing of that, nor do other implementations: their leaders are told that the group is empty, which ends
// the call at both sides.
const ofSeveralJobs = 1 << 63

// sizeFor is what a leader says of its group's size.
func (c *Comm) sizeFor(peer *Comm, remoteLeader int) uint64 {
	e := c.engine
	there := peer.group.World(remoteLeader)
	if !c.severalJobs() && !e.isGuest(there) {
		return uint64(c.Size())
	}
	if _, foreign := c.foreign(); foreign != nil || !e.agreed(NewGroup([]int32{there}), sameImpl) {
		return 0
	}
	return uint64(c.Size()) | ofSeveralJobs
}

// createInterOfJobs is the rest of CreateInter for processes of several jobs, who may not all know each other.
func (c *Comm) createInterOfJobs(leader int, peer *Comm, remoteLeader int, tag int32) (*Comm, error) {
	m := c.newEncounter(stdcontext.Background(), leader, nil)
	var failed error
	if c.Rank() == leader {
		failed = m.openLine(peer, remoteLeader, tag)
	}
	return m.join(failed)
}

// createInterApart is the end of CreateInter where all clients are libimpi, and the threads of a process may make
// communicators at the same time: both groups meet, at a place that the ids of their own communicators tell.
func (c *Comm) createInterApart(leader int, peer *Comm, remoteLeader int, tag int32, remote *Group) (*Comm, error) {
	theirs := make([]uint64, 1)
	if c.Rank() == leader {
		if err := peer.exchange(countBuf([]uint64{c.p2p.cid}), countBuf(theirs), remoteLeader, int(tag)); err != nil {
			return nil, err
		}
	}
	if err := c.Bcast(countBuf(theirs), leader); err != nil {
		return nil, err
	}
	place := fmt.Sprintf("%x and %x", min(c.p2p.cid, theirs[0]), max(c.p2p.cid, theirs[0]))
	return c.engine.meetAndJoin(place, c.group, remote)
}

// checkRemote looks whether world ranks that came from elsewhere make a remote group.
func (e *Engine) checkRemote(local *Group, world []int32) error {
	seen := make(map[int32]bool, len(world))
	for _, w := range world {
		if w < 0 || int(w) >= len(e.peers) || seen[w] {
			return errorf(abi.MPI_ERR_INTERN, "the remote group is %v in MPI_COMM_WORLD", world)
		}
		if seen[w] = true; local.Rank(w) != abi.MPI_UNDEFINED {
			return errorf(abi.MPI_ERR_COMM,
				"the groups of an intercommunicator are not disjoint: rank %d of MPI_COMM_WORLD is in both", w)
		}
	}
	return nil
}

// exchangeAnywhere is exchange that also takes an answer in the point-to-point context, where another implementation
// may expect it; the program keeps that tag free (MPI 5.0, 7.6.2). Only leaders of different clients need it.
func (c *Comm) exchangeAnywhere(out, in coll.Buf, with int, tag int32) (err error) {
	if !c.spans() {
		return c.exchange(out, in, with, int(tag))
	}
	e := c.engine
	s := coll.NewScratch()
	defer s.Done(&err)
	other, err := s.Typed(in.Count, in.Type)
	if err != nil {
		return err
	}
	mandated := c.irecv(c.coll, in.Base, in.Count, in.Type, with, tag)
	elsewhere := c.irecv(c.p2p, other.Base, in.Count, in.Type, with, tag)
	sent := c.send(c.coll, out.Base, out.Count, out.Type, with, tag, modeStandard)
	e.mu.Lock()
	defer e.mu.Unlock()
	a, b := e.requests.find(mandated), e.requests.find(elsewhere)
	e.waitFor(func() bool { return a.state.done || b.state.done }, anyPeer, forMembers(c))
	if b.state.done && !a.state.done {
		a, b = b, a
		defer func() { datatype.Copy(in.Base, in.Count, in.Type, other.Base, in.Count, in.Type) }()
	}
	if b.isPosted() && !b.state.done {
		b.ctx.space.Withdraw(&b.waits)
		b.status.Cancelled = true
		e.complete(b)
	}
	if e.wait(b); sent == nil {
		_, sent = e.finish(a)
	} else {
		e.finish(a)
	}
	e.finish(b)
	return sent
}

// exchange sends to a rank and receives from it in the collective context.
func (c *Comm) exchange(out, in coll.Buf, with, tag int) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	err = s.Exchange(&c.ops, out, with, in, with, tag)
	return err
}

// agreeAcross finds the largest of mine, which is empty or one number, among all processes of both groups, and
// returns it followed by the remote leader's word.
func (c *Comm) agreeAcross(tag int, mine, word []uint64) (theirs []uint64, err error) {
	theirs = make([]uint64, len(mine)+len(word))
	if c.rank != 0 {
		if err := c.ops.Send(countBuf(mine), 0, tag); err != nil {
			return nil, err
		}
		return theirs, c.ops.Recv(countBuf(theirs), 0, tag)
	}
	most, in := slices.Clone(mine), make([]uint64, len(mine))
	for r := 1; r < c.group.Size(); r++ {
		if err := c.ops.Recv(countBuf(in), r, tag); err != nil {
			return nil, err
		}
		larger(most, in)
	}
	if err := c.exchange(countBuf(append(slices.Clone(most), word...)), countBuf(theirs), 0, tag); err != nil {
		return nil, err
	}
	larger(theirs[:len(mine)], most)
	answer := append(slices.Clone(theirs[:len(mine)]), word...)
	for r := 1; r < c.group.Size(); r++ {
		if err := c.ops.Send(countBuf(answer), r, tag); err != nil {
			return nil, err
		}
	}
	return theirs, nil
}

// larger keeps the larger of each pair in a.
func larger(a, b []uint64) {
	for i := range a {
		a[i] = max(a[i], b[i])
	}
}

// largestAcross is the largest of what the processes of both groups say.
func (c *Comm) largestAcross(tag int) func(uint64) (uint64, error) {
	return func(mine uint64) (uint64, error) {
		theirs, err := c.agreeAcross(tag, []uint64{mine}, nil)
		if err != nil {
			return 0, err
		}
		return theirs[0], nil
	}
}

// Merge makes an intracommunicator of both groups (MPI_Intercomm_merge; IMPI 0.0, 4.9): the group that is not high
// comes first; if they say the same, the one whose leader has the smaller rank in MPI_COMM_WORLD.
func (c *Comm) Merge(high bool) (*Comm, error) {
	word := uint64(0)
	if high {
		word = 1
	}
	var choice contexts.Choice
	offer := []uint64{0}
	if c.inter.ruled {
		choice = c.engine.choose()
		defer c.engine.chosen(&choice)
		offer[0] = c.engine.offerCID(&choice)
	}
	theirs, err := c.agreeAcross(tagInterMerge, offer, []uint64{word})
	if err != nil {
		return nil, err
	}
	cid := uint64(0)
	if c.inter.ruled {
		cid, err = c.engine.takeCID(&choice, theirs[0])
	} else {
		cid, err = c.nextCID()
	}
	if err != nil {
		return nil, err
	}
	first := !high
	if (theirs[1] != 0) == high {
		first = c.engine.before(c.inter.local.group.World(0), c.group.World(0))
	}
	if first {
		return c.engine.newComm(c.inter.local.group.Union(c.group), cid)
	}
	return c.engine.newComm(c.group.Union(c.inter.local.group), cid)
}

// swap gives each group's list to all of the other; those of one group pass the same. A list has at most limit
// integers.
func (c *Comm) swap(mine []int32, limit int) ([]int32, error) {
	length := make([]int32, 1)
	if err := c.swapEqual([]int32{int32(len(mine))}, length); err != nil {
		return nil, err
	}
	if length[0] < 0 || int(length[0]) > limit {
		return nil, errorf(abi.MPI_ERR_INTERN, "the remote group of %s sends %d integers, where at most %d make sense",
			c.describe(), length[0], limit)
	}
	theirs := make([]int32, length[0])
	return theirs, c.swapEqual(mine, theirs)
}

// swapEqual is swap where the length of the other list is known.
func (c *Comm) swapEqual(mine, theirs []int32) error {
	if c.rank == 0 {
		if err := c.exchange(intBuf(mine), intBuf(theirs), 0, tagSwap); err != nil {
			return err
		}
	}
	return c.inter.local.Bcast(intBuf(theirs), 0)
}

// createInter is Create for an intercommunicator: g is a part of the local group.
func (c *Comm) createInter(g *Group, cid uint64) (*Comm, error) {
	mine, several := g.Worlds(), c.severalJobs()
	if several { // the other side has numbers of its own for these processes
		for i, w := range mine {
			mine[i] = int32(c.inter.local.group.Rank(w))
		}
	}
	world, err := c.swap(mine, c.group.Size())
	if err != nil {
		return nil, err
	}
	seen := make(map[int32]bool, len(world))
	for i, w := range world {
		if several && w >= 0 && int(w) < c.group.Size() {
			w = c.group.World(int(w))
		} else if several || c.group.Rank(w) == abi.MPI_UNDEFINED {
			return nil, errorf(abi.MPI_ERR_INTERN, "process %d is not in the remote group of %s", w, c.describe())
		}
		if world[i] = w; seen[w] {
			return nil, errorf(abi.MPI_ERR_INTERN, "process %d is twice in a part of the remote group of %s", w, c.describe())
		}
		seen[w] = true
	}
	if len(world) == 0 || g.Rank(c.engine.me) == abi.MPI_UNDEFINED {
		return nil, nil
	}
	return c.engine.newInter(g, NewGroup(world), cid)
}

// splitInter is Split for an intercommunicator, whose two groups are split by the same colors: nil where one side
// has no process of the color.
func (c *Comm) splitInter(all splitTable, color int32, cid uint64) (*Comm, error) {
	theirs := make(splitTable, splitWords*c.group.Size())
	if err := c.swapEqual(all, theirs); err != nil {
		return nil, err
	}
	if color < 0 {
		return nil, nil
	}
	local, err := c.inter.local.splitGroup(all, color)
	if err != nil {
		return nil, err
	}
	remote, err := c.splitGroup(theirs, color)
	if err != nil || remote.Size() == 0 {
		return nil, err
	}
	return c.engine.newInter(local, remote, cid)
}

// compareInter is Compare for two intercommunicators.
func (c *Comm) compareInter(o *Comm) int {
	a, b := c.inter.local.group.Compare(o.inter.local.group), c.group.Compare(o.group)
	switch {
	case a == abi.MPI_UNEQUAL || b == abi.MPI_UNEQUAL:
		return abi.MPI_UNEQUAL
	case a == abi.MPI_SIMILAR || b == abi.MPI_SIMILAR:
		return abi.MPI_SIMILAR
	}
	return abi.MPI_CONGRUENT
}

// everybody is all processes of the communicator.
func (c *Comm) everybody() *Group {
	if c.inter.local == nil {
		return c.group
	}
	return c.inter.local.group.Union(c.group)
}
