package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// Where several ranks are on each of several machines, an operation is made of the operations of this package, on
// views: one within each machine, and one between the machines, where one rank stands for each of its machine. In an
// operation with a root, root stands for its own machine, and so the result needs no further way.
//
//	Barrier    gather nothing, barrier between, bcast nothing
//	Bcast      bcast between, bcast within
//	Reduce     reduce within, reduce between
//	Allreduce  reduce within, allreduce between, bcast within
//	Gather     gather within, gather between
//	Scatter    scatter between, scatter within
//
// Others are in lanes.go, alltoall_machines.go and scan.go. Which algorithms these take, their own tables say; between
// machines of different sizes they are those of the v-forms. Machines may be in places of a level above (Outer), a
// client's or a cluster's: then what is between machines is made in the same way.
//
// Source: Traff 2010, 9.2 (barrier), 9.3 (broadcast) and 9.4 (reductions); IMPI 0.0, chapter 4, whose machines are
// clients.

// A byte is the shortest message that bcast and gather wait for.
var aByte [1]byte

func barrierMachines(c Comm) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	k := s.levels(c, -1)
	mem, err := s.Alloc(int64(k.here()))
	if err != nil {
		return err
	}
	// What is in the bytes does not matter, and so the leader's may be among those that it receives.
	if err := Gather(&k.within, Bytes(aByte[:]), Bytes(mem).Slice(0, 1), 0); err != nil {
		return err
	}
	if k.leads() {
		if err := Barrier(&k.between); err != nil {
			return err
		}
	}
	return Bcast(&k.within, Bytes(mem).Slice(0, 1), 0)
}

func bcastMachines(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	if b.Size() >= choose.Overlapped() {
		m, err := s.flat(c, b, c.Rank() == root)
		if err != nil {
			return err
		}
		if err := s.bcastLevels(c, m, root, blocksOf(c, m.Count), s); err != nil {
			return err
		}
		return unflat(c, b, m, c.Rank() == root)
	}
	k := s.levels(c, root)
	if k.leads() {
		if err := Bcast(&k.between, b, k.m.Of(root)); err != nil {
			return err
		}
	}
	return Bcast(&k.within, b, k.lead)
}

// bcastLevels is a long broadcast as one pipeline of n blocks through all levels: a rank that gets a block between
// machines hands it on within its own while the next one comes. below has the levels at which the rank does so. It
// takes n-1 rounds, and ceil(log2 p) for each level.
func (s *Scratch) bcastLevels(c Comm, m Buf, root, n int, below *Scratch) (err error) {
	switch {
	case machinesOf(c) != nil:
	case isStar(c, m.Count):
		return s.bcastStar(c, m, n, root, below.handOns)
	default:
		return s.bcastBlocks(c, m, n, root, below.handOns)
	}
	k := s.levels(c, root)
	if !k.leads() {
		return s.bcastBlocks(&k.within, m, n, k.lead, below.handOns)
	}
	if k.here() > 1 {
		below.handOns = append(below.handOns, handOn{})
		below.handOns[len(below.handOns)-1].begin(&k.within, k.lead, n)
	}
	outer := c.Scratch()
	defer outer.Done(&err)
	return outer.bcastLevels(&k.between, m, k.m.Of(root), n, below)
}

// blocksOf is in how many blocks n bytes pass through the levels.
func blocksOf(c Comm, n int64) int {
	if machinesOf(c).spans() {
		return choose.Pieces(n)
	}
	return choose.Blocks(n, rounds(c.Size()))
}

// isStar reports whether n bytes go from one rank to all, or from all to one, directly.
func isStar(c Comm, n int64) bool { return distant(c) && choose.Direct(c.Size(), n) }

// handOn is a level at which a rank is the root of the broadcast.
type handOn struct {
	c          Comm
	root       int
	g          circulant
	sends      schedule
	first, end int
	at         int // round
}

func (h *handOn) begin(c Comm, root, n int) {
	h.c, h.root, h.g = c, root, newCirculant(c.Size())
	h.sends = h.g.sends(0)
	h.first, h.end = h.g.roundsOf(n)
	h.at = h.first
}

// handOn starts the rounds at other levels for which the rank has the blocks, of which the first `got` are there.
func (s *Scratch) handOn(c Comm, m Buf, k *cut, below []handOn, got int) error {
	for i := range below {
		h := &below[i]
		for ; h.at < h.end; h.at++ {
			put := h.g.block(&h.sends, h.at, h.first, k.n)
			if put >= got {
				break
			}
			if put < 0 {
				continue
			}
			if s.Full() {
				if err := s.Wait(c); err != nil {
					return err
				}
			}
			to := (h.g.skip[h.at%h.g.q] + h.root) % h.g.p
			if err := s.Add(h.c.Isend(k.of(m, put, put+1), to, tagBcast)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Scratch) reduceMachines(c Comm, own, recv Buf, op Op, root int) (err error) {
	if op.Commutative() && own.Size() >= choose.Overlapped() {
		return s.reducePipelined(c, own, recv, op, root)
	}
	k := s.levels(c, root)
	if !k.leads() {
		return Reduce(&k.within, own, recv, op, k.lead)
	}
	acc := recv
	if c.Rank() != root {
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err := reduceInto(&k.within, own, acc, op, k.lead); err != nil {
		return err
	}
	if c.Rank() == root {
		return Reduce(&k.between, InPlace(), recv, op, k.m.Of(root))
	}
	return Reduce(&k.between, acc, recv, op, k.m.Of(root))
}

// reducePipelined is a long reduction as one pipeline through all levels, the reverse of bcastLevels.
func (s *Scratch) reducePipelined(c Comm, own, recv Buf, op Op, root int) (err error) {
	acc := recv
	if c.Rank() != root {
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	n := int(min(int64(blocksOf(c, own.Size())), own.Count))
	return s.reduceLevels(c, acc, op, root, n, s)
}

// reduceLevels combines the vectors of all ranks in acc at root. below has the levels at which the rank is a root.
func (s *Scratch) reduceLevels(c Comm, acc Buf, op Op, root, n int, below *Scratch) (err error) {
	switch {
	case machinesOf(c) != nil:
	case isStar(c, acc.Size()):
		return s.reduceStar(c, acc, op, n, root, below.fanIns)
	default:
		return s.reduceBlocks(c, acc, op, n, root, below.fanIns)
	}
	k := s.levels(c, root)
	if !k.leads() {
		return s.reduceBlocks(&k.within, acc, op, n, k.lead, below.fanIns)
	}
	if k.here() > 1 {
		below.fanIns = append(below.fanIns, fanIn{})
		if err := below.fanIns[len(below.fanIns)-1].begin(s, &k.within, acc, op, n, k.lead); err != nil {
			return err
		}
	}
	outer := c.Scratch()
	defer outer.Done(&err)
	return outer.reduceLevels(&k.between, acc, op, k.m.Of(root), n, below)
}

// reduceInto is Reduce at root, whose own vector may be where the result arises.
func reduceInto(c Comm, own, acc Buf, op Op, root int) error {
	if own.Base == acc.Base {
		own = InPlace()
	}
	return Reduce(c, own, acc, op, root)
}

func (s *Scratch) allreduceMachines(c Comm, own, acc Buf, op Op) (err error) {
	k := s.levels(c, -1)
	if !k.leads() {
		err = Reduce(&k.within, own, acc, op, 0)
	} else if err = reduceInto(&k.within, own, acc, op, 0); err == nil {
		err = Allreduce(&k.between, InPlace(), acc, op)
	}
	if err != nil {
		return err
	}
	return Bcast(&k.within, acc, 0)
}

// machineBlocks lays the blocks of all ranks out by machine: a v-buffer with a block for each machine.
func (s *Scratch) machineBlocks(k *levels, block int64) (v VBuf, mem []byte, err error) {
	counts, err := s.Counts(2 * k.m.Count())
	if err != nil {
		return v, nil, err
	}
	total := int64(0)
	displs := counts[k.m.Count():]
	for i := range k.m.members {
		counts[i], displs[i] = int64(len(k.m.members[i]))*block, total
		total += counts[i]
	}
	mem, err = s.Alloc(total)
	return VBuf{Base: Bytes(mem).Base, Counts: counts[:k.m.Count()], Displs: displs, Type: buffer.Byte}, mem, err
}

// byRank calls f with the block of each rank in mem.
func (k *levels) byRank(mem []byte, block int64, f func(rank int, packed []byte) error) error {
	for i := range k.m.members {
		for _, r := range k.m.members[i] {
			if err := f(int(r), mem[:block]); err != nil {
				return err
			}
			mem = mem[block:]
		}
	}
	return nil
}

// gatherWithin collects the packed blocks of a machine at the rank that stands for it.
func (s *Scratch) gatherWithin(c Comm, k *levels, own Buf, mem []byte, block int64) error {
	if !k.leads() {
		return Gather(&k.within, own, Buf{}, k.lead)
	}
	mine := int64(k.within.me) * block
	if err := c.Pack(mem[mine:mine+block], own, 0); err != nil {
		return err
	}
	return Gather(&k.within, InPlace(), Bytes(mem).Slice(0, block), k.lead)
}

func (s *Scratch) gatherMachines(c Comm, send, recv Buf, root int, block int64) error {
	k, r := s.levels(c, root), c.Rank()
	own := send
	if send.IsInPlace() {
		own = recv.Block(r)
	}
	if !k.leads() {
		return s.gatherWithin(c, k, own, nil, block)
	}
	if r != root {
		mem, err := s.Alloc(int64(k.here()) * block)
		if err != nil {
			return err
		}
		if err := s.gatherWithin(c, k, own, mem, block); err != nil {
			return err
		}
		if k.m.each > 0 {
			return Gather(&k.between, Bytes(mem), Buf{}, k.m.Of(root))
		}
		return Gatherv(&k.between, Bytes(mem), VBuf{}, k.m.Of(root))
	}
	all, mem, err := s.machineBlocks(k, block)
	if err != nil {
		return err
	}
	here := all.Displs[k.between.me]
	if err := s.gatherWithin(c, k, own, mem[here:here+all.Counts[k.between.me]], block); err != nil {
		return err
	}
	if k.m.each > 0 {
		err = Gather(&k.between, InPlace(), Bytes(mem).Slice(0, all.Counts[0]), k.between.me)
	} else {
		err = Gatherv(&k.between, InPlace(), all, k.between.me)
	}
	if err != nil {
		return err
	}
	return k.byRank(mem, block, func(rank int, packed []byte) error {
		if rank == root && send.IsInPlace() {
			return nil
		}
		return c.Unpack(recv.Block(rank), packed, 0)
	})
}

func (s *Scratch) scatterMachines(c Comm, send, recv Buf, root int, block int64) error {
	k, r := s.levels(c, root), c.Rank()
	if !k.leads() {
		return Scatter(&k.within, Buf{}, recv, k.lead)
	}
	var mem []byte
	if r != root {
		var err error
		if mem, err = s.Alloc(int64(k.here()) * block); err != nil {
			return err
		}
		if k.m.each > 0 {
			err = Scatter(&k.between, Buf{}, Bytes(mem), k.m.Of(root))
		} else {
			err = Scatterv(&k.between, VBuf{}, Bytes(mem), k.m.Of(root))
		}
		if err != nil {
			return err
		}
	} else {
		all, room, err := s.machineBlocks(k, block)
		if err != nil {
			return err
		}
		if err := k.byRank(room, block, func(rank int, packed []byte) error {
			return c.Pack(packed, send.Block(rank), 0)
		}); err != nil {
			return err
		}
		if k.m.each > 0 {
			err = Scatter(&k.between, Bytes(room).Slice(0, all.Counts[0]), InPlace(), k.between.me)
		} else {
			err = Scatterv(&k.between, all, InPlace(), k.between.me)
		}
		if err != nil {
			return err
		}
		here := all.Displs[k.between.me]
		mem = room[here : here+all.Counts[k.between.me]]
	}
	if err := Scatter(&k.within, Bytes(mem).Slice(0, block), InPlace(), k.lead); err != nil {
		return err
	}
	if recv.IsInPlace() {
		return nil
	}
	mine := int64(k.within.me) * block
	return c.Unpack(recv, mem[mine:mine+block], 0)
}
