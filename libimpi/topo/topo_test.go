package topo

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"
	"testing/quick"

	"github.com/libimpi/libimpi/abi"
)

// wantClass checks the MPI class of an error.
func wantClass(tb testing.TB, err error, class int) {
	tb.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Class != class {
		tb.Errorf("%v: want an error of class %d", err, class)
	}
}

func TestDimsCreateFillsInBalancedDimensions(t *testing.T) {
	for _, tt := range []struct {
		n          int
		dims, want []int32
	}{
		{6, []int32{0, 0}, []int32{3, 2}},
		{7, []int32{0, 0}, []int32{7, 1}},
		{6, []int32{0, 3, 0}, []int32{2, 3, 1}}, // these three are the standard's examples
		{6, []int32{2, 0}, []int32{2, 3}},
		{1, []int32{0, 0, 0}, []int32{1, 1, 1}},
		{8, []int32{0}, []int32{8}},
		{12, []int32{0, 0}, []int32{4, 3}},
		{16, []int32{0, 0, 0}, []int32{4, 2, 2}},
		{60, []int32{0, 0, 0}, []int32{5, 4, 3}},
		{1024, []int32{0, 0, 0}, []int32{16, 8, 8}},
		{36, []int32{0, 0, 0, 0}, []int32{3, 3, 2, 2}},
		{2048, []int32{0, 0, 0, 0, 0}, []int32{8, 4, 4, 4, 4}},
		{12, []int32{1, 0, 12}, []int32{1, 1, 12}},
		{24, []int32{4, 6}, []int32{4, 6}},
		{5, nil, nil},
		{2147483647, []int32{0, 0}, []int32{2147483647, 1}},
		{1 << 30, make([]int32, 40), append(slices.Repeat([]int32{2}, 30), slices.Repeat([]int32{1}, 10)...)},
		{2095133040, []int32{0, 0, 0, 0, 0, 0}, []int32{39, 38, 36, 35, 34, 33}},
	} {
		got := slices.Clone(tt.dims)
		if err := DimsCreate(tt.n, got); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%d nodes, %v: got %v, %v; want %v", tt.n, tt.dims, got, err, tt.want)
		}
	}
}

func TestDimsCreateRefusesWhatHasNoGrid(t *testing.T) {
	for _, tt := range []struct {
		n     int
		dims  []int32
		class int
	}{
		{7, []int32{0, 3, 0}, abi.MPI_ERR_DIMS}, // the standard's example
		{6, []int32{-1, 0}, abi.MPI_ERR_DIMS},
		{6, []int32{3, 1}, abi.MPI_ERR_DIMS},
		{6, []int32{2147483647, 2147483647, 0}, abi.MPI_ERR_DIMS},
		{0, []int32{0}, abi.MPI_ERR_ARG},
		{-4, []int32{0}, abi.MPI_ERR_ARG},
	} {
		given := slices.Clone(tt.dims)
		wantClass(t, DimsCreate(tt.n, tt.dims), tt.class)
		if !slices.Equal(given, tt.dims) {
			t.Errorf("%d nodes: dims became %v", tt.n, tt.dims)
		}
	}
}

// factorings visits all ways to write n as k factors that do not increase.
func factorings(n, k, limit int, visit func(large, small int)) {
	var walk func(rest, k, limit, large int)
	walk = func(rest, k, limit, large int) {
		if k == 1 {
			if rest <= limit {
				visit(max(large, rest), rest)
			}
			return
		}
		for d := 1; d <= min(rest, limit); d++ {
			if rest%d == 0 {
				walk(rest/d, k-1, d, max(large, d))
			}
		}
	}
	walk(n, k, limit, 0)
}

func TestDimsCreateIsAsBalancedAsAnyGrid(t *testing.T) {
	for k := 1; k <= 4; k++ {
		for n := 1; n <= 400; n++ {
			dims := make([]int32, k)
			must(t, DimsCreate(n, dims))
			product, spread := 1, int(dims[0]-dims[k-1])
			for _, d := range dims {
				product *= int(d)
			}
			if product != n || !sort.SliceIsSorted(dims, func(i, j int) bool { return dims[i] > dims[j] }) {
				t.Fatalf("%d nodes: %v", n, dims)
			}
			factorings(n, k, n, func(large, small int) {
				if large-small < spread || large-small == spread && large < int(dims[0]) {
					t.Errorf("%d nodes: %v, where factors from %d to %d would do", n, dims, large, small)
				}
			})
		}
	}
}

// Given dimensions stay; those that are filled in are balanced among themselves, and do not increase from left to
// right.
func TestDimsCreateBalancesWhatIsOpenBesideGivenDimensions(t *testing.T) {
	for n := 1; n <= 360; n++ {
		for _, given := range [][]int32{{2, 0, 0}, {0, 3, 0}, {0, 0, 4}, {0, 1, 0}, {6, 0, 0, 0}, {0, 2, 0, 2, 0},
			{0, 5, 0, 0}, {1, 12}, {0, 7}} {
			dims, rest, open := slices.Clone(given), n, 0
			for _, d := range given {
				if d == 0 {
					open++
				} else if rest%int(d) == 0 {
					rest /= int(d)
				} else {
					rest = 0 // no grid
				}
			}
			err := DimsCreate(n, dims)
			if rest == 0 || open == 0 && rest != 1 {
				wantClass(t, err, abi.MPI_ERR_DIMS)
				continue
			}
			must(t, err)
			var filled []int32
			product := 1
			for i, d := range dims {
				if product *= int(d); given[i] == 0 {
					filled = append(filled, d)
				} else if d != given[i] {
					t.Errorf("%d nodes, %v: a given dimension became %v", n, given, dims)
				}
			}
			if product != n || !slices.IsSortedFunc(filled, func(a, b int32) int { return int(b - a) }) {
				t.Fatalf("%d nodes, %v: %v", n, given, dims)
			}
			if open == 0 {
				continue
			}
			spread := int(filled[0] - filled[open-1])
			factorings(rest, open, rest, func(large, small int) {
				if large-small < spread || large-small == spread && large < int(filled[0]) {
					t.Errorf("%d nodes, %v: %v, where factors from %d to %d would do", n, given, dims, large, small)
				}
			})
		}
	}
}

// The numbers with the most divisors below 2^31 take the longest.
func BenchmarkDimsCreate(b *testing.B) {
	for _, n := range []int{1 << 20, 2095133040} {
		for _, k := range []int{2, 3, 5, 8, 16} {
			b.Run(fmt.Sprintf("%d/%d", n, k), func(b *testing.B) {
				for b.Loop() {
					must(b, DimsCreate(n, make([]int32, k)))
				}
			})
		}
	}
}

// grid makes a grid of arbitrary numbers.
// must reports an error of a call that cannot fail.
func must(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Error(err)
	}
}

func grid(shape [3]uint8, periods [3]bool, k uint8) *Cart {
	c := &Cart{Dims: []int32{}, Periods: periods[:k%4]}
	for _, d := range shape[:k%4] {
		c.Dims = append(c.Dims, int32(d%5)+1)
	}
	return c
}

func TestRanksRunThroughAGridRowByRow(t *testing.T) {
	c := &Cart{Dims: []int32{2, 3}, Periods: []bool{false, true}}
	for rank, want := range [][]int32{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}} {
		got := make([]int32, 2)
		if c.Coords(rank, got); !slices.Equal(got, want) {
			t.Errorf("rank %d is at %v, want %v", rank, got, want)
		}
	}
	err := quick.Check(func(shape [3]uint8, periods [3]bool, k uint8, rounds [3]int16) bool {
		c := grid(shape, periods, k)
		for rank := range c.Size() {
			at := make([]int32, len(c.Dims))
			c.Coords(rank, at)
			for i, d := range c.Dims {
				if c.Periods[i] {
					at[i] += int32(rounds[i]) * d
				}
			}
			if back, err := c.Rank(at); err != nil || back != rank {
				return false
			}
		}
		return true
	}, nil)
	must(t, err)
}

func TestCoordinatesBesideTheGridAreErrors(t *testing.T) {
	c := &Cart{Dims: []int32{2, 3}, Periods: []bool{false, true}}
	for _, coords := range [][]int32{{-1, 0}, {2, 0}, {-2147483648, 5}} {
		_, err := c.Rank(coords)
		wantClass(t, err, abi.MPI_ERR_ARG)
	}
	if r, err := c.Rank([]int32{1, -2147483648}); err != nil || r != 3+1 {
		t.Errorf("rank %d, %v", r, err)
	}
}

func TestShiftAgreesWithCoordinates(t *testing.T) {
	err := quick.Check(func(shape [3]uint8, periods [3]bool, k uint8, disp int16) bool {
		c := grid(shape, periods, k)
		for rank := range c.Size() {
			for dir := range c.Dims {
				at := make([]int32, len(c.Dims))
				want := func(by int32) int {
					c.Coords(rank, at)
					at[dir] += by
					r, err := c.Rank(at)
					if err != nil {
						return abi.MPI_PROC_NULL
					}
					return r
				}
				source, dest := c.Shift(rank, dir, int(disp))
				if source != want(-int32(disp)) || dest != want(int32(disp)) {
					return false
				}
			}
		}
		return true
	}, nil)
	must(t, err)
	ring := &Cart{Dims: []int32{3}, Periods: []bool{true}}
	if s, d := ring.Shift(1, 0, -2147483648); s != 0 || d != 2 {
		t.Errorf("a shift by -2^31 in a ring of 3 is from %d to %d", s, d)
	}
}

func TestSubgridsPartTheGrid(t *testing.T) {
	err := quick.Check(func(shape [3]uint8, periods [3]bool, k uint8, remain [3]bool) bool {
		c := grid(shape, periods, k)
		keep := remain[:len(c.Dims)]
		seen := map[[2]int32]bool{}
		for rank := range c.Size() {
			part, color, key := c.Sub(rank, keep)
			if seen[[2]int32{color, key}] || int(key) >= part.Size() || int(color) >= c.Size()/part.Size() {
				return false
			}
			seen[[2]int32{color, key}] = true
			// What remains of the coordinates is the same.
			at, in := make([]int32, len(c.Dims)), make([]int32, len(part.Dims))
			c.Coords(rank, at)
			part.Coords(int(key), in)
			for i, kept := range keep {
				if kept {
					if at[i] != in[0] {
						return false
					}
					in = in[1:]
				}
			}
		}
		return true
	}, nil)
	must(t, err)
}

func TestGridsAreChecked(t *testing.T) {
	for _, dims := range [][]int32{{0}, {2, -1}, {5}, {3, 2}, {2147483647, 2147483647, 2147483647}} {
		_, err := NewCart(dims, make([]bool, len(dims)), 4)
		wantClass(t, err, abi.MPI_ERR_DIMS)
	}
	for _, dims := range [][]int32{nil, {4}, {2, 2}, {1, 1, 1}} {
		_, err := NewCart(dims, make([]bool, len(dims)), 4)
		must(t, err)
	}
}

func TestNeighborsOfAGridStandByDimension(t *testing.T) {
	c := &Cart{Dims: []int32{2, 3}, Periods: []bool{false, true}}
	sources, destinations := c.Neighbors(1)
	if want := []int32{abi.MPI_PROC_NULL, 4, 0, 2}; !slices.Equal(sources, want) || !slices.Equal(destinations, want) {
		t.Errorf("neighbors %v and %v, want %v", sources, destinations, want)
	}
}

func TestGraphsAreChecked(t *testing.T) {
	for _, index := range [][]int32{{-1}, {2, 1}, {0, 0, -3}, {1, 2, 3, 4, 5}} {
		wantClass(t, CheckIndex(index, 4), abi.MPI_ERR_ARG)
	}
	must(t, CheckIndex([]int32{0, 0, 2, 2}, 4))
	must(t, CheckIndex(nil, 4))
	for _, edges := range [][]int32{{2, 0}, {0, -1}} {
		_, err := NewGraph([]int32{1, 2}, edges)
		wantClass(t, err, abi.MPI_ERR_ARG)
	}
	g, err := NewGraph([]int32{2, 2, 5}, []int32{1, 1, 0, 2, 0})
	must(t, err)
	for rank, want := range [][]int32{{1, 1}, {}, {0, 2, 0}} {
		if from, to := g.Neighbors(rank); !slices.Equal(from, want) || !slices.Equal(to, want) {
			t.Errorf("neighbors of %d: %v and %v", rank, from, to)
		}
	}
}

func TestEdgesReachBothOfTheirEnds(t *testing.T) {
	const size = 5
	err := quick.Check(func(raw [][3]uint8) bool {
		var edges []Edge
		for _, r := range raw {
			edges = append(edges, Edge{int32(r[0] % size), int32(r[1] % size), int32(r[2])})
		}
		ends, counts := Ends(edges, size)
		for rank, n := range counts {
			g, err := FromEnds(ends[:n], size, true)
			if err != nil {
				return false
			}
			ends = ends[n:]
			var want DistGraph
			for _, e := range edges {
				if e.Source == int32(rank) {
					want.Destinations, want.DestWeights = append(want.Destinations, e.Destination), append(want.DestWeights, e.Weight)
				}
				if e.Destination == int32(rank) {
					want.Sources, want.SourceWeights = append(want.Sources, e.Source), append(want.SourceWeights, e.Weight)
				}
			}
			if !slices.Equal(g.Sources, want.Sources) || !slices.Equal(g.SourceWeights, want.SourceWeights) ||
				!slices.Equal(g.Destinations, want.Destinations) || !slices.Equal(g.DestWeights, want.DestWeights) {
				return false
			}
		}
		return len(ends) == 0
	}, nil)
	must(t, err)
	for _, ends := range [][]int32{{isSource, size, 0}, {isDestination, -1, 0}, {2, 0, 0}} {
		_, err := FromEnds(ends, size, true)
		wantClass(t, err, abi.MPI_ERR_INTERN)
	}
}
