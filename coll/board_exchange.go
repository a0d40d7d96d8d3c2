package coll

import "slices"

// Exchange is an operation on a board whose blocks have lengths that not all ranks know (board_v.go): blocks that this
// rank gives, takes and keeps. A blocking call carries it out at once (Do), and progress as far as the contributions of
// others are there (Run); both post the receive of a block that is so long that it comes as a message before they read
// that it comes. What an Exchange needs of the arguments it gets from the method that names the operation, and it uses
// the memory of an earlier one again. It does not keep the lists of the arguments: a program has to leave those alone
// until the operation is complete (MPI 5.0, 6.12), but mpi4py 4.1 does not.
type Exchange struct {
	l       listing
	crowded bool        // ranks outnumber their cores
	ordered bool        // entries are found by their number, and not by the rank that they are for
	out     []exchanged // in the order of the list; none: the rank has no part
	in      []exchanged // from other ranks
	own     []kept      // from this one
	expects bool        // some of in are so long that they come as messages, whose receives are not yet posted
	shown   bool
	taken   int   // of in
	err     error // of a block: the others are taken all the same
}

// exchanged is a block that another rank gives or gets.
type exchanged struct {
	Buf
	peer int32 // below 0: nobody else needs it
	tag  int32
	nth  int32 // of in: its number in the list of the peer's part, or of those there that are for this rank
}

// kept is a block of the rank for itself.
type kept struct{ to, from Buf }

// Begin begins a new Exchange, of ranks that have this for long blocks. One of the methods that follow says which
// operation it is; they return the Exchange.
func (x *Exchange) Begin(on Seating) *Exchange {
	x.l = listing{long: longBlock, piece: on.Part}
	x.out, x.in, x.own = x.out[:0], x.in[:0], x.own[:0]
	x.crowded, x.ordered, x.expects, x.shown, x.taken, x.err = on.Crowded, true, false, false, 0, nil
	return x
}

func (x *Exchange) gives(b Buf, to, tag int) {
	e := another(&x.out)
	e.Base, e.Count, e.Type = b.Base, b.Count, b.Type
	e.peer, e.tag = int32(to), int32(tag)
}

func (x *Exchange) takes(b Buf, from, nth, tag int) {
	e := another(&x.in)
	e.Base, e.Count, e.Type = b.Base, b.Count, b.Type
	e.peer, e.nth, e.tag = int32(from), int32(nth), int32(tag)
	x.expects = x.expects || x.l.foreseen(b.Size())
}

func (x *Exchange) keeps(to, from Buf) {
	e := another(&x.own)
	e.to, e.from = to, from
}

// another makes a list longer by an entry, and returns it for the caller to fill field by field: a struct that was just
// made of fields, and is copied into the list as a whole, is read before the processor has stored it.
func another[T any](list *[]T) *T {
	l := *list
	if len(l) == cap(l) {
		l = slices.Grow(l, 1)
	}
	l = l[:len(l)+1]
	*list = l
	return &l[len(l)-1]
}

// Gatherv is Gatherv. A part is one block, which may take all of the room: the root alone copies from there. If there
// are two ranks, or ranks outnumber their cores, it may be as long as a piece (board_long.go): its rank goes on while
// root is behind.
func (x *Exchange) Gatherv(b Seats, send Buf, recv *VBuf, root int) *Exchange {
	x.l.entries, x.l.long = 1, mostRoom
	if x.crowded || b.Size() == 2 {
		x.l.long = max(mostRoom, min(x.l.piece-blockAlign, ByLongMessage-1))
	}
	if b.Rank() != root {
		x.gives(send, root, tagGather)
		return x
	}
	return x.takesAll(b, send, recv)
}

// takesAll has the rank take the blocks of all others, each of which has one for all.
func (x *Exchange) takesAll(b Seats, own Buf, recv *VBuf) *Exchange {
	me := b.Rank()
	if !own.IsInPlace() {
		x.keeps(recv.at(me), own)
	}
	for r := range b.Size() {
		if r != me {
			x.takes(recv.at(r), r, 0, tagGather)
		}
	}
	return x
}

// Allgatherv is Allgatherv of blocks that are not longer than a part of a board may be.
func (x *Exchange) Allgatherv(b Seats, send Buf, recv *VBuf) *Exchange {
	x.l.entries, x.l.long = 1, mostRoom
	own := send
	if send.IsInPlace() {
		own = recv.at(b.Rank())
	}
	x.gives(own, b.Rank(), tagGather)
	return x.takesAll(b, send, recv)
}

// Scatterv is Scatterv.
func (x *Exchange) Scatterv(b Seats, send *VBuf, recv Buf, root int) *Exchange {
	if x.forEach(b); b.Size() == 2 {
		x.l.share(1)
	}
	if b.Rank() != root {
		x.takes(recv, root, b.Rank(), tagScatter)
		return x
	}
	blocks := Varying(*send)
	if x.givesAll(b, &blocks, tagScatter); !recv.IsInPlace() {
		x.keeps(recv, blocks.At(root))
	}
	return x
}

// forEach says that a part has an entry for each rank, and no block for the own one.
func (x *Exchange) forEach(b Seats) { x.l.entries, x.l.others = b.Size(), true }

// givesAll has the rank give a block to each other one.
func (x *Exchange) givesAll(b Seats, blocks *Blocks, tag int) {
	for r := range b.Size() {
		if r == b.Rank() {
			x.gives(Buf{}, -1, tag)
		} else {
			x.gives(blocks.At(r), r, tag)
		}
	}
}

// Alltoallv is Alltoallv and Alltoallw, not in place.
func (x *Exchange) Alltoallv(b Seats, send, recv *Blocks) *Exchange {
	x.forEach(b)
	x.l.share(b.Size() - 1)
	me := b.Rank()
	x.givesAll(b, send, tagAlltoall)
	if from, to := send.At(me), recv.At(me); !from.sameAs(to) {
		x.keeps(to, from)
	}
	for i := 1; i < b.Size(); i++ { // not all from the same rank at a time
		r := (me + i) % b.Size()
		x.takes(recv.At(r), r, me, tagAlltoall)
	}
	return x
}

// Neighbors is Neighbors. The blocks of a grid's part are those of its neighbors; elsewhere they are found by the rank
// that they are for.
func (x *Exchange) Neighbors(b Seats, e *Edges, send, recv *Blocks) *Exchange {
	x.l.entries, x.ordered = len(e.Out), e.Grid
	if e.Grid { // elsewhere ranks do not know how many blocks others have
		x.l.share(len(e.Out))
	}
	for i, r := range e.Out {
		if r < 0 || int(r) == b.Rank() {
			x.gives(Buf{}, -1, e.outTag(i))
		} else {
			x.gives(send.At(i), int(r), e.outTag(i))
		}
	}
	for i, r := range e.In {
		switch from := e.self[i]; {
		case r < 0:
		case from >= 0:
			x.keeps(recv.At(i), send.At(from))
		case e.Grid:
			x.takes(recv.At(i), int(r), i^1, e.inTag(i))
		default:
			x.takes(recv.At(i), int(r), e.nth[i], e.inTag(i))
		}
	}
	return x
}

// Do carries an Exchange out, on a board that blocks.
func (x *Exchange) Do(c Comm, b Board) error {
	b.Begin(AnyLength)
	_, err := x.Run(c, b)
	return x.l.end(err)
}

// Run goes on with an Exchange that has begun on the board, as far as that lets it, and reports whether it is over, but
// for the messages that it has started.
func (x *Exchange) Run(c Comm, b Board) (over bool, err error) {
	l := &x.l
	l.c, l.b = c, b
	if x.expects {
		x.expects = false
		for i := range x.in {
			in := &x.in[i]
			if err := l.expect(in.Buf, int(in.peer), int(in.tag)); err != nil {
				return true, err
			}
		}
	}
	if !x.shown {
		if shown, err := x.show(); !shown || err != nil {
			if err != nil && !x.shown {
				b.Fail(err)
			}
			return err != nil, err
		}
	}
	for ; x.taken < len(x.in); x.taken++ {
		in := &x.in[x.taken]
		part, err := b.Get(int(in.peer))
		if part == nil || err != nil {
			return err != nil, err
		}
		i := int(in.nth)
		if !x.ordered {
			i = nthFor(part, b.Rank(), i)
		}
		if err := l.unload(part, in.Buf, int(in.peer), i, int(in.tag)); err != nil && x.err == nil {
			x.err = err
		}
	}
	return true, x.err
}

// Long reports whether the own blocks stand in a piece, so that it takes a while until all are there.
func (x *Exchange) Long() bool { return x.l.inPiece }

// show shows the own part, if there is memory for it now, and copies what is the rank's own, while the parts of others
// are on their way.
func (x *Exchange) show() (shown bool, err error) {
	l := &x.l
	if len(x.out) > 0 {
		if begun, err := l.begin(x.out); !begun || err != nil {
			return false, err
		}
		for i := range x.out {
			if err := l.add(&x.out[i]); err != nil {
				return false, err
			}
		}
		l.show()
	}
	x.shown = true
	for i := range x.own {
		if err := l.c.Copy(x.own[i].to, x.own[i].from); err != nil && x.err == nil {
			x.err = err
		}
	}
	return true, nil
}

// nthFor is the number of the entry that is number nth, from 0 on, of those of a part that are for a rank; that of none
// if there are not so many.
func nthFor(part []byte, rank, nth int) int {
	n := entriesOf(part)
	for i := range n {
		if entryOf(part, i)>>(2*offsetBits) != uint64(rank) {
			continue
		}
		if nth == 0 {
			return i
		}
		nth--
	}
	return n
}
