package coll

import "github.com/libimpi/libimpi/coll/board"

// Exchange is an operation on a board whose blocks have lengths that not all ranks know. The method that names an
// operation begins it, and gives it its blocks; it returns the Exchange.
type Exchange struct{ board.Exchange }

// Gatherv is Gatherv. A contribution is one block, which may take all of the room: the root alone copies from there.
func (x *Exchange) Gatherv(b board.Seats, send Buf, recv *VBuf, root int) *Exchange {
	x.Begin(board.LongestAlone, true)
	if b.Rank() != root {
		x.Give(send, root, tagGather)
		return x
	}
	return x.takeAll(b, send, recv)
}

// takeAll makes the rank take the blocks of all others, each of which has one for all.
func (x *Exchange) takeAll(b board.Seats, own Buf, recv *VBuf) *Exchange {
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
func (x *Exchange) Allgatherv(b board.Seats, send Buf, recv *VBuf) *Exchange {
	x.Begin(board.LongestAlone, true)
	own := send
	if send.IsInPlace() {
		own = recv.At(b.Rank())
	}
	x.Give(own, b.Rank(), tagGather)
	return x.takeAll(b, send, recv)
}

// Scatterv is Scatterv.
func (x *Exchange) Scatterv(b board.Seats, send *VBuf, recv Buf, root int) *Exchange {
	x.Begin(board.LongBlock, true)
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
func (x *Exchange) giveAll(b board.Seats, blocks *Blocks, tag int) {
	for r := range b.Size() {
		if r == b.Rank() {
			x.Give(Buf{}, -1, tag)
		} else {
			x.Give(blocks.At(r), r, tag)
		}
	}
}

// Alltoallv is Alltoallv and Alltoallw, not in place.
func (x *Exchange) Alltoallv(b board.Seats, send, recv *Blocks) *Exchange {
	x.Begin(board.LongBlock, true)
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
func (x *Exchange) Neighbors(b board.Seats, e *Edges, send, recv *Blocks) *Exchange {
	x.Begin(board.LongBlock, e.Grid)
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
