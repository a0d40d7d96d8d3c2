package board

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/buffer"
)

// move is an operation that puts contributions, or a piece of each, where they belong.
type move struct {
	contribution
	next, end int  // whose contributions are taken: from next on, before end
	to        Buf  // where the one belongs, or the block of rank 0
	each      bool // each rank has a block
	mine      Buf  // this rank's own, which does not pass by the board; of no type: it is there

	whole bool  // contributions are taken whole
	at, n int64 // and otherwise n bytes of each from byte `at` on

	// Of a piece of a long operation: ranks have the blocks of list, or of to, and of each block the elements from
	// `from` on, before upTo, are taken.
	list       VBuf
	from, upTo int64
}

// newMove begins an operation of this type.
func (o *Operation) newMove(most int64) *move {
	o.kind, o.move = moves, move{contribution: contribution{most: most}}
	return &o.move
}

// Run implements operation.
func (m *move) Run(b Board) (over bool, err error) {
	if done, err := m.show(b); !done {
		return err != nil, err
	}
	for ; m.next != m.end; m.next++ {
		if there, err := m.take(b, m.next); !there || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

// place is where what comes of a rank belongs.
func (m *move) place(rank int) Buf {
	to := m.to
	switch {
	case m.list.Counts != nil:
		to = m.list.At(rank)
	case m.each:
		to = to.Block(rank)
	}
	if m.upTo > 0 {
		to = between(to, m.from, m.upTo)
	}
	return to
}

// take takes what a rank shows, if it is there.
func (m *move) take(b Board, rank int) (there bool, err error) {
	to := m.place(rank)
	switch {
	case rank == b.Rank() && m.mine.Type == nil, m.upTo > 0 && to.Count == 0:
		return true, nil
	case rank == b.Rank():
		return true, buffer.Copy(to, m.mine)
	}
	part, err := b.Get(rank)
	if part == nil || err != nil {
		return false, err
	}
	if !m.whole {
		if err := m.expect(rank, part, m.at+m.n); err != nil {
			return true, err
		}
		part = part[m.at : m.at+m.n]
	} else if n := to.Size(); int64(len(part)) > n {
		return true, &Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", rank, len(part), n)}
	}
	return true, buffer.Unpack(to, part, 0)
}

// between are the elements of a block from `from` on, before upTo, as far as it has them.
func between(block Buf, from, upTo int64) Buf {
	from, upTo = min(from, block.Count), min(upTo, block.Count)
	return block.Slice(from, upTo-from)
}

// takeAll makes the rank take the contributions of all ranks, whole, into their blocks of to.
func (m *move) takeAll(b Seats, own, to Buf) {
	m.end, m.to, m.each, m.mine, m.whole = b.Size(), to, true, own, true
}

// Barrier is Barrier.
func (o *Operation) Barrier(b Seats) *Operation {
	m := o.newMove(0)
	m.set(buffer.Bytes(nil))
	m.end = b.Size()
	return o
}

// Bcast is Bcast.
func (o *Operation) Bcast(b Seats, data Buf, root int) *Operation {
	m := o.newMove(data.Size())
	if b.Rank() == root {
		m.set(data)
		m.forAll = true
		return o
	}
	m.next, m.end, m.to, m.whole = root, root+1, data, true
	return o
}

// Gather is Gather. n are the bytes of a block.
func (o *Operation) Gather(b Seats, send, recv Buf, root int, n int64) *Operation {
	if m := o.newMove(n); b.Rank() != root {
		m.set(send)
	} else {
		m.takeAll(b, ownBlock(b, send, recv), recv)
	}
	return o
}

// ownBlock is the own block of an operation that collects them.
func ownBlock(b Seats, send, recv Buf) Buf {
	if send.IsInPlace() {
		return recv.Block(b.Rank())
	}
	return send
}

// Scatter is Scatter. n are the bytes of a block.
func (o *Operation) Scatter(b Seats, send, recv Buf, root int, n int64) *Operation {
	m, p, r := o.newMove(n*int64(b.Size())), b.Size(), b.Rank()
	if r == root {
		all := send
		all.Count *= int64(p)
		m.setBut(all, int64(r)*send.Count, int64(r+1)*send.Count)
		m.shows = true // one rank alone shows nothing, to itself
		if m.mine = send.Block(r); recv.IsInPlace() {
			return o
		}
	}
	m.next, m.end, m.to, m.at, m.n = root, root+1, recv, int64(r)*n, n
	return o
}

// Allgather is Allgather.
func (o *Operation) Allgather(b Seats, send, recv Buf) *Operation {
	m, own := o.newMove(recv.Size()), ownBlock(b, send, recv)
	m.set(own)
	m.takeAll(b, own, recv)
	return o
}

// Alltoall is Alltoall.
func (o *Operation) Alltoall(b Seats, send, recv Buf) *Operation {
	p, r := int64(b.Size()), int64(b.Rank())
	if send.IsInPlace() {
		send = recv
	}
	m := o.newMove(recv.Size() * p)
	all := send
	all.Count *= p
	m.set(all)
	m.hole, m.behind = r*send.Count, (r+1)*send.Count
	m.end, m.to, m.each, m.mine, m.at, m.n = int(p), recv, true, send.Block(int(r)), r*recv.Size(), recv.Size()
	return o
}

// GatherPiece shows a piece of the own block, which root alone takes.
func (o *Operation) GatherPiece(own Buf, most int64) *Operation {
	o.newMove(most).set(own)
	return o
}

// CollectPiece takes the elements from `from` on, before upTo, of the blocks of others, of whom none shows more than
// `most` bytes. A rank whose block has none of them shows nothing, and nobody waits for it. The own block is there.
func (o *Operation) CollectPiece(b Seats, blocks VBuf, from, upTo, most int64) *Operation {
	m := o.newMove(most)
	m.takeAll(b, Buf{}, Buf{})
	m.list, m.from, m.upTo = blocks, from, upTo
	return o
}

// AllgatherPiece is CollectPiece of a rank that shows what is its own of the piece. Blocks are bytes.
func (o *Operation) AllgatherPiece(b Seats, blocks VBuf, from, upTo int64) *Operation {
	o.CollectPiece(b, blocks, from, upTo, upTo-from)
	if own := between(blocks.At(b.Rank()), from, upTo); own.Count > 0 {
		o.move.set(own)
	}
	return o
}

// ScatterPiece scatters the blocks of some ranks, from first on, before end. The root's own is not moved.
func (o *Operation) ScatterPiece(b Seats, send, recv Buf, root int, first, end int64, n int64) *Operation {
	m, r := o.newMove((end-first)*n), int64(b.Rank())
	mine, at := first <= r && r < end, (r-first)*send.Count
	if int(r) == root {
		part := send.Slice(first*send.Count, (end-first)*send.Count)
		if m.set(part); mine {
			m.setBut(part, at, at+send.Count)
		}
	} else if mine {
		m.next, m.end, m.to, m.at, m.n = root, root+1, recv, (r-first)*n, n
	}
	return o
}

// AlltoallPiece gives some ranks, from first on, before end, their blocks. The own one is there.
func (o *Operation) AlltoallPiece(b Seats, send, recv Buf, first, end int64) *Operation {
	r, n := int64(b.Rank()), recv.Size()
	m := o.newMove((end - first) * n)
	if m.set(send.Slice(first*send.Count, (end-first)*send.Count)); r < first || end <= r {
		return o
	}
	m.hole = (r - first) * send.Count
	m.behind = m.hole + send.Count
	m.end, m.to, m.each, m.at, m.n = b.Size(), recv, true, (r-first)*n, n
	return o
}
