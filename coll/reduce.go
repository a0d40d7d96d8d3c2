package coll

import "github.com/libimpi/libimpi/coll/choose"

var reduces = bind(choose.Reduce, map[string]func(s *Scratch, c Comm, own, recv Buf, op Op, root int) error{
	"binomial":  (*Scratch).reduceBinomial,
	"linear":    (*Scratch).reduceLinear,
	"circulant": (*Scratch).reduceCirculant,
	"two-tree":  (*Scratch).reduceTwoTree,
	"butterfly": (*Scratch).reduceButterfly,
	"halving":   (*Scratch).reduceHalves,
	"vendor":    (*Scratch).reduceVendor,
	"board":     (*Scratch).reduceBoard,
	"machines":  nil,
	"fold":      (*Scratch).reduceFold,
})

// operand is the own vector of a reduction, which is in recv if send is InPlace.
func operand(send, recv Buf) Buf {
	if send.IsInPlace() {
		return recv
	}
	return Buf{Base: send.Base, Count: recv.Count, Type: send.Type}
}

// Reduce combines the vectors of all ranks into root's recv. recv.Count and recv.Type count at every rank, and
// of send only the address; recv.Base counts at root only, where send may be InPlace: the vector is in recv.
func Reduce(c Comm, send, recv Buf, op Op, root int) (err error) {
	p := c.Size()
	own := operand(send, recv)
	if recv.Count == 0 {
		return nil
	}
	if p == 1 {
		return c.Copy(recv, own)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if run := reduces.pick(reductionOf(c, recv, op)); run != nil {
		return run(s, c, own, recv, op, root)
	}
	return s.reduceMachines(c, own, recv, op, root)
}

// reduceBinomial: a binomial tree, ceil(log2 p) rounds of the whole vector. Every node stands for consecutive ranks,
// and combines them in rank order. For an operation that does not commute the tree is rooted at rank 0, which costs
// one more round.
//
// Source: Traff 2010, 9.4: the tree of the broadcast (bcastTree), reversed.
func (s *Scratch) reduceBinomial(c Comm, own, recv Buf, op Op, root int) error {
	if op.Commutative() || root == 0 {
		return s.reduceTree(c, own, recv, op, root)
	}
	switch c.Rank() {
	case 0:
		out, err := s.Typed(recv.Count, recv.Type)
		if err != nil {
			return err
		}
		if err := s.reduceTree(c, own, out, op, 0); err != nil {
			return err
		}
		return c.Send(out, root, tagReduce)
	case root:
		if err := s.reduceTree(c, own, recv, op, 0); err != nil {
			return err
		}
		return c.Recv(recv, 0, tagReduce)
	}
	return s.reduceTree(c, own, recv, op, 0)
}

// reduceTree: rank v above root receives from v+1, v+2, v+4, ... below its lowest set bit, and sends to
// v without that bit. What arrives is combined into the buffer in which it arrived, as its right operand, so
// that two buffers take turns; at root they are recv and a temporary, taken so that the last one is recv.
func (s *Scratch) reduceTree(c Comm, own, recv Buf, op Op, root int) error {
	p, r := c.Size(), c.Rank()
	v := (r - root + p) % p
	subtree := lowBit(v, p)
	children := 0
	for mask := 1; mask < subtree && v+mask < p; mask <<= 1 {
		children++
	}
	acc := own
	var turn [2]Buf
	for i := range turn {
		if v == 0 && i == 0 {
			turn[i] = recv
		} else if children > 1 || children == 1 && (i == 0 || own.Base == recv.Base) {
			var err error
			if turn[i], err = s.Typed(own.Count, own.Type); err != nil {
				return err
			}
		}
	}
	next := 1 - children%2
	if v != 0 {
		next = 0
	}
	for k, mask := 0, 1; k < children; k, mask = k+1, mask<<1 {
		if v == 0 && turn[next].Base == acc.Base {
			next = 1 - next // in place: the first vector is in recv
		}
		in := turn[next]
		if err := c.Recv(in, (v+mask+root)%p, tagReduce); err != nil {
			return err
		}
		if err := c.Combine(op, acc, in); err != nil {
			return err
		}
		acc, next = in, 1-next
	}
	if v == 0 {
		return c.Copy(recv, acc)
	}
	return c.Send(acc, (v&(v-1)+root)%p, tagReduce)
}

// halves is the part of the ranks that takes part in recursive halving and doubling: the largest power of two.
// The first 2*extra ranks work in pairs, of which the odd one stands for both, so that order is kept.
type halves struct {
	pof2, extra int
	me          int // place among the pof2, -1 if the next rank stands for this one
}

func halve(p, r int) halves {
	h := halves{pof2: 1}
	for h.pof2*2 <= p {
		h.pof2 *= 2
	}
	h.extra = p - h.pof2
	switch {
	case r >= 2*h.extra:
		h.me = r - h.extra
	case r%2 == 1:
		h.me = r / 2
	default:
		h.me = -1
	}
	return h
}

// rank is the rank at place i.
func (h halves) rank(i int) int {
	if i < h.extra {
		return 2*i + 1
	}
	return i + h.extra
}

// foldIn combines the vectors of each pair into acc of the odd one: the even one's is the left operand.
func (s *Scratch) foldIn(c Comm, h halves, acc, tmp Buf, op Op, tag int) error {
	r := c.Rank()
	switch {
	case r >= 2*h.extra:
		return nil
	case h.me < 0:
		return c.Send(acc, r+1, tag)
	}
	if err := c.Recv(tmp, r-1, tag); err != nil {
		return err
	}
	return c.Combine(op, tmp, acc)
}

// foldOut gives the result in acc to the even one of each pair.
func foldOut(c Comm, h halves, acc Buf, tag int) error {
	r := c.Rank()
	switch {
	case r >= 2*h.extra:
		return nil
	case h.me < 0:
		return c.Recv(acc, r+1, tag)
	}
	return c.Send(acc, r-1, tag)
}

// reduceHalving leaves piece me of the reduced vector in acc of place me, for commutative operations.
func (s *Scratch) reduceHalving(c Comm, h halves, acc, tmp Buf, op Op, tag int) error {
	from, to := 0, h.pof2
	for mask := h.pof2 / 2; mask > 0; mask /= 2 {
		mid := (from + to) / 2
		keep, give := acc.Pieces(h.pof2, from, mid), acc.Pieces(h.pof2, mid, to)
		in := tmp.Pieces(h.pof2, from, mid)
		if h.me&mask != 0 {
			keep, give = give, keep
			in = tmp.Pieces(h.pof2, mid, to)
			from = mid
		} else {
			to = mid
		}
		peer := h.rank(h.me ^ mask)
		if err := s.Exchange(c, give, peer, in, peer, tag); err != nil {
			return err
		}
		if err := c.Combine(op, in, keep); err != nil {
			return err
		}
	}
	return nil
}

// reduceHalves is Rabenseifner's algorithm for Reduce: the vector is reduced and scattered by recursive halving, and
// gathered along the same hypercube: place i sends when it meets the lowest bit in which it differs from the place of
// root. 2 log2 p rounds and 2 n (p-1)/p bytes, in whole elements a piece, where p is a power of two; otherwise two
// rounds and 2 n bytes more.
//
// Source: Rabenseifner, Optimization of collective reduction operations, 2004; Traff 2010, 9.4.
func (s *Scratch) reduceHalves(c Comm, own, recv Buf, op Op, root int) error {
	p, r := c.Size(), c.Rank()
	acc := recv
	var err error
	if r != root {
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err = c.Copy(acc, own); err != nil {
		return err
	}
	tmp, err := s.Typed(own.Count, own.Type)
	if err != nil {
		return err
	}
	h := halve(p, r)
	if err := s.foldIn(c, h, acc, tmp, op, tagReduce); err != nil {
		return err
	}
	deputy := halve(p, root).me // the place at which the result is gathered
	if deputy < 0 {
		deputy = halve(p, root+1).me
	}
	if h.me >= 0 {
		if err := s.reduceHalving(c, h, acc, tmp, op, tagReduce); err != nil {
			return err
		}
		if err := s.gatherHalves(c, h, acc, deputy); err != nil {
			return err
		}
	}
	if at := h.rank(deputy); at != root {
		switch r {
		case at:
			return c.Send(acc, root, tagReduce)
		case root:
			return c.Recv(acc, at, tagReduce)
		}
	}
	return nil
}

func (s *Scratch) gatherHalves(c Comm, h halves, acc Buf, to int) error {
	for mask := 1; mask < h.pof2; mask <<= 1 {
		mine, peer := h.me&^(mask-1), h.rank(h.me^mask)
		if (h.me^to)&mask != 0 {
			return c.Send(acc.Pieces(h.pof2, mine, mine+mask), peer, tagReduce)
		}
		theirs := mine ^ mask
		if err := c.Recv(acc.Pieces(h.pof2, theirs, theirs+mask), peer, tagReduce); err != nil {
			return err
		}
	}
	return nil
}
