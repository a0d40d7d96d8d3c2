package coll

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Operations on a board: memory that all ranks of a communicator see. In each operation a rank may put a part on the
// board, and read those of others; all ranks begin the same operations in the same order, also those in which they do
// neither. Parts are short: an operation is one copy to the board and one from there, in one round.
//
// The names of ranks, counts and results are those of the operations that send messages. Vectors are combined from the
// last rank to the first, so that the result arises where it belongs, in the same order at all ranks.

// Board is a board as an algorithm sees it.
type Board interface {
	Rank() int
	Size() int
	// Begin begins the operation that comes next, with parts of at most n bytes. End ends it.
	Begin(n int64)
	End()
	// Put answers the memory for the own part; it blocks until all have read what was there before. Publish shows n bytes
	// of it to the others.
	Put() ([]byte, error)
	Publish(n int64)
	// Get blocks until a rank's part is there, and answers it. Nobody writes there before End.
	Get(rank int) ([]byte, error)
}

// onBoard carries out an operation with parts of at most n bytes.
func onBoard(b Board, n int64, operation func() error) error {
	b.Begin(n)
	err := operation()
	b.End()
	return err
}

// show puts packed data on the board.
func show(b Board, data Buf) error {
	mem, err := b.Put()
	if err != nil {
		return err
	}
	n := data.Size()
	if err := Pack(mem[:n], data, 0); err != nil {
		return err
	}
	b.Publish(n)
	return nil
}

// piece is n bytes of a rank's part. It is an error if the part ends before.
func piece(b Board, rank int, from, n int64) ([]byte, error) {
	part, err := b.Get(rank)
	if err != nil {
		return nil, err
	}
	if int64(len(part)) < from+n {
		return nil, &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf(
			"rank %d has %d bytes for all, and this rank expects %d", rank, len(part), from+n)}
	}
	return part[from : from+n], nil
}

// whole is a rank's part, which fits n bytes.
func whole(b Board, rank int, n int64) ([]byte, error) {
	part, err := b.Get(rank)
	if err == nil && int64(len(part)) > n {
		err = &Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", rank, len(part),
			n)}
	}
	return part, err
}

// BoardBarrier is Barrier.
func BoardBarrier(b Board) error {
	return onBoard(b, 0, func() error {
		if err := show(b, Bytes(nil)); err != nil {
			return err
		}
		for r := range b.Size() {
			if _, err := b.Get(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoardBcast is Bcast.
func BoardBcast(b Board, data Buf, root int) error {
	return onBoard(b, data.Size(), func() error {
		if b.Rank() == root {
			return show(b, data)
		}
		part, err := whole(b, root, data.Size())
		if err != nil {
			return err
		}
		return Unpack(data, part, 0)
	})
}

// BoardGather is Gather. n are the bytes of a block.
func BoardGather(b Board, send, recv Buf, root int, n int64) error {
	return onBoard(b, n, func() error {
		if b.Rank() != root {
			return show(b, send)
		}
		for r := range b.Size() {
			if err := place(b, r, send, recv.Block(r), n); err != nil {
				return err
			}
		}
		return nil
	})
}

// place copies a rank's part to where it belongs; the own one from send.
func place(b Board, rank int, send, to Buf, n int64) error {
	if rank == b.Rank() {
		if send.IsInPlace() {
			return nil
		}
		return Copy(to, send)
	}
	part, err := whole(b, rank, n)
	if err != nil {
		return err
	}
	return Unpack(to, part, 0)
}

// BoardScatter is Scatter. n are the bytes of a block.
func BoardScatter(b Board, send, recv Buf, root int, n int64) error {
	return onBoard(b, n*int64(b.Size()), func() error {
		if b.Rank() == root {
			all := send
			all.Count *= int64(b.Size())
			if err := show(b, all); err != nil || recv.IsInPlace() {
				return err
			}
			return Copy(recv, send.Block(root))
		}
		part, err := piece(b, root, int64(b.Rank())*n, n)
		if err != nil {
			return err
		}
		return Unpack(recv, part, 0)
	})
}

// BoardAllgather is Allgather.
func BoardAllgather(b Board, send, recv Buf) error {
	n := recv.Size()
	return onBoard(b, n, func() error {
		mine := send
		if send.IsInPlace() {
			mine = recv.Block(b.Rank())
		}
		if err := show(b, mine); err != nil {
			return err
		}
		for r := range b.Size() {
			if err := place(b, r, send, recv.Block(r), n); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoardAllgatherv is Allgatherv. n are the bytes of the longest block.
func BoardAllgatherv(b Board, send Buf, recv VBuf, n int64) error {
	return onBoard(b, n, func() error {
		mine := send
		if send.IsInPlace() {
			mine = recv.Block(b.Rank())
		}
		if err := show(b, mine); err != nil {
			return err
		}
		for r := range b.Size() {
			to := recv.Block(r)
			if err := place(b, r, send, to, to.Size()); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoardAlltoall is Alltoall.
func BoardAlltoall(b Board, send, recv Buf) error {
	n, p := recv.Size(), int64(b.Size())
	return onBoard(b, n*p, func() error {
		all := send
		if send.IsInPlace() {
			all = recv
		}
		all.Count *= p
		if err := show(b, all); err != nil {
			return err
		}
		for r := range b.Size() {
			part, err := piece(b, r, int64(b.Rank())*n, n)
			if err != nil {
				return err
			}
			if err := Unpack(recv.Block(r), part, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoardReduce is Reduce, of elements without gaps.
func BoardReduce(b Board, send, recv Buf, op Op, root int) error {
	return onBoard(b, recv.Size(), func() error {
		if err := show(b, operand(send, recv)); err != nil || b.Rank() != root {
			return err
		}
		return combineParts(b, recv, op, b.Size()-1, 0)
	})
}

// combineParts leaves in out the parts of ranks from down to 0, from byte `at` on, combined.
func combineParts(b Board, out Buf, op Op, from int, at int64) error {
	n := out.Size()
	for r := from; r >= 0; r-- {
		part, err := piece(b, r, at, n)
		if err != nil {
			return err
		}
		in := Buf{Bytes(part).Base, out.Count, out.Type}
		if r == from {
			err = Copy(out, in)
		} else {
			err = combine(op, in, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// boardSlices is the vector, in bytes, from which more than two ranks combine a slice each.
const boardSlices = 1 << 10

// BoardAllreduce is Allreduce, of elements without gaps. Long vectors are combined by slices, in a second operation.
func BoardAllreduce(b Board, send, recv Buf, op Op) error {
	p, n := b.Size(), recv.Size()
	if p == 2 || n < boardSlices || recv.Count < int64(p) {
		return onBoard(b, n, func() error {
			if err := show(b, operand(send, recv)); err != nil {
				return err
			}
			return combineParts(b, recv, op, p-1, 0)
		})
	}
	slice := func(r int) Buf { return pieces(recv, p, r, r+1) }
	size := recv.Type.Size()
	if err := onBoard(b, n, func() error {
		if err := show(b, operand(send, recv)); err != nil {
			return err
		}
		return combineParts(b, slice(b.Rank()), op, p-1, pieceAt(recv.Count, p, b.Rank())*size)
	}); err != nil {
		return err
	}
	return onBoard(b, slice(0).Size(), func() error {
		if err := show(b, slice(b.Rank())); err != nil {
			return err
		}
		for r := range p {
			if err := place(b, r, InPlace(), slice(r), slice(r).Size()); err != nil {
				return err
			}
		}
		return nil
	})
}

// BoardScan is Scan, or Exscan if apart, of elements without gaps.
func BoardScan(b Board, send, recv Buf, op Op, apart bool) error {
	return onBoard(b, recv.Size(), func() error {
		if err := show(b, operand(send, recv)); err != nil {
			return err
		}
		last := b.Rank()
		if apart {
			last--
		}
		return combineParts(b, recv, op, last, 0)
	})
}

// BoardReduceScatter is ReduceScatter of elements without gaps: this rank gets recv, which begins at element `at` of
// total.
func BoardReduceScatter(b Board, send, recv Buf, total, at int64, op Op) error {
	all := operand(send, recv)
	all.Count = total
	return onBoard(b, all.Size(), func() error {
		if err := show(b, all); err != nil || recv.Count == 0 {
			return err
		}
		return combineParts(b, recv, op, b.Size()-1, at*recv.Type.Size())
	})
}
