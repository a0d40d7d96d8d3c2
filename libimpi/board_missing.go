package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// Parts that do not come. A member that alone notices an error of an operation on the board, or that calls the
// operation with another length than the rest, must not leave the others waiting. An operation that goes well says
// nothing for that. A member that has looked for a part in vain for a while looks for a sign that it does not come,
// before it sleeps and whenever it is woken:
//
//	the part stands in the slot of parts of another length  -> it is taken, and its length is what is wrong
//	the member has completed the operation without a part   -> its error, or that it has called something else
//
// Both signs stay: a member completes its operations in order, and a slot is used again when all have completed the
// operation. Every member takes all turns of a long operation, whatever goes wrong in one (coll.Scratch), so that the
// numbers of operations go together afterwards. Members that do not choose the board alike, because one calls the
// operation with some hundred KiB and another with a few bytes, are not found: that takes IMPI_CHECK.

// Fail implements coll.Board: the own part does not come. End tells the others.
func (p *boardPlace) Fail(err error) {
	class := uint64(AsError(err).Class)
	if class >= 1<<transport.FaultBits {
		class = abi.MPI_ERR_OTHER // the program has added it, and others may not have
	}
	atomic.StoreUint64(p.shared.Fault(p.Rank()), p.number<<transport.FaultBits|class)
}

// awaitPart waits until a member's part is there, which it reports, or does not come. It does not wait for an operation
// that does not block.
func (p *boardPlace) awaitPart(rank int, word *uint64, there uint64) (is bool, err error) {
	if !p.waits {
		return false, nil
	}
	if p.finds(word, there) {
		return true, nil
	}
	return p.c.engine.awaitWord(word, there, func() bool { return p.isMissing(rank) })
}

// isMissing reports whether there is a sign that a member's part does not come to its place. It may be there all the
// same, if it has come meanwhile.
func (p *boardPlace) isMissing(rank int) bool {
	return p.isOtherwise(rank) || atomic.LoadUint64(p.shared.Done(rank)) >= p.number
}

// isOtherwise reports whether a member's part stands in the slot for longer parts than this member expects, or shorter.
// Those in places for pieces stand in none.
func (p *boardPlace) isOtherwise(rank int) bool {
	if p.long {
		return false
	}
	word, _, shift := p.otherSlot(rank)
	return atomic.LoadUint64(word)>>shift == p.number
}

func (p *boardPlace) otherSlot(rank int) (word *uint64, mem []byte, shift uint) {
	slots, _, shift := p.shared.Slots(!p.wide)
	word, mem = p.shared.Slot(!p.wide, rank, int(p.number%uint64(slots)))
	return word, mem, shift
}

// without returns what an operation has of a member whose part has not come to its place: nothing yet, if it still may.
func (p *boardPlace) without(rank int) ([]byte, error) {
	missing := p.isMissing(rank)
	if word, _ := p.at(rank); !missing || atomic.LoadUint64(word)>>p.shift >= p.number {
		return nil, nil // the next look finds it
	}
	if p.isOtherwise(rank) {
		word, mem, shift := p.otherSlot(rank)
		if n := atomic.LoadUint64(word) & (1<<shift - 1); !p.each && n <= uint64(len(mem)) {
			return mem[:n], nil
		}
	}
	const mask = 1<<transport.FaultBits - 1
	if fault := atomic.LoadUint64(p.shared.Fault(rank)); fault>>transport.FaultBits == p.number && fault&mask != 0 {
		return nil, errorf(int(fault&mask), "rank %d has failed in the operation, on %s", rank, p.c)
	}
	return nil, errorf(abi.MPI_ERR_TRUNCATE, "rank %d has called another operation, or with another root or length, on %s",
		rank, p.c)
}

// AwaitOnBoard waits for C until a word of the board is at least so large, and reports whether it is: not if it is that
// of a part which does not come.
func (c *Comm) AwaitOnBoard(word *uint64, least uint64) (is bool, err error) {
	b := &c.board
	p := boardPlace{commBoard: b, waits: true}
	p.standAt(*b.Begun, 0)
	for r := range b.local {
		for _, p.wide = range [2]bool{false, true} {
			slots, _, shift := b.shared.Slots(p.wide)
			if p.shift = shift; wordOf(b, p.wide, r, int(p.number%uint64(slots))) == word {
				return p.awaitPart(r, word, least)
			}
		}
	}
	err = b.await(word, least)
	return err == nil, err
}

// wordOf is the word of a slot.
func wordOf(b *commBoard, wide bool, rank, slot int) *uint64 {
	word, _ := b.shared.Slot(wide, rank, slot)
	return word
}
