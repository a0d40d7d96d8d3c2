package topo

import "github.com/libimpi/libimpi/topology"

// Place finds the process, of those to which paths lead (package topology), for each place of the grid.
func (t *Cart) Place(paths [][]int32) []int32 {
	return topology.MapGrid(topology.Grid{Dims: t.Dims, Periods: t.Periods}, paths)
}

// Place finds the process for each node of the graph.
func (t *Graph) Place(paths [][]int32) []int32 {
	edges := make([]topology.Edge, 0, len(t.Edges))
	for v := range t.Size() {
		_, to := t.Neighbors(v)
		for _, u := range to {
			edges = append(edges, topology.Edge{A: int32(v), B: u, Weight: 1})
		}
	}
	return topology.Map(topology.NewGraph(t.Size(), edges), paths)
}

// Outwards is the graph of n nodes of which each has told its edges outward. What makes no sense is left out: a mapping
// is only good or bad.
func Outwards(n int, edges, counts []int32) *topology.Graph {
	list := make([]topology.Edge, 0, len(edges)/2)
	for v, count := range counts {
		of := edges[:count]
		edges = edges[count:]
		for ; len(of) >= 2; of = of[2:] {
			if to, weight := of[0], of[1]; to >= 0 && int(to) < n && weight >= 0 {
				list = append(list, topology.Edge{A: int32(v), B: to, Weight: int64(weight)})
			}
		}
	}
	return topology.NewGraph(n, list)
}
