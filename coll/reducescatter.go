package coll

// ReduceScatterBlock combines the vectors of all ranks, of p blocks of recv.Count elements, and gives block i
// of the result to rank i. Of send only the address counts; InPlace (at all ranks) says that the vector is
// in recv, which then has room for all of it.
func ReduceScatterBlock(c Comm, send, recv Buf, op Op) (err error) {
	p := c.Size()
	in := recv
	if !send.IsInPlace() {
		in.Base = send.Base
	}
	return reduceScatter(c, &Blocks{buf: in}, in.Slice(0, int64(p)*recv.Count), recv, op)
}

// ReduceScatter is ReduceScatterBlock with a block of counts[i] elements for rank i; counts are the same at all
// ranks, recv.Count is counts of this rank.
func ReduceScatter(c Comm, send, recv Buf, counts []int64, op Op) (err error) {
	in := recv
	if !send.IsInPlace() {
		in.Base = send.Base
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	recv.Count = counts[c.Rank()]
	return reduceScatter(c, &Blocks{v: VBuf{in.Base, counts, nil, in.Type}, kind: consecutive}, in.Slice(0, total), recv,
		op)
}

// reduceScatter. Short: Allreduce's recursive doubling on a copy, log p rounds. Long: p-1 steps in each of which
// a rank sends the block of another one and combines one for itself. Long and in rank order: Reduce, Scatterv.
func reduceScatter(c Comm, send *Blocks, all, recv Buf, op Op) (err error) {
	p, r := c.Size(), c.Rank()
	if all.Count == 0 {
		return nil
	}
	if p == 1 {
		return c.Copy(recv, all)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if all.Size() >= scatterLong {
		if op.Commutative() {
			return s.reduceScatterPairwise(c, send, recv, op)
		}
		return s.reduceThenScatter(c, send, all, recv, op)
	}
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
	return c.Copy(recv, send.within(acc, r))
}

// reduceScatterPairwise: the result arises in a temporary, for recv may hold blocks that are still to be sent.
func (s *Scratch) reduceScatterPairwise(c Comm, send *Blocks, recv Buf, op Op) error {
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

func (s *Scratch) reduceThenScatter(c Comm, send *Blocks, all, recv Buf, op Op) error {
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
