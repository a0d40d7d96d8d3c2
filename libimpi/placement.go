package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/topology"
)

// Reordering (MPI 5.0, 8.5): which process becomes which rank of a topology. What separates two processes is, first, to
// be of different IMPI clients, and then to be on different machines; room topology does the rest. All processes
// compute the same answer from the same input, apart from each other. Cores are no level of their own: which one a
// rank runs on is the system's choice, and changes.

// placement is the group of the n processes of c that are to be ranks 0 to n-1 of a topology. place answers at which
// of the places that paths lead to each rank of the topology is put.
func (c *Comm) placement(n int, reorder bool, place func(paths [][]int32) []int32) *Group {
	worlds := c.group.Worlds()
	if reorder && c.kin() {
		if paths := c.paths(); separated(paths) {
			at := place(paths)
			list := make([]int32, n)
			for v := range list {
				list[v] = worlds[at[v]]
			}
			return NewGroup(list)
		}
	}
	if n == c.Size() {
		return c.group
	}
	return NewGroup(worlds[:n])
}

// kin says whether all processes of c belong to clients of this library. Others would not know of the new order, and
// the communicator would have two: with them, all keep theirs.
func (c *Comm) kin() bool {
	job := c.engine.job
	for _, w := range c.group.Worlds() {
		if p := &job.Procs[w]; p.Client != job.Procs[job.Me].Client && !job.Hosts[p.Host].Kin {
			return false
		}
	}
	return true
}

// paths leads to each process of c: its client, and its machine.
func (c *Comm) paths() [][]int32 {
	job := c.engine.job
	machines := map[[16]byte]int32{}
	labels := make([]int32, 2*c.Size())
	paths := make([][]int32, c.Size())
	for r, w := range c.group.Worlds() {
		p := &job.Procs[w]
		machine, known := machines[p.HostID]
		if !known {
			machine = int32(len(machines))
			machines[p.HostID] = machine
		}
		paths[r] = labels[2*r : 2*r+2 : 2*r+2]
		paths[r][0], paths[r][1] = p.Client, machine
	}
	return paths
}

// separated says whether anything separates two of the processes.
func separated(paths [][]int32) bool {
	for _, p := range paths {
		for level := range p {
			if p[level] != paths[0][level] {
				return true
			}
		}
	}
	return false
}

func (t *Cart) place(paths [][]int32) []int32 {
	return topology.MapGrid(topology.Grid{Dims: t.Dims, Periods: t.Periods}, paths)
}

func (t *Graph) place(paths [][]int32) []int32 {
	edges := make([]topology.Edge, 0, len(t.Edges))
	for v := range t.Size() {
		_, to := t.Neighbors(v)
		for _, u := range to {
			edges = append(edges, topology.Edge{A: int32(v), B: u, Weight: 1})
		}
	}
	return topology.Map(topology.NewGraph(t.Size(), edges), paths)
}

// createDist makes a communicator of a distributed graph, each process giving its own part. A process that becomes
// rank v gets the neighbours of node v, which rank v of c has given.
func (c *Comm) createDist(t *DistGraph, reorder bool) (*Comm, error) {
	if !reorder || !separated(c.paths()) {
		return c.createOf(c.group, t)
	}
	parts, err := c.allParts(t)
	if err != nil {
		return nil, err
	}
	g := c.placement(c.Size(), true, func(paths [][]int32) []int32 { return topology.Map(wholeGraph(parts), paths) })
	return c.createOf(g, parts[g.Rank(c.engine.me)])
}

// wholeGraph is the graph of all processes' parts. An edge stands in two of them; one end may have left it out.
func wholeGraph(parts []*DistGraph) *topology.Graph {
	var edges []topology.Edge
	add := func(v int, others, weights []int32, weighted bool) {
		for i, u := range others {
			weight := int64(1)
			if weighted {
				weight = int64(weights[i])
			}
			edges = append(edges, topology.Edge{A: int32(v), B: u, Weight: weight})
		}
	}
	for v, t := range parts {
		add(v, t.Sources, t.SourceWeights, t.Weighted)
		add(v, t.Destinations, t.DestWeights, t.Weighted)
	}
	return topology.NewGraph(len(parts), edges)
}

// allParts gives every process the parts of all. Each travels as its flag, its two degrees and its four lists.
func (c *Comm) allParts(t *DistGraph) ([]*DistGraph, error) {
	mine := []int32{0, int32(len(t.Sources)), int32(len(t.Destinations))}
	if t.Weighted {
		mine[0] = 1
	}
	for _, list := range t.lists() {
		mine = append(mine, *list...)
	}
	counts := make([]int32, c.Size())
	if err := c.Allgather(intBuf([]int32{int32(len(mine))}), perRank(counts)); err != nil {
		return nil, err
	}
	for r, n := range counts {
		if n < int32(len(mine[:3])) {
			return nil, c.oddPart(r)
		}
	}
	all := make([]int32, prefix(counts, nil))
	if err := c.Allgatherv(intBuf(mine), blocks(all, counts)); err != nil {
		return nil, err
	}
	parts := make([]*DistGraph, c.Size())
	for r, n := range counts {
		if parts[r] = readPart(all[:n], c.Size()); parts[r] == nil {
			return nil, c.oddPart(r)
		}
		all = all[n:]
	}
	return parts, nil
}

func (c *Comm) oddPart(rank int) *Error {
	return errorf(abi.MPI_ERR_INTERN, "rank %d of %s sends no part of a graph", rank, c.describe())
}

// lists are the four of a part, weights after the ranks they belong to.
func (t *DistGraph) lists() [4]*[]int32 {
	return [4]*[]int32{&t.Sources, &t.SourceWeights, &t.Destinations, &t.DestWeights}
}

// readPart reads what another process has sent; nil if that is not a part of a graph of size nodes.
func readPart(b []int32, size int) *DistGraph {
	t := &DistGraph{Weighted: b[0] == 1}
	in, out := int64(b[1]), int64(b[2])
	if b = b[3:]; in < 0 || out < 0 || (in+out)*2 != int64(len(b)) && (in+out) != int64(len(b)) {
		return nil
	}
	weights := int64(len(b)) - in - out // none, or one for each
	for i, n := range [4]int64{in, min(in, weights), out, min(out, weights)} {
		*t.lists()[i] = b[:n:n]
		b = b[n:]
	}
	if t.Check(size) != nil || t.Weighted && weights == 0 && in+out > 0 {
		return nil
	}
	return t
}
