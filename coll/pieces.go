package coll

import (
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/buffer"
)

// Long operations on a board (package board): in pieces, each of which is an operation there. What a rank has for the
// others it writes once, however many they are, and they read it, or combine it with their own, while it is in the
// caches; and where ranks outnumber cores, they change places on these only when all slots for pieces are full, or none
// is. With messages a broadcast moves each byte twice for each rank, and a rank has to wait for the answer to the first
// packet of each. Bytes that all of p ranks move in memory, n being the length of the vector, message, or of all
// blocks:
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

// A Boarded is a Comm whose ranks have a board for this.
type Boarded interface {
	// Board returns the same at all ranks.
	Board() Seating
	// Operate carries out an operation on the board, in order with the other steps. All ranks make as many. The memory
	// of the operation is the caller's again then.
	Operate(o *board.Operation) error
}

// Seating is what the ranks of a communicator have for long operations.
type Seating struct {
	Part     int64 // bytes of a contribution at most; 0: there is no board
	Crowded  bool  // the ranks outnumber their cores
	TwoCores bool  // the ranks share at most two cores
}

const (
	cacheLine  = 64       // bytes
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

// operate makes n operations on the board, and returns the first error: after one it goes on, as the others expect.
func (s *Scratch) operate(c Comm, n int, set func(o *board.Operation, i int)) (first error) {
	on := c.(Boarded)
	for i := range n {
		set(&s.onBoard, i)
		if err := on.Operate(&s.onBoard); err != nil && first == nil {
			first = err
		}
	}
	s.onBoard = board.Operation{}
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
	if err := s.operate(c, k.n, func(o *board.Operation, i int) { o.Bcast(c, k.of(m, i, i+1), root) }); err != nil {
		return err
	}
	return unflat(c, b, m, isRoot)
}

// reduceBoard: root combines the pieces that all others show.
func (s *Scratch) reduceBoard(c Comm, own, recv Buf, op Op, root int) error {
	k := boardCut(c, own.Count, own.Type.Size())
	if c.Rank() != root {
		recv = own
	}
	return s.operate(c, k.n, func(o *board.Operation, i int) {
		o.ReducePiece(c, k.of(own, i, i+1), k.of(recv, i, i+1), op, root)
	})
}

// allreduceBoard: in an operation a rank shows a piece of its vector, but for its own slice of that, which it combines
// with those of the others; and its slice of the piece before, which is complete.
func (s *Scratch) allreduceBoard(c Comm, own, acc Buf, op Op) error {
	p, size := c.Size(), own.Type.Size()
	most := (c.(Boarded).Board().Part - size) * int64(p) / int64(p+1) // there is room for a slice beside a piece
	each, lines := most/size, int64(p)*cacheLine/min(cacheLine, size&-size)
	k := cutAt(own.Count, each)
	if each >= lines { // pieces may be such that each slice is whole lines
		k = cutAt(own.Count, each-each%lines)
		k.unit = lines
	}
	return s.operate(c, k.n+1, func(o *board.Operation, i int) {
		mine, out, before := own.Slice(0, 0), acc.Slice(0, 0), acc.Slice(0, 0)
		if i < k.n {
			mine, out = k.of(own, i, i+1), k.of(acc, i, i+1)
		}
		if i > 0 {
			before = k.of(acc, i-1, i)
		}
		o.AllreducePiece(c, mine, out, before, op)
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
	return s.operate(c, k.n, func(o *board.Operation, i int) { o.Bcast(c, k.of(acc, i, i+1), 0) })
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
	err = s.operate(c, k.n, func(o *board.Operation, i int) {
		start := k.start(i)
		from, upTo := max(start, first), min(k.start(i+1), end)
		o.ReduceScatterPiece(c, k.of(all, i, i+1), out.Slice(from-first, max(0, upTo-from)), op, from-start, upTo-start)
	})
	if err != nil || !inPlace {
		return err
	}
	return c.Copy(recv, out)
}

// scanBoard: each rank combines the pieces that the one below it shows with its own, and shows the result.
func (s *Scratch) scanBoard(c Comm, own, recv Buf, op Op, apart bool) error {
	k := boardCut(c, own.Count, own.Type.Size())
	return s.operate(c, k.n, func(o *board.Operation, i int) {
		o.Chain(c, k.of(own, i, i+1), k.of(recv, i, i+1), op, apart)
	})
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
	v := VBuf{Base: recv.Base, Counts: counts[:p], Displs: counts[p:], Type: recv.Type}
	for i := range p {
		v.Counts[i], v.Displs[i] = recv.Count, int64(i)*recv.Count
	}
	return v, nil
}

// allgathervBoard is allgatherBoard for blocks of different sizes: as many pieces as the longest one has. Who has none
// of one shows nothing, and nobody waits for it.
func (s *Scratch) allgathervBoard(c Comm, recv VBuf) error {
	p, r := c.Size(), c.Rank()
	all, err := s.flatBlocks(recv, p)
	if err != nil {
		return err
	}
	packed := all.Base != recv.Base
	if mine := all.At(r); packed && mine.Count > 0 {
		if err := c.Pack(mine.Mem(), recv.At(r), 0); err != nil {
			return err
		}
	}
	longest := int64(0)
	for _, n := range all.Counts {
		longest = max(longest, n)
	}
	k := cutAt(longest, c.(Boarded).Board().Part)
	err = s.operate(c, k.n, func(o *board.Operation, i int) {
		o.AllgatherPiece(c, all, k.start(i), k.start(i+1))
	})
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
		if block := flat.At(i); block.Count > 0 {
			if err := c.Unpack(b.At(i), block.Mem(), 0); err != nil {
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
		return s.operate(c, k.n, func(o *board.Operation, i int) { o.GatherPiece(k.of(own, i, i+1), k.longest()) })
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
	if err := s.operate(c, k.n, func(o *board.Operation, i int) {
		o.CollectPiece(c, all, k.start(i), k.start(i+1), k.longest())
	}); err != nil {
		return err
	}
	return unflatBlocks(c, blocks, all)
}

// scatterBoard: in an operation root shows the blocks of some ranks, as many as are a part, and those take theirs.
func (s *Scratch) scatterBoard(c Comm, send, recv Buf, root int, block int64) error {
	isRoot := c.Rank() == root
	k := cutAt(int64(c.Size()), c.(Boarded).Board().Part/block)
	err := s.operate(c, k.n, func(o *board.Operation, i int) {
		o.ScatterPiece(c, send, recv, root, k.start(i), k.start(i+1), block)
	})
	if err != nil || !isRoot || recv.IsInPlace() {
		return err
	}
	return c.Copy(recv, send.Block(root))
}

// alltoallBoard: in an operation each rank shows its blocks for some ranks, as many as are a part, and those take
// theirs.
func (s *Scratch) alltoallBoard(c Comm, send, recv Buf) error {
	r, n := c.Rank(), recv.Size()
	if err := c.Copy(recv.Block(r), send.Block(r)); err != nil {
		return err
	}
	k := cutAt(int64(c.Size()), c.(Boarded).Board().Part/n)
	return s.operate(c, k.n, func(o *board.Operation, i int) {
		o.AlltoallPiece(c, send, recv, k.start(i), k.start(i+1))
	})
}

// flatBlocks are blocks as bytes: their own memory, or if elements have gaps, room for packed ones.
func (s *Scratch) flatBlocks(b VBuf, p int) (VBuf, error) {
	size, dense := b.Type.Size(), b.Type.Dense()
	counts, err := s.Counts(2 * p)
	if err != nil {
		return VBuf{}, err
	}
	flat, total := VBuf{Base: b.Base, Counts: counts[:p], Displs: counts[p:], Type: buffer.Byte}, int64(0)
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
