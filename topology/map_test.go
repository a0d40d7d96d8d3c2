package topology

import (
	"slices"
	"testing"
)

// uniform is the paths to the places of a machine each of whose units of level l has widths[l] units, numbered
// through it.
func uniform(widths ...int) (paths [][]int32) {
	paths = [][]int32{nil}
	for _, w := range widths {
		var next [][]int32
		for _, p := range paths {
			for u := range w {
				next = append(next, append(slices.Clone(p), int32(u)))
			}
		}
		paths = next
	}
	return paths
}

// dealt is places dealt out to units in turn: place i is in unit i mod units.
func dealt(units, n int) (paths [][]int32) {
	for i := range n {
		paths = append(paths, []int32{int32(i % units)})
	}
	return paths
}

func wantPlaces(t testing.TB, at []int32, places int) {
	t.Helper()
	seen := make([]bool, places)
	for v, p := range at {
		if p < 0 || int(p) >= places || seen[p] {
			t.Fatalf("node %d is at place %d of %d: %v", v, p, places, at)
		}
		seen[p] = true
	}
}

func identity(n int) []int32 {
	at := make([]int32, n)
	for v := range at {
		at[v] = int32(v)
	}
	return at
}

func TestMappingGathersWhatWasDealtOut(t *testing.T) {
	flat := func(dims ...int32) Grid { return Grid{dims, make([]bool, len(dims))} }
	for _, tt := range []struct {
		name string
		grid Grid
		path [][]int32
		cuts []int64
	}{
		{"line over 2 units in turn", flat(8), dealt(2, 8), []int64{1}},
		{"4 x 4 over 2", flat(4, 4), dealt(2, 16), []int64{4}},
		{"4 x 4 over 4 rows", flat(4, 4), uniform(4, 4), []int64{8, 24}},
		{"8 x 8 over 4 machines of 4", flat(8, 8), uniform(4, 4, 4), []int64{16, 48, 112}},
		{"4 x 4 x 4 over 8 machines", flat(4, 4, 4), uniform(8, 8), []int64{48, 144}},
		{"ring of 12 over 3", Grid{[]int32{12}, []bool{true}}, dealt(3, 12), []int64{3}},
		{"6 nodes on 12 places of 2", flat(6), dealt(2, 12), []int64{0}},
		{"3 x 5 over 3", flat(3, 5), dealt(3, 15), []int64{8}},
	} {
		at := MapGrid(tt.grid, tt.path)
		wantPlaces(t, at, len(tt.path))
		if cuts := Cuts(tt.grid.Graph(), tt.path, at); !slices.Equal(cuts, tt.cuts) {
			t.Errorf("%s: cuts %v, want %v", tt.name, cuts, tt.cuts)
		}
		other := Map(tt.grid.Graph(), tt.path)
		if cuts := Cuts(tt.grid.Graph(), tt.path, other); !slices.Equal(cuts, tt.cuts) {
			t.Errorf("%s as a graph: cuts %v, want %v", tt.name, cuts, tt.cuts)
		}
	}
}

func TestNodesStayWhereMovingGainsNothing(t *testing.T) {
	ring := Grid{[]int32{12}, []bool{true}}
	for name, paths := range map[string][][]int32{
		"one unit":          dealt(1, 12),
		"no levels":         make([][]int32, 12),
		"every node alone":  dealt(12, 12),
		"in order already":  uniform(3, 4),
		"two levels of one": uniform(1, 1, 12),
	} {
		if at := MapGrid(ring, paths); !slices.Equal(at, identity(12)) {
			t.Errorf("%s: %v", name, at)
		}
		if at := Map(ring.Graph(), paths); !slices.Equal(at, identity(12)) {
			t.Errorf("%s as a graph: %v", name, at)
		}
	}
	if at := Map(NewGraph(0, nil), nil); len(at) != 0 {
		t.Errorf("no nodes are at %v", at)
	}
	if at := Map(NewGraph(0, nil), dealt(2, 4)); len(at) != 0 {
		t.Errorf("no nodes are at %v", at)
	}
}

func TestOnlyNodesThatGainMove(t *testing.T) {
	// Two pairs that sit apart, and 4 nodes that talk to nobody; units in turn.
	g := NewGraph(8, []Edge{{0, 1, 1}, {2, 3, 1}})
	at := Map(g, dealt(2, 8))
	if cuts := Cuts(g, dealt(2, 8), at); cuts[0] != 0 {
		t.Errorf("a cut of %d", cuts[0])
	}
	moved := 0
	for v, p := range at {
		if int(p) != v {
			moved++
		}
	}
	if moved > 4 {
		t.Errorf("%d nodes have moved: %v", moved, at)
	}
}

// leastCuts is the best there is by trying all ways to place the nodes.
func leastCuts(g *Graph, paths [][]int32) (best []int64) {
	at := make([]int32, g.Size())
	taken := make([]bool, len(paths))
	var walk func(v int)
	walk = func(v int) {
		if v == len(at) {
			if cuts := Cuts(g, paths, at); best == nil || slices.Compare(cuts, best) < 0 {
				best = cuts
			}
			return
		}
		for p := range paths {
			if !taken[p] {
				at[v], taken[p] = int32(p), true
				walk(v + 1)
				taken[p] = false
			}
		}
	}
	walk(0)
	return best
}

func TestMappingIsNextToTheBestOfAll(t *testing.T) {
	hierarchies := [][][]int32{
		dealt(2, 7), dealt(3, 7), uniform(2, 2, 2)[:7],
		{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 0}, {1, 0}, {2, 0}},
		{{0}, {0}, {0}, {0}, {0}, {1}, {2}},
	}
	best, all := 0, 0
	for seed := range uint64(25) {
		n := 5 + int(seed)%3
		g := NewGraph(n, random(n, 9, seed))
		for _, paths := range hierarchies {
			at := Map(g, paths)
			wantPlaces(t, at, len(paths))
			cuts, want := Cuts(g, paths, at), leastCuts(g, paths)
			if slices.Compare(cuts, want) < 0 {
				t.Fatalf("cuts %v, less than the least, %v", cuts, want)
			}
			if slices.Compare(cuts, Cuts(g, paths, identity(n))) > 0 {
				t.Fatalf("cuts %v, more than before", cuts)
			}
			if all++; cuts[0] == want[0] {
				best++
			}
		}
	}
	if best*100 < all*90 {
		t.Errorf("%d of %d mappings have the best cut of the first level", best, all)
	}
}

func TestGridsOnUnevenMachinesAreMapped(t *testing.T) {
	grid := Grid{[]int32{6, 6}, []bool{false, true}}
	for _, sizes := range [][]int{{20, 16}, {30, 3, 3}, {1, 34, 1}, {12, 12, 12}, {7, 7, 7, 15}, {40, 5}} {
		var paths [][]int32
		for left := slices.Clone(sizes); ; { // dealt out in turn until each unit is full
			before := len(paths)
			for u := range left {
				if left[u] > 0 {
					left[u]--
					paths = append(paths, []int32{int32(u)})
				}
			}
			if len(paths) == before {
				break
			}
		}
		at := MapGrid(grid, paths)
		wantPlaces(t, at, len(paths))
		before, after := Cuts(grid.Graph(), paths, identity(36)), Cuts(grid.Graph(), paths, at)
		if after[0] >= before[0] {
			t.Errorf("%v: cut %d, and %d before", sizes, after[0], before[0])
		}
	}
}

func FuzzMap(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte{})
	f.Add(uint8(5), uint8(2), []byte{0, 1, 9, 2, 2, 2})
	f.Add(uint8(64), uint8(0), []byte{1, 7, 3, 200, 5, 6})
	f.Fuzz(func(t *testing.T, size, spare uint8, raw []byte) {
		n := int(size) % 80
		g := NewGraph(n, arbitrary(n, raw))
		paths := make([][]int32, n+int(spare)%9)
		for p := range paths {
			by := byte(p)
			if len(raw) > 0 {
				by ^= raw[p%len(raw)]
			}
			paths[p] = []int32{int32(by % 3), int32(by / 3 % 4), int32(by / 12 % 2)}
		}
		at := Map(g, paths)
		wantPlaces(t, at, len(paths))
		if slices.Compare(Cuts(g, paths, at), Cuts(g, paths, identity(n))) > 0 {
			t.Fatal("worse than before")
		}
	})
}

func FuzzMapGrid(f *testing.F) {
	f.Add(uint8(4), uint8(4), uint8(2), uint8(0), uint8(2))
	f.Add(uint8(1), uint8(7), uint8(3), uint8(5), uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c, periods, units uint8) {
		grid := Grid{[]int32{1 + int32(a%9), 1 + int32(b%6), 1 + int32(c%5)},
			[]bool{periods&1 > 0, periods&2 > 0, periods&4 > 0}}
		n := grid.Size()
		paths := dealt(1+int(units%16), n+int(units/16))
		for p := range paths {
			paths[p] = append(paths[p], int32(p/3%2))
		}
		at := MapGrid(grid, paths)
		wantPlaces(t, at, len(paths))
		if g := grid.Graph(); slices.Compare(Cuts(g, paths, at), Cuts(g, paths, identity(n))) > 0 {
			t.Fatal("worse than before")
		}
	})
}
