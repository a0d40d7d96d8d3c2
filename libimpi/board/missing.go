package board

import (
	"fmt"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/transport"
)

// Contributions that do not come. A member that alone notices an error of an operation, or that calls the operation
// with another length than the rest, must not leave the others waiting. An operation that goes well says nothing for
// that. A member that has looked for a contribution in vain for a while looks for a sign that it does not come, before
// it sleeps and whenever it is woken:
//
//	it stands in a slot of another size                      -> it is taken, and its length is what is wrong
//	the member has completed the operation and shown nothing -> it has had an error, or has called something else
//
// Both signs stay: a member completes its operations in order, and a slot is used again when all have completed the
// operation. Every member makes all operations of a long one, whatever goes wrong in one (coll.Scratch), so that the
// numbers of operations go together afterwards. Members that do not choose the board alike, because one calls the
// operation with some hundred KiB and another with a few bytes, are not found: that takes IMPI_CHECK.

// awaitFrom waits until a member's contribution is there, which it reports, or does not come. It does not wait for a
// nonblocking operation.
func (p *Place) awaitFrom(rank int, word *uint64, there uint64) (comes bool, err error) {
	if !p.waits {
		return false, nil
	}
	if p.finds(word, there) {
		return true, nil
	}
	p.awaited = rank
	comes, err = p.engine.Await(word, there, p)
	p.broken = p.broken || err != nil
	return comes, err
}

// Holds implements Condition: it is in vain to wait for the contribution that is awaited.
func (p *Place) Holds() bool { return p.isMissing(p.awaited) }

// isMissing reports whether there is a sign that a member's contribution does not come to its slot. It may be there all
// the same, if it has come meanwhile.
func (p *Place) isMissing(rank int) bool {
	return p.otherwise(rank) != nil || atomic.LoadUint64(p.shared.Done(rank)) >= p.number
}

// otherwise is a member's contribution if that stands in a slot for longer ones than this member expects, or shorter.
// Those of long slots stand in none; nor do those whose length each member says.
func (p *Place) otherwise(rank int) []byte {
	if p.each || p.size == transport.LongSlot {
		return nil
	}
	size := transport.WideSlot - p.size
	slots, _, shift := p.shared.Slots(size)
	word, mem := p.shared.Slot(size, rank, int(p.number%uint64(slots)))
	got := atomic.LoadUint64(word)
	if n := got & (1<<shift - 1); got>>shift == p.number && n <= uint64(len(mem)) {
		return mem[:n]
	}
	return nil
}

// without returns what an operation has of a member whose contribution has not come to its slot: nothing yet, if it
// still may.
func (p *Place) without(rank int) ([]byte, error) {
	missing := p.isMissing(rank)
	if word, _ := p.at(rank); !missing || atomic.LoadUint64(word)>>p.shift >= p.number {
		return nil, nil // the next look finds it
	}
	if other := p.otherwise(rank); other != nil {
		return other, nil
	}
	return nil, &board.Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf(
		"rank %d has failed in the operation, or has called another one, or with another root or length", rank)}
}

// AwaitForC waits for C until a word of the board is at least so large, and reports whether it is: not if it is that of
// a contribution which does not come.
func (b *Board) AwaitForC(word *uint64, least uint64) (raised bool, err error) {
	p := &b.Blocking
	p.standAt(*b.Begun, 0)
	for ; p.size <= transport.WideSlot; p.size++ {
		var slots int
		slots, _, p.shift = b.shared.Slots(p.size)
		p.nth = int(p.number % uint64(slots))
		for r := range b.local {
			if of, _ := p.at(r); of == word {
				return p.awaitFrom(r, word, least)
			}
		}
	}
	err = b.await(word, least)
	return err == nil, err
}
