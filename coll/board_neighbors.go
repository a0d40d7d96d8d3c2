package coll

// Exchange is Neighbors on a board. A blocking call carries it out at once, as Do, and progress as far as the parts of
// others are there, as Turn is: then it posts no receive before it has read that a message comes. What it needs of its
// arguments it has from Begin on, and the memory of an earlier one is used again.
type Exchange struct {
	l       listing
	ordered bool        // the blocks of a part are those of a grid's neighbors
	out     []exchanged // in the order of the list
	in      []exchanged // from other ranks
	own     []exchanged // and from this one
	shown   bool
	taken   int // of in
}

// exchanged is a block of an Exchange.
type exchanged struct {
	Buf
	from Buf // of own: where it is
	peer int // below 0: nobody else needs it
	tag  int
	nth  int // of in: its number in the list of a grid's part; else of those there that are for this rank
}

// Begin begins an Exchange, of which laid notes what it does, if not nil.
func (x *Exchange) Begin(rank int, e *Edges, send, recv *Blocks, laid *Laid) {
	x.l = listing{entries: len(e.Out), long: longBlock, laid: laid}
	x.out, x.in, x.own, x.shown, x.taken = x.out[:0], x.in[:0], x.own[:0], false, 0
	for i, r := range e.Out {
		b := exchanged{peer: int(r), tag: e.outTag(i)}
		if b.peer == rank {
			b.peer = -1
		}
		if b.peer >= 0 {
			b.Buf = send.At(i)
		}
		x.out = append(x.out, b)
	}
	for i, r := range e.In {
		if r < 0 {
			continue
		}
		b := exchanged{Buf: recv.At(i), peer: int(r), tag: e.inTag(i), nth: i ^ 1}
		if from := e.self[i]; from >= 0 {
			b.from = send.At(from)
			x.own = append(x.own, b)
			continue
		}
		if !e.Grid {
			b.nth = e.nth[i]
		}
		if x.in = append(x.in, b); b.Size() > longBlock {
			laid.drop()
		}
	}
	if x.ordered = e.Grid; !e.Grid {
		laid.drop() // where a block stands among those of a part, the part says
	}
}

// Do carries an Exchange out, on a board that blocks.
func (x *Exchange) Do(c Comm, b Board) error {
	b.Begin(AnyLength)
	x.l.c, x.l.b = c, b
	for _, in := range x.in {
		if err := x.l.expect(in.Buf, in.peer, in.tag); err != nil {
			return x.l.end(err)
		}
	}
	_, err := x.Run(c, b)
	return x.l.end(err)
}

// Run goes on with an Exchange that has begun on the board, as far as that lets it, and says whether it is over, but
// for the messages that it has started.
func (x *Exchange) Run(c Comm, b Board) (over bool, err error) {
	l := &x.l
	l.c, l.b = c, b
	if !x.shown {
		if shown, err := x.show(); !shown || err != nil {
			return err != nil, err
		}
	}
	for ; x.taken < len(x.in); x.taken++ {
		in := &x.in[x.taken]
		part, err := b.Get(in.peer)
		if part == nil || err != nil {
			return err != nil, err
		}
		i := in.nth
		if !x.ordered {
			i = nthFor(part, b.Rank(), in.nth)
		}
		if err := l.unload(part, in.Buf, in.peer, i, in.tag); err != nil {
			return true, err
		}
	}
	return true, nil
}

// Laid is what has been noted of an Exchange, as soon as that is all there is to note; else nil.
func (x *Exchange) Laid() *Laid {
	if !x.shown || x.l.laid == nil || x.l.laid.Not || x.l.s != nil {
		return nil
	}
	return x.l.laid
}

// show shows the own part, if there is memory for it now, and copies what is the rank's own.
func (x *Exchange) show() (shown bool, err error) {
	l := &x.l
	if begun, err := l.begin(len(x.out), func(i int) Buf { return x.out[i].Buf }); !begun || err != nil {
		return false, err
	}
	for i := range x.out {
		if err := l.add(x.out[i].Buf, x.out[i].peer, x.out[i].tag); err != nil {
			return false, err
		}
	}
	l.show()
	x.shown = true
	for i := range x.own {
		if err := l.copyOwn(x.own[i].Buf, x.own[i].from); err != nil {
			return false, err
		}
	}
	for i := range x.in {
		in := &x.in[i]
		l.laid.take(LaidBlock{Buf: in.Buf, From: in.peer, Entry: in.nth, Tag: in.tag})
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
