// Package board is what a member of a communicator does for operations on its board: it numbers them, finds the slots
// where contributions stand, waits for those of others, and wakes who waits for its own. What the operations do with
// contributions is package coll/board's. The bridge's C carries out simple ones on the same board
// (gobridge/executor/board.h); both follow one protocol (transport/shm/layout.go) and share the counters of operations.
//
//	board.go    the counters of a board, and the waits
//	place.go    where an operation stands, blocking or not
//	missing.go  contributions that do not come
//	lane.go     where a persistent operation stands
//	vote.go     what members agree on without a message
package board

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Engine is what a board needs of the engine of its process.
type Engine interface {
	// Lock takes the engine's lock, which guards a board while nonblocking operations are under way there.
	Lock()
	Unlock()
	// Busy reports, without the lock, whether requests are under way.
	Busy() bool
	// Turn advances them, and waits for nothing. Called without the lock.
	Turn()
	// Patient reports whether ranks outnumber cores, so that a look at a word gives the core away.
	Patient() bool
	// Await makes progress until a word is at least so large, which it reports, or it is in vain to wait for that. Who
	// raises the word, or is why it is in vain, wakes this process. Called without the lock. Errors: a peer is lost.
	Await(word *uint64, least uint64, inVain Condition) (raised bool, err error)
	// WaitFor makes progress until a condition holds, or a peer is lost. Lock held, given up while waiting.
	WaitFor(c Condition)
}

// Condition is what a thread waits for.
type Condition interface {
	// Holds is called under the engine's lock, again and again.
	Holds() bool
}

// Counters are what a member has to remember of a board.
type Counters struct {
	Begun *uint64 // operations that this member has begun
	Known *uint64 // all members have completed so many, as far as is known
	Tasks *uint32 // how many nonblocking ones are under way
	Left  *uint64 // the last one that C has begun and left to Go

	WideUsers []uint64 // the last one to use each wide slot
}

// NewCounters are those of a member whose operations Go alone carries out.
func NewCounters(shared transport.Board) Counters {
	slots, _, _ := shared.Slots(transport.WideSlot)
	return Counters{Begun: new(uint64), Known: new(uint64), Tasks: new(uint32), Left: new(uint64),
		WideUsers: make([]uint64, slots)}
}

// Board is a board as a member sees it. Collective operations on a communicator are begun one after the other, so that
// nothing guards it but what Engine.Lock says.
type Board struct {
	Counters
	Blocking Place // of the blocking operation under way

	engine Engine
	shared transport.Board
	rank   int
	local  []int32 // local ranks of the members

	underWay  []*Place // nonblocking operations, by their numbers
	longUsers []uint64 // the last one to use each long slot; nil: there is no memory for them yet
	laneBytes int      // of the memory for lanes that are given: each member gives them alike
	votes     uint64   // that have begun
}

// Use begins the operations of a member of a board. local are the local ranks of all members.
func (b *Board) Use(e Engine, shared transport.Board, rank int, local []int32, counters Counters) {
	*b = Board{Counters: counters, engine: e, shared: shared, rank: rank, local: local}
	b.Blocking = Place{Board: b, waits: true}
}

// Is reports whether there is a board.
func (b *Board) Is() bool { return b.Begun != nil }

// Rank implements coll/board.Seats.
func (b *Board) Rank() int { return b.rank }

// Size implements coll/board.Seats.
func (b *Board) Size() int { return len(b.local) }

// Longest is how many bytes the longest contribution has.
func (b *Board) Longest() int64 {
	_, bytes, _ := b.shared.Slots(transport.LongSlot)
	return int64(bytes)
}

// ReserveFor makes sure that there is memory for contributions of at most n bytes.
func (b *Board) ReserveFor(n int64) error {
	if _, wide, _ := b.shared.Slots(transport.WideSlot); n <= int64(wide) || b.longUsers != nil {
		return nil
	}
	if err := b.shared.ReserveLong(); err != nil {
		return err
	}
	slots, _, _ := b.shared.Slots(transport.LongSlot)
	b.longUsers = make([]uint64, slots)
	return nil
}

// mayBlock advances what is under way, and returns when no operation of this board is.
func (b *Board) mayBlock() {
	if b.engine.Busy() {
		b.engine.Turn()
	}
	if atomic.LoadUint32(b.Tasks) > 0 {
		b.engine.Lock()
		b.AwaitOthers()
		b.engine.Unlock()
	}
}

// AwaitOthers returns when no nonblocking operation is under way, or a peer is lost. Engine lock held.
func (b *Board) AwaitOthers() {
	if len(b.underWay) > 0 {
		b.engine.WaitFor((*idle)(b))
	}
}

// idle is the condition that no nonblocking operation of a board is under way.
type idle Board

// Holds implements Condition.
func (b *idle) Holds() bool { return len(b.underWay) == 0 }

// never is what never holds.
type never struct{}

// Holds implements Condition.
func (never) Holds() bool { return false }

// beginAgain makes the operation that begins the one that C has left, if there is one: it shows the same.
func (b *Board) beginAgain() {
	if *b.Left > 0 && *b.Left == *b.Begun {
		*b.Left, *b.Begun = 0, *b.Begun-1
	}
}

// enter notes that a nonblocking operation is under way, the last one to begin.
func (b *Board) enter(p *Place) {
	b.underWay = append(b.underWay, p)
	atomic.StoreUint32(b.Tasks, uint32(len(b.underWay)))
}

// leave ends a nonblocking operation. What a member says it has done is all operations before the first that is under
// way.
func (b *Board) leave(p *Place) {
	i := slices.Index(b.underWay, p)
	b.underWay = slices.Delete(b.underWay, i, i+1)
	p.End()
	atomic.StoreUint32(b.Tasks, uint32(len(b.underWay)))
}

// haveDone reports whether all members have completed so many operations.
func (b *Board) haveDone(least uint64) bool {
	known := ^uint64(0)
	for r := range b.local {
		known = min(known, atomic.LoadUint64(b.shared.Done(r)))
	}
	*b.Known = known
	return known >= least
}

// allDone waits until all members have completed so many operations, fewer than this one has.
func (b *Board) allDone(least uint64) error {
	for r := range b.local {
		if err := b.await(b.shared.Done(r), least); err != nil {
			return err
		}
	}
	b.haveDone(least)
	return nil
}

// await returns when a word of the board is at least so large that rises in any case.
func (b *Board) await(word *uint64, least uint64) error {
	if b.finds(word, least) {
		return nil
	}
	_, err := b.engine.Await(word, least, never{})
	return err
}

// Looks is how often a word is looked at before the engine waits, which costs a lock and polls; patientLooks is the
// same where each look gives the core away.
const (
	Looks        = 500
	patientLooks = 32
)

// finds looks a few times whether a word of the board is at least so large.
func (b *Board) finds(word *uint64, least uint64) bool {
	if atomic.LoadUint64(word) >= least {
		return true
	}
	b.wake()
	patient, looks := b.engine.Patient(), Looks
	if patient {
		looks = patientLooks
	}
	for ; looks > 0 && !b.engine.Busy(); looks-- {
		if patient {
			kernel.Yield()
		} else {
			futex.Pause(1)
		}
		if atomic.LoadUint64(word) >= least {
			return true
		}
	}
	return false
}

// wake wakes the members that sleep, after something was stored that they may wait for.
func (b *Board) wake() {
	for r, local := range b.local {
		if r != b.rank {
			b.shared.Wake(int(local))
		}
	}
}

// alert wakes the progress threads of members that may wait for what a long operation brings.
func (b *Board) alert() {
	for r, local := range b.local {
		if r != b.rank {
			b.shared.Alert(int(local))
		}
	}
}

// Awaited tells for whom a member waits at a word of the board that a blocking operation awaits, and for which of its
// operations: for its contribution, or until it has done so many. False: it is another word. It is for reports.
func (b *Board) Awaited(word *uint64) (member int, number uint64, is bool) {
	for r := range b.local {
		if b.shared.Done(r) == word {
			return r, *b.Begun, true
		}
	}
	for size := transport.NarrowSlot; size <= transport.LongSlot; size++ {
		if size == transport.LongSlot && b.longUsers == nil {
			break // it has no memory
		}
		slots, _, _ := b.shared.Slots(size)
		for r := range b.local {
			for i := range slots {
				if of, _ := b.shared.Slot(size, r, i); of == word {
					return r, *b.Begun, true
				}
			}
		}
	}
	return 0, 0, false
}
