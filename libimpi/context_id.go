package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// Agreement on the context id of a new communicator, where several threads of a process may make communicators at
// the same time. IMPI's rule, the largest id in use anywhere and one more (IMPI 0.0, 4.3), may give the same id to two
// of them. On a communicator that spans clients that rule is mandated, and its threads have to take turns with all
// other makers of communicators. Elsewhere each process has a veto: an id stands if nobody has used it, or one above,
// since the numbers were collected. So that two agreements do not undo each other for ever, a process with
// several under way consents to the first of them in an order that all processes share.

// agreement is one that is under way: on which context, and with which tag.
type agreement struct {
	cid uint64
	tag int
}

func (a agreement) before(b agreement) bool { return a.cid < b.cid || a.cid == b.cid && a.tag < b.tag }

// agreeAmong finds the context id of a new communicator among a group of one client.
func (c *Comm) agreeAmong(key agreement, allreduce func(mine, all coll.Buf, o coll.Op) error) (uint64, error) {
	e := c.engine
	e.enter(key)
	defer e.leave(key)
	mine, all := make([]uint64, 1), make([]uint64, 1)
	for {
		mine[0] = e.offerCID()
		if err := allreduce(countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MAX)); err != nil {
			return 0, err
		}
		most := all[0]
		mine[0] = e.claim(key, most)
		if err := allreduce(countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MIN)); err != nil {
			return 0, err
		}
		if all[0] != 0 {
			return c.takeCID(most)
		}
	}
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
	if most < e.maxCID || slices.ContainsFunc(e.agreeing, func(a agreement) bool { return a.before(key) }) {
		return 0
	}
	e.maxCID = most + 2
	return 1
}
