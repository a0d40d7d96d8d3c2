package topology

import "math"

const (
	coarse = 32 // nodes of a graph that is not coarsened further
	starts = 8  // nodes from which a half is grown
)

// bisect parts the graph into side 0, of the given size, and side 1, by several shuffles of a small graph and one of
// a large. All of its nodes have size 1.
func (g *Graph) bisect(size int, tries int) []int32 {
	var best []int32
	least := int64(math.MaxInt64)
	for t := range tries {
		s := sequence(uint64(t+1) * 0x9e3779b97f4a7c15)
		side := g.multilevel(int64(size), &s)
		if cut := g.Cut(side); cut < least {
			least, best = cut, side
		}
	}
	return best
}

// multilevel bisects a coarser graph first and refines its answer; the coarsest is bisected by growing one half.
func (g *Graph) multilevel(size int64, s *sequence) []int32 {
	n := g.Size()
	var side []int32
	if n > coarse {
		limit := int32(g.total()/coarse*3/2 + 1)
		if c, to := g.coarsen(limit, s); c.Size() < n-n/16 {
			up := c.multilevel(size, s)
			side = make([]int32, n)
			for v := range side {
				side[v] = up[to[v]]
			}
		}
	}
	if side == nil {
		return g.grow(size, s)
	}
	b := newBisection(g, side, size)
	b.refine()
	return side
}

func (g *Graph) total() (sum int64) {
	for v := range g.Size() {
		sum += int64(g.sizeOf(int32(v)))
	}
	return sum
}

// grow grows side 0 from several nodes, each time the node next that adds least to the cut, and refines.
func (g *Graph) grow(size int64, s *sequence) (best []int32) {
	n := g.Size()
	least, off := int64(math.MaxInt64), int64(math.MaxInt64)
	order := s.order(n)
	for _, start := range order[:min(n, starts)] {
		side := make([]int32, n)
		for v := range side {
			side[v] = 1
		}
		b := newBisection(g, side, size)
		b.begin()
		for v := start; v >= 0 && b.excess+int64(g.sizeOf(v)) <= 0; v = b.heaps[1].top() {
			b.move(v)
		}
		b.refine()
		excess := max(b.excess, -b.excess)
		if cut := g.Cut(side); excess <= b.slack && off > b.slack || (excess <= b.slack) == (off <= b.slack) && cut < least {
			least, off, best = cut, excess, side
		}
	}
	return best
}

// bisection is the state of a refinement (Fiduccia and Mattheyses, 1982): nodes are moved one by one to the other
// side, each at most once a pass, always the one that helps the cut most or harms it least; then the best state of
// the pass is restored.
type bisection struct {
	g      *Graph
	side   []int32
	excess int64 // of side 0 over its size
	slack  int64 // how far off a result may be: 0 if all nodes have size 1
	step   int64 // how far off it may be in between: the largest node

	heaps [2]heap // the nodes that have not moved, by side
	moved []int32
}

func newBisection(g *Graph, side []int32, size int64) *bisection {
	n := g.Size()
	b := &bisection{g: g, side: side, excess: -size, step: 1}
	gain, at := make([]int64, n), none(n)
	for i := range b.heaps {
		b.heaps[i] = heap{gain: gain, at: at}
	}
	for v, s := range side {
		w := int64(g.sizeOf(int32(v)))
		b.step = max(b.step, w)
		if s == 0 {
			b.excess += w
		}
	}
	if g.size != nil {
		b.slack = b.step
	}
	return b
}

// begin puts all nodes into the heaps.
func (b *bisection) begin() {
	b.moved = b.moved[:0]
	for v := range b.side {
		b.heaps[0].at[v] = -1
	}
	for i := range b.heaps {
		b.heaps[i].nodes = b.heaps[i].nodes[:0]
	}
	g := b.g
	for v, s := range b.side {
		gain := int64(0)
		for i := g.first[v]; i < g.first[v+1]; i++ {
			if b.side[g.to[i]] == s {
				gain -= g.weight[i]
			} else {
				gain += g.weight[i]
			}
		}
		b.heaps[s].put(int32(v), gain)
	}
}

// move puts a node on the other side, for the rest of the pass.
func (b *bisection) move(v int32) {
	b.heaps[b.side[v]].drop(v)
	b.flip(v)
	g := b.g
	for i := g.first[v]; i < g.first[v+1]; i++ {
		u := g.to[i]
		if h := &b.heaps[b.side[u]]; h.at[u] >= 0 {
			by := 2 * g.weight[i]
			if b.side[u] == b.side[v] {
				by = -by
			}
			h.put(u, h.gain[u]+by)
		}
	}
	b.moved = append(b.moved, v)
}

func (b *bisection) flip(v int32) {
	w := int64(b.g.sizeOf(v))
	if b.side[v] == 0 {
		w = -w
	}
	b.side[v] ^= 1
	b.excess += w
}

// next is the node to move: the better of those that head the two sides, of which the move leaves the sizes near.
func (b *bisection) next() int32 {
	choice, gain := int32(-1), int64(math.MinInt64)
	for s := range b.heaps {
		v := b.heaps[s].top()
		if v < 0 {
			continue
		}
		after := b.excess + int64(b.g.sizeOf(v))
		lighter := b.excess < 0
		if s == 0 {
			after = b.excess - int64(b.g.sizeOf(v))
			lighter = b.excess > 0
		}
		if !lighter && max(after, -after) > b.step {
			continue
		}
		if lighter && b.excess != 0 && max(b.excess, -b.excess) > b.step {
			return v // far off: sizes first
		}
		if h := b.heaps[s].gain[v]; h > gain || h == gain && lighter {
			choice, gain = v, h
		}
	}
	return choice
}

// state is what a pass looks for: sizes that are near enough, then a small cut, then sizes that are nearer.
type state struct {
	off  int64 // beyond the slack
	gain int64
	away int64
}

func (b *bisection) state(gain int64) state {
	away := max(b.excess, -b.excess)
	return state{max(0, away-b.slack), gain, away}
}

func (s state) better(o state) bool {
	if s.off != o.off {
		return s.off < o.off
	}
	if s.gain != o.gain {
		return s.gain > o.gain
	}
	return s.away < o.away
}

// refine makes passes until one brings nothing.
func (b *bisection) refine() {
	for b.pass() {
	}
}

func (b *bisection) pass() bool {
	b.begin()
	patience := 64 + len(b.side)/16
	first := b.state(0)
	best, kept, gain := first, 0, int64(0)
	for v := b.next(); v >= 0; v = b.next() {
		gain += b.heaps[b.side[v]].gain[v]
		b.move(v)
		if s := b.state(gain); s.better(best) {
			best, kept = s, len(b.moved)
		} else if best.off == 0 && len(b.moved)-kept > patience {
			break
		}
	}
	for _, v := range b.moved[kept:] {
		b.flip(v)
	}
	return best.off < first.off || best.gain > first.gain
}
