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
//	Enter -> operations run on the Place -> Next after each but the last one of several -> Leave
type Place struct {
	*Board
	waits  bool // the operation blocks
	number uint64
	slot
	several bool   // it is one of those of a long operation, however short its own contributions are
	awaited int    // the member whose contribution is awaited
	slots   []slot // of several operations
	done    int    // how many of these are over
	broken  bool   // a member is lost: the others are not told that it is over, but hear of the loss

	// each says that each member chooses the size of its own slot: what stands in a longer one is named in this one.
	each   bool
	stands transport.SlotSize // where the own contribution stands then
}

// slot is which slot of each member an operation uses.
type slot struct {
	size  transport.SlotSize
	nth   int
	shift uint   // bits of the length in its word
	free  uint64 // so many operations have to be completed by all before it is free
}

// Enter begins nonblocking operations, one or several at once: all members give the same numbers to what they begin
// afterwards. There is memory for their contributions (ReserveFor).
func (p *Place) Enter(b *Board, operations []board.Operation) {
	*p = Place{Board: b, several: len(operations) > 1, slots: p.slots[:0]}
	b.beginAgain()
	for i := range operations {
		p.Begin(operations[i].Most())
		p.slots = append(p.slots, p.slot)
	}
	p.number -= uint64(len(operations) - 1)
	p.slot = p.slots[0]
	b.enter(p)
}

// Next ends one of several operations, and goes on to the next one.
func (p *Place) Next() {
	p.done++
	p.number++
	p.slot = p.slots[p.done]
	p.End()
}

// Leave ends the operation.
func (p *Place) Leave() { p.leave(p) }

// Abandon is Leave where a member is lost.
func (p *Place) Abandon() {
	p.broken = true
	p.leave(p)
}

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
	p.number, p.each, p.stands = number, n == board.AnyLength, transport.NarrowSlot
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
	if p.each && p.stands == transport.NarrowSlot {
		p.choose(n)
	}
	switch {
	case *p.Known >= p.free:
	case p.waits:
		if err := p.allDone(p.free); err != nil {
			p.broken = true
			return nil, err
		}
	case !p.haveDone(p.free):
		return nil, nil
	}
	if p.stands != transport.NarrowSlot {
		return p.elsewhere(p.stands, p.rank), nil
	}
	_, mem := p.at(p.rank)
	return mem, nil
}

// choose chooses where an own contribution of n bytes stands: in the slot that the operation's number says, of those
// that are long enough.
func (p *Place) choose(n int64) {
	if _, bytes, _ := p.shared.Slots(transport.NarrowSlot); n <= int64(bytes) {
		return
	}
	p.stands = transport.WideSlot
	if _, bytes, _ := p.shared.Slots(transport.WideSlot); n > int64(bytes) && p.ReserveFor(n) == nil {
		p.stands = transport.LongSlot
	}
	p.use(p.stands)
}

// at is where a member's contribution stands.
func (p *Place) at(member int) (word *uint64, mem []byte) {
	return p.shared.Slot(p.size, member, p.nth)
}

// elsewhere is the memory of a contribution that stands in a slot of another size.
func (p *Place) elsewhere(size transport.SlotSize, member int) (mem []byte) {
	slots, _, _ := p.shared.Slots(size)
	_, mem = p.shared.Slot(size, member, int(p.number%uint64(slots)))
	return mem
}

// longer is the length that is said of a contribution that stands elsewhere: its own stands in its place, and longMark
// if that is in a long slot. So the line of the other slot's word is not read.
func (p *Place) longer() uint64 { return 1<<p.shift - 1 }

// longMark marks the length of a contribution that stands in a long slot.
const longMark = 1 << 63

// Publish implements coll/board.Board.
func (p *Place) Publish(n int64) {
	word, mem := p.at(p.rank)
	length := uint64(n)
	if p.stands != transport.NarrowSlot {
		if p.stands == transport.LongSlot {
			length |= longMark
		}
		binary.NativeEndian.PutUint64(mem, length)
		length = p.longer()
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
	if p.each && n == p.longer() {
		size := transport.WideSlot
		if n = binary.NativeEndian.Uint64(mem); n&longMark != 0 {
			size, n = transport.LongSlot, n&^longMark
		}
		mem = p.elsewhere(size, rank)
	}
	return mem[:min(n, uint64(len(mem)))], nil
}

// End implements coll/board.Board.
func (p *Place) End() {
	if p.broken {
		return
	}
	done := *p.Begun
	if len(p.underWay) > 0 {
		done = p.underWay[0].number - 1
	}
	futex.Release64(p.shared.Done(p.rank), done)
	p.wake()
	p.alertIfLong()
}

func (p *Place) alertIfLong() {
	if p.several || p.size == transport.LongSlot || p.stands == transport.LongSlot {
		p.alert()
	}
}
