package topology

import (
	"slices"
	"strconv"
	"testing"
)

// partitionOf is partition of a whole graph.
func partitionOf(g *Graph, sizes []int, from []int32) []int32 {
	return partition(g, sizes, from, g.Size())
}

// wantSizes fails unless the parts have the prescribed sizes.
func wantSizes(t testing.TB, part []int32, sizes []int) {
	t.Helper()
	got := make([]int, len(sizes))
	for _, p := range part {
		got[p]++
	}
	if !slices.Equal(got, sizes) {
		t.Fatalf("parts of sizes %v, want %v", got, sizes)
	}
}

// inOrder is the partition in which nodes keep their order.
func inOrder(sizes []int) (part []int32) {
	for p, s := range sizes {
		part = append(part, slices.Repeat([]int32{int32(p)}, s)...)
	}
	return part
}

// least is the smallest cut of all partitions with these sizes.
func least(m [][]int64, sizes []int) int64 {
	part := make([]int, len(m))
	left := slices.Clone(sizes)
	best := int64(-1)
	var walk func(v int, cut int64)
	walk = func(v int, cut int64) {
		if best >= 0 && cut >= best {
			return
		}
		if v == len(m) {
			best = cut
			return
		}
		for p := range left {
			if left[p] == 0 {
				continue
			}
			add := int64(0)
			for u := range v {
				if part[u] != p {
					add += m[v][u]
				}
			}
			part[v] = p
			left[p]--
			walk(v+1, cut+add)
			left[p]++
		}
	}
	walk(0, 0)
	return best
}

// shapes are part sizes for 10 nodes.
var shapes = [][]int{{5, 5}, {9, 1}, {10, 0}, {3, 7}, {4, 3, 3}, {2, 2, 2, 2, 2}, {1, 0, 5, 4}, {3, 3, 2, 2},
	{1, 1, 1, 7}, {10}}

func TestPartitionIsNextToTheBestOfAll(t *testing.T) {
	sum, best, optimal, all := int64(0), int64(0), 0, 0
	for seed := range uint64(60) {
		n := 10
		edges := random(n, 8+int(seed)%20, seed)
		g, m := NewGraph(n, edges), adjacency(n, edges)
		for _, sizes := range shapes {
			part := partitionOf(g, sizes, nil)
			wantSizes(t, part, sizes)
			cut, want := g.Cut(part), least(m, sizes)
			if cut < want {
				t.Fatalf("seed %d, %v: cut %d, less than the least, %d", seed, sizes, cut, want)
			}
			sum, best, all = sum+cut, best+want, all+1
			if cut == want {
				optimal++
			}
		}
	}
	if optimal*100 < all*97 || sum*1000 > best*1003 {
		t.Errorf("%d of %d partitions are optimal; cuts of %d in all, where %d would do", optimal, all, sum, best)
	}
}

func TestPartitionIsNeverWorseThanWhatItBeginsWith(t *testing.T) {
	for seed := range uint64(200) {
		n := 1 + int(seed)%60
		g := NewGraph(n, random(n, n*3/2, seed))
		s := sequence(seed + 1)
		k := 1 + int(s.next()%7)
		sizes := make([]int, k)
		from := make([]int32, n)
		for v := range from {
			from[v] = int32(s.next() % uint64(k))
			sizes[from[v]]++
		}
		part := partitionOf(g, sizes, slices.Clone(from))
		wantSizes(t, part, sizes)
		if a, b := g.Cut(part), g.Cut(from); a > b || a == b && !slices.Equal(part, from) {
			t.Fatalf("seed %d: cut %d, begun with %d", seed, a, b)
		}
	}
}

// cliques are k cliques of m nodes, which are spread over the numbers, joined to a ring.
func cliques(k, m int) (edges []Edge) {
	for c := range k {
		for i := range m {
			for j := range i {
				edges = append(edges, Edge{int32(i*k + c), int32(j*k + c), 1})
			}
		}
		edges = append(edges, Edge{int32(c), int32((c + 1) % k), 1})
	}
	return edges
}

func cube(dims int) Grid {
	return Grid{slices.Repeat([]int32{2}, dims), make([]bool, dims)}
}

func TestKnownGraphsArePartedBest(t *testing.T) {
	grid := func(dims ...int32) *Graph { return Grid{dims, make([]bool, len(dims))}.Graph() }
	torus := func(dims ...int32) *Graph {
		return Grid{dims, slices.Repeat([]bool{true}, len(dims))}.Graph()
	}
	equal := func(k, size int) []int { return slices.Repeat([]int{size}, k) }
	for _, tt := range []struct {
		name  string
		g     *Graph
		sizes []int
		cut   int64
	}{
		{"path", grid(1000), equal(10, 100), 9},
		{"path in uneven parts", grid(100), []int{1, 9, 30, 60}, 3},
		{"ring", torus(512), equal(8, 64), 8},
		{"4 x 4", grid(4, 4), equal(4, 4), 8},
		{"8 x 8", grid(8, 8), equal(4, 16), 16},
		{"16 x 16 in halves", grid(16, 16), equal(2, 128), 16},
		{"32 x 32", grid(32, 32), equal(4, 256), 64},
		{"8 x 8 torus", torus(8, 8), equal(4, 16), 32},
		{"4 x 4 x 4", grid(4, 4, 4), equal(8, 8), 48},
		{"cube of 6 dimensions", cube(6).Graph(), equal(4, 16), 64},
		{"cliques", NewGraph(24, cliques(6, 4)), equal(6, 4), 6},
		{"large cliques", NewGraph(320, cliques(10, 32)), equal(10, 32), 10},
		{"no edges", NewGraph(50, nil), equal(5, 10), 0},
		{"star", NewGraph(9, []Edge{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}, {0, 5, 1}, {0, 6, 1}, {0, 7, 1}, {0, 8, 1}}),
			equal(3, 3), 6},
		{"nothing", NewGraph(0, nil), []int{0, 0}, 0},
		{"one node", NewGraph(1, []Edge{{0, 0, 5}}), []int{0, 1, 0}, 0},
	} {
		part := partitionOf(tt.g, tt.sizes, nil)
		wantSizes(t, part, tt.sizes)
		if cut := tt.g.Cut(part); cut != tt.cut {
			t.Errorf("%s: cut %d, want %d", tt.name, cut, tt.cut)
		}
	}
}

func TestHeavyEdgesStayWithin(t *testing.T) {
	// A ring of 16 whose links are heavy and light by turns.
	var edges []Edge
	for v := range int32(16) {
		edges = append(edges, Edge{v, (v + 1) % 16, 1 + 99*int64(v%2)})
	}
	g := NewGraph(16, edges)
	part := partitionOf(g, []int{2, 2, 2, 2, 2, 2, 2, 2}, nil)
	if cut := g.Cut(part); cut != 8 {
		t.Errorf("cut %d, want the 8 light links", cut)
	}
}

func TestPartitionIsTheSameEachTime(t *testing.T) {
	g := NewGraph(300, random(300, 900, 7))
	sizes := []int{100, 50, 50, 99, 1}
	first := partitionOf(g, sizes, nil)
	for range 3 {
		if !slices.Equal(first, partitionOf(g, sizes, nil)) {
			t.Fatal("another partition of the same graph")
		}
	}
}

func TestAPassKeepsSizesAndCountsItsGainRight(t *testing.T) {
	for seed := range uint64(100) {
		n := 3 + int(seed)%40
		g := NewGraph(n, random(n, 2*n, seed))
		s := sequence(seed + 1)
		sizes := make([]int, 3+seed%4)
		part := make([]int32, n)
		for v := range part {
			part[v] = int32(s.next() % uint64(len(sizes)))
			sizes[part[v]]++
		}
		c := newChains(g, part, len(sizes))
		for before := g.Cut(part); ; {
			again := c.pass()
			wantSizes(t, part, sizes)
			cut := g.Cut(part)
			if again != (cut < before) {
				t.Fatalf("seed %d: a pass from %d to %d answers %v", seed, before, cut, again)
			}
			if !again {
				break
			}
			before = cut
		}
	}
}

func FuzzPartition(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte{})
	f.Add(uint8(1), uint8(3), []byte{0, 0, 9})
	f.Add(uint8(40), uint8(5), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3})
	f.Fuzz(func(t *testing.T, size, parts uint8, raw []byte) {
		n, k := int(size), 1+int(parts)%20
		g := NewGraph(n, arbitrary(n, raw))
		sizes := make([]int, k)
		for v := range n {
			by := byte(v)
			if len(raw) > 0 {
				by += raw[v%len(raw)]
			}
			sizes[int(by)%k]++
		}
		from := inOrder(sizes)
		part := partitionOf(g, sizes, slices.Clone(from))
		wantSizes(t, part, sizes)
		if g.Cut(part) > g.Cut(from) {
			t.Fatalf("cut %d, begun with %d", g.Cut(part), g.Cut(from))
		}
	})
}

func BenchmarkPartition(b *testing.B) {
	g := Grid{[]int32{100, 100}, []bool{false, false}}.Graph()
	for _, k := range []int{2, 10, 100, 1000} {
		sizes := slices.Repeat([]int{10000 / k}, k)
		b.Run(strconv.Itoa(k), func(b *testing.B) {
			var cut int64
			for b.Loop() {
				cut = g.Cut(partitionOf(g, sizes, nil))
			}
			b.ReportMetric(float64(cut), "cut")
		})
	}
}
