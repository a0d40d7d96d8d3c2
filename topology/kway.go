package topology

import "math"

// chains improves a partition into k parts of fixed sizes (Kernighan and Lin's idea between k parts at once; Traff
// 2006). A move from one part to another leaves a hole behind and makes the other part too large; the next move is
// from there, until one fills the hole: a chain. Its moves are those with the largest gain, be it negative, each
// node moves at most once a pass, and the state after the best of the pass's chains is kept. Finding a move costs
// the same whatever k is; only the chain's beginning looks at all k parts.
type chains struct {
	g       *Graph
	part    []int32
	members [][]int32 // of each part, those that have not moved in this pass
	place   []int32   // of a node among the members of its part, -1 if it has moved
	heaps   []heap    // of each part: its members that have neighbors in another, by the gain of their best move
	target  []int32   // of such a node
	moves   []chainMove
	links   []int64 // by part: the weight of a node's edges to it; 0 between uses
	budget  int     // edges that may still be looked at
}

type chainMove struct{ v, from int32 }

const (
	chainMoves = 6       // of the longest chain
	edgeBudget = 2 << 26 // edges that a refinement may look at: below a second
)

func newChains(g *Graph, part []int32, k int) *chains {
	c := &chains{g: g, part: part, members: make([][]int32, k), place: make([]int32, len(part)), heaps: make([]heap, k),
		target: make([]int32, len(part)), links: make([]int64, k), budget: edgeBudget}
	gain, at := make([]int64, len(part)), none(len(part))
	for p := range c.heaps {
		c.heaps[p] = heap{gain: gain, at: at}
	}
	return c
}

// refine makes passes until one brings nothing, or the work would take too long.
func (c *chains) refine() {
	for c.budget > 0 && c.pass() {
	}
}

func (c *chains) pass() bool {
	c.begin()
	patience := 64 + len(c.part)/32
	best, kept, gain := int64(0), 0, int64(0)
	for since := 0; since < patience && c.budget > 0; since++ {
		g, closed := c.chain()
		if !closed {
			break
		}
		if gain += g; gain > best {
			best, kept, since = gain, len(c.moves), 0
		}
	}
	for i := len(c.moves) - 1; i >= kept; i-- {
		c.part[c.moves[i].v] = c.moves[i].from
	}
	return best > 0
}

// begin makes all nodes free to move.
func (c *chains) begin() {
	c.moves = c.moves[:0]
	for p := range c.members {
		c.members[p] = c.members[p][:0]
		c.heaps[p].nodes = c.heaps[p].nodes[:0]
	}
	for v, p := range c.part {
		c.place[v] = int32(len(c.members[p]))
		c.members[p] = append(c.members[p], int32(v))
		c.heaps[p].at[v] = -1
	}
	for v := range c.part {
		c.weigh(int32(v))
	}
}

// weigh finds the best move of a node that has not moved, and puts the node where it belongs in its part's heap.
func (c *chains) weigh(v int32) {
	g, own := c.g, c.part[v]
	for i := g.first[v]; i < g.first[v+1]; i++ {
		c.links[c.part[g.to[i]]] += g.weight[i]
	}
	best, most := int32(-1), int64(0)
	for i := g.first[v]; i < g.first[v+1]; i++ {
		if p := c.part[g.to[i]]; p != own && (c.links[p] > most || c.links[p] == most && p < best) {
			best, most = p, c.links[p]
		}
	}
	inside := c.links[own]
	for i := g.first[v]; i < g.first[v+1]; i++ {
		c.links[c.part[g.to[i]]] = 0
	}
	c.budget -= g.first[v+1] - g.first[v]
	if c.target[v] = best; best < 0 {
		c.heaps[own].drop(v)
		return
	}
	c.heaps[own].put(v, most-inside)
}

// toward is the gain of moving a node to a part.
func (c *chains) toward(v, p int32) (gain int64) {
	g, own := c.g, c.part[v]
	for i := g.first[v]; i < g.first[v+1]; i++ {
		switch c.part[g.to[i]] {
		case p:
			gain += g.weight[i]
		case own:
			gain -= g.weight[i]
		}
	}
	c.budget -= g.first[v+1] - g.first[v]
	return gain
}

// move moves a node, for the rest of the pass.
func (c *chains) move(v, to int32) {
	from := c.part[v]
	c.moves = append(c.moves, chainMove{v, from})
	c.heaps[from].drop(v)
	m := c.members[from]
	last := m[len(m)-1]
	m[c.place[v]], c.place[last] = last, c.place[v]
	c.members[from], c.place[v] = m[:len(m)-1], -1
	c.part[v] = to
	g := c.g
	for i := g.first[v]; i < g.first[v+1]; i++ {
		if u := g.to[i]; c.place[u] >= 0 {
			c.weigh(u)
		}
	}
}

// chain makes one chain of moves and returns its gain; not closed says that there is none left, and nothing moved
// that pass does not take back.
func (c *chains) chain() (gain int64, closed bool) {
	hole, best := int32(-1), int64(math.MinInt64)
	for p := range c.heaps {
		if v := c.heaps[p].top(); v >= 0 && c.heaps[p].gain[v] > best {
			hole, best = int32(p), c.heaps[p].gain[v]
		}
	}
	if hole < 0 {
		return 0, false
	}
	v := c.heaps[hole].top()
	over := c.target[v]
	gain = best
	c.move(v, over)
	for moves := 2; ; moves++ {
		back, returns := c.closing(over, hole)
		if u := c.heaps[over].top(); u >= 0 && moves < chainMoves && c.target[u] != hole &&
			(back < 0 || c.heaps[over].gain[u] > returns) {
			gain += c.heaps[over].gain[u]
			over = c.target[u]
			c.move(u, over)
			continue
		}
		if back < 0 {
			return 0, false
		}
		c.move(back, hole)
		return gain + returns, true
	}
}

// closing is the member of a part that it is best to move into the hole, and the gain; -1 if the part has none.
func (c *chains) closing(over, hole int32) (best int32, gain int64) {
	best, gain = -1, math.MinInt64
	for _, v := range c.members[over] {
		if h := c.toward(v, hole); h > gain || h == gain && v < best {
			best, gain = v, h
		}
	}
	return best, gain
}
