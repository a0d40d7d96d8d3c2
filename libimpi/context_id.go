package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
)

// Context ids: how the members of a new communicator find them.
//
// On a communicator that spans IMPI clients there is a rule (IMPI 0.0, 4.3): each process remembers the largest id it
// has used, the members agree on the maximum m, and the new ids are m+1 and m+2. It may give the same ids to two
// communicators that threads of a process make at the same time; threads that use it have to take turns.
//
// Elsewhere ids are found in blocks. The members of a communicator agree on a block of ids that nobody uses; what is
// made of that communicator, one after the other as MPI demands, takes the next of the block without a message, until
// it is used up. So most duplications are local. For a block each process has a veto: it stands if no process has used
// one of its ids, or one above, since the numbers were collected. So that two agreements do not undo each other
// for ever, a process with several under way consents to the first of them in an order that all processes
// share; one that still waits for a process to take part does not count. In a job of several clients blocks are
// counted apart from IMPI's ids.

// Kinds of ids, by their high bits. Numbers are counted below groupCIDs.
const (
	selfCID        = 1 << 63 // MPI_COMM_SELF: outside the space of ids that cross clients (IMPI 0.0, 3.3)
	partitionedCID = 1 << 62 // beside each communicator: partitioned communication (partitioned.go)
	ownCID         = 1 << 61 // blocks in a job of several clients
	homeCIDs       = 1 << 60 // beside each intercommunicator: its local group (intercomm.go)
	groupCIDs      = 1 << 59 // agreements of groups without a communicator (group_agreement.go)
)

// maxCID is the largest context id two clients may agree on (IMPI 0.0, 4.3).
const maxCID = 18446744073709551600

// cids are context ids that nobody uses, from next on below end; a communicator takes two.
type cids struct{ next, end uint64 }

// cidBlock is for how many communicators a block is.
const cidBlock = 32

func (ids cids) rest() cids { return cids{ids.next + 2, ids.end} }

// nextCID finds the context id of a new communicator that is made of c; every member of c takes part, also those
// that will not be members.
func (c *Comm) nextCID() (uint64, error) {
	e := c.engine
	if c.Spans() {
		most, err := c.largest(e.offerCID())
		if err != nil {
			return 0, err
		}
		return e.takeCID(most)
	}
	e.mu.Lock()
	ids := c.spare
	e.mu.Unlock()
	if ids.next == ids.end {
		var err error
		if ids, err = e.agreeAmong(agreement{cid: c.p2p.cid}, c.largest); err != nil {
			return 0, err
		}
	}
	e.mu.Lock()
	c.spare = ids.rest()
	e.mu.Unlock()
	return ids.next, nil
}

// largest is the largest of what the processes of c say.
func (c *Comm) largest(mine uint64) (uint64, error) {
	if c.local != nil {
		return c.largestAcross(tagInterDup)(mine)
	}
	all := make([]uint64, 1)
	err := c.Allreduce(countBuf([]uint64{mine}), countBuf(all), op.Predefined(abi.MPI_MAX))
	return all[0], err
}

// offerCID is what this process contributes to IMPI's choice of a context id.
func (e *Engine) offerCID() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.maxCID | 1
}

// takeCID notes the largest of all contributions and answers the id that follows.
func (e *Engine) takeCID(most uint64) (uint64, error) {
	if most >= maxCID-1 {
		return 0, errorf(abi.MPI_ERR_OTHER, "no context id left")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.maxCID = max(e.maxCID, most+2)
	return most + 1, nil
}

// agreement is one that is under way: on which context, and with which tag.
type agreement struct {
	cid uint64
	tag int
}

func (a agreement) before(b agreement) bool { return a.cid < b.cid || a.cid == b.cid && a.tag < b.tag }

// agreeAmong finds a block of context ids. largest answers the largest of what all who take part say.
func (e *Engine) agreeAmong(key agreement, largest func(mine uint64) (uint64, error)) (cids, error) {
	for entered := false; ; entered = true {
		most, err := largest(e.offerOwn())
		if err != nil {
			return cids{}, err
		}
		if !entered { // everybody is here: from now on it goes on whatever the program does
			e.enter(key)
			defer e.leave(key)
		}
		if most&^uint64(ownCID) >= groupCIDs-2*cidBlock {
			return cids{}, errorf(abi.MPI_ERR_OTHER, "no context id left")
		}
		vetoes, err := largest(e.reserveBlock(key, most))
		if err != nil {
			return cids{}, err
		}
		if vetoes == 0 {
			return cids{most + 1, most + 1 + 2*cidBlock}, nil
		}
	}
}

// own is the largest id that agreements with a veto have used. Engine lock held.
func (e *Engine) own() *uint64 {
	if e.job.Clients <= 1 {
		return &e.maxCID
	}
	e.maxOwn = max(e.maxOwn, ownCID)
	return &e.maxOwn
}

func (e *Engine) offerOwn() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return *e.own() | 1
}

func (e *Engine) enter(key agreement) {
	e.mu.Lock()
	e.agreeing = append(e.agreeing, key)
	e.mu.Unlock()
}

func (e *Engine) leave(key agreement) {
	e.mu.Lock()
	i := slices.Index(e.agreeing, key)
	e.agreeing = slices.Delete(e.agreeing, i, i+1)
	e.mu.Unlock()
}

// reserveBlock keeps the block after most for an agreement and answers 0, or 1 if this process does not consent.
func (e *Engine) reserveBlock(key agreement, most uint64) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if most < *e.own() || slices.ContainsFunc(e.agreeing, func(a agreement) bool { return a.before(key) }) {
		return 1
	}
	*e.own() = most + 2*cidBlock
	return 0
}
