package topo

import "github.com/libimpi/libimpi/abi"

// Graph is a graph that every process knows in full (MPI 5.0, 8.5.3): the neighbors of node i are
// Edges[Index[i-1]:Index[i]], with Index[-1] = 0.
type Graph struct{ Index, Edges []int32 }

// CheckIndex checks the degrees of a graph for a group of size processes.
func CheckIndex(index []int32, size int) error {
	if len(index) > size {
		return errorf(abi.MPI_ERR_ARG, "a graph of %d nodes has more of them than the group's %d processes", len(index), size)
	}
	before := int32(0)
	for i, n := range index {
		if n < before {
			return errorf(abi.MPI_ERR_ARG, "index[%d] is %d, less than %d before it", i, n, before)
		}
		before = n
	}
	return nil
}

// NewGraph checks the edges of a graph whose index has been checked.
func NewGraph(index, edges []int32) (*Graph, error) {
	for i, e := range edges {
		if e < 0 || int(e) >= len(index) {
			return nil, errorf(abi.MPI_ERR_ARG, "edges[%d] is %d, and the graph has nodes 0 to %d", i, e, len(index)-1)
		}
	}
	return &Graph{index, edges}, nil
}

// Kind is MPI_GRAPH.
func (t *Graph) Kind() int { return abi.MPI_GRAPH }

// Size is the number of nodes.
func (t *Graph) Size() int { return len(t.Index) }

// Neighbors are the same in both directions.
func (t *Graph) Neighbors(rank int) (sources, destinations []int32) {
	from := int32(0)
	if rank > 0 {
		from = t.Index[rank-1]
	}
	n := t.Edges[from:t.Index[rank]]
	return n, n
}

// DistGraph is the calling process's part of a distributed graph (MPI 5.0, 8.5.4): its own neighbors, and the
// weights of the edges from and to them if it is weighted.
type DistGraph struct {
	Weighted                  bool
	Sources, SourceWeights    []int32
	Destinations, DestWeights []int32
}

// Edge is an edge of a distributed graph.
type Edge struct{ Source, Destination, Weight int32 }

// Kind is MPI_DIST_GRAPH.
func (t *DistGraph) Kind() int { return abi.MPI_DIST_GRAPH }

// Neighbors are the calling process's, whatever the rank: nobody else's are known.
func (t *DistGraph) Neighbors(int) (sources, destinations []int32) { return t.Sources, t.Destinations }

// Check looks at ranks and weights, for a group of size processes.
func (t *DistGraph) Check(size int) error {
	for _, side := range [...]struct {
		ranks, weights []int32
		names          [2]string
	}{
		{t.Sources, t.SourceWeights, [2]string{"sources", "sourceweights"}},
		{t.Destinations, t.DestWeights, [2]string{"destinations", "destweights"}},
	} {
		for i, r := range side.ranks {
			if r < 0 || int(r) >= size {
				return errorf(abi.MPI_ERR_RANK, "%s[%d] is %d, and the communicator has ranks 0 to %d", side.names[0], i, r, size-1)
			}
		}
		for i, w := range side.weights {
			if w < 0 {
				return errorf(abi.MPI_ERR_ARG, "%s[%d] is negative: %d", side.names[1], i, w)
			}
		}
	}
	return nil
}

// What a process is told of an edge: which of its ends it is, the other end, and the weight.
const (
	isSource      = 0
	isDestination = 1
	endInts       = 3
)

// Ends writes each edge down for both of its ends, ordered by the rank that is to get it, and tells how many
// integers each rank gets.
func Ends(edges []Edge, size int) (ends, counts []int32) {
	counts = make([]int32, size)
	for _, e := range edges {
		counts[e.Source] += endInts
		counts[e.Destination] += endInts
	}
	at := make([]int64, size)
	ends = make([]int32, Prefix(counts, at))
	add := func(rank, end, other, weight int32) {
		copy(ends[at[rank]:], []int32{end, other, weight})
		at[rank] += endInts
	}
	for _, e := range edges {
		add(e.Source, isSource, e.Destination, e.Weight)
		add(e.Destination, isDestination, e.Source, e.Weight)
	}
	return ends, counts
}

// FromEnds makes a process's part of the graph of what the others say of its edges.
func FromEnds(ends []int32, size int, weighted bool) (*DistGraph, error) {
	t := &DistGraph{Weighted: weighted}
	for ; len(ends) >= endInts; ends = ends[endInts:] {
		end, other, weight := ends[0], ends[1], ends[2]
		if other < 0 || int(other) >= size || end != isSource && end != isDestination {
			return nil, errorf(abi.MPI_ERR_INTERN, "a process described an edge as %v", ends[:endInts])
		}
		if end == isSource {
			t.Destinations, t.DestWeights = append(t.Destinations, other), append(t.DestWeights, weight)
		} else {
			t.Sources, t.SourceWeights = append(t.Sources, other), append(t.SourceWeights, weight)
		}
	}
	if !weighted {
		t.SourceWeights, t.DestWeights = nil, nil
	}
	return t, nil
}

// Outward are the edges from the caller's node, to node and weight by turns; not nil.
func (t *DistGraph) Outward() []int32 {
	edges := make([]int32, 0, 2*len(t.Destinations))
	for i, to := range t.Destinations {
		weight := int32(1)
		if t.Weighted {
			weight = t.DestWeights[i]
		}
		edges = append(edges, to, weight)
	}
	return edges
}

// NewPart makes room for a part of a graph that is announced as {weighted, sources, destinations}; nil if that makes no
// sense.
func NewPart(size []int32) *DistGraph {
	if size[0]&^1 != 0 || size[1] < 0 || size[2] < 0 {
		return nil
	}
	t := &DistGraph{Weighted: size[0] == 1, Sources: make([]int32, size[1]), Destinations: make([]int32, size[2])}
	if t.Weighted {
		t.SourceWeights, t.DestWeights = make([]int32, size[1]), make([]int32, size[2])
	}
	return t
}

// Lists are the four of a part; those of weights are empty if it has none.
func (t *DistGraph) Lists() [4]*[]int32 {
	return [4]*[]int32{&t.Sources, &t.SourceWeights, &t.Destinations, &t.DestWeights}
}
