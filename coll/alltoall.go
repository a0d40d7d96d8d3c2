package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// Blocks is a buffer of one block for each rank, of any of these forms. It is a plain struct and not an
// interface, so that handing it down allocates nothing.
type Blocks struct {
	buf      Buf
	v        VBuf
	w        WBuf
	kind     int8
	machines *Machines // not nil: the ranks are counted in their order
}

const (
	even int8 = iota
	varying
	each
	same
	consecutive // as varying, but the blocks lie one after the other; for few calls with each
)

// Even, Varying and Each make Blocks of the three kinds of buffer.
func Even(b Buf) Blocks     { return Blocks{buf: b} }
func Varying(v VBuf) Blocks { return Blocks{v: v, kind: varying} }
func Each(w WBuf) Blocks    { return Blocks{w: w, kind: each} }

// Same makes Blocks of which each is the same one.
func Same(b Buf) Blocks { return Blocks{buf: b, kind: same} }

// At is the block of rank i.
func (b *Blocks) At(i int) Buf {
	if b.machines != nil {
		i = int(b.machines.order[i])
	}
	switch b.kind {
	case varying:
		return b.v.At(i)
	case each:
		return b.w.At(i)
	case same:
		return b.buf
	case consecutive:
		return b.within(Buf{Base: b.v.Base, Type: b.v.Type}, i)
	}
	return b.buf.Block(i)
}

// size is how many bytes the block of rank i has.
func (b *Blocks) size(i int) int64 {
	block := b.At(i)
	return block.Size()
}

// within is block i of a vector all that is cut as b is.
func (b *Blocks) within(all Buf, i int) Buf {
	if b.kind != consecutive {
		return all.Slice(int64(i)*b.buf.Count, b.buf.Count)
	}
	from := int64(0)
	for _, n := range b.v.Counts[:i] {
		from += n
	}
	return all.Slice(from, b.v.Counts[i])
}

var (
	alltoalls = bind(choose.Alltoall, map[string]func(s *Scratch, c Comm, send, recv Buf) error{
		"bruck":    (*Scratch).alltoallBruck,
		"window":   (*Scratch).alltoallWindow,
		"pairwise": (*Scratch).alltoallPairwise,
		"factor":   (*Scratch).alltoallFactor,
		"machines": (*Scratch).alltoallMachines,

		"hierarchical-factor": (*Scratch).alltoallHierarchical,
		"board":               (*Scratch).alltoallBoard,
	})
	alltoallvs = bind(choose.Alltoallv, map[string]func(s *Scratch, c Comm, send, recv Blocks) error{ // and alltoallw
		"window":   (*Scratch).alltoallvWindow,
		"pairwise": (*Scratch).alltoallvPairwise,
		"factor":   (*Scratch).factor,

		"hierarchical-factor": (*Scratch).alltoallvHierarchical,
	})
)

// Alltoall gives block i of send to rank i, which keeps it as block r of recv. Both counts are those of one
// block. send may be InPlace (at all ranks): then pairs of ranks swap their blocks.
func Alltoall(c Comm, send, recv Buf) (err error) {
	block := recv.Size()
	if block == 0 {
		return nil
	}
	s := c.Scratch()
	defer s.Done(&err)
	p := c.Size()
	switch {
	case p == 1:
		return copyOwn(c, recv, send)
	case send.IsInPlace():
		return s.swapAll(c, &Blocks{buf: recv})
	}
	k := caseOf(c, block)
	if block > k.Board {
		k.Board = 0
	}
	return alltoalls.pick(k)(s, c, send, recv)
}

// alltoallWindow: each block goes directly to its rank, many of them at a time; p-1 messages (pairwise).
func (s *Scratch) alltoallWindow(c Comm, send, recv Buf) error {
	return s.pairwise(c, &Blocks{buf: send}, &Blocks{buf: recv}, window/2)
}

// alltoallPairwise: p-1 rounds of one block (pairwise).
func (s *Scratch) alltoallPairwise(c Comm, send, recv Buf) error {
	return s.pairwise(c, &Blocks{buf: send}, &Blocks{buf: recv}, 1)
}

// Alltoallv gives send.Block(i) to rank i, and takes recv.Block(i) from it. send may be InPlaceV (at all
// ranks); then recv's counts say both what is sent and what is received.
func Alltoallv(c Comm, send, recv VBuf) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	if send.IsInPlace() {
		return s.swapAll(c, &Blocks{v: recv, kind: varying})
	}
	return alltoallvs.pick(unsizedOf(c))(s, c, Varying(send), Varying(recv))
}

// alltoallvWindow: each block goes directly to its rank, several of them at a time; p-1 messages (pairwise).
func (s *Scratch) alltoallvWindow(c Comm, send, recv Blocks) error {
	return s.pairwise(c, &send, &recv, window/4)
}

// alltoallvPairwise: p-1 rounds, in each of which the longest block may be under way somewhere (pairwise).
func (s *Scratch) alltoallvPairwise(c Comm, send, recv Blocks) error {
	return s.pairwise(c, &send, &recv, 1)
}

// Alltoallw is Alltoallv with a type for each block and displacements in bytes.
func Alltoallw(c Comm, send, recv WBuf) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	if send.IsInPlace() {
		return s.swapAll(c, &Blocks{w: recv, kind: each})
	}
	return alltoallvs.pick(unsizedOf(c))(s, c, Each(send), Each(recv))
}

// pairwise: in step i a rank sends to the one i above it and receives from the one i below; width steps are
// under way at once. The own block is copied while the first ones are.
//
// Source: Traff 2010, 9.7: with width 1 the algorithm of rounds, with p-1 the one that starts all messages at once.
func (s *Scratch) pairwise(c Comm, send, recv *Blocks, width int) error {
	p, r := c.Size(), c.Rank()
	if p == 1 {
		return c.Copy(recv.At(r), send.At(r))
	}
	for i := 1; i < p; i += width {
		last := min(i+width, p)
		for k := i; k < last; k++ { // before what they are exchanged for, as in Exchange
			to := (r + k) % p
			if err := s.Add(c.Isend(send.At(to), to, tagAlltoall)); err != nil {
				return err
			}
		}
		for k := i; k < last; k++ {
			from := (r - k + p) % p
			if err := s.Add(c.Irecv(recv.At(from), from, tagAlltoall)); err != nil {
				return err
			}
		}
		if i == 1 {
			if err := c.Copy(recv.At(r), send.At(r)); err != nil {
				return err
			}
		}
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	return nil
}

const (
	// copiedAll is how many bytes may be copied at once for an exchange in place.
	copiedAll = 1 << 20
	// uncut is the length in bytes of the longest block that two ranks do not swap by halves, and uncutAmong where there
	// are more ranks, which wait for each other oftener then.
	uncut      = 16 << 10
	uncutAmong = 256 << 10
)

// swapsShort reports whether blocks of n bytes are not swapped by halves: the same at both ranks that swap them.
func swapsShort(p int, n int64) bool {
	return n <= uncut || p > 2 && n <= uncutAmong
}

// swapAll is the exchange in place: first of long blocks, then of the others. Among several machines the ranks are
// counted in their order, so that those of a machine have their partners on one or two machines.
func (s *Scratch) swapAll(c Comm, b *Blocks) error {
	c, b.machines = s.inOrder(c)
	p, r := c.Size(), c.Rank()
	long, short, total := int64(0), int64(0), int64(0) // the longest of either kind, and all short ones
	for i := range p {
		switch n := b.size(i); {
		case i == r:
		case swapsShort(p, n):
			short, total = max(short, n), total+n
		default:
			long = max(long, n)
		}
	}
	if long > 0 {
		if err := s.swapLong(c, b, long); err != nil {
			return err
		}
	}
	if p <= window/2 && total <= copiedAll {
		return s.swapCopies(c, b, total)
	}
	return s.swapShort(c, b, short)
}

// swapLong swaps blocks by halves, of which the longest has so many bytes: ranks whose sum is i (modulo p) in step i,
// as in factor.
func (s *Scratch) swapLong(c Comm, b *Blocks, longest int64) error {
	p, r := c.Size(), c.Rank()
	mem, err := s.Alloc(longest - longest/2)
	if err != nil {
		return err
	}
	var packed []byte
	for i := range p {
		peer := (i - r + p) % p
		place := b.At(peer)
		if peer == r || swapsShort(p, place.Size()) {
			continue
		}
		if run, ok := buffer.Contiguous(place); ok {
			if err := s.swapHalves(c, run, peer, mem); err != nil {
				return err
			}
			continue
		}
		if packed == nil {
			if packed, err = s.Alloc(longest); err != nil {
				return err
			}
		}
		out := packed[:place.Size()]
		if err := c.Pack(out, place, 0); err != nil {
			return err
		}
		if err := s.swapHalves(c, Bytes(out), peer, mem); err != nil {
			return err
		}
		if err := c.Unpack(place, out, 0); err != nil {
			return err
		}
	}
	return nil
}

// swapHalves swaps a block of bytes with a peer. Each of the two moves one half of it in both directions, the lower
// rank the first: it gets the peer's, puts its own there, and then the peer's where its own was. So each half passes
// through the caches of one of them only, and half a block of working memory is enough.
func (s *Scratch) swapHalves(c Comm, block Buf, peer int, mem []byte) error {
	half := block.Count / 2
	own, other := block.Slice(0, half), block.Slice(half, block.Count-half)
	if c.Rank() > peer {
		own, other = other, own
	}
	in := Bytes(mem[:own.Count])
	if err := s.Exchange(c, other, peer, in, peer, tagAlltoall); err != nil {
		return err
	}
	if err := s.ExchangeWritten(c, own, peer, other, peer, tagAlltoall); err != nil {
		return err
	}
	return c.Copy(own, in)
}

// swapShort swaps the other blocks in such steps, through a packed copy of what goes out.
func (s *Scratch) swapShort(c Comm, b *Blocks, longest int64) error {
	p, r := c.Size(), c.Rank()
	mem, err := s.Alloc(longest)
	if err != nil {
		return err
	}
	for i := range p {
		peer := (i - r + p) % p
		place := b.At(peer)
		n := place.Size()
		if peer == r || !swapsShort(p, n) {
			continue
		}
		if err := c.Pack(mem[:n], place, 0); err != nil {
			return err
		}
		if err := s.Exchange(c, Bytes(mem[:n]), peer, place, peer, tagAlltoall); err != nil {
			return err
		}
	}
	return nil
}

// swapCopies swaps them all at once: first all copies are made, of total bytes. Ranks may differ in that, since one
// that does so waits for nobody before it has sent all.
func (s *Scratch) swapCopies(c Comm, b *Blocks, total int64) error {
	p, r := c.Size(), c.Rank()
	mem, err := s.Alloc(total)
	if err != nil {
		return err
	}
	rest := mem
	for k := 1; k < p; k++ {
		place := b.At((r + k) % p)
		if n := place.Size(); swapsShort(p, n) {
			if err := c.Pack(rest[:n], place, 0); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	for k := 1; k < p; k++ {
		from := (r - k + p) % p
		if place := b.At(from); swapsShort(p, place.Size()) {
			if err := s.add(c, true, place, from, tagAlltoall); err != nil {
				return err
			}
		}
	}
	for k := 1; k < p; k++ {
		to := (r + k) % p
		if n := b.size(to); swapsShort(p, n) {
			if err := s.add(c, false, Bytes(mem[:n]), to, tagAlltoall); err != nil {
				return err
			}
			mem = mem[n:]
		}
	}
	return s.Wait(c)
}

// alltoallBruck: ceil(log2 p) rounds, in which each block travels once for every bit set in its distance: half of all
// bytes in each round. Place i of the temporary holds the block that has i ranks to travel. In the round of distance
// d all blocks with bit d in i move up by d ranks. Then place i holds the block from i ranks below.
//
// Source: Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing systems, 1997;
// Traff 2010, 9.7.
func (s *Scratch) alltoallBruck(c Comm, send, recv Buf) error {
	p, r, block := c.Size(), c.Rank(), recv.Size()
	half := int64(p+1) / 2 * block // no more than half of the blocks have a given bit
	mem, err := s.Alloc(int64(p)*block + 2*half)
	if err != nil {
		return err
	}
	out, in := mem[int64(p)*block:int64(p)*block+half], mem[int64(p)*block+half:]
	place := func(i int) []byte { return mem[int64(i)*block : int64(i+1)*block] }
	for i := 1; i < p; i++ {
		if err := c.Pack(place(i), send.Block((r+i)%p), 0); err != nil {
			return err
		}
	}
	for d := 1; d < p; d <<= 1 {
		n := int64(0)
		for i := d; i < p; i++ {
			if i&d != 0 {
				if err := c.Copy(Bytes(out[n:n+block]), Bytes(place(i))); err != nil {
					return err
				}
				n += block
			}
		}
		if err := s.Exchange(c, Bytes(out[:n]), (r+d)%p, Bytes(in[:n]), (r-d+p)%p, tagAlltoall); err != nil {
			return err
		}
		n = 0
		for i := d; i < p; i++ {
			if i&d != 0 {
				if err := c.Copy(Bytes(place(i)), Bytes(in[n:n+block])); err != nil {
					return err
				}
				n += block
			}
		}
	}
	if err := c.Copy(recv.Block(r), send.Block(r)); err != nil {
		return err
	}
	for i := 1; i < p; i++ {
		if err := c.Unpack(recv.Block((r-i+p)%p), place(i), 0); err != nil {
			return err
		}
	}
	return nil
}
