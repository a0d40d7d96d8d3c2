// Package schedule is what tells apart the nonblocking and persistent collective operations of a communicator: their
// numbers, which become part of tags. It knows neither messages nor communicators, and the engine's lock guards it.
package schedule

// Numbers, as a part of tags, tell apart the collective operations of a communicator that are under way at the same
// time (libimpi/task.go). All members count alike, since they call its operations in the same order, and nobody is
// asked. But there are only so many numbers, and then they begin anew. When is a number free again?
//
// A member that has an operation under way, or keeps a persistent one, must not begin another of the same number. If it
// has ended the earlier one, it may: all that it has sent for it left before what it sends for the later one, and so
// members that still have the earlier one get that first.
//
// Operations that are started once must begin without waiting for others (MPI 5.0, 6.12). So one that would get the
// number of another that has not ended is an error: so many have been started since. A persistent one may wait when
// it is made (MPI 5.0, 6.13). When the numbers are used up the members agree on those that nobody has any more, and
// skip all others until the next time.

// Number is that of one operation. The zero value is none.
type Number struct {
	number       int
	nth          uint64 // how many operations of its kind had got one when it did
	older, newer *Number
}

// Value returns the number, counted from 1; 0: the operation has none.
func (t *Number) Value() int { return t.number }

// Numbers are those of one kind of operations on a communicator.
type Numbers struct {
	given  uint64   // how many operations have got one
	last   int      // the last number that was given in this round
	taken  []uint64 // and by number - 1, those that are skipped in this round; nil: none
	oldest *Number  // of those that are in use; they are linked from the oldest to the newest
	newest *Number
}

// Take notes that an operation has got a number.
func (n *Numbers) Take(number int) {
	n.given++
	n.last = number
}

// Add gives an operation its number.
func (n *Numbers) Add(t *Number, number int) {
	n.Take(number)
	t.number, t.nth = number, n.given
	if t.older = n.newest; t.older != nil {
		t.older.newer = t
	} else {
		n.oldest = t
	}
	n.newest = t
}

// Remove makes the number of an operation free.
func (n *Numbers) Remove(t *Number) {
	if t.older != nil {
		t.older.newer = t.newer
	} else {
		n.oldest = t.newer
	}
	if t.newer != nil {
		t.newer.older = t.older
	} else {
		n.newest = t.older
	}
	t.older, t.newer, t.number = nil, nil, 0
}

// TakeBack undoes the last Add.
func (n *Numbers) TakeBack(t *Number) {
	n.Remove(t)
	n.given--
	n.last--
}

// Once returns the number of the next operation that is started once, and whether an earlier one still has it.
func (n *Numbers) Once(most int) (number int, used bool) {
	if number = n.last + 1; number > most {
		number = 1
	}
	if n.oldest == nil || n.given+1-n.oldest.nth < uint64(most) {
		return number, false
	}
	for t := n.oldest; t != nil; t = t.newer {
		if t.number == number {
			return number, true
		}
	}
	return number, false
}

// Next returns the number of the next persistent operation; 0 if this round has no more.
func (n *Numbers) Next(most int) int {
	for number := n.last + 1; number <= most; number++ {
		if n.taken == nil || n.taken[(number-1)/64]>>((number-1)%64)&1 == 0 {
			return number
		}
	}
	return 0
}

// InUse returns the numbers in use as a bit each, bit number - 1.
func (n *Numbers) InUse(most int) []uint64 {
	used := make([]uint64, (most+63)/64)
	for t := n.oldest; t != nil; t = t.newer {
		used[(t.number-1)/64] |= 1 << ((t.number - 1) % 64)
	}
	return used
}

// Renew begins a new round, which skips the numbers in taken, as InUse has them.
func (n *Numbers) Renew(taken []uint64) { n.last, n.taken = 0, taken }
