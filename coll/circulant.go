package coll

import (
	"math/bits"

	"github.com/libimpi/libimpi/coll/choose"
)

// Broadcast of n blocks in n-1 + ceil(log2 p) rounds, the least possible, and what is made of it: reduction, its
// reverse; and a broadcast of everybody at once, for Allgatherv.
//
// The ranks, counted from root, form a circulant graph. In round i every rank r sends one block to rank r + skip[i%q],
// and receives one from r - skip[i%q] (modulo p). Which one, a schedule says, of q = ceil(log2 p) entries, which is
// used again and again with q added to its numbers. In the first use rank r gets the one block whose number in the
// schedule is not negative, its base block; what is negative is neither sent nor received. Numbers beyond the last
// block stand for the last one. The rounds begin so late in the first use that they end with the last entry, so that a
// rank gets each block exactly once.
//
// Source: Traff and Ripke, Optimal broadcast for fully connected processor-node networks, 2008; Traff, Optimal
// broadcast schedules in logarithmic time, 2024: each rank computes its own schedule in O(log p) steps. Traff 2010,
// 9.3, has the algorithm without that.

const mostRounds = 64 // rounds are less

// rounds is ceil(log2 p).
func rounds(p int) int { return bits.Len(uint(p - 1)) }

// circulant is the graph for p ranks. skip[q] is p, and each is half of the one above it, rounded up.
type circulant struct {
	p, q int
	skip [mostRounds + 1]int
}

func newCirculant(p int) (g circulant) {
	g.p, g.q = p, rounds(p)
	g.skip[g.q] = p
	for k := g.q - 1; k >= 0; k-- {
		g.skip[k] = (g.skip[k+1] + 1) / 2
	}
	return g
}

// base is the base block of a rank: the smallest skip on the way to it, if each step is as long as it can be; q for
// the root.
func (g *circulant) base(r int) int {
	for k := g.q - 1; k >= 0; k-- {
		switch {
		case g.skip[k] == r:
			return k
		case g.skip[k] < r:
			r -= g.skip[k]
		}
	}
	return g.q
}

// schedule has the number of the block for each of q rounds.
type schedule [mostRounds]int32

// receives computes which blocks rank r receives. It looks for the canonical ways from rank 0 to the ranks r - skip[k],
// which tell the base blocks that are there in time; each base block is used once.
func (g *circulant) receives(r int) (s schedule) {
	b := g.base(r)
	w := way{g: g, target: g.p + r, last: 2 * g.p}
	for e := g.q; e >= 0; e-- {
		w.next[e+1], w.prev[e+1] = int8(e), int8(e+2)
	}
	w.next[0], w.prev[0], w.prev[g.q+1] = int8(g.q+1), 1, 0
	w.unlink(b + 1)
	w.search(0, g.q+1)
	for k := range g.q {
		if s[k] = w.found[k] - int32(g.q); s[k] == 0 {
			s[k] = int32(b)
		}
	}
	return s
}

// way is the search of receives. The skips that are still free form a list, from the largest to the smallest, in which
// skip e is at e+1, and 0 is the end.
type way struct {
	g            *circulant
	target, last int
	k            int
	next, prev   [mostRounds + 2]int8
	found        schedule
}

func (w *way) unlink(i int) {
	w.next[w.prev[i]], w.prev[w.next[i]] = w.next[i], w.prev[i]
}

// search finds blocks from rank `from` on, with skips from place i of the list on.
func (w *way) search(from, i int) {
	skip := &w.g.skip
	for ; i != 0 && w.k < w.g.q; i = int(w.next[i]) {
		to := from + skip[i-1]
		if to > w.target-skip[w.k] || to >= w.last {
			continue
		}
		if to <= w.target-skip[w.k+1] {
			if w.search(to, i); w.k >= w.g.q {
				return
			}
		}
		if from > w.target-skip[w.k+1] {
			return
		}
		w.last, w.found[w.k] = to, int32(i-1)
		w.k++
		w.unlink(i)
	}
}

// sends computes which blocks rank r sends. Mostly that follows from where r lies in the halves of the ranks; at most 3
// times the receiver has to be asked.
func (g *circulant) sends(r int) (s schedule) {
	if r == 0 {
		for k := range g.q {
			s[k] = int32(k)
		}
		return s
	}
	b := g.base(r)
	at, block, end := r, b, g.p // r is place `at` of the first `end` ranks
	for k := g.q - 1; k > 0; k-- {
		clear := false
		lower := at < g.skip[k]
		if lower {
			clear = at+g.skip[k] < end || end < g.skip[k-1] || k == 1 && b > 0
		} else {
			block = k - g.q
			clear = k == 1 || at > g.skip[k] || end-g.skip[k] < g.skip[k-1]
		}
		if s[k] = int32(block); !clear {
			receiver := g.receives((r + g.skip[k]) % g.p)
			s[k] = receiver[k]
		}
		if lower {
			end = min(end, g.skip[k])
		} else {
			at, end = at-g.skip[k], end-g.skip[k]
		}
	}
	s[0] = int32(b - g.q)
	return s
}

// roundsOf is the first and the last round, plus 1, of a broadcast of n blocks.
func (g *circulant) roundsOf(n int) (first, end int) {
	first = (g.q - (n-1)%g.q) % g.q
	return first, first + n - 1 + g.q
}

// block is the block of round i by a schedule, -1 if there is none.
func (g *circulant) block(s *schedule, i, first, n int) int {
	b := int(s[i%g.q]) + i/g.q*g.q - first
	if b < 0 {
		return -1
	}
	return min(b, n-1)
}

// bcastCirculant takes n-1 + q rounds for n blocks, q = ceil(log2 p). With the best n it takes the time
// (sqrt((q-1) a) + sqrt(m b))^2 for m bytes.
func bcastCirculant(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	p := c.Size()
	v := (c.Rank() - root + p) % p
	m, err := s.flat(c, b, v == 0)
	if err != nil {
		return err
	}
	g := newCirculant(p)
	n := choose.Blocks(m.Count, g.q-1)
	k := evenly(m, n)
	in, out := g.receives(v), g.sends(v)
	first, end := g.roundsOf(n)
	for i := first; i < end; i++ {
		skip := g.skip[i%g.q]
		to, from := (v+skip)%p, (v-skip+p)%p
		if get := g.block(&in, i, first, n); get >= 0 && v != 0 {
			if err := s.Add(c.Irecv(k.of(m, get, get+1), (from+root)%p, tagBcast)); err != nil {
				return err
			}
		}
		if put := g.block(&out, i, first, n); put >= 0 && to != 0 {
			if err := c.Send(k.of(m, put, put+1), (to+root)%p, tagBcast); err != nil {
				return err
			}
		}
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	return unflat(c, b, m, v == 0)
}

// reduceCirculant is the broadcast in reverse: what a rank would receive it sends, and what it would send it receives
// and combines. The same rounds, for operations that commute.
func (s *Scratch) reduceCirculant(c Comm, own, recv Buf, op Op, root int) error {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	acc := recv
	var err error
	if v != 0 {
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	g := newCirculant(p)
	n := int(min(int64(choose.Blocks(own.Size(), g.q-1)), own.Count))
	k := evenly(own, n)
	tmp, err := s.Typed(k.longest(), own.Type)
	if err != nil {
		return err
	}
	receives, sends := g.receives(v), g.sends(v)
	first, end := g.roundsOf(n)
	for i := end - 1; i >= first; i-- {
		skip := g.skip[i%g.q]
		below, above := (v-skip+p)%p, (v+skip)%p
		in, from, out, to := Buf{}, -1, Buf{}, -1
		if get := g.block(&sends, i, first, n); get >= 0 && above != 0 {
			in, from = k.of(acc, get, get+1), (above+root)%p
		}
		if put := g.block(&receives, i, first, n); put >= 0 && v != 0 {
			out, to = k.of(acc, put, put+1), (below+root)%p
		}
		if err := s.exchangeAndCombine(c, op, tmp, in, from, out, to, tagReduce); err != nil {
			return err
		}
	}
	return nil
}
