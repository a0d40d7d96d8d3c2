package coll

import "github.com/libimpi/libimpi/coll/choose"

var (
	gathers = bind(choose.Gather, map[string]func(s *Scratch, c Comm, send, recv Buf, root int, block int64) error{
		"binomial": (*Scratch).gatherTree,
		"linear":   (*Scratch).gatherLinear,
		"board":    (*Scratch).gatherBoard,
		"machines": nil,
	})
	gathervs = bind(choose.Gatherv, map[string]func(s *Scratch, c Comm, send Buf, recv VBuf, root int) error{
		"linear": (*Scratch).gathervLinear,
		"tree":   (*Scratch).gathervTree,
	})
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
	if run := gathers.pick(caseOf(c, block)); run != nil {
		return run(s, c, send, recv, root, block)
	}
	return s.gatherMachines(c, send, recv, root, block)
}

// gatherLinear: every rank sends directly to root, p-1 messages (Traff 2010, 9.5).
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
	return gathervs.pick(unsizedOf(c))(s, c, send, recv, root)
}

// gathervLinear: every rank sends directly to root, p-1 messages (Traff 2010, 9.5).
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

// branch is the place of rank v above root in a binomial tree whose branches end where their blocks together would be
// longer than branchLong. A branch of n blocks hangs below root; so the tree becomes a star where blocks are long.
//
// Source, of gatherTree and scatterTree, too: Traff, Hierarchical gather/scatter algorithms with graceful degradation,
// 2004; Traff 2010, 9.5.
func branch(v, p int, block int64) (parent, size, most int) {
	most = 1
	for most < p && int64(2*most)*block <= choose.Branch() {
		most *= 2
	}
	if parent = v & (v - 1); lowBit(v, p) >= most {
		parent = 0
	}
	return parent, min(lowBit(v, p), most, p-v), most
}

// gatherTree: packed blocks travel up a binomial tree; rank v above root collects the blocks of v, v+1, ... of its
// branch, in this order. ceil(log2 p) rounds, n bytes at root; with branches of k blocks ceil(log2 k) + p/k.
func (s *Scratch) gatherTree(c Comm, send, recv Buf, root int, block int64) error {
	p, r := c.Size(), c.Rank()
	v := (r - root + p) % p
	parent, size, most := branch(v, p, block)
	if size == 1 && v != 0 {
		return c.Send(send, (parent+root)%p, tagGather)
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
	for at := 1; at < room; at += min(at, most) {
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		n := min(at, most, p-v-at)
		if err := s.Add(c.Irecv(all.Slice(int64(at)*block, int64(n)*block), (v+at+root)%p, tagGather)); err != nil {
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
		return c.Send(all, (parent+root)%p, tagGather)
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
