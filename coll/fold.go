package coll

import "github.com/libimpi/libimpi/coll/choose"

// Reductions in one order, that of a loop over the ranks:
//
//	((v0 op v1) op v2) op ... v(p-1)
//
// Its result depends on the vectors, the operation and the number of elements, and on nothing else. The other
// algorithms combine in different orders, and so floating-point sums differ with the number of ranks, the length, the
// machine and the parameters by which algorithms are chosen. Vectors are moved first and combined afterwards, by one
// rank or, where there is enough, by all of them a piece each; no algorithm that combines on the way keeps this order
// in fewer than p-1 rounds. All messages are typed.
//
// Source: none but MPI 5.0, 6.9.1, which recommends one result for the same vectors in the same order. The parts are
// the binomial tree of Gather and the exchange of all with all (pairwise).

// foldPieces reports whether each rank combines a piece of the vector.
func foldPieces(c Comm, b Buf) bool {
	return b.Count >= int64(c.Size()) && b.Size() >= choose.Startup()
}

// foldAll combines the vectors in blocks, of rank 0's to the last one's, in place, and returns where the result is.
func foldAll(c Comm, op Op, p int, block func(i int) Buf) (Buf, error) {
	for i := 1; i < p; i++ {
		if err := c.Combine(op, block(i-1), block(i)); err != nil {
			return Buf{}, err
		}
	}
	return block(p - 1), nil
}

// foldAt leaves the combination of all vectors at root: along a binomial tree root gets them all. ceil(log2 p) rounds,
// n (p-1) bytes. The answer counts at root only.
func (s *Scratch) foldAt(c Comm, own Buf, op Op, root, tag int) (Buf, error) {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	subtree := min(lowBit(v, p), p-v)
	if subtree == 1 && v != 0 {
		return Buf{}, c.Send(own, (v&(v-1)+root)%p, tag)
	}
	all, err := s.Typed(int64(subtree)*own.Count, own.Type)
	if err != nil {
		return Buf{}, err
	}
	part := func(at, n int) Buf { return all.Slice(int64(at)*own.Count, int64(n)*own.Count) }
	for mask := 1; mask < subtree; mask <<= 1 {
		if err := s.Add(c.Irecv(part(mask, min(mask, subtree-mask)), (v+mask+root)%p, tag)); err != nil {
			return Buf{}, err
		}
	}
	if err := c.Copy(part(0, 1), own); err != nil {
		return Buf{}, err
	}
	if err := s.Wait(c); err != nil {
		return Buf{}, err
	}
	if v != 0 {
		return Buf{}, c.Send(all, (v&(v-1)+root)%p, tag)
	}
	return foldAll(c, op, p, func(i int) Buf { return part((i-root+p)%p, 1) })
}

// foldBlocks returns the combination of this rank's blocks, of `count` elements: each rank sends each other one that
// one's block. p-1 rounds.
func (s *Scratch) foldBlocks(c Comm, of func(i int) Buf, op Op, tag int) (Buf, error) {
	p, r := c.Size(), c.Rank()
	mine := of(r)
	all, err := s.Typed(int64(p)*mine.Count, mine.Type)
	if err != nil {
		return Buf{}, err
	}
	from := func(i int) Buf { return all.Slice(int64(i)*mine.Count, mine.Count) }
	if err := c.Copy(from(r), mine); err != nil {
		return Buf{}, err
	}
	if err := s.exchangeAll(c, of, from, tag); err != nil {
		return Buf{}, err
	}
	return foldAll(c, op, p, from)
}

// reduceFold: 2 (p-1) rounds and n (p-1) bytes at most.
func (s *Scratch) reduceFold(c Comm, own, recv Buf, op Op, root int) error {
	p, r := c.Size(), c.Rank()
	if !foldPieces(c, own) {
		sum, err := s.foldAt(c, own, op, root, tagReduce)
		if err != nil || r != root {
			return err
		}
		return c.Copy(recv, sum)
	}
	sum, err := s.foldBlocks(c, func(i int) Buf { return own.Pieces(p, i, i+1) }, op, tagReduce)
	if err != nil {
		return err
	}
	if r != root {
		return c.Send(sum, root, tagReduce)
	}
	for i := range p {
		place := recv.Pieces(p, i, i+1)
		if i == r {
			err = c.Copy(place, sum)
		} else {
			if s.Full() {
				if err := s.Wait(c); err != nil {
					return err
				}
			}
			err = s.Add(c.Irecv(place, i, tagReduce))
		}
		if err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// allreduceFold: 2 (p-1) rounds and n (p-1) bytes at most.
func (s *Scratch) allreduceFold(c Comm, own, acc Buf, op Op) error {
	p, r := c.Size(), c.Rank()
	if !foldPieces(c, own) {
		sum, err := s.foldAt(c, own, op, 0, tagAllreduce)
		if err != nil {
			return err
		}
		if r == 0 {
			if err := c.Copy(acc, sum); err != nil {
				return err
			}
		}
		return bcastTree(c, acc, 0)
	}
	sum, err := s.foldBlocks(c, func(i int) Buf { return own.Pieces(p, i, i+1) }, op, tagAllreduce)
	if err != nil {
		return err
	}
	if err := s.exchangeAll(c, func(int) Buf { return sum },
		func(i int) Buf { return acc.Pieces(p, i, i+1) }, tagAllreduce); err != nil {
		return err
	}
	return c.Copy(acc.Pieces(p, r, r+1), sum)
}

// reduceScatterFold: p-1 rounds and n (p-1) bytes.
func (s *Scratch) reduceScatterFold(c Comm, send Blocks, _, recv Buf, op Op) error {
	sum, err := s.foldBlocks(c, send.At, op, tagReduceScatter)
	if err != nil {
		return err
	}
	return c.Copy(recv, sum)
}
