package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// The numbers by which tags tell apart the collective operations of a communicator that are under way at the same time
// (task.go). All members count alike, since they call its operations in the same order, and nobody is asked. But there
// are only so many numbers, and then they begin anew. When is a number free again?
//
// A member that has an operation under way, or keeps a persistent one, must not begin another of the same number. If it
// has ended the earlier one, it may: all that it has sent for it left before what it sends for the later one, and so
// members that still have the earlier one get that first.
//
// Operations that are started once must begin without waiting for others (MPI 5.0, 6.12). So one that would get the
// number of another that has not ended is an error: so many have been started since. A persistent one may wait when
// it is made (MPI 5.0, 6.13). When the numbers are used up the members agree on those that nobody has any more, and
// skip all others until the next time.

// taskNumbers are those of one kind of operations on a communicator.
type taskNumbers struct {
	given  uint64   // how many operations have got one
	last   int      // the last number that was given in this round
	taken  []uint64 // and by number - 1, those that are skipped in this round; nil: none
	oldest *Task    // of those that have one; they are linked from the oldest to the newest
	newest *Task
}

// take notes that an operation has got a number.
func (n *taskNumbers) take(number int) {
	n.given++
	n.last = number
}

// add gives a task its number.
func (n *taskNumbers) add(t *Task, number int) {
	n.take(number)
	t.numbered.number, t.numbered.nth = number, n.given
	if t.numbered.older = n.newest; t.numbered.older != nil {
		t.numbered.older.numbered.newer = t
	} else {
		n.oldest = t
	}
	n.newest = t
}

// remove makes a task's number free.
func (n *taskNumbers) remove(t *Task) {
	if t.numbered.older != nil {
		t.numbered.older.numbered.newer = t.numbered.newer
	} else {
		n.oldest = t.numbered.newer
	}
	if t.numbered.newer != nil {
		t.numbered.newer.numbered.older = t.numbered.older
	} else {
		n.newest = t.numbered.older
	}
	t.numbered.older, t.numbered.newer, t.numbered.number = nil, nil, 0
}

// takeBack makes the number of the task that was last begun as if it had never been given.
func (n *taskNumbers) takeBack(t *Task) {
	n.remove(t)
	n.given--
	n.last--
}

// once is the number of the next operation that is started once, and the task that still has it; nil is none.
func (n *taskNumbers) once(most int) (number int, user *Task) {
	if number = n.last + 1; number > most {
		number = 1
	}
	if n.oldest == nil || n.given+1-n.oldest.numbered.nth < uint64(most) {
		return number, nil
	}
	for t := n.oldest; t != nil; t = t.numbered.newer {
		if t.numbered.number == number {
			return number, t
		}
	}
	return number, nil
}

// next is the number of the next persistent operation; 0 if this round has no more.
func (n *taskNumbers) next(most int) int {
	for number := n.last + 1; number <= most; number++ {
		if n.taken == nil || n.taken[(number-1)/64]>>((number-1)%64)&1 == 0 {
			return number
		}
	}
	return 0
}

// inUse are the numbers of tasks, by number - 1.
func (n *taskNumbers) inUse(most int) []uint64 {
	used := make([]uint64, (most+63)/64)
	for t := n.oldest; t != nil; t = t.numbered.newer {
		used[(t.numbered.number-1)/64] |= 1 << ((t.numbered.number - 1) % 64)
	}
	return used
}

// enumerate gives a task that is begun to be recorded its number. Engine lock held, given up while members agree.
func (c *Comm) enumerate(t *Task) error {
	if c.takesTurns() {
		return nil
	}
	e := c.engine
	if t.form != coll.Persistent {
		n := &c.tasks.once
		number, user := n.once(e.collectives.mostTasks)
		if user != nil {
			n.take(number) // as at the others
			return errorf(abi.MPI_ERR_OTHER, "%d collective operations have been started on %s since one that is still "+
				"under way; more cannot be told from it", e.collectives.mostTasks-1, c.describe())
		}
		n.add(t, number)
		t.shift = number << taskTagBits
		return nil
	}
	n := &c.tasks.kept
	number := n.next(e.collectives.mostTasks)
	if number == 0 {
		if err := c.renewNumbers(); err != nil {
			return err
		}
		if number = n.next(e.collectives.mostTasks); number == 0 {
			return errorf(abi.MPI_ERR_OTHER, "all of the %d persistent collective operations that %s can have are in use",
				e.collectives.mostTasks, c.describe())
		}
	}
	n.add(t, number)
	t.shift = (e.collectives.mostTasks + number) << taskTagBits
	return nil
}

// renewNumbers begins a new round of the numbers of persistent operations, of those that no member has in use. Both
// groups of an intercommunicator count together. Engine lock held, given up meanwhile.
func (c *Comm) renewNumbers() error {
	e, n := c.engine, &c.tasks.kept
	mine := n.inUse(e.collectives.mostTasks)
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
	n.last, n.taken = 0, taken
	return err
}
