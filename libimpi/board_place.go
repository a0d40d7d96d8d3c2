package libimpi

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport/futex"
)

// boardPlace is where an operation stands on a board (coll.Board): which slot of each member is its own, when that is
// free, and where parts stand that are longer.
type boardPlace struct {
	*commBoard
	waits  bool
	number uint64
	boardSlot
	turns  bool     // it is one of those that a long operation takes, however short its own parts are
	each   bool     // each member says how long its part is: a long one stands elsewhere, and the slot says so
	stands standing // where the own part stands then
}

// standing is where a part stands of which each member says how long its own is.
type standing uint8

const (
	inSlot  standing = iota
	inWide           // in a wide slot
	inPiece          // in a place for pieces
)

// boardSlot is which slot of each member an operation uses.
type boardSlot struct {
	wide  bool
	long  bool // it is a place for pieces
	slot  int
	shift uint   // bits of the length in its word
	free  uint64 // so many operations have to be completed by all before it is free
}

// Begin implements coll.Board. Only one thread of a member begins operations at a time.
func (p *boardPlace) Begin(n int64) {
	b := p.commBoard
	if p.waits {
		b.mayBlock()
		b.beginAgain()
	}
	*b.Begun++
	if p.standAt(*b.Begun, n); !p.wide {
		return
	}
	_, bytes, shift := b.shared.Slots(true)
	if p.shift = shift; n > int64(bytes) {
		p.takePiece()
		return
	}
	p.slot = int(p.number % uint64(len(b.WideUsers)))
	p.free, b.WideUsers[p.slot] = b.WideUsers[p.slot], p.number
}

// standAt has the place be that of an operation that has begun, with parts of n bytes, unless they are wide.
func (p *boardPlace) standAt(number uint64, n int64) {
	slots, bytes, shift := p.shared.Slots(false)
	p.number, p.slot, p.shift = number, int(number%uint64(slots)), shift
	p.free = max(number, uint64(slots)) - uint64(slots)
	p.wide, p.long = n > int64(bytes), false
	p.each, p.stands = n == coll.AnyLength, inSlot
}

// Put implements coll.Board.
func (p *boardPlace) Put(n int64) ([]byte, error) {
	if p.each && p.stands == inSlot {
		p.choose(n)
	}
	switch b := p.commBoard; {
	case *b.Known >= p.free:
	case p.waits:
		if err := b.allDone(p.free); err != nil {
			return nil, err
		}
	case !b.haveDone(p.free):
		return nil, nil
	}
	if p.stands != inSlot {
		return p.elsewhere(p.stands, p.Rank()), nil
	}
	_, mem := p.at(p.Rank())
	return mem, nil
}

// choose chooses where an own part of n bytes stands, if each member says how long its part is: in the slot that the
// operation's number says, of those that are long enough.
func (p *boardPlace) choose(n int64) {
	if _, bytes, _ := p.shared.Slots(false); n <= int64(bytes) {
		return
	}
	p.stands = inWide
	users := p.WideUsers
	if _, bytes, _ := p.shared.Slots(true); n > int64(bytes) && p.havePieces(n) == nil {
		p.stands, users = inPiece, p.pieceUsers
	}
	user := &users[p.number%uint64(len(users))]
	p.free, *user = max(p.free, *user), p.number
}

// at is where a member's part of an operation stands.
func (p *boardPlace) at(member int) (word *uint64, mem []byte) {
	if p.long {
		return p.shared.Piece(member, p.slot)
	}
	return p.shared.Slot(p.wide, member, p.slot)
}

// elsewhere is the memory of a part that stands elsewhere than in its slot.
func (p *boardPlace) elsewhere(stands standing, member int) (mem []byte) {
	if stands == inPiece {
		places, _, _ := p.shared.Pieces()
		_, mem = p.shared.Piece(member, int(p.number%uint64(places)))
		return mem
	}
	_, mem = p.shared.Slot(true, member, int(p.number%uint64(len(p.WideUsers))))
	return mem
}

// longer is the length that is said of a part that stands elsewhere; its own stands in its place, and pieceMark if that
// is in a place for pieces. So the line of the other place's word is not read.
func (p *boardPlace) longer() uint64 { return 1<<p.shift - 1 }

// pieceMark marks the length of a part that stands in a place for pieces.
const pieceMark = 1 << 63

// Publish implements coll.Board.
func (p *boardPlace) Publish(n int64) {
	length := uint64(n)
	word, mem := p.at(p.Rank())
	if p.stands != inSlot {
		if p.stands == inPiece {
			length |= pieceMark
		}
		binary.NativeEndian.PutUint64(mem, length)
		length = p.longer()
	}
	futex.Release64(word, p.number<<p.shift|length)
	if !p.waits {
		p.wake()
	}
	p.alert()
}

// Get implements coll.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (p *boardPlace) Get(rank int) ([]byte, error) {
	word, mem := p.at(rank)
	for there := p.number << p.shift; atomic.LoadUint64(word) < there; {
		is, err := p.awaitPart(rank, word, there)
		switch {
		case err != nil:
			return nil, err
		case is:
			continue
		}
		if other, err := p.without(rank); other != nil || err != nil || !p.waits {
			return other, err
		}
	}
	n := atomic.LoadUint64(word) & (1<<p.shift - 1)
	if p.each && n == p.longer() {
		stands := inWide
		if n = binary.NativeEndian.Uint64(mem); n&pieceMark != 0 {
			stands, n = inPiece, n&^pieceMark
		}
		mem = p.elsewhere(stands, rank)
	}
	return mem[:min(n, uint64(len(mem)))], nil
}

// End implements coll.Board.
func (p *boardPlace) End() {
	done := *p.Begun
	if len(p.tasks) > 0 {
		done = p.tasks[0].place.number - 1
	}
	futex.Release64(p.shared.Done(p.Rank()), done)
	p.wake()
	p.alert()
}
