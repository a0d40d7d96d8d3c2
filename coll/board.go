package coll

import (
	"fmt"
	"math"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Operations on a board: memory that all ranks of a communicator see. In each operation a rank may put a part on the
// board, and read those of others; all ranks begin the same operations in the same order, also those in which they do
// neither. Parts are short: an operation is one copy to the board and one from there, in one round.
//
// What a rank does in an operation is a Turn. Blocking calls carry it out at once, and progress as far as the parts
// of others are there. The names of ranks, counts and results are those of the operations that send messages. Vectors
// are combined in the same order at all ranks: by predefined operations from the first rank to the last, as C does it
// on the same board (gobridge/executor/board_run.h), by others from the last to the first, so that the result arises
// where it belongs.
//
// Source: none. What is done on boards, here and in the files board_*.go, was chosen by measurement.

// Board is a board as an operation sees it.
type Board interface {
	Rank() int
	Size() int
	// Begin begins the operation that comes next, with parts of at most n bytes, or AnyLength. End ends it.
	Begin(n int64)
	End()
	// Put returns the memory for the own part, of at most n bytes, once all have read what was there before. Until then
	// it blocks, or answers nil. Publish shows n bytes of it to the others.
	Put(n int64) ([]byte, error)
	Publish(n int64)
	// Get returns a rank's part, once it is there, also a second time. Until then it blocks, or answers nil. It stays
	// until End. Errors: a rank is lost, or its part does not come.
	Get(rank int) ([]byte, error)
	// Fail says in place of Publish that the own part does not come, because of an error.
	Fail(err error)
}

// Seats are the ranks of a board, or of a communicator.
type Seats interface {
	Rank() int
	Size() int
}

// Turn is what a rank does in an operation on a board: it may show its own part, and then takes the parts of some
// ranks, or a piece of each, one after the other.
type Turn struct {
	most   int64 // bytes of the longest part; the same at all ranks
	own    Buf
	piece  int64 // elements of each of the pieces that own consists of; 0: of none
	shows  bool
	forAll bool // own is for all others, who have nothing to show

	hole, behind int64 // own is shown without its elements from hole on, before behind: nobody reads them there

	next, end, step int   // whose parts are taken: from next on, before end
	at, n           int64 // the piece: n bytes from byte at on
	whole           bool  // there are no pieces
	where           place
	to              Buf
	blocks          VBuf
	op              Op
	begun           bool // to has the first part

	// Of a piece of a long operation (board_long.go).
	seed   Buf  // combined with the parts of the others
	seeded bool // there is a seed
	slices Buf  // each rank shows its slice of this behind its own part, and takes those of the others
	share  Buf  // the own slice
	linked bool // a link of a chain
	apart  bool // without the own vector
	from   int64
	upTo   int64 // of blocks only the elements from `from` on, before upTo; 0: all
}

// place says where a part belongs.
type place uint8

const (
	nowhere  place = iota
	inTo           // in to
	inBlock        // in the rank's block of to
	inSlice        // in the rank's slice of to
	inBlocks       // in the rank's block of blocks
	combined       // to is all of them combined
)

// Most is how many bytes the longest part of the operation has.
func (t *Turn) Most() int64 { return t.most }

// Shows reports whether this rank has a part, which Run is yet to show.
func (t *Turn) Shows() bool { return t.shows }

// Do carries a turn out, on a board that blocks.
func (t *Turn) Do(b Board) error {
	b.Begin(t.most)
	_, err := t.Run(b)
	b.End()
	return err
}

// Run goes on with a turn that has begun, as far as the board lets it, and reports whether it is over. An error that
// comes before the own part is shown reaches those who wait for that.
func (t *Turn) Run(b Board) (over bool, err error) {
	over, err = t.run(b)
	if err != nil && t.shows {
		b.Fail(err)
		t.shows = false
	}
	return over, err
}

func (t *Turn) run(b Board) (over bool, err error) {
	if t.linked {
		return t.link(b)
	}
	if t.shows {
		n := t.own.Size() + t.share.Size()
		mem, err := b.Put(n)
		if mem == nil || err != nil {
			return err != nil, err
		}
		if int64(len(mem)) < n {
			return true, &Error{Class: abi.MPI_ERR_COUNT,
				Msg: fmt.Sprintf("this rank has %d bytes for the others, who expect %d at most", n, t.most)}
		}
		if err := t.pack(mem[:n]); err != nil {
			return true, err
		}
		b.Publish(n)
		t.shows = false
	}
	if t.seeded && !t.begun {
		if t.begun = true; t.seed.Count > 0 {
			if err := Copy(t.to, t.seed); err != nil {
				return true, err
			}
		}
	}
	for ; t.next != t.end; t.next += t.step {
		if there, err := t.take(b); !there || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

// Runs is a turn that moves nothing but runs of bytes, or combines elements by a predefined operation from the first
// rank to the last: C can execute it (gobridge/executor/board.h).
type Runs struct {
	Own        datatype.Pointer // the own part, N bytes; nil: there is none, or it is empty
	N          int64
	Shows      bool
	First, End int   // whose parts are taken
	At, Take   int64 // the piece of each
	To         datatype.Pointer
	Stride     int64          // between what is taken of one rank and of the next, in bytes
	Op         Op             // nil: they stay apart
	Of         *datatype.Type // of Count elements that are combined
	Count      int64
}

// Runs returns what a new turn is as Runs, if it is so simple.
func (t *Turn) Runs() (r Runs, simple bool) {
	of := t.to.Type
	switch {
	case t.next < t.end && t.step != 1, t.where == inSlice, t.where == inBlocks:
		return r, false
	case t.own.Count > 0 && !t.own.Type.Dense(), t.to.Count > 0 && !of.Dense():
		return r, false
	case t.piece > 0 && t.where == inBlock && t.own.Base == t.to.Base: // who starts anew needs what it has had
		return r, false
	}
	r = Runs{N: t.own.Size(), Shows: t.shows, First: t.next, End: max(t.next, t.end), At: t.at, Take: t.n}
	if t.shows && r.N != t.most {
		return r, false
	}
	if r.N > 0 {
		r.Own = t.own.Base
	}
	if t.where == nowhere {
		return r, true
	}
	if t.whole {
		r.Take = t.to.Size()
	}
	r.To = t.to.Base
	if t.where == inBlock {
		r.Stride = t.to.Size()
	}
	if t.where == combined {
		r.Op, r.Of, r.Count = t.op, of, t.to.Count
	}
	return r, true
}

// pack writes the own part, and behind it the own slice.
func (t *Turn) pack(part []byte) error {
	if t.forAll {
		return packForAll(part, t.own)
	}
	if t.behind == 0 && t.share.Count == 0 {
		return packShown(part, t.own)
	}
	if err := packShown(part, t.own.Slice(0, t.hole)); err != nil {
		return err
	}
	if rest := t.own.Count - t.behind; rest > 0 {
		if err := packShown(part[t.behind*t.own.Type.Size():], t.own.Slice(t.behind, rest)); err != nil {
			return err
		}
	}
	return packShown(part[t.own.Size():], t.share)
}

// take takes the part of the rank that comes next, if it is there.
func (t *Turn) take(b Board) (there bool, err error) {
	to := t.to
	switch t.where {
	case inBlock:
		to = to.Block(t.next)
	case inSlice:
		to = pieces(to, b.Size(), t.next, t.next+1)
	case inBlocks:
		to = t.blocks.at(t.next)
		if t.upTo > 0 {
			if to = between(to, t.from, t.upTo); to.Count == 0 {
				return true, nil
			}
		}
	}
	if mine := t.next == b.Rank(); mine && t.seeded {
		return true, nil
	}
	if mine := t.next == b.Rank(); mine && t.whole {
		return true, Copy(to, t.own)
	} else if mine && t.piece > 0 {
		return true, Copy(to, t.own.Slice(int64(t.next)*t.piece, t.piece))
	}
	part, err := t.part(b)
	if part == nil || err != nil {
		return false, err
	}
	if t.whole {
		if n := to.Size(); int64(len(part)) > n {
			return true, &Error{Class: abi.MPI_ERR_TRUNCATE,
				Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", t.next, len(part), n)}
		}
		return true, Unpack(to, part, 0)
	}
	switch n := int64(len(part)); {
	case n < t.at+t.n:
		return true, &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf(
			"rank %d has %d bytes for all, and this rank expects %d", t.next, n, t.at+t.n)}
	case n > t.most:
		return true, &Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf(
			"rank %d has %d bytes for all, and this rank expects %d at most", t.next, n, t.most)}
	}
	if t.slices.Count > 0 {
		if err := t.takeSlice(b, part); err != nil {
			return true, err
		}
	}
	part = part[t.at : t.at+t.n]
	switch {
	case t.where == nowhere, t.n == 0:
		return true, nil
	case t.where != combined:
		return true, Unpack(to, part, 0)
	case !t.begun:
		t.begun = true
		return true, Copy(to, Buf{Bytes(part).Base, to.Count, to.Type})
	case reproduces && !eitherWay(t.op):
		return true, foldPart(t.op, to, Buf{Bytes(part).Base, to.Count, to.Type})
	}
	return true, combine(t.op, Buf{Bytes(part).Base, to.Count, to.Type}, to)
}

// part is the part of the rank that comes next, nil if it is not there. The own one is combined where it lies, unless
// the result comes there: what has been stored for others may be in no cache of this core.
func (t *Turn) part(b Board) ([]byte, error) {
	if t.where == combined && t.next == b.Rank() {
		if run, isRun := contiguous(t.own); isRun && !run.has(t.to.Base) {
			return run.bytes(), nil
		}
	}
	return b.Get(t.next)
}

// show has a turn show a part.
func (t *Turn) show(own Buf) {
	t.own, t.shows = own, true
}

// showBut has a turn show a part without its elements from hole on, before behind; not at all, if there are no others.
// Then nobody may await it.
func (t *Turn) showBut(own Buf, hole, behind int64) {
	if t.show(own); hole < behind {
		t.hole, t.behind, t.shows = hole, behind, behind-hole < own.Count
	}
}

// showPieces has a turn show a part with a piece for each rank.
func (t *Turn) showPieces(b Seats, first Buf) {
	t.own, t.piece, t.shows = first, first.Count, true
	t.own.Count *= int64(b.Size())
	t.hole = int64(b.Rank()) * t.piece
	t.behind = t.hole + t.piece
}

// takeAll has a turn take the parts of all ranks, whole, into their blocks of to; the own one is own.
func (t *Turn) takeAll(b Seats, own, to Buf, where place) {
	t.own, t.to, t.where, t.whole = own, to, where, true
	t.end, t.step = b.Size(), 1
}

// takePieces has a turn take, from rank first on, n bytes from byte at on of each part.
func (t *Turn) takePieces(first, ranks int, to Buf, where place, at, n int64) {
	t.next, t.end, t.step = first, first+ranks, 1
	t.to, t.where, t.at, t.n = to, where, at, n
}

// combine has a turn combine the parts of ranks 0 to from, from byte at on.
func (t *Turn) combine(from int, out Buf, op Op, at int64) {
	t.next, t.end, t.step = from, -1, -1
	if upwards(op) {
		t.next, t.end, t.step = 0, from+1, 1
	}
	t.to, t.where, t.op, t.at, t.n = out, combined, op, at, out.Size()
}

// upwards reports whether the parts are combined from the first rank to the last.
func upwards(op Op) bool { return reproduces || eitherWay(op) }

// eitherWay reports whether two parts give the same bits in either order: those of predefined operations.
func eitherWay(op Op) bool { return op.Commutative() && !op.OfProgram() }

// Barrier makes t a barrier. This and the constructors below write in place and return t, because copying a fresh Turn
// takes longer than using it.
func (t *Turn) Barrier(b Seats) *Turn {
	t.show(Bytes(nil))
	t.takePieces(0, b.Size(), Buf{}, nowhere, 0, 0)
	return t
}

// Bcast is Bcast.
func (t *Turn) Bcast(b Seats, data Buf, root int) *Turn {
	t.most = data.Size()
	if b.Rank() == root {
		t.show(data)
		t.forAll = true
		return t
	}
	t.next, t.end, t.step = root, root+1, 1
	t.to, t.where, t.whole = data, inTo, true
	return t
}

// Gather is Gather. n are the bytes of a block.
func (t *Turn) Gather(b Seats, send, recv Buf, root int, n int64) *Turn {
	t.most = n
	if b.Rank() != root {
		t.show(send)
	} else {
		t.takeAll(b, ownBlock(b, send, recv), recv, inBlock)
	}
	return t
}

// ownBlock is the own block of an operation that collects them.
func ownBlock(b Seats, send, recv Buf) Buf {
	if send.IsInPlace() {
		return recv.Block(b.Rank())
	}
	return send
}

// Scatter is Scatter. n are the bytes of a block.
func (t *Turn) Scatter(b Seats, send, recv Buf, root int, n int64) *Turn {
	t.most = n * int64(b.Size())
	if b.Rank() == root {
		if t.showPieces(b, send); recv.IsInPlace() {
			return t
		}
	}
	t.takePieces(root, 1, recv, inTo, int64(b.Rank())*n, n)
	return t
}

// Allgather is Allgather.
func (t *Turn) Allgather(b Seats, send, recv Buf) *Turn {
	own := ownBlock(b, send, recv)
	t.most = recv.Size()
	t.show(own)
	t.takeAll(b, own, recv, inBlock)
	return t
}

// Alltoall is Alltoall.
func (t *Turn) Alltoall(b Seats, send, recv Buf) *Turn {
	n, p := recv.Size(), int64(b.Size())
	if send.IsInPlace() {
		send = recv
	}
	t.most = n * p
	t.showPieces(b, send)
	t.takePieces(0, b.Size(), recv, inBlock, int64(b.Rank())*n, n)
	return t
}

// Reduce is Reduce, of elements without gaps.
func (t *Turn) Reduce(b Seats, send, recv Buf, op Op, root int) *Turn {
	t.most = recv.Size()
	if t.show(operand(send, recv)); b.Rank() == root {
		t.combine(b.Size()-1, recv, op, 0)
	}
	return t
}

// Allreduce is Allreduce, of elements without gaps.
func (t *Turn) Allreduce(b Seats, send, recv Buf, op Op) *Turn {
	t.most = recv.Size()
	t.show(operand(send, recv))
	t.combine(b.Size()-1, recv, op, 0)
	return t
}

// BoardSlicesFrom is the vector, in bytes, from which an Allreduce is made by slices: that of more than two ranks, each
// of which has a core. Where ranks outnumber cores, a second operation takes longer than to combine all.
func BoardSlicesFrom(ranks int, crowded bool) int64 {
	if ranks < 3 || crowded {
		return math.MaxInt32
	}
	return 1 << 10
}

// BoardSlices reports whether an Allreduce of a vector is made by slices.
func BoardSlices(ranks int, crowded bool, vector Buf) bool {
	return vector.Size() >= BoardSlicesFrom(ranks, crowded) && vector.Count >= int64(ranks)
}

// ReduceSlices is the first of two operations that are an Allreduce by slices: each rank combines its own.
func (t *Turn) ReduceSlices(b Seats, send, recv Buf, op Op) *Turn {
	p, r := b.Size(), b.Rank()
	t.most = recv.Size()
	t.show(operand(send, recv))
	t.combine(p-1, pieces(recv, p, r, r+1), op, pieceAt(recv.Count, p, r)*recv.Type.Size())
	return t
}

// ShareSlices is the second one: all get all slices.
func (t *Turn) ShareSlices(b Seats, recv Buf) *Turn {
	p, r := b.Size(), b.Rank()
	own := pieces(recv, p, r, r+1)
	t.most = pieces(recv, p, 0, 1).Size()
	t.show(own)
	t.takeAll(b, own, recv, inSlice)
	return t
}

// Scan is Scan, or Exscan if apart, of elements without gaps.
func (t *Turn) Scan(b Seats, send, recv Buf, op Op, apart bool) *Turn {
	last := b.Rank()
	if apart {
		last--
	}
	t.most = recv.Size()
	t.show(operand(send, recv))
	t.combine(last, recv, op, 0)
	return t
}

// ReduceScatter is ReduceScatter of elements without gaps: this rank gets recv, which begins at element `at` of total.
func (t *Turn) ReduceScatter(b Seats, send, recv Buf, total, at int64, op Op) *Turn {
	all := operand(send, recv)
	all.Count = total
	t.most = all.Size()
	if t.show(all); recv.Count > 0 {
		t.combine(b.Size()-1, recv, op, at*recv.Type.Size())
	}
	return t
}
