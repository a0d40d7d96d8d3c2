package coll

import (
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/transport"
)

// Exchange is an operation on a board whose blocks have lengths that not all ranks know. The method that names an
// operation begins it, and gives it its blocks; it returns the Exchange.
type Exchange struct{ board.Exchange }

// Seated are the ranks of a board, and what they have for long operations.
type Seated interface {
	board.Seats
	Board() Seating
}

// mostShare is the longest block, in bytes, among others in a long slot.
const mostShare = 32 << 10

// begin begins an exchange of contributions with a list of so many entries, of which so many have a block of the same
// length; 0: that is not known.
func (x *Exchange) begin(b Seated, entries, blocks int) {
	long, most := int64(board.LongBlock), b.Board().Part
	if most > 0 && blocks > 0 {
		long = max(long, min(mostShare, board.Share(most, entries, blocks)))
	}
	x.Begin(long, most, true)
}

// Gatherv is Gatherv. A contribution is one block, which may take all of the room: the root alone copies from there. If
// there are two ranks, or ranks outnumber their cores, that is a long slot: its rank goes on while root is behind.
func (x *Exchange) Gatherv(b Seated, send Buf, recv *VBuf, root int) *Exchange {
	on, long := b.Board(), int64(transport.BoardLongest)
	if on.Crowded || b.Size() == 2 {
		long = max(long, board.Share(on.Part, 1, 1))
	}
	x.Begin(long, on.Part, true)
	if b.Rank() != root {
		x.Give(send, root, tagGather)
		return x
	}
	return x.takeAll(b, send, recv)
}

// takeAll makes the rank take the blocks of all others, each of which has one for all.
func (x *Exchange) takeAll(b Seated, own Buf, recv *VBuf) *Exchange {
	me := b.Rank()
	if !own.IsInPlace() {
		x.Keep(recv.At(me), own)
	}
	for r := range b.Size() {
		if r != me {
			x.Take(recv.At(r), r, 0, tagGather)
		}
	}
	return x
}

// Allgatherv is Allgatherv of blocks that are not longer than a contribution may be.
func (x *Exchange) Allgatherv(b Seated, send Buf, recv *VBuf) *Exchange {
	x.Begin(transport.BoardLongest, 0, true)
	own := send
	if send.IsInPlace() {
		own = recv.At(b.Rank())
	}
	x.Give(own, b.Rank(), tagGather)
	return x.takeAll(b, send, recv)
}

// Scatterv is Scatterv.
func (x *Exchange) Scatterv(b Seated, send *VBuf, recv Buf, root int) *Exchange {
	given := 0
	if b.Size() == 2 {
		given = 1
	}
	x.begin(b, b.Size(), given)
	if b.Rank() != root {
		x.Take(recv, root, b.Rank(), tagScatter)
		return x
	}
	blocks := Varying(*send)
	if x.giveAll(b, &blocks, tagScatter); !recv.IsInPlace() {
		x.Keep(recv, blocks.At(root))
	}
	return x
}

// giveAll makes the rank give a block to each other one.
func (x *Exchange) giveAll(b Seated, blocks *Blocks, tag int) {
	for r := range b.Size() {
		if r == b.Rank() {
			x.Give(Buf{}, -1, tag)
		} else {
			x.Give(blocks.At(r), r, tag)
		}
	}
}

// Alltoallv is Alltoallv and Alltoallw, not in place.
func (x *Exchange) Alltoallv(b Seated, send, recv *Blocks) *Exchange {
	x.begin(b, b.Size(), b.Size()-1)
	me := b.Rank()
	x.giveAll(b, send, tagAlltoall)
	if from, to := send.At(me), recv.At(me); !from.SameAs(to) {
		x.Keep(to, from)
	}
	for i := 1; i < b.Size(); i++ { // not all from the same rank at a time
		r := (me + i) % b.Size()
		x.Take(recv.At(r), r, me, tagAlltoall)
	}
	return x
}

// Neighbors is Neighbors. The blocks of a grid are those of its neighbors; elsewhere ranks do not know how many blocks
// others have, and blocks are found by the rank that they are for.
func (x *Exchange) Neighbors(b Seated, e *Edges, send, recv *Blocks) *Exchange {
	if x.begin(b, len(e.Out), len(e.Out)); !e.Grid {
		x.Begin(board.LongBlock, b.Board().Part, false)
	}
	for i, r := range e.Out {
		if r < 0 || int(r) == b.Rank() {
			x.Give(Buf{}, -1, e.outTag(i))
		} else {
			x.Give(send.At(i), int(r), e.outTag(i))
		}
	}
	for i, r := range e.In {
		switch from := e.self[i]; {
		case r < 0:
		case from >= 0:
			x.Keep(recv.At(i), send.At(from))
		case e.Grid:
			x.Take(recv.At(i), int(r), i^1, e.inTag(i))
		default:
			x.Take(recv.At(i), int(r), e.nth[i], e.inTag(i))
		}
	}
	return x
}
