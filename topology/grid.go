package topology

// Grid is a Cartesian grid whose nodes run through it row by row, the last dimension fastest.
type Grid struct {
	Dims    []int32 // positive
	Periods []bool  // whether a dimension is closed to a ring
}

// Size is the number of nodes.
func (g Grid) Size() int {
	n := 1
	for _, d := range g.Dims {
		n *= int(d)
	}
	return n
}

// Graph is the grid's graph: an edge of weight 1 for each direction in which a node has a neighbor, so that two
// nodes that are neighbors both ways round a ring of two have one of weight 2.
func (g Grid) Graph() *Graph {
	n := g.Size()
	edges := make([]Edge, 0, n*len(g.Dims))
	stride := n
	for i, d := range g.Dims {
		stride /= int(d)
		for v := range n {
			switch x := v / stride % int(d); {
			case x+1 < int(d):
				edges = append(edges, Edge{int32(v), int32(v + stride), 1})
			case g.Periods[i]:
				edges = append(edges, Edge{int32(v), int32(v - x*stride), 1})
			}
		}
	}
	return NewGraph(n, edges)
}

// Block is the shape of the blocks of size nodes that part the grid with the smallest cut, all of them alike and each
// side a divisor of the grid's; nil if there is no such shape. Of equal cuts the one whose sides are the
// longest in the last dimensions is taken: blocks that the numbering of the nodes has already.
func (g Grid) Block(size int) []int32 {
	if size < 1 || g.Size()%size != 0 {
		return nil
	}
	s := blockSearch{grid: g, now: make([]int32, len(g.Dims)), n: int64(g.Size()), rests: make([]int64, len(g.Dims)+1)}
	s.rests[0] = 1
	for i, d := range g.Dims {
		s.rests[i+1] = s.rests[i] * int64(d)
	}
	s.search(len(g.Dims)-1, int64(size), 0)
	return s.best
}

type blockSearch struct {
	grid      Grid
	n         int64
	rests     []int64 // products of the first dimensions
	now, best []int32
	cut       int64
}

// search chooses the sides from dimension i down, so that their product is size.
func (s *blockSearch) search(i int, size, cut int64) {
	if s.best != nil && cut >= s.cut {
		return
	}
	if i < 0 {
		if size == 1 {
			s.best, s.cut = append([]int32{}, s.now...), cut
		}
		return
	}
	d := int64(s.grid.Dims[i])
	for side := min(d, size); side >= 1; side-- {
		if d%side != 0 || size%side != 0 || size/side > s.rests[i] {
			continue
		}
		planes := d/side - 1
		if s.grid.Periods[i] && side < d {
			planes++
		}
		s.now[i] = int32(side)
		s.search(i-1, size/side, cut+planes*(s.n/d))
	}
}

// Blocks numbers the blocks of a shape row by row and returns in which each node is.
func (g Grid) Blocks(shape []int32) []int32 {
	part := make([]int32, g.Size())
	for v := range part {
		rest, stride, block := v, 1, 0
		for i := len(g.Dims) - 1; i >= 0; i-- {
			d, side := int(g.Dims[i]), int(shape[i])
			block += rest % d / side * stride
			stride *= d / side
			rest /= d
		}
		part[v] = int32(block)
	}
	return part
}

// block is one of the blocks of a shape as a grid: what does not go all round is not periodic.
func (g Grid) block(shape []int32) *Grid {
	b := Grid{Dims: shape, Periods: make([]bool, len(shape))}
	for i, side := range shape {
		b.Periods[i] = g.Periods[i] && side == g.Dims[i]
	}
	return &b
}
