package libimpi

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/libimpi/libimpi/abi"
)

// Communicators of groups that have no parent communicator (MPI 5.0, 7.4.2 and 7.6.2): the members meet in a place
// that each of them finds alone. It is a communicator of the group whose context ids are a digest of the
// program's string tag and of the members; there they agree on the ids of the new one, and it closes. Calls
// with other tags, or of other members, at the same time meet elsewhere. Between calls with the same tag, one after
// the other, a quick process may come to the next meeting before a slow one has left the last: its messages wait
// behind those of the last one, and stay when the place closes.
//
// IMPI knows nothing of this; processes of another implementation cannot take part in it.

// kinds of meetings
const (
	meetToCreate = "create"
	meetAtHome   = "home"    // one group of a new intercommunicator
	meetLeaders  = "leaders" // its leaders
	meetAll      = "all"     // both groups
)

// meetingCID is the context id of a meeting: 56 bits of the digest, and its range.
func meetingCID(kind, tag string, members *Group) uint64 {
	h := sha256.New()
	var number [8]byte
	word := func(n uint64) {
		binary.LittleEndian.PutUint64(number[:], n)
		h.Write(number[:])
	}
	word(uint64(len(kind)))
	h.Write([]byte(kind))
	word(uint64(len(tag)))
	h.Write([]byte(tag))
	for r := range members.Size() {
		word(uint64(members.World(r)))
	}
	return meetingCIDs | binary.LittleEndian.Uint64(h.Sum(nil))>>8<<1
}

// meet opens a meeting of the members of g; close it with adjourn.
func (e *Engine) meet(kind, tag string, g *Group) (*Comm, error) {
	e.mu.Lock()
	cid := meetingCID(kind, tag, g)
	busy := e.contexts.find(cid) != nil
	e.mu.Unlock()
	if busy {
		return nil, errorf(abi.MPI_ERR_ARG,
			"another thread makes a communicator of the same group with the same string tag %q", tag)
	}
	return e.newComm(g, cid)
}

// adjourn closes a meeting; messages for the next one at the same place stay.
func (c *Comm) adjourn() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ctx := range [...]*context{c.p2p, c.coll} {
		e.contexts.drop(ctx.cid)
		for m := ctx.space.Oldest(); m != nil; m = ctx.space.Oldest() {
			ctx.take(m)
			e.contexts.keepEarly(m.again(e.me, ctx.cid), m.payload)
			e.giveBack(m)
		}
	}
}

// agreeHere finds the context ids of a new communicator of all who meet. IMPI's rule has no say in it.
func (c *Comm) agreeHere() (cids, error) {
	return c.engine.agreeAmong(agreement{cid: c.p2p.cid}, c.largest)
}

// CreateFromGroup makes a communicator of the members of g, all of which call it with the same string tag
// (MPI_Comm_create_from_group).
func (e *Engine) CreateFromGroup(g *Group, tag string) (*Comm, error) {
	meeting, err := e.meet(meetToCreate, tag, g)
	if err != nil {
		return nil, err
	}
	defer meeting.adjourn()
	ids, err := meeting.agreeHere()
	if err != nil {
		return nil, err
	}
	return e.newOn(g, ids)
}

// CreateInterFromGroups makes an intercommunicator (MPI_Intercomm_create_from_groups). remote and remoteLeader are
// looked at where the caller is the leader of its group.
func (e *Engine) CreateInterFromGroups(local *Group, leader int, remote *Group, remoteLeader int, tag string) (*Comm,
	error) {
	home, err := e.meet(meetAtHome, tag, local)
	if err != nil {
		return nil, err
	}
	defer home.adjourn()
	var world []int32
	if home.Rank() == leader {
		if err := e.meetLeader(tag, local.World(leader), remote.World(remoteLeader)); err != nil {
			return nil, err
		}
		world = remote.Worlds()
	}
	if world, err = home.bcastList(world, leader, len(e.peers)); err != nil {
		return nil, err
	}
	if err := e.checkRemote(local, world); err != nil {
		return nil, err
	}
	return e.meetAndJoin(tag, local, NewGroup(world))
}

// meetAndJoin makes an intercommunicator of two groups that know each other.
func (e *Engine) meetAndJoin(tag string, local, remote *Group) (*Comm, error) {
	both := local.Union(remote)
	if remote.World(0) < local.World(0) { // the same order on both sides
		both = remote.Union(local)
	}
	all, err := e.meet(meetAll, tag, both)
	if err != nil {
		return nil, err
	}
	defer all.adjourn()
	ids, err := all.agreeHere()
	if err != nil {
		return nil, err
	}
	made, err := e.newInter(local, remote, ids.next)
	if made != nil {
		made.spare = ids.rest()
	}
	return made, err
}

// meetLeader waits for the leader of the other group, so that a wrong one is found before its group is believed.
func (e *Engine) meetLeader(tag string, mine, theirs int32) error {
	if mine == theirs {
		return errorf(abi.MPI_ERR_COMM, "both groups have the same leader, rank %d of MPI_COMM_WORLD", mine)
	}
	leaders, err := e.meet(meetLeaders, tag, NewGroup([]int32{min(mine, theirs), max(mine, theirs)}))
	if err != nil {
		return err
	}
	defer leaders.adjourn()
	return leaders.Barrier()
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
