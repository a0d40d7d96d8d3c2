package board

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Place is where an operation stands on a board (coll/board.Board): which slot of each member is its own, and when that
// is free. That of a nonblocking operation is used under the engine's lock.
//
//	Enter, EnterAll -> operations run on the Place -> Next after each but the last one of several -> Leave
type Place struct {
	*Board
	waits  bool // the operation blocks
	number uint64
	slot
	several bool   // it is one of those of a long operation, however short its own contributions are
	each    bool   // each member says how long its contribution is: a long one stands in a wide slot, and this one says so
	wide    bool   // so does the own one
	awaited int    // the member whose contribution is awaited
	slots   []slot // of several operations
	done    int    // how many of these are over
}

// slot is which slot of each member an operation uses.
type slot struct {
	size  transport.SlotSize
	nth   int
	shift uint   // bits of the length in its word
	free  uint64 // so many operations have to be completed by all before it is free
}

// Enter begins a nonblocking operation, with contributions of at most n bytes. Engine lock held, as for the following.
func (p *Place) Enter(b *Board, n int64) {
	*p = Place{Board: b, slots: p.slots[:0]}
	b.beginAgain()
	p.Begin(n)
	b.enter(p)
}

// EnterAll begins several nonblocking operations at once: all members give the same numbers to what they begin
// afterwards. There is memory for their contributions (ReserveFor).
func (p *Place) EnterAll(b *Board, operations []board.Operation) {
	*p = Place{Board: b, several: true, slots: p.slots[:0]}
	for i := range operations {
		p.Begin(operations[i].Most())
		p.slots = append(p.slots, p.slot)
	}
	p.number -= uint64(len(operations) - 1)
	p.slot = p.slots[0]
	b.enter(p)
}

// Next ends one of several operations, and goes on to the next one. It returns false if that was the last: Leave ends
// it.
func (p *Place) Next() bool {
	if p.done++; p.done == len(p.slots) {
		return false
	}
	p.number++
	p.slot = p.slots[p.done]
	p.End()
	return true
}

// Leave ends the operation.
func (p *Place) Leave() { p.leave(p) }

// Number is the operation's number on the board.
func (p *Place) Number() uint64 { return p.number }

// Begin implements coll/board.Board. Only one thread of a member begins operations at a time.
func (p *Place) Begin(n int64) {
	b := p.Board
	if p.waits {
		b.mayBlock()
		b.beginAgain()
	}
	*b.Begun++
	if p.standAt(*b.Begun, n); p.size != transport.NarrowSlot {
		p.use(p.size)
	}
}

// standAt makes the place that of an operation that has begun, with contributions of n bytes.
func (p *Place) standAt(number uint64, n int64) {
	p.number, p.each, p.wide = number, n == board.AnyLength, false
	var slots, bytes int
	for p.size = transport.NarrowSlot; ; p.size++ {
		if slots, bytes, p.shift = p.shared.Slots(p.size); n <= int64(bytes) || p.size == transport.LongSlot {
			break
		}
	}
	p.nth, p.free = int(number%uint64(slots)), max(number, uint64(slots))-uint64(slots)
}

// use notes that the operation uses slots of a size that not every operation uses: they are free when the one that had
// them before is completed.
func (p *Place) use(size transport.SlotSize) {
	users := p.WideUsers
	if size == transport.LongSlot {
		users = p.longUsers
	}
	user := &users[p.number%uint64(len(users))]
	if p.size == size {
		p.free = *user
	}
	p.free, *user = max(p.free, *user), p.number
}

// Put implements coll/board.Board.
func (p *Place) Put(n int64) ([]byte, error) {
	_, mem := p.at(p.rank)
	if p.each && !p.wide && n > int64(len(mem)) {
		p.wide = true
		p.use(transport.WideSlot)
	}
	switch {
	case *p.Known >= p.free:
	case p.waits:
		if err := p.allDone(p.free); err != nil {
			return nil, err
		}
	case !p.haveDone(p.free):
		return nil, nil
	}
	if p.wide {
		_, mem = p.inWide(p.rank)
	}
	return mem, nil
}

// at is where a member's contribution stands.
func (p *Place) at(member int) (word *uint64, mem []byte) {
	return p.shared.Slot(p.size, member, p.nth)
}

// inWide is where one stands that is too long for the slot where others expect it.
func (p *Place) inWide(member int) (word *uint64, mem []byte) {
	return p.shared.Slot(transport.WideSlot, member, int(p.number%uint64(len(p.WideUsers))))
}

// inWideMark is the length that is said of one that stands there. Its own stands in its place, so that the line of the
// other slot's word is not read.
func (p *Place) inWideMark() uint64 { return 1<<p.shift - 1 }

// Publish implements coll/board.Board.
func (p *Place) Publish(n int64) {
	word, mem := p.at(p.rank)
	length := uint64(n)
	if p.wide {
		binary.NativeEndian.PutUint64(mem, length)
		length = p.inWideMark()
	}
	futex.Release64(word, p.number<<p.shift|length)
	if !p.waits {
		p.wake()
	}
	p.alertIfLong()
}

// Get implements coll/board.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (p *Place) Get(rank int) ([]byte, error) {
	word, mem := p.at(rank)
	for there := p.number << p.shift; atomic.LoadUint64(word) < there; {
		comes, err := p.awaitFrom(rank, word, there)
		switch {
		case err != nil:
			return nil, err
		case comes:
			continue
		}
		if other, err := p.without(rank); other != nil || err != nil || !p.waits {
			return other, err
		}
	}
	n := atomic.LoadUint64(word) & (1<<p.shift - 1)
	if p.each && n == p.inWideMark() {
		n = binary.NativeEndian.Uint64(mem)
		_, mem = p.inWide(rank)
	}
	return mem[:min(n, uint64(len(mem)))], nil
}

// End implements coll/board.Board.
func (p *Place) End() {
	done := *p.Begun
	if len(p.underWay) > 0 {
		done = p.underWay[0].number - 1
	}
	futex.Release64(p.shared.Done(p.rank), done)
	p.wake()
	p.alertIfLong()
}

func (p *Place) alertIfLong() {
	if p.several || p.size == transport.LongSlot {
		p.alert()
	}
}
