package datatype

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// other is a basic type of another size and alignment.
func other(named *Type) (*Type, error) {
	switch {
	case named.form == formFields:
		return nil, nil
	case named.size >= 8:
		return Named(abi.MPI_SHORT), nil
	case named.size == 1:
		return Named(abi.MPI_INT), nil
	}
	return named, nil
}

// otherLeaf is the type map of what stands for a predefined type.
func otherLeaf(handle int) *model {
	old := Named(handle)
	if old.form != formFields {
		t, _ := other(old)
		return &model{t: t, entries: []entry{{0, t}}}
	}
	value, _ := other(old.olds[0])
	index, _ := other(old.olds[1])
	return &model{t: old, entries: []entry{{0, value}, {value.Size(), index}}}
}

func TestSubstituteIsTheSameCallsWithOtherBasicTypes(t *testing.T) {
	for seed := range 4000 {
		r := rand.New(rand.NewSource(int64(seed)))
		m := anyType(r, r.Intn(5))
		want := repeated(int64(seed))
		got, err := m.t.Substitute(other)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		lb, ub := want.bounds()
		if got.LB() != lb || got.UB() != ub || got.Size() != want.size(Native) || got.elems != int64(len(want.entries)) {
			t.Fatalf("seed %d: %d bytes from %d to %d, want %d from %d to %d", seed,
				got.Size(), got.LB(), got.UB(), want.size(Native), lb, ub)
		}
		if err := samePlaces(got, want); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// repeated draws the type of a seed made of other types.
func repeated(seed int64) *model {
	leaf = otherLeaf
	defer func() { leaf = named }()
	r := rand.New(rand.NewSource(seed))
	return anyType(r, r.Intn(5))
}

// samePlaces compares where each byte is.
func samePlaces(t *Type, m *model) error {
	var c Cursor
	c.Init(nil, 1, t, Native)
	pos := int64(0)
	for _, e := range m.entries {
		if at := c.Place(pos); at != e.at {
			return fmt.Errorf("byte %d is at %d, want %d", pos, at, e.at)
		}
		pos += e.basic.size
	}
	return nil
}

// bytePlaces is where each byte of the stream is.
func bytePlaces(t *Type) (at []int64) {
	var c Cursor
	c.Init(nil, 1, t, Native)
	for pos := range c.Len() {
		at = append(at, c.Place(pos))
	}
	return at
}

func TestSubstituteCountsInElementsAndKeepsBytes(t *testing.T) {
	sizes, subsizes, starts := []int64{5, 7}, []int64{2, 3}, []int64{1, 2}
	dist, args, grid := []int64{abi.MPI_DISTRIBUTE_CYCLIC, abi.MPI_DISTRIBUTE_BLOCK},
		[]int64{2, abi.MPI_DISTRIBUTE_DFLT_DARG}, []int64{2, 2}
	with := func(basic *Type) []*Type {
		vector := ok(Vector(3, 2, 4, basic))
		return []*Type{
			ok(Subarray(sizes, subsizes, starts, abi.MPI_ORDER_FORTRAN, basic)),
			ok(Subarray(sizes, subsizes, starts, abi.MPI_ORDER_C, vector)),
			ok(Darray(4, 3, sizes, dist, args, grid, abi.MPI_ORDER_C, basic)),
			ok(Resized(vector, -8, 200)), Dup(vector), ok(Hindexed([]int64{2, 1}, []int64{0, 77}, vector)),
			ok(IndexedBlock(2, []int64{4, 9}, basic)), ok(HindexedBlock(2, []int64{3, 99}, basic)),
			ok(Struct([]int64{1, 2, 1}, []int64{0, 40, 300}, []*Type{LBMarker, basic, UBMarker})),
		}
	}
	want := with(Named(abi.MPI_SHORT))
	for i, old := range with(testDouble) {
		got := ok(old.Substitute(other))
		if !slices.Equal(bytePlaces(got), bytePlaces(want[i])) || got.LB() != want[i].LB() ||
			got.Extent() != want[i].Extent() {
			t.Errorf("type %d: %v of extent %d, want %v of %d", i,
				bytePlaces(got), got.Extent(), bytePlaces(want[i]), want[i].Extent())
		}
	}
}

func TestSubstituteAnswersATypeItselfIfNothingChanges(t *testing.T) {
	old := ok(Struct([]int64{1, 2}, []int64{0, 8}, []*Type{Named(abi.MPI_DOUBLE_INT), ok(Contiguous(3, testDouble))}))
	same := func(t *Type) (*Type, error) { return t, nil }
	if got := ok(old.Substitute(same)); got != old {
		t.Error("another type")
	}
	calls, refused := 0, errors.New("refused")
	if _, err := old.Substitute(func(t *Type) (*Type, error) {
		calls++
		if t == testDouble {
			return nil, refused
		}
		return t, nil
	}); err != refused || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
	real, _ := F90Real(10, 20)
	if got := ok(real.Substitute(other)); got != Named(abi.MPI_SHORT) {
		t.Errorf("a real type became %s", got.Name())
	}
}

func TestSubstituteVisitsAPartOnce(t *testing.T) {
	old := testDouble
	for range 58 {
		old = ok(Struct([]int64{1, 1}, []int64{0, 0}, []*Type{old, old}))
	}
	if got := ok(old.Substitute(other)); got.Size() != 2<<58 {
		t.Errorf("size %d", got.Size())
	}
	if monotone, disjoint := old.FileOrder(); !monotone || disjoint {
		t.Errorf("monotone %v, disjoint %v", monotone, disjoint)
	}
}

// fileOrder looks at all elements.
func fileOrder(m *model) (monotone, disjoint bool) {
	monotone, disjoint = true, true
	entries := m.instances(3)
	for i, e := range entries {
		if e.at < 0 && i < len(m.entries) {
			return false, false
		}
		if i > 0 {
			before := entries[i-1]
			monotone = monotone && e.at >= before.at
			disjoint = disjoint && e.at >= before.at+before.basic.size
		}
	}
	return monotone, disjoint
}

func TestFileOrderIsThatOfTheTypeMapRepeated(t *testing.T) {
	found := map[[2]bool]int{}
	compare := func(m *model) error {
		monotone, disjoint := m.t.FileOrder()
		found[[2]bool{monotone, disjoint}]++
		if a, b := fileOrder(m); a != monotone || b != disjoint {
			return fmt.Errorf("monotone %v, disjoint %v, want %v, %v", monotone, disjoint, a, b)
		}
		return nil
	}
	check(t, 6000, func(r *rand.Rand, m *model) error { return compare(m) })
	for seed := range 3000 {
		r := rand.New(rand.NewSource(int64(seed)))
		m := ascending(r, r.Intn(4))
		lo, hi := reachOf(m.entries)
		if r.Intn(2) == 0 { // tiles that overlap, touch or leave a gap
			m.lbs, m.ubs = []int64{lo}, []int64{lo + (hi-lo)*int64(r.Intn(5))/3}
			m.t = ok(Resized(m.t, lo, m.ubs[0]-lo))
		}
		if err := compare(m); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if len(found) != 3 || found[[2]bool{true, true}] < 300 || found[[2]bool{true, false}] < 300 {
		t.Errorf("found %v", found)
	}
}

func TestAViewWithoutEndHasPlacesAndExtents(t *testing.T) {
	for seed := range 1000 {
		r := rand.New(rand.NewSource(int64(seed)))
		m := ascending(r, r.Intn(4))
		lo, hi := reachOf(m.entries)
		extent := max(hi-lo, 1) + int64(r.Intn(3)*r.Intn(100))
		tile := ok(Resized(m.t, lo, extent))
		rep := Rep(r.Intn(2))
		var c Cursor
		count := tile.Endless(rep)
		c.Init(nil, count, tile, rep)
		size := tile.PackedSize(1, rep)
		if c.Len() != count*size || c.Len() <= 0 || c.Len() > 1<<62 || !inOrder(m.entries) || !c.Ordered() {
			t.Fatalf("seed %d: %d elements of %d bytes, ordered %v", seed, count, size, c.Ordered())
		}
		at, end := bytesOf(m.entries, rep)
		for range 20 {
			i, k := r.Int63n(count-2), r.Int63n(size)
			pos := i*size + k
			if got, want := c.Place(pos), i*extent+at[k]; got != want {
				t.Fatalf("seed %d: byte %d is at %d, want %d", seed, pos, got, want)
			}
			n := 1 + r.Int63n(2*size-k)
			last := k + n - 1
			want := last/size*extent + end[last%size] - at[k]
			if got := c.Extent(pos, n); got != want {
				t.Fatalf("seed %d: %d bytes from %d have an extent of %d, want %d", seed, n, pos, got, want)
			}
			if got := c.Within(pos, want); got < n || got > n+int64(maxUnit) {
				t.Fatalf("seed %d: %d bytes in the extent of %d", seed, got, n)
			}
		}
		if got := c.Within(0, 1<<63-1); got != c.Len() || c.Run() < 1 || c.Run() > c.Len() {
			t.Fatalf("seed %d: %d of %d bytes in all memory, runs of %d", seed, got, c.Len(), c.Run())
		}
	}
}

func TestAnOpaqueTypeCountsAsOneElementOfBytes(t *testing.T) {
	items := ok(Vector(3, 2, 4, Opaque(5)))
	if n, rest := items.WholeElements(19, Native); n != 3 || rest != 4 || items.Elements(20, Native) != 4 {
		t.Errorf("%d elements in 20 bytes, %d in 19 and %d bytes", items.Elements(20, Native), n, rest)
	}
	if items.Extent() != 50 {
		t.Errorf("extent %d", items.Extent())
	}
	if n, _ := items.FirstBytes(4); n != 20 {
		t.Errorf("4 elements are %d bytes", n)
	}
	b, err := ok(Struct([]int64{1, 2}, []int64{0, 9}, []*Type{items, Opaque(3)})).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := ok(Struct([]int64{1, 2}, []int64{0, 9}, []*Type{ok(Vector(3, 2, 4, ok(Contiguous(5, Named(abi.MPI_BYTE))))),
		ok(Contiguous(3, Named(abi.MPI_BYTE)))}))
	if got := ok(Decode(b)); !slices.Equal(bytePlaces(got), bytePlaces(want)) || got.Extent() != want.Extent() {
		t.Errorf("elsewhere it is %v, want %v", bytePlaces(got), bytePlaces(want))
	}
}
