package main

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// What an address is taken of stands here, where it does not move.
var (
	given     [][]int64
	shortInts []int32
	answers   uintptr
)

// constructed is the handle that a call is answered; it counts in made how often a type had to be made.
func constructed(t *testing.T, c typeCall, made *int) uintptr {
	t.Helper()
	var k check
	code := k.construct(address(&answers), c, func(entries []int64) (*datatype.Type, error) {
		*made++
		return datatype.HindexedBlock(1, entries, c.olds[0])
	})
	if code != 0 || published(answers) == nil {
		t.Fatalf("error %d, handle %#x", code, answers)
	}
	return answers
}

// blocksAt is the call for a double at each of some displacements.
func blocksAt(at ...int64) typeCall {
	return typeCall{abi.MPI_COMBINER_HINDEXED_BLOCK, 0, []int64{int64(len(at)), 1},
		[]*datatype.Type{datatype.Named(abi.MPI_DOUBLE)}, []list{wideList(at...)}}
}

func wideList(v ...int64) list {
	v = slices.Clone(v)
	given = append(given, v)
	return list{address(&v[0]), int64(len(v)), true}
}

func TestATypeThatHasEndedIsTakenAgain(t *testing.T) {
	made := 0
	c := blocksAt(0, 16, 48)
	first := constructed(t, c, &made)
	commitType(first)
	was, e := published(first).Type, entryOf(first)
	second := constructed(t, c, &made)
	if made != 2 {
		t.Errorf("one type for two handles")
	}
	endType(second)
	endType(first)
	again := constructed(t, c, &made)
	if made != 2 || again == first || published(first) != nil || types.Find(first) != nil {
		t.Errorf("%d types were made; %#x and then %#x, of which the first is %v", made, first, again, published(first))
	}
	if published(again).Type != was || entryOf(again) != e || *flagsOf(e) != plain|planned|compiled || e.refs != 1 {
		t.Errorf("flags %d, %d references", *flagsOf(e), e.refs)
	}
	if _, ok := committedType(again); ok {
		t.Error("it is committed already")
	}
	commitType(again)
	if d, ok := committedType(again); !ok || d.Type != was || *flagsOf(e) != plain|planned|compiled|committed {
		t.Errorf("after commit: flags %d", *flagsOf(e))
	}
	endType(again)
}

func TestTakingATypeAgainAllocatesNothing(t *testing.T) {
	made := 0
	var k check
	c := blocksAt(0, 24, 32)
	if n := testing.AllocsPerRun(100, func() {
		k.construct(address(&answers), c, func([]int64) (*datatype.Type, error) {
			made++
			return datatype.Contiguous(1, c.olds[0])
		})
		endType(answers)
	}); n != 0 || made != 1 {
		t.Errorf("%v allocations, %d types", n, made)
	}
}

func TestCallsThatDifferHaveOtherWords(t *testing.T) {
	double, integer := datatype.Named(abi.MPI_DOUBLE), datatype.Named(abi.MPI_INT)
	three, other := wideList(1, 2, 3), wideList(1, 2, 4)
	calls := []typeCall{
		{1, 0, []int64{3}, []*datatype.Type{double}, []list{three}},
		{1, 1, []int64{3}, []*datatype.Type{double}, []list{three}},
		{2, 0, []int64{3}, []*datatype.Type{double}, []list{three}},
		{1, 0, []int64{4}, []*datatype.Type{double}, []list{three}},
		{1, 0, []int64{3}, []*datatype.Type{integer}, []list{three}},
		{1, 0, []int64{3}, []*datatype.Type{double}, []list{other}},
		{3, 0, []int64{3}, []*datatype.Type{double, integer}, []list{three, other}},
		{3, 0, []int64{3}, []*datatype.Type{integer, double}, []list{three, other}},
		{3, 0, []int64{3}, []*datatype.Type{double, integer}, []list{other, three}},
	}
	var all [][]int64
	for i, c := range calls {
		w := c.words(nil)
		if int64(len(w)) != c.length() {
			t.Errorf("call %d has %d words of %d", i, len(w), c.length())
		}
		for j, before := range all {
			if slices.Equal(w, before) {
				t.Errorf("calls %d and %d have the same words: %d", j, i, w)
			}
		}
		all = append(all, w)
	}
	shortInts = []int32{1, 2, 3}
	calls[0].lists = []list{{address(&shortInts[0]), 3, false}}
	if w := calls[0].words(nil); !slices.Equal(w, all[0]) {
		t.Errorf("a list of 32 bits is %d, of 64 bits %d", w, all[0])
	}
}

func TestTypesThatAreMoreThanACallAreNotTakenAgain(t *testing.T) {
	made := 0
	c := blocksAt(0, 16, 72)
	h := constructed(t, c, &made)
	freeInGo(h) // as MPI_Type_set_attr does
	endType(h)
	h = constructed(t, c, &made)
	published(h).name = "mine"
	endType(h)
	h = constructed(t, c, &made)
	if made != 2 || published(h).name != "" {
		t.Errorf("%d types were made, and the name is %q", made, published(h).name)
	}
	endType(h)
}

func TestFewTypesAreParked(t *testing.T) {
	made := 0
	var handles []uintptr
	check := func(what string, n, most int) {
		t.Helper()
		there := 0
		for _, h := range handles {
			endType(h)
		}
		for _, h := range handles {
			if types.Find(h) != nil { // the slot still has its object
				there++
			}
		}
		sum := 0
		for _, p := range ended.types {
			_, d := types.At(p.slot)
			sum += int(d.memory)
		}
		if len(handles) != n || there > most || there == 0 || len(ended.types) > mostParked || sum != ended.bytes ||
			sum > mostParkedBytes {
			t.Errorf("%s: %d of %d types are there, %d are parked, of %d bytes, said to be %d", what, there, n,
				len(ended.types), sum, ended.bytes)
		}
		handles = nil
	}
	for i := range 5 * mostParked {
		handles = append(handles, constructed(t, blocksAt(0, int64(1000+i)), &made))
	}
	check("small types", 5*mostParked, mostParked)
	long := make([]int64, 10000)
	for i := range 40 {
		long[1] = int64(i)
		handles = append(handles, constructed(t, blocksAt(long...), &made))
	}
	check("types of 80 kB", 40, mostParkedBytes/80000)
	of := constructed(t, blocksAt(make([]int64, mostParkedBytes/8)...), &made)
	small := constructed(t, typeCall{abi.MPI_COMBINER_HINDEXED_BLOCK, 0, []int64{1, 1},
		[]*datatype.Type{published(of).Type}, []list{wideList(0)}}, &made)
	for _, h := range []uintptr{of, small} {
		if endType(h); types.Find(h) != nil {
			t.Error("a type of 1 MiB is kept")
		}
	}
}
