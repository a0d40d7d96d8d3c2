package topology

import (
	"slices"
	"testing"
	"testing/quick"
)

// someGrid makes a grid of arbitrary numbers.
func someGrid(shape [4]uint8, periods [4]bool, dims uint8) Grid {
	g := Grid{[]int32{}, periods[:dims%5]}
	for _, d := range shape[:dims%5] {
		g.Dims = append(g.Dims, 1+int32(d%6))
	}
	return g
}

// at is the node at some coordinates, -1 if there is none.
func (g Grid) at(coords []int32) int32 {
	v := int32(0)
	for i, d := range g.Dims {
		x := coords[i]
		if g.Periods[i] {
			x = (x + d) % d
		}
		if x < 0 || x >= d {
			return -1
		}
		v = v*d + x
	}
	return v
}

func TestAGridsGraphJoinsNeighbors(t *testing.T) {
	err := quick.Check(func(shape [4]uint8, periods [4]bool, dims uint8) bool {
		grid := someGrid(shape, periods, dims)
		n := grid.Size()
		var edges []Edge
		for v := range n {
			coords := make([]int32, len(grid.Dims))
			for i, rest := len(coords)-1, int32(v); i >= 0; i-- {
				coords[i], rest = rest%grid.Dims[i], rest/grid.Dims[i]
			}
			for i := range coords {
				coords[i]++
				if u := grid.at(coords); u >= 0 {
					edges = append(edges, Edge{int32(v), u, 1})
				}
				coords[i]--
			}
		}
		g, want := grid.Graph(), adjacency(n, edges)
		for v := range n {
			got := make([]int64, n)
			for i := g.first[v]; i < g.first[v+1]; i++ {
				got[g.to[i]] = g.weight[i]
			}
			if !slices.Equal(got, want[v]) {
				return false
			}
		}
		return true
	}, &quick.Config{MaxCount: 60})
	if err != nil {
		t.Error(err)
	}
}

func TestBlocksHaveTheSmallestCutOfAllShapes(t *testing.T) {
	err := quick.Check(func(shape [4]uint8, periods [4]bool, dims, divisor uint8) bool {
		grid := someGrid(shape, periods, dims)
		size := 1 + int(divisor)%grid.Size()
		g := grid.Graph()
		best := int64(-1)
		sides := make([]int32, len(grid.Dims))
		var walk func(i, product int)
		walk = func(i, product int) {
			if i == len(sides) {
				if product == size {
					if cut := g.Cut(grid.Blocks(sides)); best < 0 || cut < best {
						best = cut
					}
				}
				return
			}
			for side := int32(1); side <= grid.Dims[i]; side++ {
				if grid.Dims[i]%side == 0 {
					sides[i] = side
					walk(i+1, product*int(side))
				}
			}
		}
		walk(0, 1)
		found := grid.Block(size)
		if found == nil {
			return best < 0
		}
		part := grid.Blocks(found)
		count := make([]int, grid.Size()/size)
		for _, p := range part {
			count[p]++
		}
		return g.Cut(part) == best && slices.Max(count) == size && slices.Min(count) == size
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestGridsWithoutBlocksHaveNone(t *testing.T) {
	for _, tt := range []struct {
		dims []int32
		size int
	}{{[]int32{7}, 2}, {[]int32{3, 5}, 2}, {[]int32{4, 4}, 0}, {[]int32{4, 4}, 17}, {[]int32{9, 5}, 25}, {nil, 2}} {
		if shape := (Grid{tt.dims, make([]bool, len(tt.dims))}).Block(tt.size); shape != nil {
			t.Errorf("%v has blocks %v of %d", tt.dims, shape, tt.size)
		}
	}
}

func TestRowsThatAreBlocksAlreadyStayBlocks(t *testing.T) {
	if shape := (Grid{[]int32{4, 4}, []bool{false, false}}).Block(8); !slices.Equal(shape, []int32{2, 4}) {
		t.Errorf("blocks of %v, want [2 4]", shape)
	}
}
