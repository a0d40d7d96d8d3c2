package coll

import "github.com/libimpi/libimpi/coll/choose"

// own is the rank's vector, and may be acc, where the result arises.
var allreduces = bind(choose.Allreduce, map[string]func(s *Scratch, c Comm, own, acc Buf, op Op) error{
	"doubling":   onCopy((*Scratch).allreduceAll),
	"direct":     (*Scratch).allreduceDirect,
	"pair":       (*Scratch).allreducePair,
	"halving":    onCopy((*Scratch).allreduceHalving),
	"circulant":  onCopy((*Scratch).allreduceCirculant),
	"butterfly":  onCopy((*Scratch).allreduceButterfly),
	"two-tree":   onCopy((*Scratch).allreduceTwoTree),
	"ring":       onCopy((*Scratch).allreduceRing),
	"vendor":     (*Scratch).allreduceVendor,
	"board":      (*Scratch).allreduceBoard,
	"board-root": (*Scratch).allreduceRootBoard,
	"machines":   nil,
	"fold":       (*Scratch).allreduceFold,
})

// onCopy lets an algorithm begin with the rank's vector in acc.
func onCopy(f func(s *Scratch, c Comm, acc Buf, op Op) error) func(s *Scratch, c Comm, own, acc Buf, op Op) error {
	return func(s *Scratch, c Comm, own, acc Buf, op Op) error {
		if err := c.Copy(acc, own); err != nil {
			return err
		}
		return f(s, c, acc, op)
	}
}

// Allreduce combines the vectors of all ranks into everybody's recv; all ranks get the same bits. recv.Count
// and recv.Type count, and of send only the address. send may be InPlace (at all ranks).
func Allreduce(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 {
		return nil
	}
	own := operand(send, recv)
	p := c.Size()
	if p == 1 {
		return c.Copy(recv, own)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if run := allreduces.pick(reductionOf(c, recv, op)); run != nil {
		return run(s, c, own, recv, op)
	}
	if laned(machinesOf(c), recv.Size()) {
		return s.allreduceLanes(c, own, recv, op)
	}
	return s.allreduceMachines(c, own, recv, op)
}

// allreducePair: two ranks exchange halves of their vectors, each combines one, and they exchange the results. 2
// rounds, n bytes. What arrives first is where the result arises, so that nothing is copied.
//
// Source: that of allreduceHalving, of which this is the case of two ranks.
func (s *Scratch) allreducePair(c Comm, own, acc Buf, op Op) (err error) {
	r := c.Rank()
	half := func(b Buf, i int) Buf { return b.Pieces(2, i, i+1) }
	in := half(acc, r)
	if own.Base == acc.Base {
		if in, err = s.Typed(in.Count, in.Type); err != nil {
			return err
		}
	}
	if err := s.Exchange(c, half(own, 1-r), 1-r, in, 1-r, tagAllreduce); err != nil {
		return err
	}
	if own.Base == acc.Base {
		err = c.Combine(op, in, half(acc, r))
	} else {
		err = c.Combine(op, half(own, r), in)
	}
	if err != nil {
		return err
	}
	return s.ExchangeWritten(c, half(acc, r), 1-r, half(acc, 1-r), 1-r, tagAllreduce)
}

// allreduceAll: recursive doubling, in rank order. log2 p rounds of the whole vector, and two more if p is not a power
// of two.
//
// Source: Traff 2010, 9.4: the butterfly, and what is called the trivial solution for other numbers of ranks.
func (s *Scratch) allreduceAll(c Comm, acc Buf, op Op) error {
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	return s.allreduceDoubling(c, acc, tmp, op, tagAllreduce)
}

// allreduceDoubling: before the round of distance d every place holds the result of an aligned group of d
// places. Both sides of an exchange combine the same operands in the same order. The right operand is where the
// result arises, and so acc and tmp change places whenever the peer is above.
func (s *Scratch) allreduceDoubling(c Comm, recv, tmp Buf, op Op, tag int) error {
	h := halve(c.Size(), c.Rank())
	if err := s.foldIn(c, h, recv, tmp, op, tag); err != nil {
		return err
	}
	acc := recv
	for mask := 1; mask < h.pof2 && h.me >= 0; mask <<= 1 {
		peer := h.rank(h.me ^ mask)
		if err := s.Exchange(c, acc, peer, tmp, peer, tag); err != nil {
			return err
		}
		if h.me&mask == 0 {
			acc, tmp = tmp, acc
		}
		if err := c.Combine(op, tmp, acc); err != nil {
			return err
		}
	}
	if err := c.Copy(recv, acc); err != nil {
		return err
	}
	return foldOut(c, h, recv, tag)
}

// allreduceHalving is Rabenseifner's algorithm: reduce and scatter by recursive halving, collect by doubling. 2 log2 p
// rounds, 2 n (p-1)/p bytes, in whole elements a piece.
//
// Source: Rabenseifner, Optimization of collective reduction operations, 2004; Traff 2010, 9.4.
func (s *Scratch) allreduceHalving(c Comm, acc Buf, op Op) error {
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	h := halve(c.Size(), c.Rank())
	if err := s.reduceHalving(c, h, acc, tmp, op, tagAllreduce); err != nil {
		return err
	}
	for mask := 1; mask < h.pof2; mask <<= 1 {
		mine := h.me &^ (mask - 1)
		theirs, peer := mine^mask, h.rank(h.me^mask)
		if err := s.Exchange(c, acc.Pieces(h.pof2, mine, mine+mask), peer,
			acc.Pieces(h.pof2, theirs, theirs+mask), peer, tagAllreduce); err != nil {
			return err
		}
	}
	return nil
}

// allreduceRing: piece i starts at rank i+1 and is complete when it reaches rank i, p-1 steps later. 2 (p-1) rounds,
// 2 n (p-1)/p bytes. Among several machines the ring is in their order.
//
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.
func (s *Scratch) allreduceRing(c Comm, acc Buf, op Op) error {
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	c, _ = s.inOrder(c)
	p, r := c.Size(), c.Rank()
	next, prev := (r+1)%p, (r-1+p)%p
	piece := func(b Buf, i int) Buf { i = (i + 2*p) % p; return b.Pieces(p, i, i+1) }
	for i := 1; i < p; i++ {
		in, out := piece(acc, r-i-1), piece(acc, r-i)
		if err := s.Exchange(c, out, next, tmp.Slice(0, in.Count), prev, tagAllreduce); err != nil {
			return err
		}
		if err := c.Combine(op, tmp, in); err != nil {
			return err
		}
	}
	for i := range p - 1 {
		if err := s.Exchange(c, piece(acc, r-i), next, piece(acc, r-i-1), prev, tagAllreduce); err != nil {
			return err
		}
	}
	return nil
}
