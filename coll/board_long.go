package coll

import (
	"fmt"
	"math"

	"github.com/libimpi/libimpi/abi"
)

// Long operations of ranks that outnumber their cores, on their board: in pieces, each of which is a turn. What a rank
// has for the others it writes once, however many they are, and they read it, or combine it with their own, while it is
// in the caches; and ranks change places on their cores only when all places for pieces are full, or none is. With
// messages a broadcast moves each byte twice for each rank, and a rank has to wait for the answer to the first packet
// of each. Bytes that all of p ranks move in memory, n being the length of the vector, message, or of all blocks:
//
//	                on the board           by messages, with copies into working memory
//	bcast           p n                    2 (p-1) n
//	allgather       p n                    2 (p-1) n
//	gather          2 n                    n, for which all others wait
//	reduce          2 (p-1) n              4 (p-1) n + p n
//	reduce_scatter  2 (p-1) n              4 (p-1) n
//	allreduce       about 3 p n            6 (p-1) n + p n
//	scan            about 3 p n            4 (p-1) n + p n
//
// In an alltoall each byte is for one rank: it moves twice on the board. Blocks that are longer than a piece go by
// messages.
//
// A root combines alone: that is as quick as to share the work where cores are fewer than ranks.

// A Boarded is a Comm whose ranks have a board for this.
type Boarded interface {
	// Board returns the same at all ranks.
	Board() Seating
	// Turn carries out a turn, in order with the other steps. All ranks take as many, and no longer needs the turn then.
	Turn(t *Turn) error
}

// Seating is what the ranks of a communicator have for long operations.
type Seating struct {
	Part     int64 // bytes of the part of a turn at most; 0: there is no board
	Crowded  bool  // the ranks outnumber their cores
	TwoCores bool  // the ranks share at most two cores
}

// boardName is what the algorithms of this file are called; rootBoardName, one in which a rank combines what others
// share.
const boardName, rootBoardName = "board", "board-root"

// on completes a case by what the communicator has.
func (k Case) on(c Comm) Case {
	if b, ok := c.(Boarded); ok {
		on := b.Board()
		k.Board, k.Crowded, k.TwoCores = on.Part, on.Crowded, on.TwoCores
	}
	k.Vendor = k.Bytes <= math.MaxInt32 && byVendor(c)
	return k
}

// forVector is on for a reduction. A vector goes by the board if its elements have no gaps, and two of them are a part;
// functions of the program may not be called wherever turns are carried out.
func (k Case) forVector(c Comm, vector Buf, op Op) Case {
	k = k.on(c)
	k.Vendor = k.Vendor && leavable(vector, op)
	if k.Commutes = op.Commutative(); k.Board == 0 {
		return k
	}
	if op.OfProgram() || 2*vector.Type.Size() > k.Board || !vector.Type.Dense() {
		k.Board = 0
	}
	return k
}

const (
	leastPiece = 16 << 10 // bytes
	somePieces = 8        // so many, if they are not shorter than that
)

// boardCut cuts n elements of so many bytes into pieces: some at least, where ranks have different things to do with
// one.
func boardCut(c Comm, n, bytes int64) cut {
	return cutAt(n, min(c.(Boarded).Board().Part, max(leastPiece, n*bytes/somePieces))/bytes)
}

// cutAt cuts n elements into pieces of so many at most.
func cutAt(n, each int64) cut {
	each = max(1, each)
	return cut{n: int((n + each - 1) / each), count: n}
}

// turns has a rank take n turns, and returns the first error: after one it goes on, as the others expect.
func (s *Scratch) turns(c Comm, n int, lay func(t *Turn, i int)) (first error) {
	on := c.(Boarded)
	for i := range n {
		s.turn = Turn{}
		lay(&s.turn, i)
		if err := on.Turn(&s.turn); err != nil && first == nil {
			first = err
		}
	}
	s.turn = Turn{}
	return first
}

// bcastBoard: root shows the pieces, which all others take.
func bcastBoard(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	isRoot := c.Rank() == root
	m, err := s.flat(c, b, isRoot)
	if err != nil {
		return err
	}
	k := boardCut(c, m.Count, 1)
	if err := s.turns(c, k.n, func(t *Turn, i int) { t.Bcast(c, k.of(m, i, i+1), root) }); err != nil {
		return err
	}
	return unflat(c, b, m, isRoot)
}

// reduceBoard: root combines the pieces that all others show.
func (s *Scratch) reduceBoard(c Comm, own, recv Buf, op Op, root int) error {
	k, isRoot := boardCut(c, own.Count, own.Type.Size()), c.Rank() == root
	if !isRoot {
		recv = own
	}
	return s.turns(c, k.n, func(t *Turn, i int) {
		mine, out := k.of(own, i, i+1), k.of(recv, i, i+1)
		if t.Reduce(c, mine, out, op, root); isRoot && eitherWay(op) {
			t.shows = false
			t.combineOthers(c, mine, out, op, 0)
		}
	})
}

// allreduceBoard: in a turn a rank shows a piece of its vector, but for its own slice of that, which it combines with
// those of the others; and its slice of the piece before, which is complete.
func (s *Scratch) allreduceBoard(c Comm, own, acc Buf, op Op) error {
	p, r := c.Size(), c.Rank()
	size := own.Type.Size()
	most := (c.(Boarded).Board().Part - size) * int64(p) / int64(p+1) // there is room for a slice beside a piece
	each, lines := most/size, int64(p)*blockAlign/min(blockAlign, size&-size)
	k := cutAt(own.Count, each)
	if each >= lines { // pieces may be such that each slice is whole lines
		k = cutAt(own.Count, each-each%lines)
		k.unit = lines
	}
	return s.turns(c, k.n+1, func(t *Turn, i int) {
		if i < k.n {
			mine, out := k.of(own, i, i+1), k.of(acc, i, i+1)
			from, to := pieceAt(out.Count, p, r), pieceAt(out.Count, p, r+1)
			t.show(mine)
			t.hole, t.behind = from, to
			t.combineOthers(c, mine.Slice(from, to-from), out.Slice(from, to-from), op, from*out.Type.Size())
		}
		if i > 0 {
			t.alsoSlices(c, k.of(acc, i-1, i))
		}
		t.most = t.own.Size() + pieces(t.slices, p, 0, 1).Size()
	})
}

// allreduceRootBoard: rank 0 combines the pieces that all others show, and shows the result. On two cores that takes as
// long as if all ranks combined slices, for as many bytes pass through a core; but a rank waits for others twice, and
// not at each piece.
func (s *Scratch) allreduceRootBoard(c Comm, own, acc Buf, op Op) error {
	if err := s.reduceBoard(c, own, acc, op, 0); err != nil {
		return err
	}
	k := boardCut(c, acc.Count, acc.Type.Size())
	return s.turns(c, k.n, func(t *Turn, i int) { t.Bcast(c, k.of(acc, i, i+1), 0) })
}

// reduceScatterBoard: each rank shows the pieces of its vector. Those whose blocks have elements of a piece combine
// them; the others go on.
func (s *Scratch) reduceScatterBoard(c Comm, send Blocks, all, recv Buf, op Op) error {
	p, r := c.Size(), c.Rank()
	blocks, err := s.cutAs(&send, p)
	if err != nil {
		return err
	}
	out, inPlace := recv, all.Base == recv.Base && r > 0
	if inPlace { // some of the vector that is yet to be shown is where the result belongs
		if out, err = s.Typed(recv.Count, recv.Type); err != nil {
			return err
		}
	}
	first, end := blocks.start(r), blocks.start(r+1)
	k := boardCut(c, all.Count, all.Type.Size())
	err = s.turns(c, k.n, func(t *Turn, i int) {
		start, piece := k.start(i), k.of(all, i, i+1)
		from, upTo := max(start, first), min(k.start(i+1), end)
		t.most = piece.Size()
		if from >= upTo {
			t.show(piece)
			return
		}
		t.showBut(piece, from-start, upTo-start)
		mine := piece.Slice(from-start, upTo-from)
		t.combineOthers(c, mine, out.Slice(from-first, upTo-from), op, (from-start)*all.Type.Size())
	})
	if err != nil || !inPlace {
		return err
	}
	return c.Copy(recv, out)
}

// scanBoard: each rank combines the pieces that the one below it shows with its own, and shows the result.
func (s *Scratch) scanBoard(c Comm, own, recv Buf, op Op, apart bool) error {
	k := boardCut(c, own.Count, own.Type.Size())
	return s.turns(c, k.n, func(t *Turn, i int) { t.chain(c, k.of(own, i, i+1), k.of(recv, i, i+1), op, apart) })
}

// allgatherBoard: each rank shows its block in pieces, which all others take.
func (s *Scratch) allgatherBoard(c Comm, recv Buf) error {
	blocks, err := s.evenly(c, recv)
	if err != nil {
		return err
	}
	return s.allgathervBoard(c, blocks)
}

// evenly are equal blocks, of which recv is the first one, as a list.
func (s *Scratch) evenly(c Comm, recv Buf) (VBuf, error) {
	p := c.Size()
	counts, err := s.Counts(2 * p)
	if err != nil {
		return VBuf{}, err
	}
	v := VBuf{recv.Base, counts[:p], counts[p:], recv.Type}
	for i := range p {
		v.Counts[i], v.Displs[i] = recv.Count, int64(i)*recv.Count
	}
	return v, nil
}

// allgathervBoard is allgatherBoard for blocks of different sizes: as many pieces as the longest one has. Who has none
// of a turn shows nothing, and nobody waits for it.
func (s *Scratch) allgathervBoard(c Comm, recv VBuf) error {
	p, r := c.Size(), c.Rank()
	all, err := s.flatBlocks(recv, p)
	if err != nil {
		return err
	}
	packed := all.Base != recv.Base
	if mine := all.at(r); packed && mine.Count > 0 {
		if err := c.Pack(mine.bytes(), recv.at(r), 0); err != nil {
			return err
		}
	}
	longest := int64(0)
	for _, n := range all.Counts {
		longest = max(longest, n)
	}
	k := cutAt(longest, c.(Boarded).Board().Part)
	err = s.turns(c, k.n, func(t *Turn, i int) { t.allgatherPiece(c, all, k.start(i), k.start(i+1)) })
	if err != nil {
		return err
	}
	return unflatBlocks(c, recv, all)
}

// unflatBlocks unpacks blocks, if they have been received in a copy.
func unflatBlocks(c Comm, b, flat VBuf) error {
	if flat.Base == b.Base {
		return nil
	}
	for i := range c.Size() {
		if block := flat.at(i); block.Count > 0 {
			if err := c.Unpack(b.at(i), block.bytes(), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherBoard: all but root show their blocks in pieces, which root takes.
func (s *Scratch) gatherBoard(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), c.Rank()
	k := boardCut(c, block, 1)
	if r != root {
		own, err := s.flat(c, send, true)
		if err != nil {
			return err
		}
		return s.turns(c, k.n, func(t *Turn, i int) { t.most, t.own, t.shows = k.longest(), k.of(own, i, i+1), true })
	}
	if err := copyOwn(c, recv.Block(r), send); err != nil {
		return err
	}
	blocks, err := s.evenly(c, recv)
	if err != nil {
		return err
	}
	all, err := s.flatBlocks(blocks, p)
	if err != nil {
		return err
	}
	all.Counts[r] = 0 // is there
	if err := s.turns(c, k.n, func(t *Turn, i int) {
		t.most, t.blocks, t.from, t.upTo = k.longest(), all, k.start(i), k.start(i+1)
		t.takeAll(c, Buf{}, Buf{}, inBlocks)
	}); err != nil {
		return err
	}
	return unflatBlocks(c, blocks, all)
}

// scatterBoard: in a turn root shows the blocks of some ranks, as many as are a part, and those take theirs.
func (s *Scratch) scatterBoard(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), int64(c.Rank())
	isRoot := int(r) == root
	k := cutAt(int64(p), c.(Boarded).Board().Part/block)
	err := s.turns(c, k.n, func(t *Turn, i int) {
		first, end := k.start(i), k.start(i+1)
		mine := first <= r && r < end
		t.most = (end - first) * block
		switch {
		case isRoot && mine:
			at := (r - first) * send.Count
			t.showBut(send.Slice(first*send.Count, (end-first)*send.Count), at, at+send.Count)
		case isRoot:
			t.show(send.Slice(first*send.Count, (end-first)*send.Count))
		case mine:
			t.takePieces(root, 1, recv, inTo, (r-first)*block, block)
		}
	})
	if err != nil || !isRoot || recv.IsInPlace() {
		return err
	}
	return c.Copy(recv, send.Block(root))
}

// alltoallBoard: in a turn each rank shows its blocks for some ranks, as many as are a part, and those take theirs.
func (s *Scratch) alltoallBoard(c Comm, send, recv Buf) error {
	p, r, n := c.Size(), int64(c.Rank()), recv.Size()
	if err := c.Copy(recv.Block(int(r)), send.Block(int(r))); err != nil {
		return err
	}
	k := cutAt(int64(p), c.(Boarded).Board().Part/n)
	return s.turns(c, k.n, func(t *Turn, i int) {
		first, end := k.start(i), k.start(i+1)
		t.most = (end - first) * n
		t.show(send.Slice(first*send.Count, (end-first)*send.Count))
		if first <= r && r < end {
			t.hole = (r - first) * send.Count
			t.behind = t.hole + send.Count
			t.takePieces(0, p, recv, inBlock, (r-first)*n, n)
			t.seeded = true // the own block is there
		}
	})
}

// flatBlocks are blocks as bytes: their own memory, or if elements have gaps, room for packed ones.
func (s *Scratch) flatBlocks(b VBuf, p int) (VBuf, error) {
	size, dense := b.Type.Size(), b.Type.Dense()
	counts, err := s.Counts(2 * p)
	if err != nil {
		return VBuf{}, err
	}
	flat, total := VBuf{b.Base, counts[:p], counts[p:], byteType}, int64(0)
	for i, n := range b.Counts[:p] {
		flat.Counts[i], flat.Displs[i] = n*size, total
		if dense {
			flat.Displs[i] = b.Displs[i] * size
		}
		total += n * size
	}
	if dense {
		return flat, nil
	}
	mem, err := s.Alloc(total)
	flat.Base = Bytes(mem).Base
	return flat, err
}

// combineOthers has a turn combine own, or nothing, with the parts of all others from byte `at` on, in any order.
func (t *Turn) combineOthers(b Seats, own, out Buf, op Op, at int64) {
	t.next, t.end, t.step = 0, b.Size(), 1
	t.to, t.where, t.op, t.at, t.n = out, combined, op, at, out.Size()
	t.seed, t.seeded = own, true
}

// alsoSlices has a turn show the own slice of a vector besides, and take those of all others.
func (t *Turn) alsoSlices(b Seats, vector Buf) {
	t.slices, t.share = vector, pieces(vector, b.Size(), b.Rank(), b.Rank()+1)
	t.next, t.end, t.step = 0, b.Size(), 1
	t.shows, t.seeded = true, true
	if t.own.Type == nil {
		t.own, t.where = Buf{Type: vector.Type}, combined
	}
}

// takeSlice takes the slice that stands behind the part of the rank whose turn it is.
func (t *Turn) takeSlice(b Board, part []byte) error {
	slice := pieces(t.slices, b.Size(), t.next, t.next+1)
	at, n := t.own.Size(), slice.Size()
	if int64(len(part)) < at+n {
		return &Error{Class: abi.MPI_ERR_COUNT,
			Msg: fmt.Sprintf("rank %d has %d bytes for all, and this rank expects %d", t.next, len(part), at+n)}
	}
	return Unpack(slice, part[at:at+n], 0)
}

// allgatherPiece has a turn show bytes from `from` on, before upTo, of the own block, and take those of all others.
func (t *Turn) allgatherPiece(b Seats, blocks VBuf, from, upTo int64) {
	own := between(blocks.at(b.Rank()), from, upTo)
	t.most, t.blocks, t.from, t.upTo = upTo-from, blocks, from, upTo
	t.takeAll(b, own, Buf{}, inBlocks)
	t.shows = own.Count > 0
}

// between are the elements of a block from `from` on, before upTo, as far as it has them.
func between(block Buf, from, upTo int64) Buf {
	from, upTo = min(from, block.Count), min(upTo, block.Count)
	return block.Slice(from, upTo-from)
}

// chain has a turn combine what the rank below shows with the own vector, and show the result to the rank above. out
// gets it, or if apart, what has come.
func (t *Turn) chain(b Seats, own, out Buf, op Op, apart bool) {
	t.most, t.own, t.shows = own.Size(), own, b.Rank() < b.Size()-1
	t.linked, t.apart, t.to, t.op = true, apart, out, op
}

// link goes on with the turn of a rank in a chain.
func (t *Turn) link(b Board) (over bool, err error) {
	n, below := t.own.Size(), b.Rank()-1
	came, sum := t.own, t.to
	if below >= 0 {
		part, err := b.Get(below)
		if part == nil || err != nil {
			return err != nil, err
		}
		if int64(len(part)) != n {
			return true, &Error{Class: abi.MPI_ERR_COUNT,
				Msg: fmt.Sprintf("rank %d has %d bytes, and this rank expects %d", below, len(part), n)}
		}
		came.Base = Bytes(part).Base
	}
	if t.shows {
		mem, err := b.Put(n)
		if mem == nil || err != nil {
			return err != nil, err
		}
		if sum.Base = Bytes(mem).Base; below < 0 {
			return true, t.firstLink(b, mem[:n])
		}
	}
	if t.shows || !t.apart {
		if err := Copy(sum, t.own); err != nil {
			return true, err
		}
		if below >= 0 {
			if err := combine(t.op, came, sum); err != nil {
				return true, err
			}
		}
	}
	if !t.apart {
		err = Copy(t.to, sum)
	} else if below >= 0 {
		err = Copy(t.to, came)
	}
	if t.shows {
		b.Publish(n)
		t.shows = false
	}
	return true, err
}

// firstLink shows the own vector, with which a chain begins.
func (t *Turn) firstLink(b Board, part []byte) error {
	if err := packShown(part, t.own); err != nil {
		return err
	}
	b.Publish(int64(len(part)))
	t.shows = false
	if t.apart {
		return nil
	}
	return Copy(t.to, t.own)
}
