package coll

import "math/bits"

// Reductions along a butterfly, in rank order, so that the operation need not commute.
//
// The ranks form n nodes, the largest power of two. The first nodes are pairs of neighbors, if p is not a power of two.
// In round i a node exchanges with the node whose number differs in bit i: the one with the bit clear keeps the lower
// half of what both have, the other one the upper half. Since the nearest nodes come first, a node always stands for
// consecutive ranks. Piece j of n ends at the node whose number is j with its bits in reverse order.
//
// A pair first reduces among its two ranks: the first one gets the lower half, the second one the upper half. In round
// 0 the one gives away its half and is done, the other one goes on: so p that is not a power of two costs one round
// and half of the bytes, and not all of them.
//
// Source: Rabenseifner and Traff, More efficient reduction algorithms, 2004, for Reduce and Allreduce; Traff, An
// improved algorithm for (non-commutative) reduce-scatter, 2005; Traff 2010, 9.4.
type butterfly struct {
	n, extra int // nodes; of these, pairs
	node     int // this rank's
	second   bool
}

func newButterfly(p, r int) butterfly {
	b := butterfly{n: 1 << (bits.Len(uint(p)) - 1)}
	b.extra = p - b.n
	if r < 2*b.extra {
		b.node, b.second = r/2, r%2 == 1
	} else {
		b.node = r - b.extra
	}
	return b
}

// pair reports whether this rank's node is one.
func (b *butterfly) pair() bool { return b.node < b.extra }

// holder is the rank of node v that reduces the lower or the upper half of the vector.
func (b *butterfly) holder(v int, upper bool) int {
	switch {
	case v >= b.extra:
		return v + b.extra
	case upper:
		return 2*v + 1
	}
	return 2 * v
}

// keeper is the rank of node v that goes on after round 0, giver the one that gives its half away. They are one unless
// v is a pair.
func (b *butterfly) keeper(v int) int { return b.holder(v, v&1 == 1) }
func (b *butterfly) giver(v int) int  { return b.holder(v, v&1 == 0) }

// reversed is v with its bits in reverse order: the piece that node v keeps, or the node that keeps piece v.
func (b *butterfly) reversed(v int) int {
	return int(bits.Reverse64(uint64(v)) >> (64 - bits.Len(uint(b.n-1))))
}

// halfOf is the half of the vector that the nodes with bit 0 of v keep.
func (b *butterfly) halfOf(v int) (from, to int) {
	if v&1 == 0 {
		return 0, b.n / 2
	}
	return b.n / 2, b.n
}

// join combines what came from ranks above or below into acc.
func join(c Comm, op Op, acc, came Buf, above bool) error {
	if !above || op.Commutative() {
		return c.Combine(op, came, acc)
	}
	if err := c.Combine(op, acc, came); err != nil {
		return err
	}
	return c.Copy(acc, came)
}

// foldPair is what a pair does before round 0.
func (s *Scratch) foldPair(c Comm, b *butterfly, k *cut, acc, tmp Buf, op Op, tag int) error {
	if !b.pair() {
		return nil
	}
	partner, from, to, gone, end := 2*b.node+1, 0, b.n/2, b.n/2, b.n
	if b.second {
		partner, from, to, gone, end = 2*b.node, gone, end, from, to
	}
	in := k.of(tmp, from, to)
	if err := s.Exchange(c, k.of(acc, gone, end), partner, in, partner, tag); err != nil {
		return err
	}
	return join(c, op, k.of(acc, from, to), in, !b.second)
}

// scatterOrdered leaves piece reversed(v) of the reduced vector in acc of the keeper of node v. k has n pieces.
func (s *Scratch) scatterOrdered(c Comm, b *butterfly, k *cut, acc, tmp Buf, op Op, tag int) error {
	if err := s.foldPair(c, b, k, acc, tmp, op, tag); err != nil {
		return err
	}
	r, v := c.Rank(), b.node
	from, to := b.halfOf(v)
	gone, end := b.halfOf(v ^ 1)
	if r == b.keeper(v) {
		if err := s.Add(c.Irecv(k.of(tmp, from, to), b.giver(v^1), tag)); err != nil {
			return err
		}
	}
	if r == b.giver(v) {
		if err := c.Send(k.of(acc, gone, end), b.keeper(v^1), tag); err != nil {
			return err
		}
	}
	if r != b.keeper(v) {
		return nil
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	if err := join(c, op, k.of(acc, from, to), k.of(tmp, from, to), v&1 == 0); err != nil {
		return err
	}
	for bit := 2; bit < b.n; bit <<= 1 {
		mid := (from + to) / 2
		gone, end := mid, to
		if v&bit == 0 {
			to = mid
		} else {
			gone, end, from = from, mid, mid
		}
		in, peer := k.of(tmp, from, to), b.keeper(v^bit)
		if err := s.Exchange(c, k.of(acc, gone, end), peer, in, peer, tag); err != nil {
			return err
		}
		if err := join(c, op, k.of(acc, from, to), in, v&bit == 0); err != nil {
			return err
		}
	}
	return nil
}

// allreduceButterfly: 2 log2 p rounds and 2 n bytes; if p is not a power of two, two more rounds and n more bytes.
func (s *Scratch) allreduceButterfly(c Comm, acc Buf, op Op) error {
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	b := newButterfly(c.Size(), c.Rank())
	k := evenly(acc, b.n)
	if err := s.scatterOrdered(c, &b, &k, acc, tmp, op, tagAllreduce); err != nil {
		return err
	}
	r, v := c.Rank(), b.node
	if r == b.keeper(v) {
		from := b.reversed(v)
		for bit, size := b.n/2, 1; bit > 1; bit, size = bit/2, size*2 {
			peer, theirs := b.keeper(v^bit), from+size
			if v&bit != 0 {
				theirs = from - size
			}
			if err := s.Exchange(c, k.of(acc, from, from+size), peer, k.of(acc, theirs, theirs+size), peer,
				tagAllreduce); err != nil {
				return err
			}
			from = min(from, theirs)
		}
	}
	from, to := b.halfOf(v)
	gone, end := b.halfOf(v ^ 1)
	if r == b.giver(v) {
		if err := s.Add(c.Irecv(k.of(acc, gone, end), b.keeper(v^1), tagAllreduce)); err != nil {
			return err
		}
	}
	if r == b.keeper(v) {
		if err := c.Send(k.of(acc, from, to), b.giver(v^1), tagAllreduce); err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil || !b.pair() {
		return err
	}
	partner, lower, upper := r+1, k.of(acc, 0, b.n/2), k.of(acc, b.n/2, b.n)
	if b.second {
		partner, lower, upper = r-1, upper, lower
	}
	return s.Exchange(c, lower, partner, upper, partner, tagAllreduce)
}

// reduceButterfly gathers the pieces at root: 2 log2 p rounds and 2 n bytes; if p is not a power of two, at most two
// more rounds and n more bytes.
func (s *Scratch) reduceButterfly(c Comm, own, recv Buf, op Op, root int) error {
	r := c.Rank()
	acc, tmp := recv, Buf{}
	var err error
	if r != root {
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err = c.Copy(acc, own); err != nil {
		return err
	}
	if tmp, err = s.Typed(own.Count, own.Type); err != nil {
		return err
	}
	b, home := newButterfly(c.Size(), r), newButterfly(c.Size(), root).node
	k := evenly(own, b.n)
	if err := s.scatterOrdered(c, &b, &k, acc, tmp, op, tagReduce); err != nil {
		return err
	}
	v := b.node
	if r == b.keeper(v) {
		from := b.reversed(v)
		for bit, size := b.n/2, 1; bit > 1; bit, size = bit/2, size*2 {
			if (v^home)&bit != 0 {
				return c.Send(k.of(acc, from, from+size), b.keeper(v^bit), tagReduce)
			}
			theirs := from + size
			if v&bit != 0 {
				theirs = from - size
			}
			if err := c.Recv(k.of(acc, theirs, theirs+size), b.keeper(v^bit), tagReduce); err != nil {
				return err
			}
			from = min(from, theirs)
		}
		if r != root {
			from, to := b.halfOf(v)
			return c.Send(k.of(acc, from, to), root, tagReduce)
		}
	}
	if r != root {
		return nil
	}
	for _, w := range [...]int{home, home ^ 1} {
		if from, to := b.halfOf(w); b.keeper(w) != root {
			if err := s.Add(c.Irecv(k.of(acc, from, to), b.keeper(w), tagReduce)); err != nil {
				return err
			}
		}
	}
	return s.Wait(c)
}

// reduceScatterButterfly: the blocks are put in the order in which the butterfly leaves them, before it begins. log2 p
// rounds and n bytes if the blocks are equal; if p is not a power of two, two more rounds and up to 3/4 n more bytes.
func (s *Scratch) reduceScatterButterfly(c Comm, send Blocks, all, recv Buf, op Op) error {
	p, r := c.Size(), c.Rank()
	b := newButterfly(p, r)
	blocks, err := s.cutAs(&send, p)
	if err != nil {
		return err
	}
	acc, err := s.Typed(all.Count, all.Type)
	if err != nil {
		return err
	}
	tmp, err := s.Typed(all.Count, all.Type)
	if err != nil {
		return err
	}
	at, err := s.Counts(b.n + 1)
	if err != nil {
		return err
	}
	k := cut{n: b.n, count: all.Count, at: at}
	at[0] = 0
	for i := range b.n {
		v := b.reversed(i)
		in := blocks.of(all, b.holder(v, false), b.holder(v, true)+1)
		at[i+1] = at[i] + in.Count
		if err := c.Copy(k.of(acc, i, i+1), in); err != nil {
			return err
		}
	}
	if err := s.scatterOrdered(c, &b, &k, acc, tmp, op, tagReduceScatter); err != nil {
		return err
	}
	first, keeper := b.holder(b.node, false), b.keeper(b.node)
	if r != keeper {
		return c.Recv(recv, keeper, tagReduceScatter)
	}
	mine := k.of(acc, b.reversed(b.node), b.reversed(b.node)+1)
	block := func(rank int) Buf {
		from := blocks.start(rank)
		return mine.Slice(from-blocks.start(first), blocks.start(rank+1)-from)
	}
	if b.pair() {
		partner := b.giver(b.node)
		if err := c.Send(block(partner), partner, tagReduceScatter); err != nil {
			return err
		}
	}
	return c.Copy(recv, block(r))
}
