package board

import (
	"github.com/libimpi/libimpi/coll/buffer"
)

// combine is an operation in which a rank combines the contributions of some ranks, or a slice of each. Vectors have no
// gaps between elements. All ranks combine in the same order: by predefined operations from the first rank to the last,
// as C does it on the same board (gobridge/executor/board_run.h), by others from the last to the first, so that the
// result arises where it belongs.
type combine struct {
	contribution
	next, end, step int // whose contributions are combined
	to              Buf // gets the result
	op              Op
	at              int64 // the byte of each contribution at which what is combined begins
	inOrder         bool
	begun           bool // to has the first one

	// Of a piece of a long operation.
	seed   Buf  // is combined with the contributions of the others, in any order
	seeded bool // there is a seed, or the own one counts for nothing
	slices Buf  // each rank shows its slice of this behind its own contribution, and takes those of the others
}

// newCombine begins an operation of this type, to which the rank contributes.
func (o *Operation) newCombine(own Buf) *combine {
	o.kind, o.combine = combines, combine{inOrder: o.InOrder}
	o.combine.most = own.Size()
	o.combine.set(own)
	return &o.combine
}

// Run implements operation.
func (c *combine) Run(b Board) (over bool, err error) {
	if done, err := c.show(b); !done {
		return err != nil, err
	}
	if c.seeded && !c.begun {
		if c.begun = true; c.seed.Count > 0 {
			if err := buffer.Copy(c.to, c.seed); err != nil {
				return true, err
			}
		}
	}
	for ; c.next != c.end; c.next += c.step {
		if there, err := c.take(b, c.next); !there || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

// take takes the contribution of a rank, if it is there.
func (c *combine) take(b Board, rank int) (there bool, err error) {
	if c.seeded && rank == b.Rank() {
		return true, nil
	}
	part, err := c.part(b, rank)
	if part == nil || err != nil {
		return false, err
	}
	n := c.to.Size()
	slice := Buf{}
	if c.slices.Count > 0 {
		slice = c.slices.Pieces(b.Size(), rank, rank+1)
	}
	if err := c.expect(rank, part, max(c.at+n, c.own.Size()+slice.Size())); err != nil {
		return true, err
	}
	if slice.Count > 0 {
		if err := buffer.Unpack(slice, part[c.own.Size():][:slice.Size()], 0); err != nil {
			return true, err
		}
	}
	if n == 0 {
		return true, nil
	}
	in := elements(part[c.at:c.at+n], c.to)
	switch {
	case !c.begun:
		c.begun = true
		return true, buffer.Copy(c.to, in)
	case c.inOrder && !EitherWay(c.op):
		return true, fold(c.op, c.to, in)
	}
	return true, buffer.Combine(c.op, in, c.to)
}

// part is the contribution of a rank, nil if it is not there. The own one is combined where it lies, unless the result
// comes there: what has been stored for others may be in no cache of this core.
func (c *combine) part(b Board, rank int) ([]byte, error) {
	if rank == b.Rank() {
		if run, isRun := buffer.Contiguous(c.own); isRun && !run.Has(c.to.Base) {
			return run.Mem(), nil
		}
	}
	return b.Get(rank)
}

// fold combines acc, of the ranks before, with in, and leaves the result in acc.
func fold(op Op, acc, in Buf) error {
	sum := elements(make([]byte, acc.Size()), acc)
	if err := buffer.Copy(sum, in); err != nil {
		return err
	}
	if err := buffer.Combine(op, acc, sum); err != nil {
		return err
	}
	return buffer.Copy(acc, sum)
}

// EitherWay reports whether two vectors give the same bits in either order: those of predefined operations.
func EitherWay(op Op) bool { return op.Commutative() && !op.OfProgram() }

// all makes the rank combine the contributions of ranks 0 to last, from byte `at` on.
func (c *combine) all(last int, out Buf, op Op, at int64) {
	c.next, c.end, c.step = last, -1, -1
	if c.inOrder || EitherWay(op) {
		c.next, c.end, c.step = 0, last+1, 1
	}
	c.to, c.op, c.at = out, op, at
}

// others makes the rank combine own, or nothing, with the contributions of all others from byte `at` on, in any order.
func (c *combine) others(b Seats, own, out Buf, op Op, at int64) {
	c.next, c.end, c.step = 0, b.Size(), 1
	c.to, c.op, c.at, c.seed, c.seeded = out, op, at, own, true
}

// operand is the own vector of a reduction, which is in recv if send is in place.
func operand(send, recv Buf) Buf {
	if send.IsInPlace() {
		return recv
	}
	return Buf{Base: send.Base, Count: recv.Count, Type: send.Type}
}

// Reduce is Reduce.
func (o *Operation) Reduce(b Seats, send, recv Buf, op Op, root int) *Operation {
	if c := o.newCombine(operand(send, recv)); b.Rank() == root {
		c.all(b.Size()-1, recv, op, 0)
	}
	return o
}

// Allreduce is Allreduce.
func (o *Operation) Allreduce(b Seats, send, recv Buf, op Op) *Operation {
	o.newCombine(operand(send, recv)).all(b.Size()-1, recv, op, 0)
	return o
}

// Scan is Scan, or Exscan if apart.
func (o *Operation) Scan(b Seats, send, recv Buf, op Op, apart bool) *Operation {
	last := b.Rank()
	if apart {
		last--
	}
	o.newCombine(operand(send, recv)).all(last, recv, op, 0)
	return o
}

// ReduceScatter is ReduceScatter: this rank gets recv, which begins at element `at` of total.
func (o *Operation) ReduceScatter(b Seats, send, recv Buf, total, at int64, op Op) *Operation {
	own := operand(send, recv)
	own.Count = total
	if c := o.newCombine(own); recv.Count > 0 {
		c.all(b.Size()-1, recv, op, at*recv.Type.Size())
	}
	return o
}

// ReducePiece is Reduce by a root whose vector needs not be shown, and that combines it with the others' in any order.
func (o *Operation) ReducePiece(b Seats, own, out Buf, op Op, root int) *Operation {
	if o.Reduce(b, own, out, op, root); b.Rank() == root && EitherWay(op) {
		o.combine.shows = false
		o.combine.others(b, own, out, op, 0)
	}
	return o
}

// ReduceScatterPiece shows a vector, and combines its elements from `from` on, before upTo, with those of the others.
// They are not shown. If there are none, it only shows the vector.
func (o *Operation) ReduceScatterPiece(b Seats, vector, out Buf, op Op, from, upTo int64) *Operation {
	if c := o.newCombine(vector); from < upTo {
		c.setBut(vector, from, upTo)
		c.others(b, vector.Slice(from, upTo-from), out, op, from*vector.Type.Size())
	}
	return o
}

// AllreducePiece is one of the operations of an Allreduce in pieces: it shows a piece of the own vector, of which it
// combines its slice with those of the others; and its slice of the piece before, which is complete, and takes the
// others' slices of that. Either may be empty.
func (o *Operation) AllreducePiece(b Seats, own, out, before Buf, op Op) *Operation {
	p, r := b.Size(), b.Rank()
	c := o.newCombine(own)
	c.hole, c.behind = buffer.PieceAt(own.Count, p, r), buffer.PieceAt(own.Count, p, r+1)
	c.others(b, own.Slice(c.hole, c.behind-c.hole), out.Slice(c.hole, c.behind-c.hole), op, c.hole*own.Type.Size())
	if before.Count > 0 {
		c.slices, c.share = before, before.Pieces(p, r, r+1)
		c.most += before.Pieces(p, 0, 1).Size()
	}
	return o
}
