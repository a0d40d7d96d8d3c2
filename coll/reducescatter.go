package coll

import "github.com/libimpi/libimpi/coll/choose"

type reduceScatterBy = func(s *Scratch, c Comm, send Blocks, all, recv Buf, op Op) error

var reduceScatters = bind(choose.ReduceScatter, map[string]reduceScatterBy{
	"doubling":       (*Scratch).reduceScatterDoubling,
	"pair":           (*Scratch).reduceScatterPair,
	"circulant":      (*Scratch).reduceScatterCirculant,
	"circulant-even": (*Scratch).reduceScatterEven,
	"butterfly":      (*Scratch).reduceScatterButterfly,
	"pairwise":       (*Scratch).reduceScatterPairwise,
	"reduce-scatter": (*Scratch).reduceThenScatter,
	"board":          (*Scratch).reduceScatterBoard,
	"fold":           (*Scratch).reduceScatterFold,
	"machines":       nil,
})

// ReduceScatterBlock combines the vectors of all ranks, of p blocks of recv.Count elements, and gives block i
// of the result to rank i. Of send only the address counts; InPlace (at all ranks) says that the vector is
// in recv, which then has room for all of it.
func ReduceScatterBlock(c Comm, send, recv Buf, op Op) (err error) {
	p := c.Size()
	in := operand(send, recv)
	return reduceScatter(c, Blocks{buf: in}, in.Slice(0, int64(p)*recv.Count), recv, recv.Count, op)
}

// ReduceScatter is ReduceScatterBlock with a block of counts[i] elements for rank i; counts are the same at all
// ranks, recv.Count is counts of this rank.
func ReduceScatter(c Comm, send, recv Buf, counts []int64, op Op) (err error) {
	in := operand(send, recv)
	total, longest := int64(0), int64(0)
	for _, n := range counts {
		total, longest = total+n, max(longest, n)
	}
	recv.Count = counts[c.Rank()]
	blocks := Blocks{v: VBuf{Base: in.Base, Counts: counts, Type: in.Type}, kind: consecutive}
	return reduceScatter(c, blocks, in.Slice(0, total), recv, longest, op)
}

// reduceScatter: longest is the count of the longest block.
func reduceScatter(c Comm, send Blocks, all, recv Buf, longest int64, op Op) (err error) {
	p := c.Size()
	if all.Count == 0 {
		return nil
	}
	if p == 1 {
		return c.Copy(recv, all)
	}
	s := c.Scratch()
	defer s.Done(&err)
	k := reductionOf(c, all, op)
	k.Longest = longest * all.Type.Size()
	if run := reduceScatters.pick(k); run != nil {
		return run(s, c, send, all, recv, op)
	}
	return s.reduceScatterLanes(c, send, all, recv, op)
}

// reduceScatterDoubling is Allreduce's recursive doubling on a copy: log2 p rounds of the whole vector, and two more if
// p is not a power of two.
//
// Source: that of allreduceAll.
func (s *Scratch) reduceScatterDoubling(c Comm, send Blocks, all, recv Buf, op Op) error {
	acc, err := s.Typed(all.Count, all.Type)
	if err != nil {
		return err
	}
	tmp, err := s.Typed(all.Count, all.Type)
	if err != nil {
		return err
	}
	if err := c.Copy(acc, all); err != nil {
		return err
	}
	if err := s.allreduceDoubling(c, acc, tmp, op, tagReduceScatter); err != nil {
		return err
	}
	return c.Copy(recv, send.within(acc, c.Rank()))
}

// reduceScatterPair: two ranks exchange the blocks that are not their own. 1 round, the longer block. What arrives is
// where the result arises, unless the vector is there.
//
// Source: that of reduceScatterPairwise, of which this is the case of two ranks.
func (s *Scratch) reduceScatterPair(c Comm, send Blocks, all, recv Buf, op Op) (err error) {
	r := c.Rank()
	own, in, inPlace := send.At(r), recv, all.Base == recv.Base
	if inPlace {
		if in, err = s.Typed(recv.Count, recv.Type); err != nil {
			return err
		}
	}
	if err := s.Exchange(c, send.At(1-r), 1-r, in, 1-r, tagReduceScatter); err != nil {
		return err
	}
	if !inPlace {
		return c.Combine(op, own, recv)
	}
	if err := c.Combine(op, in, own); err != nil {
		return err
	}
	return c.Copy(recv, own)
}

// reduceScatterPairwise: p-1 rounds, in each of which a rank sends the block of another one and combines one for
// itself; n (p-1)/p bytes. The result arises in a temporary, for recv may hold blocks that are still to be sent. Among
// several machines the ranks are in their order, so that those of a machine send to one or two machines in a round.
//
// Source: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005.
func (s *Scratch) reduceScatterPairwise(c Comm, send Blocks, all, recv Buf, op Op) error {
	c, send.machines = s.inOrder(c)
	p, r := c.Size(), c.Rank()
	acc, err := s.Typed(recv.Count, recv.Type)
	if err != nil {
		return err
	}
	tmp, err := s.Typed(recv.Count, recv.Type)
	if err != nil {
		return err
	}
	if err := c.Copy(acc, send.At(r)); err != nil {
		return err
	}
	for i := 1; i < p; i++ {
		to, from := (r+i)%p, (r-i+p)%p
		if err := s.Exchange(c, send.At(to), to, tmp, from, tagReduceScatter); err != nil {
			return err
		}
		if recv.Count == 0 {
			continue
		}
		if err := c.Combine(op, tmp, acc); err != nil {
			return err
		}
	}
	return c.Copy(recv, acc)
}

// reduceThenScatter is Reduce to rank 0 along the binomial tree, and Scatterv.
//
// Source: MPI 5.0, 6.10, which defines the operation so.
func (s *Scratch) reduceThenScatter(c Comm, send Blocks, all, recv Buf, op Op) error {
	out := all
	if c.Rank() == 0 {
		var err error
		if out, err = s.Typed(all.Count, all.Type); err != nil {
			return err
		}
	}
	if err := s.reduceTree(c, all, out, op, 0); err != nil {
		return err
	}
	if c.Rank() != 0 {
		return c.Recv(recv, 0, tagReduceScatter)
	}
	for i := 1; i < c.Size(); i++ {
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		if err := s.Add(c.Isend(send.within(out, i), i, tagReduceScatter)); err != nil {
			return err
		}
	}
	if err := c.Copy(recv, send.within(out, 0)); err != nil {
		return err
	}
	return s.Wait(c)
}
