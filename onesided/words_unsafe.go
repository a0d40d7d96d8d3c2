package onesided

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/transport/futex"
)

// Words are how the members of a window synchronize inside a machine: counters in memory that all of them map, which
// only grow. Who waits for one waits until it is large enough (Machine.Await), and who raises it wakes whoever may.
//
//	fence   a member raises its own, and waits for those of all others
//	post    posted[origin][target]: raised by the target, awaited by the origin's start
//	        completed[target][origin]: raised by the origin's complete, awaited by the target's wait
//	lock    next, read and write of the target: a ticket lock for readers and writers. Who wants it takes the number
//	        next. A reader waits until read has come to its number, and raises it, so that a reader who follows may
//	        enter, too; a writer waits until write has come to it. A reader that leaves raises write, a writer both.
//	        All get it in the order in which they asked: nobody starves.
//	        Before that a member sets locking[member][target], and clears it when it has left the lock: a lock that a
//	        lost member may have, or wait for, nobody gets any more (lost.go)
//	table   version, table and entries: where a member has what the others read out of its memory by themselves
//
// The accumulate lock of a target is held for the time of a piece of an accumulate (accumulate_unsafe.go). It is not
// fair, since a queue would stand still each time that the next in it has no core. It says who holds it, by rank and 1.
type Words struct {
	machine Machine
	me, n   int
	members []Member

	posted  []uint64 // n*n: by who waits, then by who raises
	locking []uint32 // n rows: by who locks, then by whom

	losses                      *losses
	isLost, anyLost, isLockLost func(rank int) error // why waits are in vain

	view    *View
	targets []Target
}

// Member is what one member has in the memory: each line is written by the member, or by others, and not by both.
type Member struct {
	Fence             uint64
	Version           uint64 // of what it has published; odd while that changes
	Table, Entries    uint64 // an address of its memory, and how many entries it finds there
	Pad1              [4]uint64
	Next, Read, Write uint64 // its lock
	Pad2              [5]uint64
	Busy              uint32 // its accumulate lock
	Pad3              [15]uint32
}

// WordsBytes is how much memory the words of n members take.
func WordsBytes(n int) int { return lockingAt(n) + 4*n*lockingRow(n) }

// lockingAt is where locking begins, and lockingRow how many entries each of its rows has: rows have no cache line in
// common.
func lockingAt(n int) int {
	return (n*int(unsafe.Sizeof(Member{})) + 2*8*n*n + lineBytes - 1) &^ (lineBytes - 1)
}
func lockingRow(n int) int { return (n + lineBytes/4 - 1) &^ (lineBytes/4 - 1) }

// NewWords are the words in mem, which is zero when the first member comes, as member me sees them. It notes in targets
// where the words of each are.
func NewWords(mem []byte, me int, v *View, targets []Target, m Machine, l *losses) *Words {
	n := len(targets)
	_ = mem[WordsBytes(n)-1]
	w := &Words{machine: m, me: me, n: n, view: v, targets: targets, losses: l}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	w.members = unsafe.Slice((*Member)(p), n)
	const each = int(unsafe.Sizeof(Member{}))
	w.posted = unsafe.Slice((*uint64)(unsafe.Add(p, n*each)), n*n)
	completed := unsafe.Slice((*uint64)(unsafe.Add(p, n*each+8*n*n)), n*n)
	w.isLost, w.isLockLost = l.in, w.lockLost
	w.anyLost = func(int) error { return l.any() }
	row := lockingRow(n)
	w.locking = unsafe.Slice((*uint32)(unsafe.Add(p, lockingAt(n))), n*row)
	for r := range targets {
		t := &targets[r]
		t.Words = unsafe.Pointer(&w.members[r])
		t.Completes, t.Completed = &completed[r*n+me], &completed[me*n+r]
		t.Locking, t.Mine = &w.locking[me*row+r], uint32(me+1)
	}
	return w
}

// await returns when a word is at least so large. inVain is asked whether a lost member is why it does not become so;
// its argument is a member that the wait is about.
func (w *Words) await(word *uint64, least uint64, inVain func(rank int) error, rank int) error {
	if atomic.LoadUint64(word) >= least {
		return nil
	}
	return w.machine.Await(word, least, func() error { return inVain(rank) })
}

// WakeAll wakes all others, after something was stored that they may wait for.
func (w *Words) WakeAll() {
	for r := range w.n {
		if r != w.me {
			w.machine.Wake(r)
		}
	}
}

// Fence returns when all members have called it as often as this one.
func (w *Words) Fence() error {
	w.view.Fences++
	fences := w.view.Fences
	atomic.StoreUint64(&w.members[w.me].Fence, fences)
	w.WakeAll()
	for r := range w.n {
		if err := w.await(&w.members[r].Fence, fences, w.anyLost, r); err != nil {
			return err
		}
	}
	return nil
}

// Post lets the members of a group access this process.
func (w *Words) Post(group []int) {
	for _, r := range group {
		w.targets[r].Exposed++
		atomic.StoreUint64(&w.posted[r*w.n+w.me], w.targets[r].Exposed)
		w.machine.Wake(r)
	}
}

// Start returns when all members of a group that are not lost have let this process in; unasked: it is known that they
// have.
func (w *Words) Start(group []int, unasked bool) error {
	for _, r := range group {
		w.targets[r].Started++
		if unasked {
			continue
		}
		err := w.await(&w.posted[w.me*w.n+r], w.targets[r].Started, w.isLost, r)
		if err != nil && w.losses.in(r) == nil {
			return err
		}
	}
	return nil
}

// Complete tells the group of Start that this process is done.
func (w *Words) Complete(group []int) {
	for _, r := range group {
		atomic.StoreUint64(w.targets[r].Completes, w.targets[r].Started)
		w.machine.Wake(r)
	}
}

// Wait returns when all of the group of Post are done. It waits for all that are not lost.
func (w *Words) Wait(group []int) (err error) {
	for _, r := range group {
		if bad := w.await(w.targets[r].Completed, w.targets[r].Exposed, w.isLost, r); err == nil {
			err = bad
		}
	}
	return err
}

// Test reports whether Wait would return at once.
func (w *Words) Test(group []int) bool {
	for _, r := range group {
		if atomic.LoadUint64(w.targets[r].Completed) < w.targets[r].Exposed && w.losses.in(r) == nil {
			return false
		}
	}
	return true
}

// Lock locks a member, for this process alone if exclusive.
func (w *Words) Lock(target int, exclusive bool) error {
	if err := w.lockLost(target); err != nil {
		return err
	}
	m, t := &w.members[target], &w.targets[target]
	atomic.StoreUint32(t.Locking, 1)
	ticket := atomic.AddUint64(&m.Next, 1) - 1
	t.Ticket = ticket
	if exclusive {
		return w.await(&m.Write, ticket, w.isLockLost, target)
	}
	if err := w.await(&m.Read, ticket, w.isLockLost, target); err != nil {
		return err
	}
	atomic.StoreUint64(&m.Read, ticket+1)
	w.passOn(m, ticket)
	return nil
}

// lockLost is why nobody gets the lock of a member any more: it is lost, or one who is has the lock or may wait for it.
func (w *Words) lockLost(target int) error {
	if w.losses.any() == nil {
		return nil
	}
	if err := w.losses.in(target); err != nil {
		return err
	}
	for r := range w.n {
		if err := w.losses.in(r); err != nil && atomic.LoadUint32(&w.locking[r*lockingRow(w.n)+target]) != 0 {
			return err
		}
	}
	return nil
}

// Unlock takes Lock back.
func (w *Words) Unlock(target int, exclusive bool) error {
	m, t := &w.members[target], &w.targets[target]
	if exclusive {
		atomic.StoreUint64(&m.Read, t.Ticket+1)
	}
	atomic.AddUint64(&m.Write, 1)
	atomic.StoreUint32(t.Locking, 0)
	w.passOn(m, t.Ticket)
	return w.lockLost(target)
}

// passOn wakes those that wait for a lock behind a ticket.
func (w *Words) passOn(m *Member, ticket uint64) {
	if atomic.LoadUint64(&m.Next) != ticket+1 {
		w.WakeAll()
	}
}

// Publish says where in its memory this member has a table, and how many entries that has. The calls come one after the
// other.
func (w *Words) Publish(table, entries uint64) {
	m := &w.members[w.me]
	atomic.AddUint64(&m.Version, 1)
	atomic.StoreUint64(&m.Table, table)
	atomic.StoreUint64(&m.Entries, entries)
	atomic.AddUint64(&m.Version, 1)
}

// Published returns what a member has published last, and the version of that: 0 if it never has. The table is what it
// was if Version still answers the same when it has been read. False: it is being changed.
func (w *Words) Published(member int) (table, entries, version uint64, ok bool) {
	m := &w.members[member]
	version = atomic.LoadUint64(&m.Version)
	table, entries = atomic.LoadUint64(&m.Table), atomic.LoadUint64(&m.Entries)
	return table, entries, version, version%2 == 0 && version == w.Version(member)
}

// Version is which version of its table a member has published.
func (w *Words) Version(member int) uint64 { return atomic.LoadUint64(&w.members[member].Version) }

// Hold takes the accumulate lock of a member, also from one that is lost, and Drop gives it back.
func (w *Words) Hold(target int) error {
	word, mine := &w.members[target].Busy, w.targets[target].Mine
	for !atomic.CompareAndSwapUint32(word, 0, mine) {
		for range holdLooks {
			if atomic.LoadUint32(word) == 0 {
				break
			}
			futex.Pause(4)
		}
		holder := atomic.LoadUint32(word)
		if holder == 0 {
			continue
		}
		if w.losses.gone(int(holder)-1) && atomic.CompareAndSwapUint32(word, holder, mine) {
			return nil
		}
		if err := w.machine.Relax(); err != nil {
			return err
		}
		if err := w.losses.in(target); err != nil {
			return err
		}
	}
	return nil
}

// holdLooks is how often a thread looks at a lock before it offers its core to others.
const holdLooks = 50

// Drop gives the accumulate lock of a member back.
func (w *Words) Drop(target int) { atomic.StoreUint32(&w.members[target].Busy, 0) }
