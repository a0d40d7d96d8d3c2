package coll

type (
	gatherBy  = algorithm[func(s *Scratch, c Comm, send, recv Buf, root int, block int64) error]
	gathervBy = algorithm[func(s *Scratch, c Comm, send Buf, recv VBuf, root int) error]
)

var (
	gathers = newOperation("gather", "a block", gatherTable,
		&gatherBy{name: "binomial", run: (*Scratch).gatherTree, needs: threeRanks},
		&gatherBy{name: "linear", run: (*Scratch).gatherLinear},
	)
	gathervs = newOperation("gatherv", "", gathervTable,
		&gathervBy{name: "linear", run: (*Scratch).gathervLinear},
		&gathervBy{name: "tree", run: (*Scratch).gathervTree},
	)
)

// Gather collects the block of every rank in root's recv, in rank order. recv.Count is the count of one
// block and, like all of recv, counts at root only; there send may be InPlace.
func Gather(c Comm, send, recv Buf, root int) (err error) {
	p := c.Size()
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
	return gathers.pick(Case{Ranks: p, Bytes: block})(s, c, send, recv, root, block)
}

// gatherLinear: every rank sends directly to root, p-1 messages.
func (s *Scratch) gatherLinear(c Comm, send, recv Buf, root int, _ int64) error {
	if c.Rank() != root {
		return c.Send(send, root, tagGather)
	}
	for i := range c.Size() {
		if err := s.collect(c, send, recv.Block(i), i); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// Gatherv collects blocks of different sizes: block i goes to recv.Block(i). recv counts at root only; there
// send may be InPlace.
func Gatherv(c Comm, send Buf, recv VBuf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	return gathervs.pick(Case{Ranks: c.Size()})(s, c, send, recv, root)
}

// gathervLinear: every rank sends directly to root, p-1 messages.
func (s *Scratch) gathervLinear(c Comm, send Buf, recv VBuf, root int) error {
	if c.Rank() != root {
		return c.Send(send, root, tagGather)
	}
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

// gatherTree: packed blocks travel up a binomial tree, ceil(log2 p) rounds; rank v above root collects the blocks of
// v, v+1, ... of its subtree, in this order.
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
