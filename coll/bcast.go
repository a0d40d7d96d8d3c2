package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

var bcasts = bind(choose.Bcast, map[string]func(c Comm, b Buf, root int) error{
	"binomial":     bcastTree,
	"linear":       bcastLinear,
	"circulant":    bcastCirculant,
	"two-tree":     bcastTwoTree,
	"scatter-ring": bcastScatterRing,
	"vendor":       bcastVendor,
	"board":        bcastBoard,
	"machines":     nil,
})

// Bcast gives the data in root's buffer to all ranks. Counts and types may differ, their signatures not.
func Bcast(c Comm, b Buf, root int) (err error) {
	p, n := c.Size(), b.Size()
	if p == 1 || n == 0 {
		return nil
	}
	if run := bcasts.pick(caseOf(c, n)); run != nil {
		return run(c, b, root)
	}
	return bcastMachines(c, b, root)
}

// bcastTree: a binomial tree, ceil(log2 p) rounds of the whole message.
//
// Source: Johnsson and Ho, Optimum broadcasting and personalized communication in hypercubes, 1989; Traff 2010, 9.3.
func bcastTree(c Comm, b Buf, root int) error {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	mask := lowBit(v, p)
	if v != 0 {
		if err := c.Recv(b, (v-mask+root)%p, tagBcast); err != nil {
			return err
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if v+mask < p {
			if err := c.Send(b, (v+mask+root)%p, tagBcast); err != nil {
				return err
			}
		}
	}
	return nil
}

// lowBit is the lowest bit set in v, or for 0 the smallest power of two that is not less than p: the
// number of ranks in the binomial subtree at v, were p a power of two.
func lowBit(v, p int) int {
	if v != 0 {
		return v & -v
	}
	mask := 1
	for mask < p {
		mask <<= 1
	}
	return mask
}

// flat is the message of a broadcast as bytes: its own memory, or else a copy, which is packed at root. The other
// ranks end with unflat.
func (s *Scratch) flat(c Comm, b Buf, isRoot bool) (m Buf, err error) {
	m, ok := buffer.Contiguous(b)
	if ok {
		return m, nil
	}
	mem, err := s.Alloc(b.Size())
	if err == nil && isRoot {
		err = c.Pack(mem, b, 0)
	}
	return Bytes(mem), err
}

// unflat unpacks the message, if it has been received in a copy.
func unflat(c Comm, b, m Buf, isRoot bool) error {
	if _, ok := buffer.Contiguous(b); ok || isRoot {
		return nil
	}
	return c.Unpack(b, m.Mem(), 0)
}

// bcastScatterRing: the message as bytes, cut into p pieces, is scattered along a binomial tree, and then every rank
// collects the pieces of the others around a ring. ceil(log2 p) + p-1 rounds, 2 n (p-1)/p bytes.
//
// Source: Barnett et al., Building a high-performance collective communication library, 1994; Traff 2010, 9.3.
func bcastScatterRing(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	p := c.Size()
	v := (c.Rank() - root + p) % p
	m, err := s.flat(c, b, v == 0)
	if err != nil {
		return err
	}
	piece := (m.Count + int64(p) - 1) / int64(p)
	part := func(i, n int) Buf {
		from := min(int64(i)*piece, m.Count)
		return m.Slice(from, min(int64(i+n)*piece, m.Count)-from)
	}
	mask := lowBit(v, p)
	if v != 0 {
		if err := c.Recv(part(v, mask), (v-mask+root)%p, tagBcast); err != nil {
			return err
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if v+mask < p {
			if err := c.Send(part(v+mask, mask), (v+mask+root)%p, tagBcast); err != nil {
				return err
			}
		}
	}
	next, prev := (v+1+root)%p, (v-1+p+root)%p
	for i := range p - 1 {
		if err := s.Exchange(c, part((v-i+p)%p, 1), next, part((v-i-1+p)%p, 1), prev, tagBcast); err != nil {
			return err
		}
	}
	return unflat(c, b, m, v == 0)
}
