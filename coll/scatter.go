package coll

type (
	scatterBy  = algorithm[func(s *Scratch, c Comm, send, recv Buf, root int, block int64) error]
	scattervBy = algorithm[func(s *Scratch, c Comm, send VBuf, recv Buf, root int) error]
)

var (
	scatters = newOperation("scatter", "a block", gatherTable,
		&scatterBy{name: "binomial", run: (*Scratch).scatterTree, needs: threeRanks},
		&scatterBy{name: "linear", run: (*Scratch).scatterLinear},
	)
	scattervs = newOperation("scatterv", "", gathervTable,
		&scattervBy{name: "linear", run: (*Scratch).scattervLinear},
		&scattervBy{name: "tree", run: (*Scratch).scattervTree},
	)
)

// Scatter gives block i of root's send to rank i. send.Count is the count of one block and, like all of send,
// counts at root only; there recv may be InPlace.
func Scatter(c Comm, send, recv Buf, root int) (err error) {
	block := recv.Size()
	if recv.IsInPlace() {
		block = send.Size()
	}
	if block == 0 {
		return nil
	}
	s := c.Scratch()
	defer s.Done(&err)
	return scatters.pick(Case{Ranks: c.Size(), Bytes: block})(s, c, send, recv, root, block)
}

// scatterLinear: root sends directly to every rank, p-1 messages.
func (s *Scratch) scatterLinear(c Comm, send, recv Buf, root int, _ int64) error {
	if c.Rank() != root {
		return c.Recv(recv, root, tagScatter)
	}
	for i := range c.Size() {
		if err := s.deal(c, send.Block(i), recv, i); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// Scatterv gives send.Block(i) of root to rank i. send counts at root only; there recv may be InPlace.
func Scatterv(c Comm, send VBuf, recv Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	return scattervs.pick(Case{Ranks: c.Size()})(s, c, send, recv, root)
}

// scattervLinear: root sends directly to every rank, p-1 messages.
func (s *Scratch) scattervLinear(c Comm, send VBuf, recv Buf, root int) error {
	if c.Rank() != root {
		return c.Recv(recv, root, tagScatter)
	}
	for i := range c.Size() {
		if err := s.deal(c, send.Block(i), recv, i); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// deal starts to send a block to rank i, or copies it if i is this rank.
func (s *Scratch) deal(c Comm, block, recv Buf, i int) error {
	if i == c.Rank() {
		if recv.IsInPlace() {
			return nil
		}
		return c.Copy(recv, block)
	}
	if s.Full() {
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	return s.Add(c.Isend(block, i, tagScatter))
}

// scatterTree: packed blocks travel down a binomial tree, ceil(log2 p) rounds; rank v above root gets the blocks of
// v, v+1, ... of its subtree, in this order.
func (s *Scratch) scatterTree(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), c.Rank()
	v := (r - root + p) % p
	mask := lowBit(v, p)
	subtree := min(mask, p-v)
	if subtree == 1 {
		return c.Recv(recv, (v&(v-1)+root)%p, tagScatter)
	}
	mem, err := s.Alloc(int64(subtree) * block)
	if err != nil {
		return err
	}
	all := Bytes(mem)
	if v == 0 {
		for i := 1; i < p; i++ {
			if err := c.Pack(mem[int64(i)*block:int64(i+1)*block], send.Block((root+i)%p), 0); err != nil {
				return err
			}
		}
	} else if err := c.Recv(all, (v&(v-1)+root)%p, tagScatter); err != nil {
		return err
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if v+mask < p {
			n := min(mask, p-v-mask)
			if err := s.Add(c.Isend(all.Slice(int64(mask)*block, int64(n)*block), (v+mask+root)%p, tagScatter)); err != nil {
				return err
			}
		}
	}
	switch {
	case v != 0:
		err = c.Unpack(recv, mem[:block], 0)
	case !recv.IsInPlace():
		err = c.Copy(recv, send.Block(r))
	}
	if err != nil {
		return err
	}
	return s.Wait(c)
}
