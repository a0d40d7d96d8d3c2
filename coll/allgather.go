package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

var (
	allgathers = bind(choose.Allgather, map[string]func(s *Scratch, c Comm, send, recv Buf) error{
		"doubling":   (*Scratch).allgatherDoubling,
		"bruck":      placed((*Scratch).allgatherBruck),
		"bruck-ring": placed((*Scratch).allgatherBruckRing),
		"ring":       (*Scratch).allgatherRing,
		"direct":     placed((*Scratch).allgatherDirect),
		"board":      placed((*Scratch).allgatherBoard),
		"machines":   nil,
	})
	allgathervs = bind(choose.Allgatherv, map[string]func(s *Scratch, c Comm, send Buf, recv VBuf) error{
		"bruck":     placed((*Scratch).allgathervBruck),
		"circulant": placed((*Scratch).allgathervCirculant),
		"ring":      (*Scratch).allgathervRing,
		"direct":    placed((*Scratch).allgathervDirect),
		"board":     placed((*Scratch).allgathervBoard),
		"machines":  nil,
	})
)

// placed has the own block in its place before an algorithm begins.
func placed[B interface{ Block(i int) Buf }](run func(*Scratch, Comm, B) error) func(*Scratch, Comm, Buf, B) error {
	return func(s *Scratch, c Comm, send Buf, recv B) error {
		if err := copyOwn(c, recv.Block(c.Rank()), send); err != nil {
			return err
		}
		return run(s, c, recv)
	}
}

// Allgather collects the block of every rank in everybody's recv, in rank order. recv.Count is the count of
// one block. send may be InPlace (at all ranks): the own block is then in recv.
func Allgather(c Comm, send, recv Buf) (err error) {
	p, block := c.Size(), recv.Size()
	if block == 0 {
		return nil
	}
	if p == 1 {
		return copyOwn(c, recv, send)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if run := allgathers.pick(caseOf(c, int64(p)*block)); run != nil {
		return run(s, c, send, recv)
	}
	return placed((*Scratch).allgatherLanes)(s, c, send, recv)
}

// Allgatherv collects blocks of different sizes: the block of rank i goes to recv.Block(i). send may be InPlaceV
// or InPlace (at all ranks).
func Allgatherv(c Comm, send Buf, recv VBuf) (err error) {
	if c.Size() == 1 {
		return copyOwn(c, recv.Block(0), send)
	}
	s := c.Scratch()
	defer s.Done(&err)
	total, longest := int64(0), int64(0)
	for _, n := range recv.Counts {
		total, longest = total+n, max(longest, n)
	}
	k := caseOf(c, total*recv.Type.Size())
	k.Longest = longest * recv.Type.Size()
	if run := allgathervs.pick(k); run != nil {
		return run(s, c, send, recv)
	}
	return placed((*Scratch).allgathervLanes)(s, c, send, recv)
}

// allgatherRing: p-1 rounds of a block.
func (s *Scratch) allgatherRing(c Comm, send, recv Buf) error {
	c, m := s.inOrder(c)
	return s.ring(c, send, &Blocks{buf: recv, machines: m})
}

// allgathervRing: p-1 rounds, in each of which the longest block may be under way somewhere.
func (s *Scratch) allgathervRing(c Comm, send Buf, recv VBuf) error {
	c, m := s.inOrder(c)
	return s.ring(c, send, &Blocks{v: recv, kind: varying, machines: m})
}

// ring passes the blocks, of which every rank has its own, to the next rank until all have come round. Among several
// machines the next rank is the next one on the machine, or the first one on the next machine: so in each round one
// block enters a machine, and one leaves it.
//
// Source: Traff 2010, 9.6, and for machines, too: its virtual ranking.
func (s *Scratch) ring(c Comm, send Buf, b *Blocks) error {
	p, r := c.Size(), c.Rank()
	next, prev := (r+1)%p, (r-1+p)%p
	if err := s.exchangeOwn(c, send, b.At(r), next, b.At(prev), prev); err != nil {
		return err
	}
	for i := 1; i < p-1; i++ {
		if err := s.Exchange(c, b.At((r-i+p)%p), next, b.At((r-i-1+p)%p), prev, tagAllgather); err != nil {
			return err
		}
	}
	return nil
}

// exchangeOwn is Exchange of the own block, which goes to its place besides. That copy is made while the message is
// under way: the peer need not wait for it, nor read what this core has just written.
func (s *Scratch) exchangeOwn(c Comm, send, place Buf, to int, in Buf, from int) error {
	if _, ok := buffer.Contiguous(send); send.IsInPlace() || !ok || send.Size() != place.Size() {
		if err := copyOwn(c, place, send); err != nil {
			return err
		}
		return s.Exchange(c, place, to, in, from, tagAllgather)
	}
	if err := s.Add(c.Isend(send, to, tagAllgather)); err != nil {
		return err
	}
	if err := s.Add(c.Irecv(in, from, tagAllgather)); err != nil {
		return err
	}
	if err := c.Copy(place, send); err != nil {
		return err
	}
	return s.Wait(c)
}

// allgatherDoubling: log2 p rounds, each of twice as many blocks as the one before; (p-1)/p of all bytes.
//
// Source: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005.
func (s *Scratch) allgatherDoubling(c Comm, send, recv Buf) error {
	p, r := c.Size(), c.Rank()
	if err := s.exchangeOwn(c, send, recv.Block(r), r^1, recv.Block(r^1), r^1); err != nil {
		return err
	}
	for mask := 2; mask < p; mask <<= 1 {
		mine, n := int64(r&^(mask-1))*recv.Count, int64(mask)*recv.Count
		theirs := int64((r^mask)&^(mask-1)) * recv.Count
		if err := s.Exchange(c, recv.Slice(mine, n), r^mask, recv.Slice(theirs, n), r^mask, tagAllgather); err != nil {
			return err
		}
	}
	return nil
}

// allgatherBruck: ceil(log2 p) rounds, (p-1)/p of all bytes (bruck, in allgatherv.go, names the source).
func (s *Scratch) allgatherBruck(c Comm, recv Buf) error { return s.bruck(c, &Blocks{buf: recv}) }

// allgatherBruckRing begins with the rounds of Bruck's algorithm. When the d blocks that a rank has are long enough
// together, they go around a ring: in each step a rank passes on the d blocks that came last to the rank d below it.
// log2 d + p/d rounds, (p-1)/p of all bytes, memory for 2 d blocks. Among several machines the ring is in their order.
//
// Source: Traff, Efficient allgather for regular SMP-clusters, 2006; Traff 2010, 9.6.
func (s *Scratch) allgatherBruckRing(c Comm, recv Buf) error {
	c, m := s.inOrder(c)
	p, r, block := c.Size(), c.Rank(), recv.Size()
	all := Blocks{buf: recv, machines: m}
	d := 1
	for 2*d < p && int64(2*d)*block <= choose.Branch() {
		d *= 2
	}
	mem, err := s.Alloc(2 * int64(d) * block)
	if err != nil {
		return err
	}
	half := int64(d) * block
	have, next := Bytes(mem[:half]), Bytes(mem[half:])
	if err := c.Pack(mem[:block], all.At(r), 0); err != nil {
		return err
	}
	for n := 1; n < d; n <<= 1 {
		size := int64(n) * block
		if err := s.Exchange(c, have.Slice(0, size), (r-n+p)%p, have.Slice(size, size), (r+n)%p, tagAllgather); err != nil {
			return err
		}
	}
	if err := unpackFrom(c, &all, r+1, d-1, have.Slice(block, half-block)); err != nil {
		return err
	}
	for at := d; at < p; at += d {
		n := min(d, p-at)
		size := int64(n) * block
		if err := s.Exchange(c, have.Slice(0, size), (r-d+p)%p, next.Slice(0, size), (r+d)%p, tagAllgather); err != nil {
			return err
		}
		if err := unpackFrom(c, &all, r+at, n, next.Slice(0, size)); err != nil {
			return err
		}
		have, next = next, have
	}
	return nil
}

// unpackFrom unpacks n blocks of one length to their places from rank first on.
func unpackFrom(c Comm, all *Blocks, first, n int, packed Buf) error {
	p, block := c.Size(), all.size(0)
	for i := range n {
		if err := c.Unpack(all.At((first+i)%p), packed.Slice(int64(i)*block, block).Mem(), 0); err != nil {
			return err
		}
	}
	return nil
}
