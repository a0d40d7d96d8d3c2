package group

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// Groups against the plainest model: slices, and searching them.

func drawGroup(rng *rand.Rand) []int32 {
	all := rng.Perm(12)[:rng.IntN(13)]
	world := make([]int32, len(all))
	for i, w := range all {
		world[i] = int32(w)
	}
	if rng.IntN(3) == 0 { // consecutive ranks, which have no index
		slices.Sort(world)
		first := rng.Int32N(5)
		for i := range world {
			world[i] = first + int32(i)
		}
	}
	return world
}

func wantGroup(t *testing.T, what string, g *Group, want []int32) {
	t.Helper()
	if !slices.Equal(g.Worlds(), want) {
		t.Fatalf("%s: %v, want %v", what, g.Worlds(), want)
	}
	for w := int32(-2); w < 20; w++ {
		r := slices.Index(want, w)
		if r < 0 {
			r = abi.MPI_UNDEFINED
		}
		if got := g.Rank(w); got != r {
			t.Fatalf("%s: %v: process %d has rank %d, want %d", what, want, w, got, r)
		}
	}
}

func keep(a []int32, f func(w int32) bool) (kept []int32) {
	for _, w := range a {
		if f(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

func TestGroupsAreThoseOfTheModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := drawGroup(rng), drawGroup(rng)
		g, h := New(slices.Clone(a)), New(slices.Clone(b))
		in := func(s []int32) func(int32) bool { return func(w int32) bool { return slices.Contains(s, w) } }
		out := func(s []int32) func(int32) bool { return func(w int32) bool { return !slices.Contains(s, w) } }
		wantGroup(t, "group", g, a)
		wantGroup(t, "union", g.Union(h), append(slices.Clone(a), keep(b, out(a))...))
		wantGroup(t, "intersection", g.Intersection(h), keep(a, in(b)))
		wantGroup(t, "difference", g.Difference(h), keep(a, out(b)))
		wantGroup(t, "group, afterwards", g, a)

		ranks := rng.Perm(len(a))[:rng.IntN(len(a)+1)]
		var some []int32
		for _, r := range ranks {
			some = append(some, a[r])
		}
		got, err := g.Incl(ranks)
		must(t, err)
		wantGroup(t, "incl", got, some)
		got, err = g.Excl(ranks)
		must(t, err)
		wantGroup(t, "excl", got, keep(a, out(some)))

		for r, w := range a {
			want := slices.Index(b, w)
			if want < 0 {
				want = abi.MPI_UNDEFINED
			}
			if got := g.Translate(r, h); got != want {
				t.Fatalf("rank %d of %v in %v: %d, want %d", r, a, b, got, want)
			}
			if g.World(r) != w {
				t.Fatalf("rank %d of %v is process %d", r, a, g.World(r))
			}
		}
		if got := g.Translate(abi.MPI_PROC_NULL, h); got != abi.MPI_PROC_NULL {
			t.Fatalf("MPI_PROC_NULL is %d", got)
		}

		for _, o := range [][]int32{b, a, shuffled(rng, a)} {
			sa, so := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(o))
			want := abi.MPI_UNEQUAL
			if slices.Equal(a, o) {
				want = abi.MPI_IDENT
			} else if slices.Equal(sa, so) {
				want = abi.MPI_SIMILAR
			}
			if got := g.Compare(New(slices.Clone(o))); got != want {
				t.Fatalf("%v and %v compare as %d, want %d", a, o, got, want)
			}
		}
	}
}

func shuffled(rng *rand.Rand, a []int32) []int32 {
	b := slices.Clone(a)
	rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return b
}

// Ranges stand for first, first+stride, ... floor((last-first)/stride) steps on (MPI 5.0, 7.3.2).
func TestRangesAreThoseOfTheFormula(t *testing.T) {
	g := New([]int32{9, 8, 7, 6, 5, 4})
	n := g.Size()
	for first := -2; first <= n+1; first++ {
		for last := -8; last <= n+8; last++ {
			for stride := -4; stride <= 4; stride++ {
				got, err := g.ranges([]Range{{first, last, stride}})
				if stride == 0 {
					wantClass(t, err, abi.MPI_ERR_ARG)
					continue
				}
				want, bad := []int(nil), first < 0 || first >= n
				if (last-first)*stride >= 0 {
					for k := range (last-first)/stride + 1 {
						r := first + k*stride
						want, bad = append(want, r), bad || r < 0 || r >= n
					}
				}
				if bad {
					wantClass(t, err, abi.MPI_ERR_RANK)
				} else if err != nil || !slices.Equal(got, want) {
					t.Errorf("(%d, %d, %d): %v %v, want %v", first, last, stride, got, err, want)
				}
			}
		}
	}
}

func TestRanksTwiceInAListAreErrors(t *testing.T) {
	g := New([]int32{3, 4, 5})
	_, err := g.Incl([]int{2, 0, 2})
	wantClass(t, err, abi.MPI_ERR_RANK)
	_, err = g.Excl([]int{1, 1})
	wantClass(t, err, abi.MPI_ERR_RANK)
	if Empty.Size() != 0 || Empty.Rank(0) != abi.MPI_UNDEFINED ||
		Empty.Compare(New(nil)) != abi.MPI_IDENT {
		t.Error("the empty group")
	}
}

// A million processes: even groups take no memory to speak of, and no operation is worse than linear.
func TestGroupsOfAMillion(t *testing.T) {
	const n = 1 << 20
	all := even(n, 0, 1)
	odd, err := all.RangeIncl([]Range{{1, n - 1, 2}})
	must(t, err)
	down, err := all.RangeIncl([]Range{{n - 1, 0, -1}})
	must(t, err)
	if got := testing.AllocsPerRun(10, func() {
		g, _ := all.RangeIncl([]Range{{n - 2, 0, -2}})
		if g.Size() != n/2 || g.World(1) != n-4 || g.Rank(2) != n/2-2 || g.Rank(3) != abi.MPI_UNDEFINED {
			t.Error("a range of a range")
		}
	}); got > 2 {
		t.Errorf("%v allocations for a range", got)
	}
	even := all.Difference(odd)
	for what, g := range map[string]*Group{"difference": even, "intersection": all.Intersection(down),
		"union of a part": all.Union(odd)} {
		if g.list != nil {
			t.Errorf("%s: a list of %d", what, len(g.list))
		}
	}
	if both := odd.Union(even); both.Size() != n || both.World(0) != 1 || both.World(n/2) != 0 ||
		both.Rank(2) != n/2+1 || both.Compare(all) != abi.MPI_SIMILAR {
		t.Error("union")
	}
	if r := down.Compare(all); r != abi.MPI_SIMILAR {
		t.Errorf("compare: %d", r)
	}
	for r := range n {
		if got := all.Translate(r, down); got != n-1-r {
			t.Fatalf("rank %d is %d", r, got)
		}
	}
	mixed := make([]int32, n) // even numbers up, then odd ones down: dense, not even
	for i := range n / 2 {
		mixed[i], mixed[n/2+i] = int32(2*i), int32(n-1-2*i)
	}
	g := New(mixed)
	ranks := make([]int, n/2)
	for i := range ranks {
		ranks[i] = n - 1 - i
	}
	part, err := g.Incl(ranks)
	must(t, err)
	if part.list != nil || part.World(0) != 1 {
		t.Error("incl")
	}
	rest, err := g.Excl(ranks)
	must(t, err)
	if rest.Compare(even) != abi.MPI_IDENT {
		t.Error("excl")
	}
	if g.inverse().dense == nil || g.Rank(3) != n-2 {
		t.Error("the way back of a dense group is no table")
	}
	far := New([]int32{5, 1 << 30, 7, 9})
	if far.Rank(1<<30) != 1 || far.Rank(6) != abi.MPI_UNDEFINED || far.inverse().sparse == nil {
		t.Error("the way back of a sparse group")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantClass(t *testing.T, err error, class int) {
	t.Helper()
	if bad, is := err.(*Error); !is || bad.Class != class {
		t.Errorf("error %v, want class %d", err, class)
	}
}
