package libimpi

import (
	stdcontext "context"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
)

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
