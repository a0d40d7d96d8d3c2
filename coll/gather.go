package coll

// Gather collects the block of every rank in root's recv, in rank order. recv.Count is the count of one
// block and, like all of recv, counts at root only; there send may be InPlace.
//
// Short blocks travel up a binomial tree, packed; long ones directly to root.
func Gather(c Comm, send, recv Buf, root int) (err error) {
	p, r := c.Size(), c.Rank()
	block := send.Size()
	if send.IsInPlace() {
		block = recv.Size()
	}
	if block == 0 {
		return nil
	}
	if p == 1 {
		return copyOwn(c, recv, send)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if block < gatherLong && p > 2 {
		return s.gatherTree(c, send, recv, root, block)
	}
	if r != root {
		return c.Send(send, root, tagGather)
	}
	for i := range p {
		if err := s.collect(c, send, recv.Block(i), i); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// Gatherv collects blocks of different sizes: block i goes to recv.Block(i). recv counts at root only; there
// send may be InPlace. Every rank sends directly to root.
func Gatherv(c Comm, send Buf, recv VBuf, root int) (err error) {
	if c.Rank() != root {
		return c.Send(send, root, tagGather)
	}
	s := c.Scratch()
	defer s.Done(&err)
	for i := range c.Size() {
		if err := s.collect(c, send, recv.Block(i), i); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// collect starts to receive the block of rank i, or copies it if it is this rank's own.
func (s *Scratch) collect(c Comm, send, place Buf, i int) error {
	if i == c.Rank() {
		return copyOwn(c, place, send)
	}
	if s.Full() {
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	return s.Add(c.Irecv(place, i, tagGather))
}

// copyOwn copies a rank's own block to its place, where it is already if send is InPlace.
func copyOwn(c Comm, place, send Buf) error {
	if send.IsInPlace() {
		return nil
	}
	return c.Copy(place, send)
}

// gatherTree: rank v above root collects the blocks of v, v+1, ... of its subtree, in this order.
func (s *Scratch) gatherTree(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), c.Rank()
	v := (r - root + p) % p
	subtree := min(lowBit(v, p), p-v)
	if subtree == 1 {
		return c.Send(send, (v&(v-1)+root)%p, tagGather)
	}
	mem, err := s.Alloc(int64(subtree) * block)
	if err != nil {
		return err
	}
	all := Bytes(mem)
	for mask := 1; mask < subtree; mask <<= 1 {
		n := min(mask, p-v-mask)
		if err := s.Add(c.Irecv(all.Slice(int64(mask)*block, int64(n)*block), (v+mask+root)%p, tagGather)); err != nil {
			return err
		}
	}
	if v != 0 {
		if err := c.Pack(mem[:block], send, 0); err != nil {
			return err
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		return c.Send(all, (v&(v-1)+root)%p, tagGather)
	}
	if err := copyOwn(c, recv.Block(r), send); err != nil {
		return err
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	for i := 1; i < p; i++ {
		if err := c.Unpack(recv.Block((root+i)%p), mem[int64(i)*block:int64(i+1)*block], 0); err != nil {
			return err
		}
	}
	return nil
}
