package coll

// Reduce_scatter and Allreduce on a circulant graph: recursive halving for any number of ranks, in ceil(log2 p) rounds
// and with the least bytes. It needs an operation that commutes.
//
// Before a round a rank r is responsible for the h pieces r, r+1, ... r+h-1 (modulo p); at first h is p, at last 1. In
// the round it gives the upper h/2 of them, rounded down, to the rank d = h - h/2 above it, which is responsible for
// just these, and takes its own lowest h/2 from the rank d below, and combines them. In reverse the same rounds collect
// the pieces.
//
// Source: Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024; the distances are those of the
// circulant graph of Traff and Ripke, 2008.

// distances are the d of the rounds: each is half of the one before, rounded up, the last one is 1.
type distances struct {
	n  int
	of [64]int32 // descending
}

func newDistances(p int) (d distances) {
	for h := p; h > 1; {
		h -= h / 2
		d.of[d.n] = int32(h)
		d.n++
	}
	return d
}

// span is pieces from to from+n-1 of b, modulo the number of pieces: two parts, of which one may be empty.
func (k *cut) span(b Buf, from, n int) (lower, upper Buf) {
	from %= k.n
	if from+n <= k.n {
		return k.of(b, from, from+n), Buf{Type: b.Type}
	}
	return k.of(b, from, k.n), k.of(b, 0, from+n-k.n)
}

// spanLong is the length in bytes from which on a range that goes round the end travels as two messages. To copy its
// parts to one place costs more than a message then.
const spanLong = 8 << 10

// parts are the messages of which a range of two parts consists. If it is short, it is one at the end of tmp, of which
// `from` elements are taken.
func parts(lower, upper, tmp Buf, from int64) (a, b Buf, joined bool) {
	if upper.Count == 0 || lower.Size()+upper.Size() >= spanLong {
		return lower, upper, false
	}
	return tmp.Slice(from, lower.Count+upper.Count), Buf{Type: upper.Type}, true
}

// start starts to send or to receive the parts of a range that are not empty.
func (s *Scratch) start(c Comm, receive bool, a, b Buf, peer, tag int) error {
	for _, part := range [...]Buf{a, b} {
		if part.Count > 0 {
			if err := s.add(c, receive, part, peer, tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// give starts to send a range of two parts, by way of tmp from element `from` on if it is joined.
func (s *Scratch) give(c Comm, lower, upper, tmp Buf, from int64, to, tag int) error {
	a, b, joined := parts(lower, upper, tmp, from)
	if joined {
		if err := c.Copy(a.Slice(0, lower.Count), lower); err != nil {
			return err
		}
		if err := c.Copy(a.Slice(lower.Count, upper.Count), upper); err != nil {
			return err
		}
	}
	return s.start(c, false, a, b, to, tag)
}

// scatterReduced leaves piece r of the reduced vector in acc of rank r: ceil(log2 p) rounds, n (p-1)/p bytes if the
// pieces are equal. The other pieces of acc are undefined then. tmp is as long as acc: what a rank receives and what it
// sends in a round are different pieces.
func (s *Scratch) scatterReduced(c Comm, k *cut, acc, tmp Buf, op Op, tag int) error {
	p, r := c.Size(), c.Rank()
	for h := p; h > 1; {
		n := h / 2
		d := h - n
		x, y := k.span(acc, r, n)
		all := x.Count + y.Count
		a, b := tmp.Slice(0, x.Count), tmp.Slice(x.Count, y.Count)
		in, more, _ := parts(a, b, tmp, 0)
		if err := s.start(c, true, in, more, (r-d+p)%p, tag); err != nil {
			return err
		}
		lower, upper := k.span(acc, r+d, n)
		if err := s.give(c, lower, upper, tmp, all, (r+d)%p, tag); err != nil {
			return err
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		if err := c.Combine(op, a, x); err != nil {
			return err
		}
		if err := c.Combine(op, b, y); err != nil {
			return err
		}
		h = d
	}
	return nil
}

// collectPieces is the reverse: everybody gets all pieces, of which rank r has piece r. ceil(log2 p) rounds. tmp is as
// long as all.
func (s *Scratch) collectPieces(c Comm, k *cut, all, tmp Buf, tag int) error {
	p, r := c.Size(), c.Rank()
	rounds := newDistances(p)
	for i := rounds.n - 1; i >= 0; i-- {
		d, h := int(rounds.of[i]), p
		if i > 0 {
			h = int(rounds.of[i-1])
		}
		x, y := k.span(all, r+d, h-d)
		in, more, joined := parts(x, y, tmp, 0)
		if err := s.start(c, true, in, more, (r+d)%p, tag); err != nil {
			return err
		}
		lower, upper := k.span(all, r, h-d)
		if err := s.give(c, lower, upper, tmp, x.Count+y.Count, (r-d+p)%p, tag); err != nil {
			return err
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		if !joined {
			continue
		}
		if err := c.Copy(x, in.Slice(0, x.Count)); err != nil {
			return err
		}
		if err := c.Copy(y, in.Slice(x.Count, y.Count)); err != nil {
			return err
		}
	}
	return nil
}

// allreduceCirculant: 2 ceil(log2 p) exchanges, 2 n (p-1)/p bytes, for any number of ranks. A long range of pieces that
// goes round the end takes two messages.
func (s *Scratch) allreduceCirculant(c Comm, acc Buf, op Op) error {
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	k := evenly(acc, c.Size())
	if err := s.scatterReduced(c, &k, acc, tmp, op, tagAllreduce); err != nil {
		return err
	}
	return s.collectPieces(c, &k, acc, tmp, tagAllreduce)
}

// reduceScatterCirculant: ceil(log2 p) exchanges of one or two messages, as allreduceCirculant; n (p-1)/p bytes if the
// blocks are equal, never more than n + q times the longest block.
func (s *Scratch) reduceScatterCirculant(c Comm, send Blocks, all, recv Buf, op Op) error {
	k, err := s.cutAs(&send, c.Size())
	if err != nil {
		return err
	}
	acc, tmp, err := s.twoCopies(c, all)
	if err != nil {
		return err
	}
	if err := s.scatterReduced(c, &k, acc, tmp, op, tagReduceScatter); err != nil {
		return err
	}
	return c.Copy(recv, k.of(acc, c.Rank(), c.Rank()+1))
}

// twoCopies returns a copy of a vector, and room for another.
func (s *Scratch) twoCopies(c Comm, all Buf) (acc, tmp Buf, err error) {
	if acc, err = s.Typed(all.Count, all.Type); err != nil {
		return acc, tmp, err
	}
	if tmp, err = s.Typed(all.Count, all.Type); err != nil {
		return acc, tmp, err
	}
	return acc, tmp, c.Copy(acc, all)
}

// reduceScatterEven is for blocks of very different sizes: equal pieces are reduced as above, and then each rank gets
// what its block consists of, directly from those that have it. 2 n bytes at most, whatever the blocks are; a rank gets
// at most p messages.
//
// Source: Traff, An improved algorithm for (non-commutative) reduce-scatter, 2005, which also reduces equal pieces and
// reorders them (Traff 2010, 9.4), there by a butterfly and in ceil(log2 p) rounds.
func (s *Scratch) reduceScatterEven(c Comm, send Blocks, all, recv Buf, op Op) error {
	p := c.Size()
	blocks, err := s.cutAs(&send, p)
	if err != nil {
		return err
	}
	acc, tmp, err := s.twoCopies(c, all)
	if err != nil {
		return err
	}
	k := evenly(all, p)
	if err := s.scatterReduced(c, &k, acc, tmp, op, tagReduceScatter); err != nil {
		return err
	}
	return s.hand(c, &k, &blocks, acc, recv, tagReduceScatter)
}

// hand gives to each rank its block of a vector, of which each rank has its piece. Both are cut in the order of ranks.
func (s *Scratch) hand(c Comm, pieces, blocks *cut, all, recv Buf, tag int) error {
	p, r := c.Size(), c.Rank()
	lo, hi := blocks.start(r), blocks.start(r+1)
	for i := range p {
		if from, to := max(lo, pieces.start(i)), min(hi, pieces.start(i+1)); i != r && from < to {
			if err := s.add(c, true, recv.Slice(from-lo, to-from), i, tag); err != nil {
				return err
			}
		}
	}
	low, high := pieces.start(r), pieces.start(r+1)
	for i := range p {
		from, to := max(low, blocks.start(i)), min(high, blocks.start(i+1))
		if from >= to {
			continue
		}
		part := all.Slice(from, to-from)
		var err error
		if i == r {
			err = c.Copy(recv.Slice(from-lo, to-from), part)
		} else {
			err = s.add(c, false, part, i, tag)
		}
		if err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// add starts a message.
func (s *Scratch) add(c Comm, receive bool, b Buf, peer, tag int) error {
	if receive {
		return s.Add(c.Irecv(b, peer, tag))
	}
	return s.Add(c.Isend(b, peer, tag))
}
