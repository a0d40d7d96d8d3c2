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
	if err := s.bcastBlocks(c, m, choose.Blocks(m.Count, rounds(p)-1), root, nil); err != nil {
		return err
	}
	return unflat(c, b, m, v == 0)
}

// bcastBlocks broadcasts bytes in n blocks. Meanwhile a rank hands on those that it has at other levels.
func (s *Scratch) bcastBlocks(c Comm, m Buf, n, root int, below []handOn) error {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	g, k := newCirculant(p), evenly(m, n)
	got := 0 // blocks, from the first one on
	var has []byte
	if len(below) > 0 {
		var err error
		if has, err = s.Alloc(int64(n)); err != nil {
			return err
		}
		clear(has)
	}
	in, out := g.receives(v), g.sends(v)
	first, end := g.roundsOf(n)
	for i := first; i < end; i++ {
		skip := g.skip[i%g.q]
		to, from := (v+skip)%p, (v-skip+p)%p
		under := len(s.reqs)
		get := g.block(&in, i, first, n)
		if get >= 0 && v != 0 {
			if err := s.Add(c.Irecv(k.of(m, get, get+1), (from+root)%p, tagBcast)); err != nil {
				return err
			}
		}
		if put := g.block(&out, i, first, n); put >= 0 && to != 0 {
			if err := c.Send(k.of(m, put, put+1), (to+root)%p, tagBcast); err != nil {
				return err
			}
		}
		if len(s.reqs) > under {
			if err := c.Wait(s.reqs[under:]...); err != nil {
				return err
			}
			s.reqs = s.reqs[:under]
		}
		if len(below) == 0 {
			continue
		}
		if get >= 0 && v != 0 {
			has[get] = 1
		}
		for got < n && (has[got] > 0 || v == 0 && got <= i-first) {
			got++
		}
		if err := s.handOn(c, m, &k, below, got); err != nil {
			return err
		}
	}
	if err := s.handOn(c, m, &k, below, n); err != nil {
		return err
	}
	return s.Wait(c)
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
	n := int(min(int64(choose.Blocks(own.Size(), rounds(p)-1)), own.Count))
	return s.reduceBlocks(c, acc, op, n, root, nil)
}

// reduceBlocks combines vectors in n blocks, each rank that in acc, at root. A rank has combined each block at the
// levels below before it sends it on.
func (s *Scratch) reduceBlocks(c Comm, acc Buf, op Op, n, root int, below []fanIn) error {
	f := &s.fanIn
	if err := f.begin(s, c, acc, op, n, root); err != nil {
		return err
	}
	receives := f.g.receives(f.v)
	for i := f.end - 1; i >= f.first; i-- {
		put := f.g.block(&receives, i, f.first, n)
		done := put
		if f.v == 0 {
			done = f.g.block(&f.sends, i, f.first, n)
		}
		for l := range below {
			if err := below[l].until(done); done >= 0 && err != nil {
				return err
			}
		}
		if err := f.post(i - 1); err != nil {
			return err
		}
		if put >= 0 && f.v != 0 {
			below := (f.v - f.g.skip[i%f.g.q] + f.g.p + root) % f.g.p
			if err := c.Send(f.k.of(acc, put, put+1), below, tagReduce); err != nil {
				return err
			}
		}
		if err := f.take(i); err != nil {
			return err
		}
	}
	for l := range below {
		if err := below[l].until(0); err != nil {
			return err
		}
	}
	return nil
}

// fanIn is what a rank receives in the rounds of a reduction. One block comes while the one before it is combined.
type fanIn struct {
	c          Comm
	acc        Buf
	op         Op
	k          cut
	g          circulant
	sends      schedule // in the broadcast
	v, root    int
	first, end int
	at         int // round of until
	tmp        [2]Buf
	reqs       [2]Req
	block      [2]int // that comes; -1: none
}

// begin starts to receive what comes first.
func (f *fanIn) begin(s *Scratch, c Comm, acc Buf, op Op, n, root int) (err error) {
	p := c.Size()
	f.c, f.acc, f.op, f.k, f.g = c, acc, op, evenly(acc, n), newCirculant(p)
	f.v, f.root = (c.Rank()-root+p)%p, root
	f.sends = f.g.sends(f.v)
	f.first, f.end = f.g.roundsOf(n)
	f.at = f.end - 1
	for i := range f.tmp {
		if f.tmp[i], err = s.Typed(f.k.longest(), acc.Type); err != nil {
			return err
		}
	}
	return f.post(f.at)
}

// post starts to receive what comes in round i, if there is that round.
func (f *fanIn) post(i int) (err error) {
	slot := i & 1
	if f.block[slot] = -1; i < f.first {
		return nil
	}
	above := (f.v + f.g.skip[i%f.g.q]) % f.g.p
	if get := f.g.block(&f.sends, i, f.first, f.k.n); get >= 0 && above != 0 {
		f.block[slot] = get
		b := f.k.of(f.acc, get, get+1)
		f.reqs[slot], err = f.c.Irecv(f.tmp[slot].Slice(0, b.Count), (above+f.root)%f.g.p, tagReduce)
	}
	return err
}

// take combines what has come in round i.
func (f *fanIn) take(i int) error {
	slot := i & 1
	get := f.block[slot]
	if get < 0 {
		return nil
	}
	if err := f.c.Wait(f.reqs[slot : slot+1]...); err != nil {
		return err
	}
	b := f.k.of(f.acc, get, get+1)
	return f.c.Combine(f.op, f.tmp[slot].Slice(0, b.Count), b)
}

// until takes at the root what comes of all blocks from one on.
func (f *fanIn) until(block int) error {
	for ; f.at >= f.first && f.g.block(&f.sends, f.at, f.first, f.k.n) >= block; f.at-- {
		if err := f.post(f.at - 1); err != nil {
			return err
		}
		if err := f.take(f.at); err != nil {
			return err
		}
	}
	return nil
}
