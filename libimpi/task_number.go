package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// Tasks get their numbers here (package schedule).

// enumerate gives a task that is begun to be recorded its number. Engine lock held, given up while members agree.
func (c *Comm) enumerate(t *Task) error {
	if c.takesTurns() {
		return nil
	}
	e := c.engine
	if t.form != coll.Persistent {
		n := &c.tasks.once
		number, used := n.Once(e.collectives.mostTasks)
		if used {
			n.Take(number) // as at the others
			return errorf(abi.MPI_ERR_OTHER, "%d collective operations have been started on %s since one that is still "+
				"under way; more cannot be told from it", e.collectives.mostTasks-1, c.describe())
		}
		n.Add(&t.numbered, number)
		t.shift = number << taskTagBits
		return nil
	}
	n := &c.tasks.kept
	number := n.Next(e.collectives.mostTasks)
	if number == 0 {
		if err := c.renewNumbers(); err != nil {
			return err
		}
		if number = n.Next(e.collectives.mostTasks); number == 0 {
			return errorf(abi.MPI_ERR_OTHER, "all of the %d persistent collective operations that %s can have are in use",
				e.collectives.mostTasks, c.describe())
		}
	}
	n.Add(&t.numbered, number)
	t.shift = (e.collectives.mostTasks + number) << taskTagBits
	return nil
}

// renewNumbers begins a new round of the numbers of persistent operations, of those that no member has in use. Both
// groups of an intercommunicator count together. Engine lock held, given up meanwhile.
func (c *Comm) renewNumbers() error {
	e, n := c.engine, &c.tasks.kept
	mine := n.InUse(e.collectives.mostTasks)
	taken := make([]uint64, len(mine))
	e.mu.Unlock()
	either := op.Predefined(abi.MPI_BOR)
	err := c.Allreduce(countBuf(mine), countBuf(taken), either)
	if err == nil && c.inter.local != nil {
		err = c.inter.local.Allreduce(coll.InPlace(), countBuf(mine), either)
	}
	e.mu.Lock()
	for i := range mine {
		taken[i] |= mine[i]
	}
	n.Renew(taken)
	return err
}
