package coll

import "github.com/libimpi/libimpi/coll/choose"

var (
	scatters = bind(choose.Scatter, map[string]func(s *Scratch, c Comm, send, recv Buf, root int, block int64) error{
		"binomial": (*Scratch).scatterTree,
		"linear":   (*Scratch).scatterLinear,
		"board":    (*Scratch).scatterBoard,
		"machines": nil,
	})
	scattervs = bind(choose.Scatterv, map[string]func(s *Scratch, c Comm, send VBuf, recv Buf, root int) error{
		"linear": (*Scratch).scattervLinear,
		"tree":   (*Scratch).scattervTree,
	})
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
	k := caseOf(c, block)
	if block > k.Board {
		k.Board = 0
	}
	if run := scatters.pick(k); run != nil {
		return run(s, c, send, recv, root, block)
	}
	return s.scatterMachines(c, send, recv, root, block)
}

// scatterLinear: root sends directly to every rank, p-1 messages (Traff 2010, 9.5).
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
	return scattervs.pick(unsizedOf(c))(s, c, send, recv, root)
}

// scattervLinear: root sends directly to every rank, p-1 messages (Traff 2010, 9.5).
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

// Branches of a node begin at 1, 2, 4, ... most, 2 most, 3 most, ...: lastBranch is the last of them below n, and
// branchBefore the one before the one at `at`, 0 if there is none.
func lastBranch(n, most int) int {
	if n > most {
		return (n - 1) / most * most
	}
	return lowBit(0, n) >> 1
}

func branchBefore(at, most int) int {
	if at > most {
		return at - most
	}
	return at >> 1
}

// scatterTree: packed blocks travel down a binomial tree; rank v above root gets the blocks of v, v+1, ... of its
// branch (gather.go, with the source), in this order. ceil(log2 p) rounds, n bytes at root; with branches of k blocks
// ceil(log2 k) + p/k.
func (s *Scratch) scatterTree(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), c.Rank()
	v := (r - root + p) % p
	parent, size, most := branch(v, p, block)
	if size == 1 && v != 0 {
		return c.Recv(recv, (parent+root)%p, tagScatter)
	}
	room := size
	if v == 0 {
		room = p
	}
	mem, err := s.Alloc(int64(room) * block)
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
	} else if err := c.Recv(all, (parent+root)%p, tagScatter); err != nil {
		return err
	}
	for at := lastBranch(room, most); at > 0; at = branchBefore(at, most) {
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		n := min(at, most, p-v-at)
		if err := s.Add(c.Isend(all.Slice(int64(at)*block, int64(n)*block), (v+at+root)%p, tagScatter)); err != nil {
			return err
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
