package topology

import (
	"math"
	"slices"
	"testing"
	"testing/quick"
)

// adjacency is the slow form of a graph.
func adjacency(n int, edges []Edge) [][]int64 {
	m := make([][]int64, n)
	for i := range m {
		m[i] = make([]int64, n)
	}
	for _, e := range edges {
		if e.A != e.B && e.Weight > 0 {
			m[e.A][e.B] += e.Weight
			m[e.B][e.A] += e.Weight
		}
	}
	return m
}

// arbitrary makes a graph of arbitrary bytes: odd shapes as they come.
func arbitrary(n int, raw []byte) (edges []Edge) {
	if n == 0 {
		return nil
	}
	for ; len(raw) >= 3; raw = raw[3:] {
		edges = append(edges, Edge{int32(int(raw[0]) % n), int32(int(raw[1]) % n), int64(raw[2]) - 2})
	}
	return edges
}

// random is a graph of n nodes and m edges.
func random(n, m int, seed uint64) []Edge {
	s := sequence(seed*2 + 1)
	edges := make([]Edge, m)
	for i := range edges {
		edges[i] = Edge{int32(s.next() % uint64(n)), int32(s.next() % uint64(n)), int64(s.next() % 10)}
	}
	return edges
}

func TestAGraphAddsUpItsEdges(t *testing.T) {
	err := quick.Check(func(size uint8, raw []byte) bool {
		n := int(size % 12)
		edges := arbitrary(n, raw)
		g, want := NewGraph(n, edges), adjacency(n, edges)
		if g.Size() != n {
			return false
		}
		for v := range n {
			got := make([]int64, n)
			for i := g.first[v]; i < g.first[v+1]; i++ {
				if got[g.to[i]] != 0 || g.weight[i] <= 0 {
					return false // twice, or nothing
				}
				got[g.to[i]] = g.weight[i]
			}
			if !slices.Equal(got, want[v]) {
				return false
			}
		}
		return true
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestCutIsTheWeightBetweenParts(t *testing.T) {
	err := quick.Check(func(raw []byte, parts [9]uint8) bool {
		edges := arbitrary(9, raw)
		part := make([]int32, 9)
		for v := range part {
			part[v] = int32(parts[v] % 3)
		}
		want := int64(0)
		for _, e := range edges {
			if e.Weight > 0 && part[e.A] != part[e.B] {
				want += e.Weight
			}
		}
		return NewGraph(9, edges).Cut(part) == want
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestAnInducedGraphHasTheEdgesAmongItsNodes(t *testing.T) {
	err := quick.Check(func(raw []byte, chosen [9]bool) bool {
		edges := arbitrary(9, raw)
		want := adjacency(9, edges)
		var nodes []int32
		for v, in := range chosen {
			if in {
				nodes = append(nodes, int32(v))
			}
		}
		scratch := none(9)
		s := NewGraph(9, edges).induced(nodes, scratch)
		sum := int64(0)
		for v := range s.Size() {
			for i := s.first[v]; i < s.first[v+1]; i++ {
				if want[nodes[v]][nodes[s.to[i]]] != s.weight[i] {
					return false
				}
				sum += s.weight[i]
			}
		}
		for _, v := range nodes {
			for _, u := range nodes {
				sum -= want[v][u]
			}
		}
		return sum == 0 && slices.Equal(scratch, none(9))
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestCoarseningKeepsSizesAndCuts(t *testing.T) {
	for seed := range uint64(50) {
		n := 2 + int(seed)*3
		g := NewGraph(n, random(n, 2*n, seed))
		s := sequence(seed + 1)
		c, to := g.coarsen(3, &s)
		c2, to2 := c.coarsen(3, &s)
		for _, step := range []struct {
			fine, coarse *Graph
			to           []int32
		}{{g, c, to}, {c, c2, to2}} {
			sizes := make([]int32, step.coarse.Size())
			for v, u := range step.to {
				sizes[u] += step.fine.sizeOf(int32(v))
			}
			if !slices.Equal(sizes, step.coarse.size) || slices.Max(sizes) > 3 {
				t.Fatalf("seed %d: sizes %v, of nodes that stand for %v", seed, step.coarse.size, sizes)
			}
			part := make([]int32, step.coarse.Size())
			for u := range part {
				part[u] = int32(s.next() % 4)
			}
			up := make([]int32, step.fine.Size())
			for v := range up {
				up[v] = part[step.to[v]]
			}
			if a, b := step.coarse.Cut(part), step.fine.Cut(up); a != b {
				t.Fatalf("seed %d: a cut of %d is %d in the coarser graph", seed, b, a)
			}
		}
	}
}

func TestAHeapHasItsBestNodeOnTop(t *testing.T) {
	err := quick.Check(func(steps []struct {
		Node uint8
		Gain int8
		Drop bool
	}) bool {
		const n = 20
		h := heap{gain: make([]int64, n), at: none(n)}
		held := map[int32]int64{}
		for _, s := range steps {
			v := int32(s.Node % n)
			if s.Drop {
				h.drop(v)
				delete(held, v)
			} else {
				h.put(v, int64(s.Gain))
				held[v] = int64(s.Gain)
			}
			want, best := int32(-1), int64(math.MinInt64)
			for v := range int32(n) {
				if gain, ok := held[v]; ok && gain > best {
					want, best = v, gain
				}
			}
			if h.top() != want || len(h.nodes) != len(held) {
				return false
			}
		}
		return true
	}, nil)
	if err != nil {
		t.Error(err)
	}
}
