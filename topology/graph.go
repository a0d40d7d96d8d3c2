// Package topology places the processes of a virtual topology on a machine: it renumbers them so that neighbors
// come to stand close to each other (Traff 2010, chapter 10). It knows nothing of MPI: a communication graph and
// the place of each process in a hierarchy come in, a permutation leaves.
//
//	Map, MapGrid     down the hierarchy, one partition of the graph for each of its nodes    (map.go)
//	  -> Blocks      a grid's closed form: equal blocks of it                                (grid.go)
//	  -> partition   k parts of prescribed sizes with a small cut                            (partition.go)
//	       -> bisect   by halves: coarsen, grow, refine (Fiduccia-Mattheyses)                (bisect.go, coarsen.go)
//	       -> refine   between all k parts: chains of moves (Kernighan-Lin)                  (kway.go)
//
// The order that the processes have already is one of the candidates everywhere, so that no result is worse.
// All is deterministic and in integers: processes that compute it apart from each other come to the same answer.
package topology

// Edge says that two nodes exchange data, in any direction.
type Edge struct {
	A, B   int32
	Weight int64
}

// Graph is an undirected graph with weighted edges, each of which stands at both of its ends.
type Graph struct {
	first  []int // of each node's edges, and the end
	to     []int32
	weight []int64
	size   []int32 // how many nodes of the graph it was made from each node stands for; nil: one
}

// NewGraph makes a graph of n nodes, 0 to n-1. Edges between the same nodes are added up; self loops and edges
// without a positive weight mean nothing. The sum of all weights must be below 2^62. Memory and time are linear.
func NewGraph(n int, edges []Edge) *Graph {
	counts := make([]int, n+1)
	for _, e := range edges {
		if e.A != e.B && e.Weight > 0 {
			counts[e.A+1]++
			counts[e.B+1]++
		}
	}
	for i := range n {
		counts[i+1] += counts[i]
	}
	at := append([]int(nil), counts[:n]...)
	g := &Graph{first: make([]int, n+1), to: make([]int32, counts[n]), weight: make([]int64, counts[n])}
	put := func(from, to int32, w int64) {
		g.to[at[from]], g.weight[at[from]] = to, w
		at[from]++
	}
	for _, e := range edges {
		if e.A != e.B && e.Weight > 0 {
			put(e.A, e.B, e.Weight)
			put(e.B, e.A, e.Weight)
		}
	}
	g.merge(counts)
	return g
}

// merge adds up the edges between the same nodes, of a graph whose node v has those from at[v] to at[v+1].
func (g *Graph) merge(at []int) {
	n := len(g.first) - 1
	seen := make([]int, n) // where the edge to a node stands
	for i := range seen {
		seen[i] = -1
	}
	end := 0
	for v := range n {
		begin := end
		for i := at[v]; i < at[v+1]; i++ {
			u := g.to[i]
			if seen[u] >= begin {
				g.weight[seen[u]] += g.weight[i]
				continue
			}
			seen[u] = end
			g.to[end], g.weight[end] = u, g.weight[i]
			end++
		}
		g.first[v+1] = end
	}
	g.to, g.weight = g.to[:end:end], g.weight[:end:end]
}

// Size is the number of nodes.
func (g *Graph) Size() int { return len(g.first) - 1 }

// Cut is the weight of the edges between different parts.
func (g *Graph) Cut(part []int32) (cut int64) {
	for v := range g.Size() {
		for i := g.first[v]; i < g.first[v+1]; i++ {
			if u := g.to[i]; part[u] != part[v] && int(u) > v {
				cut += g.weight[i]
			}
		}
	}
	return cut
}

// sizeOf is the number of original nodes that a node stands for.
func (g *Graph) sizeOf(v int32) int32 {
	if g.size == nil {
		return 1
	}
	return g.size[v]
}

// induced is the graph of some nodes, numbered in their order, and the edges among them. scratch has an element
// for each node of g, -1 before and after.
func (g *Graph) induced(nodes, scratch []int32) *Graph {
	for i, v := range nodes {
		scratch[v] = int32(i)
	}
	s := &Graph{first: make([]int, 1, len(nodes)+1)}
	for _, v := range nodes {
		for i := g.first[v]; i < g.first[v+1]; i++ {
			if u := scratch[g.to[i]]; u >= 0 {
				s.to, s.weight = append(s.to, u), append(s.weight, g.weight[i])
			}
		}
		s.first = append(s.first, len(s.to))
	}
	for _, v := range nodes {
		scratch[v] = -1
	}
	return s
}

// none is a scratch for n nodes: -1 everywhere.
func none(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}
