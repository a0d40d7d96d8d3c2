package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Virtual topologies (MPI 5.0, chapter 8).

// topologyOf is the communicator's topology if it is a T; MPI_ERR_TOPOLOGY if it has another or none.
func topologyOf[T topo.Topology](k *check, what string) (t T) {
	if k.c == nil {
		return t
	}
	t, ok := k.c.Topology().(T)
	if !ok {
		k.set(abi.MPI_ERR_TOPOLOGY, "%s has no %s topology", k.c, what)
	}
	return t
}

// onTopology starts the checks of a function that asks for a topology of type T.
func onTopology[T topo.Topology](fn string, comm uintptr, what string) (k check, t T) {
	k.fn = fn
	k.comm(comm)
	return k, topologyOf[T](&k, what)
}

func onCart(fn string, comm uintptr) (check, *topo.Cart) {
	return onTopology[*topo.Cart](fn, comm, "Cartesian")
}

func onGraph(fn string, comm uintptr) (check, *topo.Graph) {
	return onTopology[*topo.Graph](fn, comm, "graph")
}

func onDistGraph(fn string, comm uintptr) (check, *topo.DistGraph) {
	return onTopology[*topo.DistGraph](fn, comm, "distributed graph")
}

// room looks whether an array of the program, of max elements, holds n.
func (k *check) room(p uintptr, max int32, n int, arg string, array string) {
	if int(max) < n {
		k.set(abi.MPI_ERR_ARG, "argument %s is %d, and %d elements are to be stored", arg, max, n)
	}
	k.array(p, n, array)
}

// rank looks at the rank of a process of the communicator.
func (k *check) rank(rank int32) {
	if k.c != nil && uint32(rank) >= uint32(k.c.Size()) {
		k.badRank(rank, "rank")
	}
}

// integers32 copies n C ints.
func integers32(p uintptr, n int) []int32 { return append([]int32(nil), slice[int32](p, n)...) }

// booleans reads n C truth values.
func booleans(p uintptr, n int) []bool {
	out := make([]bool, n)
	for i, v := range slice[int32](p, n) {
		out[i] = v != 0
	}
	return out
}

//export impi_Topo_test
func impi_Topo_test(comm, status uintptr) int32 {
	k := commQuery("MPI_Topo_test", comm)
	k.result(status, "status")
	if k.err != nil {
		return k.fail()
	}
	kind := abi.MPI_UNDEFINED
	if t := k.c.Topology(); t != nil {
		kind = t.Kind()
	}
	put(status, int32(kind))
	return 0
}

//export impi_Dims_create
func impi_Dims_create(nnodes, ndims int32, dims uintptr) int32 {
	k := check{fn: "MPI_Dims_create"}
	if k.notStarted() {
		return k.fail()
	}
	k.dimensions(ndims)
	k.array(dims, int(ndims), "dims")
	if k.err != nil {
		return k.fail()
	}
	return k.done(topo.DimsCreate(int(nnodes), slice[int32](dims, int(ndims))))
}

func (k *check) dimensions(n int32) {
	if n < 0 {
		k.set(abi.MPI_ERR_DIMS, "argument ndims is negative: %d", n)
	}
}

// cart checks the arguments that describe a grid.
func (k *check) cart(ndims int32, dims, periods uintptr) *topo.Cart {
	k.dimensions(ndims)
	k.array(dims, int(ndims), "dims")
	k.array(periods, int(ndims), "periods")
	if k.err != nil {
		return nil
	}
	t, err := topo.NewCart(integers32(dims, int(ndims)), booleans(periods, int(ndims)), k.c.Size())
	k.err = libimpi.AsError(err)
	return t
}

// made publishes a communicator that a collective call has made, or reports why there is none.
func (k *check) made(c *libimpi.Comm, err error, out uintptr) int32 {
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, out)
	return 0
}

//export impi_Cart_create
func impi_Cart_create(comm_old uintptr, ndims int32, dims, periods uintptr, reorder int32, comm_cart uintptr) int32 {
	k := commQuery("MPI_Cart_create", comm_old)
	k.result(comm_cart, "comm_cart")
	k.intra()
	t := k.cart(ndims, dims, periods)
	if !k.agreeOn(func() []coll.Value {
		return []coll.Value{coll.List("argument dims", abi.MPI_ERR_DIMS, t.Dims),
			coll.List("argument periods", abi.MPI_ERR_DIMS, t.Periods),
			coll.Flag("argument reorder", abi.MPI_ERR_ARG, reorder != 0)}
	}) {
		return k.fail()
	}
	c, err := k.c.CreateCart(t, reorder != 0)
	return k.made(c, err, comm_cart)
}

//export impi_Cart_map
func impi_Cart_map(comm uintptr, ndims int32, dims, periods, newrank uintptr) int32 {
	k := commQuery("MPI_Cart_map", comm)
	k.result(newrank, "newrank")
	k.intra()
	t := k.cart(ndims, dims, periods)
	if k.err != nil {
		return k.fail()
	}
	put(newrank, int32(k.c.MapCart(t)))
	return 0
}

//export impi_Cart_sub
func impi_Cart_sub(comm, remain_dims, newcomm uintptr) int32 {
	k, t := onCart("MPI_Cart_sub", comm)
	k.result(newcomm, "newcomm")
	if k.err == nil {
		k.array(remain_dims, len(t.Dims), "remain_dims")
	}
	if !k.agreeOn(func() []coll.Value {
		return []coll.Value{coll.List("argument remain_dims", abi.MPI_ERR_DIMS, booleans(remain_dims, len(t.Dims)))}
	}) {
		return k.fail()
	}
	c, err := k.c.SubCart(t, booleans(remain_dims, len(t.Dims)))
	return k.made(c, err, newcomm)
}

//export impi_Cartdim_get
func impi_Cartdim_get(comm, ndims uintptr) int32 {
	k, t := onCart("MPI_Cartdim_get", comm)
	k.result(ndims, "ndims")
	if k.err != nil {
		return k.fail()
	}
	put(ndims, int32(len(t.Dims)))
	return 0
}

//export impi_Cart_get
func impi_Cart_get(comm uintptr, maxdims int32, dims, periods, coords uintptr) int32 {
	k, t := onCart("MPI_Cart_get", comm)
	if k.err != nil {
		return k.fail()
	}
	n := len(t.Dims)
	k.room(dims, maxdims, n, "maxdims", "dims")
	k.room(periods, maxdims, n, "maxdims", "periods")
	k.room(coords, maxdims, n, "maxdims", "coords")
	if k.err != nil {
		return k.fail()
	}
	copy(slice[int32](dims, n), t.Dims)
	flags := slice[int32](periods, n)
	for i, on := range t.Periods {
		putFlag(address(&flags[i]), on)
	}
	t.Coords(k.c.Rank(), slice[int32](coords, n))
	return 0
}

//export impi_Cart_rank
func impi_Cart_rank(comm, coords, rank uintptr) int32 {
	k, t := onCart("MPI_Cart_rank", comm)
	k.result(rank, "rank")
	if k.err == nil {
		k.array(coords, len(t.Dims), "coords")
	}
	if k.err != nil {
		return k.fail()
	}
	r, err := t.Rank(slice[int32](coords, len(t.Dims)))
	if err != nil {
		return k.failed(err)
	}
	put(rank, int32(r))
	return 0
}

//export impi_Cart_coords
func impi_Cart_coords(comm uintptr, rank, maxdims int32, coords uintptr) int32 {
	k, t := onCart("MPI_Cart_coords", comm)
	k.rank(rank)
	if k.err == nil {
		k.room(coords, maxdims, len(t.Dims), "maxdims", "coords")
	}
	if k.err != nil {
		return k.fail()
	}
	t.Coords(int(rank), slice[int32](coords, len(t.Dims)))
	return 0
}

//export impi_Cart_shift
func impi_Cart_shift(comm uintptr, direction, disp int32, rank_source, rank_dest uintptr) int32 {
	k, t := onCart("MPI_Cart_shift", comm)
	k.result(rank_source, "rank_source")
	k.result(rank_dest, "rank_dest")
	if k.err == nil && (direction < 0 || int(direction) >= len(t.Dims)) {
		k.set(abi.MPI_ERR_DIMS, "argument direction is %d, and the grid has %d dimensions", direction, len(t.Dims))
	}
	if k.err != nil {
		return k.fail()
	}
	source, dest := t.Shift(k.c.Rank(), int(direction), int(disp))
	put(rank_source, int32(source))
	put(rank_dest, int32(dest))
	return 0
}

// graph checks the arguments that describe a graph.
func (k *check) graph(nnodes int32, index, edges uintptr) *topo.Graph {
	if nnodes < 0 {
		k.set(abi.MPI_ERR_ARG, "argument nnodes is negative: %d", nnodes)
	}
	k.array(index, int(nnodes), "index")
	if k.err != nil {
		return nil
	}
	degrees := integers32(index, int(nnodes))
	if k.err = libimpi.AsError(topo.CheckIndex(degrees, k.c.Size())); k.err != nil {
		return nil
	}
	n := 0
	if nnodes > 0 {
		n = int(degrees[nnodes-1])
	}
	if k.array(edges, n, "edges"); k.err != nil {
		return nil
	}
	t, err := topo.NewGraph(degrees, integers32(edges, n))
	k.err = libimpi.AsError(err)
	return t
}

//export impi_Graph_create
func impi_Graph_create(comm_old uintptr, nnodes int32, index, edges uintptr, reorder int32, comm_graph uintptr) int32 {
	k := commQuery("MPI_Graph_create", comm_old)
	k.result(comm_graph, "comm_graph")
	k.intra()
	t := k.graph(nnodes, index, edges)
	if !k.agreeOn(func() []coll.Value {
		return []coll.Value{coll.List("argument index", abi.MPI_ERR_TOPOLOGY, t.Index),
			coll.List("argument edges", abi.MPI_ERR_TOPOLOGY, t.Edges),
			coll.Flag("argument reorder", abi.MPI_ERR_ARG, reorder != 0)}
	}) {
		return k.fail()
	}
	c, err := k.c.CreateGraph(t, reorder != 0)
	return k.made(c, err, comm_graph)
}

//export impi_Graph_map
func impi_Graph_map(comm uintptr, nnodes int32, index, edges, newrank uintptr) int32 {
	k := commQuery("MPI_Graph_map", comm)
	k.result(newrank, "newrank")
	k.intra()
	t := k.graph(nnodes, index, edges)
	if k.err != nil {
		return k.fail()
	}
	put(newrank, int32(k.c.MapGraph(t)))
	return 0
}

//export impi_Graphdims_get
func impi_Graphdims_get(comm, nnodes, nedges uintptr) int32 {
	k, t := onGraph("MPI_Graphdims_get", comm)
	k.result(nnodes, "nnodes")
	k.result(nedges, "nedges")
	if k.err != nil {
		return k.fail()
	}
	put(nnodes, int32(len(t.Index)))
	put(nedges, int32(len(t.Edges)))
	return 0
}

//export impi_Graph_get
func impi_Graph_get(comm uintptr, maxindex, maxedges int32, index, edges uintptr) int32 {
	k, t := onGraph("MPI_Graph_get", comm)
	if k.err == nil {
		k.room(index, maxindex, len(t.Index), "maxindex", "index")
		k.room(edges, maxedges, len(t.Edges), "maxedges", "edges")
	}
	if k.err != nil {
		return k.fail()
	}
	copy(slice[int32](index, len(t.Index)), t.Index)
	copy(slice[int32](edges, len(t.Edges)), t.Edges)
	return 0
}

//export impi_Graph_neighbors_count
func impi_Graph_neighbors_count(comm uintptr, rank int32, nneighbors uintptr) int32 {
	k, t := onGraph("MPI_Graph_neighbors_count", comm)
	k.rank(rank)
	k.result(nneighbors, "nneighbors")
	if k.err != nil {
		return k.fail()
	}
	n, _ := t.Neighbors(int(rank))
	put(nneighbors, int32(len(n)))
	return 0
}

//export impi_Graph_neighbors
func impi_Graph_neighbors(comm uintptr, rank, maxneighbors int32, neighbors uintptr) int32 {
	k, t := onGraph("MPI_Graph_neighbors", comm)
	k.rank(rank)
	if k.err != nil {
		return k.fail()
	}
	n, _ := t.Neighbors(int(rank))
	if k.room(neighbors, maxneighbors, len(n), "maxneighbors", "neighbors"); k.err != nil {
		return k.fail()
	}
	copy(slice[int32](neighbors, len(n)), n)
	return 0
}

// weighted looks at an argument for weights: n of them, MPI_WEIGHTS_EMPTY, or MPI_UNWEIGHTED, which makes it false.
func (k *check) weighted(p uintptr, n int, arg string) bool {
	switch p {
	case abi.MPI_UNWEIGHTED:
		return false
	case abi.MPI_WEIGHTS_EMPTY:
		if n > 0 {
			k.set(abi.MPI_ERR_ARG, "argument %s is MPI_WEIGHTS_EMPTY, for %d edges", arg, n)
		}
		return true
	}
	k.array(p, n, arg)
	return true
}

// weights reads n weights, none if they are MPI_UNWEIGHTED or the like.
func weights(p uintptr, n int, weighted bool) []int32 {
	if !weighted || p == abi.MPI_WEIGHTS_EMPTY {
		return nil
	}
	return integers32(p, n)
}

// degree looks at a number of neighbors.
func (k *check) degree(n int32, ranks uintptr, names [2]string) {
	if n < 0 {
		k.set(abi.MPI_ERR_ARG, "argument %s is negative: %d", names[0], n)
	}
	k.array(ranks, int(n), names[1])
}

//export impi_Dist_graph_create_adjacent
func impi_Dist_graph_create_adjacent(comm_old uintptr, indegree int32, sources, sourceweights uintptr,
	outdegree int32, destinations, destweights, info uintptr, reorder int32, comm_dist_graph uintptr) int32 {
	k := commQuery("MPI_Dist_graph_create_adjacent", comm_old)
	k.result(comm_dist_graph, "comm_dist_graph")
	k.intra()
	in, out := int(indegree), int(outdegree)
	k.degree(indegree, sources, [2]string{"indegree", "sources"})
	from := k.weighted(sourceweights, in, "sourceweights")
	k.degree(outdegree, destinations, [2]string{"outdegree", "destinations"})
	to := k.weighted(destweights, out, "destweights")
	if from != to {
		k.set(abi.MPI_ERR_ARG, "only one of the arguments sourceweights and destweights is MPI_UNWEIGHTED")
	}
	k.info(info)
	if k.err != nil {
		return k.fail()
	}
	t := &topo.DistGraph{
		Weighted: from,
		Sources:  integers32(sources, in), SourceWeights: weights(sourceweights, in, from),
		Destinations: integers32(destinations, out), DestWeights: weights(destweights, out, to),
	}
	if k.err = libimpi.AsError(t.Check(k.c.Size())); !k.agreeEdges(t, reorder != 0) {
		return k.fail()
	}
	c, err := k.c.CreateDistGraphAdjacent(t, reorder != 0)
	return k.made(c, err, comm_dist_graph)
}

//export impi_Dist_graph_create
func impi_Dist_graph_create(comm_old uintptr, n int32, sources, degrees, destinations, weights, info uintptr,
	reorder int32, comm_dist_graph uintptr) int32 {
	k := commQuery("MPI_Dist_graph_create", comm_old)
	k.result(comm_dist_graph, "comm_dist_graph")
	k.intra()
	k.degree(n, sources, [2]string{"n", "sources"})
	k.array(degrees, int(n), "degrees")
	k.info(info)
	if k.err != nil {
		return k.fail()
	}
	edges, weighted := k.edges(slice[int32](sources, int(n)), slice[int32](degrees, int(n)), destinations, weights)
	if !k.agreeOn(func() []coll.Value { return graphValues(weighted, reorder != 0) }) {
		return k.fail()
	}
	c, err := k.c.CreateDistGraph(edges, weighted, reorder != 0)
	return k.made(c, err, comm_dist_graph)
}

// edges reads the edges that the caller gives: degrees[i] of them begin at sources[i].
func (k *check) edges(sources, degrees []int32, destinations, weightsAt uintptr) (edges []topo.Edge, weighted bool) {
	total := 0
	for i, d := range degrees {
		if d < 0 {
			k.set(abi.MPI_ERR_ARG, "degrees[%d] is negative: %d", i, d)
		}
		total += int(d)
	}
	if k.err != nil {
		return nil, false
	}
	k.array(destinations, total, "destinations")
	if weighted = k.weighted(weightsAt, total, "weights"); k.err != nil {
		return nil, false
	}
	to, values := slice[int32](destinations, total), weights(weightsAt, total, weighted)
	edges = make([]topo.Edge, 0, total)
	for i, source := range sources {
		k.neighbor(source, "sources", i)
		for range degrees[i] {
			e := topo.Edge{Source: source, Destination: to[len(edges)]}
			k.neighbor(e.Destination, "destinations", len(edges))
			if len(values) > 0 {
				e.Weight = values[len(edges)]
			}
			if e.Weight < 0 {
				k.set(abi.MPI_ERR_ARG, "weights[%d] is negative: %d", len(edges), e.Weight)
			}
			edges = append(edges, e)
		}
	}
	return edges, weighted
}

func (k *check) neighbor(rank int32, arg string, i int) {
	if uint32(rank) >= uint32(k.c.Size()) {
		k.set(abi.MPI_ERR_RANK, "%s[%d] is %d, and %s has ranks 0 to %d", arg, i, rank, k.c, k.c.Size()-1)
	}
}

//export impi_Dist_graph_neighbors_count
func impi_Dist_graph_neighbors_count(comm, indegree, outdegree, weighted uintptr) int32 {
	k, t := onDistGraph("MPI_Dist_graph_neighbors_count", comm)
	k.result(indegree, "indegree")
	k.result(outdegree, "outdegree")
	k.result(weighted, "weighted")
	if k.err != nil {
		return k.fail()
	}
	put(indegree, int32(len(t.Sources)))
	put(outdegree, int32(len(t.Destinations)))
	putFlag(weighted, t.Weighted)
	return 0
}

//export impi_Dist_graph_neighbors
func impi_Dist_graph_neighbors(comm uintptr, maxindegree int32, sources, sourceweights uintptr, maxoutdegree int32,
	destinations, destweights uintptr) int32 {
	k, t := onDistGraph("MPI_Dist_graph_neighbors", comm)
	if k.err != nil {
		return k.fail()
	}
	in, out := min(int(maxindegree), len(t.Sources)), min(int(maxoutdegree), len(t.Destinations))
	k.degree(maxindegree, sources, [2]string{"maxindegree", "sources"})
	from := t.Weighted && k.weighted(sourceweights, in, "sourceweights")
	k.degree(maxoutdegree, destinations, [2]string{"maxoutdegree", "destinations"})
	to := t.Weighted && k.weighted(destweights, out, "destweights")
	if k.err != nil {
		return k.fail()
	}
	copy(slice[int32](sources, in), t.Sources)
	copy(slice[int32](destinations, out), t.Destinations)
	if from {
		copy(slice[int32](sourceweights, in), t.SourceWeights)
	}
	if to {
		copy(slice[int32](destweights, out), t.DestWeights)
	}
	return 0
}
