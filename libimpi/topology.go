package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Virtual topologies (MPI 5.0, chapter 8). A topology says which processes of a communicator are neighbors. It is
// a value without any communication in it (package topo); this file makes communicators
// that carry one, and placement.go renumbers the processes so that neighbors come to stand close to each other.
//
// On a communicator that spans clients Cart_create and Graph_create behave as Comm_create does, Cart_sub as
// Comm_split. IMPI 0.0 does not say so, and knows no other topologies.

// Topology is the communicator's topology, nil if it has none.
func (c *Comm) Topology() topo.Topology { return c.neighborhood.topology }

// edges are the caller's neighbors, found out once.
func (c *Comm) edges() (*coll.Edges, error) {
	if e := c.neighborhood.neighbors.Load(); e != nil {
		return e, nil
	}
	in, out := c.neighborhood.topology.Neighbors(c.Rank())
	e, err := coll.NewEdges(c.Rank(), in, out, c.neighborhood.topology.Kind() == abi.MPI_CART)
	if err == nil {
		c.neighborhood.neighbors.Store(e)
	}
	return e, err
}

// Degrees are the numbers of the caller's neighbors: from which, and to which data goes in neighborhood collectives.
// The communicator has a topology.
func (c *Comm) Degrees() (in, out int, err error) {
	e, err := c.edges()
	if err != nil {
		return 0, 0, err
	}
	return len(e.In), len(e.Out), nil
}

// createOf makes a communicator of a group that carries t; nil for the processes left out.
func (c *Comm) createOf(g *Group, t topo.Topology) (*Comm, error) {
	made, err := c.Create(g)
	if made == nil {
		return nil, err
	}
	made.neighborhood.topology = t
	return made, made.planNeighbors()
}

// planNeighbors plans how blocks of neighbors go from machine to machine (coll.Edges), if members share several
// machines. All members call it.
func (c *Comm) planNeighbors() error {
	machine := c.engine.machineNumbers(c.group.Worlds())
	if coll.NewMachines(machine) == nil || !c.native || !c.sameImpl() {
		return nil
	}
	e, err := c.edges()
	if err != nil {
		// An error of one member alone, which it gets in each neighborhood collective. The others have to know.
		e = &coll.Edges{}
	}
	out, told := c.outward()
	if told != nil {
		return told
	}
	plan, agrees := e.PlanFor(c.Rank(), machine, out)
	state := []int32{0, 0} // whether members have edges that contradict each other; whether a plan pays for any
	if !agrees || err != nil {
		state[0] = 1
	} else if plan.Pays() {
		state[1] = 1
	}
	if err := c.Allreduce(coll.InPlace(), intBuf(state), op.Predefined(abi.MPI_MAX)); err != nil {
		return err
	}
	if state[0] == 0 && state[1] == 1 {
		e.Plan = plan
	}
	return nil
}

// outward tells the ranks to which the edges of each member lead.
func (c *Comm) outward() (func(rank int) []int32, error) {
	t := c.neighborhood.topology
	if t.Kind() != abi.MPI_DIST_GRAPH {
		return func(rank int) []int32 { _, out := t.Neighbors(rank); return out }, nil
	}
	_, mine := t.Neighbors(c.Rank())
	counts := make([]int32, c.Size())
	if err := c.Allgather(intBuf([]int32{int32(len(mine))}), perRank(counts)); err != nil {
		return nil, err
	}
	all := make([]int32, topo.Prefix(counts, nil))
	to := blocks(all, counts)
	if err := c.Allgatherv(intBuf(mine), to); err != nil {
		return nil, err
	}
	return func(rank int) []int32 {
		at := to.Displs[rank]
		return all[at : at+to.Counts[rank]]
	}, nil
}

// CreateCart makes a communicator with a grid; nil for processes that the grid has no place for
// (MPI_Cart_create).
func (c *Comm) CreateCart(t *topo.Cart, reorder bool) (*Comm, error) {
	return c.createPlaced(t.Size(), t, reorder, t.Place)
}

// MapCart is the rank that reordering would give the caller in a grid, MPI_UNDEFINED if it is left out (MPI_Cart_map).
func (c *Comm) MapCart(t *topo.Cart) int { return c.mapped(t.Size(), t.Place) }

// SubCart splits a communicator with grid t into those of the grids of fewer dimensions (MPI_Cart_sub).
func (c *Comm) SubCart(t *topo.Cart, remain []bool) (*Comm, error) {
	part, color, key := t.Sub(c.Rank(), remain)
	made, err := c.Split(color, key)
	if made == nil {
		return nil, err
	}
	made.neighborhood.topology = part
	return made, made.planNeighbors()
}

// CreateGraph makes a communicator with a graph; nil for processes beyond its nodes (MPI_Graph_create).
func (c *Comm) CreateGraph(t *topo.Graph, reorder bool) (*Comm, error) {
	return c.createPlaced(t.Size(), t, reorder, t.Place)
}

// MapGraph is the rank that reordering would give the caller in a graph, MPI_UNDEFINED if it is left out
// (MPI_Graph_map).
func (c *Comm) MapGraph(t *topo.Graph) int { return c.mapped(t.Size(), t.Place) }

// CreateDistGraphAdjacent makes a communicator with the graph of which each process gives its own neighbors
// (MPI_Dist_graph_create_adjacent).
func (c *Comm) CreateDistGraphAdjacent(t *topo.DistGraph, reorder bool) (*Comm, error) {
	return c.createDist(t, reorder)
}

// CreateDistGraph makes a communicator with the graph that the edges of all processes make up, wherever they were
// given (MPI_Dist_graph_create). An edge stands in the lists of both of its ends.
func (c *Comm) CreateDistGraph(edges []topo.Edge, weighted, reorder bool) (*Comm, error) {
	outgoing, counts := topo.Ends(edges, c.Size())
	theirs := make([]int32, c.Size())
	if err := c.Alltoall(perRank(counts), perRank(theirs)); err != nil {
		return nil, err
	}
	for r, n := range theirs {
		if n < 0 {
			return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s sends %d integers about edges", r, c.describe(), n)
		}
	}
	incoming := make([]int32, topo.Prefix(theirs, nil))
	if err := c.Alltoallv(blocks(outgoing, counts), blocks(incoming, theirs)); err != nil {
		return nil, err
	}
	t, err := topo.FromEnds(incoming, c.Size(), weighted)
	if err != nil {
		return nil, err
	}
	return c.createDist(t, reorder)
}

// perRank is a buffer of one integer for each rank.
func perRank(values []int32) coll.Buf {
	b := intBuf(values)
	b.Count = 1
	return b
}

// blocks is a buffer of counts[i] integers for rank i, one after the other.
func blocks(values, counts []int32) coll.VBuf {
	b := coll.VBuf{Base: intBuf(values).Base, Type: intType,
		Counts: make([]int64, len(counts)), Displs: make([]int64, len(counts))}
	for i, n := range counts {
		b.Counts[i] = int64(n)
	}
	topo.Prefix(counts, b.Displs)
	return b
}
