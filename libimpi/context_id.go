package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// Agreement on the context id of a new communicator, where several threads of a process may make communicators at
// the same time. IMPI's rule, the largest id in use anywhere and one more (IMPI 0.0, 4.3), may give the same id to two
// of them. On a communicator that spans clients that rule is mandated, and threads that use it have to take turns.
// Elsewhere the ids of a job of several clients are counted apart from IMPI's, and each process has a veto: an id
// stands if nobody has used it, or one above, since the numbers were collected. So that two agreements do not undo
// each other for ever, a process with several under way consents to the first of them in an order that all
// processes share; one that still waits for a process to take part does not count.

// agreement is one that is under way: on which context, and with which tag.
type agreement struct {
	cid uint64
	tag int
}

func (a agreement) before(b agreement) bool { return a.cid < b.cid || a.cid == b.cid && a.tag < b.tag }

// agreeAmong finds the context id of a new communicator among a group of one client.
func (c *Comm) agreeAmong(key agreement, allreduce func(mine, all coll.Buf, o coll.Op) error) (uint64, error) {
	e := c.engine
	mine, all := make([]uint64, 1), make([]uint64, 1)
	for entered := false; ; entered = true {
		mine[0] = e.offerOwn()
		if err := allreduce(countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MAX)); err != nil {
			return 0, err
		}
		if !entered { // everybody is here: from now on it goes on whatever the program does
			e.enter(key)
			defer e.leave(key)
		}
		most := all[0]
		if most >= partitionedCID-2 {
			return 0, errorf(abi.MPI_ERR_OTHER, "no context id left on %s", c.describe())
		}
		mine[0] = e.claim(key, most)
		if err := allreduce(countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MIN)); err != nil {
			return 0, err
		}
		if all[0] != 0 {
			return most + 1, nil
		}
	}
}

// ownCID is where the ids begin that IMPI's rule does not count, in a job of several clients.
const ownCID = 1 << 61

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

// claim reserves the ids after most for an agreement and answers 1, or 0 if this process does not consent.
func (e *Engine) claim(key agreement, most uint64) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if most < *e.own() || slices.ContainsFunc(e.agreeing, func(a agreement) bool { return a.before(key) }) {
		return 0
	}
	*e.own() = most + 2
	return 1
}
