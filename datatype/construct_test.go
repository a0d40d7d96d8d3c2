package datatype

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/libimpi/libimpi/abi"
)

var (
	testInt    = Named(abi.MPI_INT)
	testDouble = Named(abi.MPI_DOUBLE)
)

func TestContentsAreTheArgumentsInBothForms(t *testing.T) {
	one := []*Type{testInt}
	mixed := []*Type{testInt, UBMarker}
	pair := []int64{2, 3}
	at := []int64{10, 20}
	for _, e := range []struct {
		name        string
		make        func() (*Type, error)
		small, wide Contents
	}{
		{"dup", func() (*Type, error) { return Dup(testInt), nil },
			Contents{Combiner: abi.MPI_COMBINER_DUP, Types: one}, Contents{Combiner: abi.MPI_COMBINER_DUP, Types: one}},
		{"contiguous", func() (*Type, error) { return Contiguous(5, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_CONTIGUOUS, Integers: []int64{5}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_CONTIGUOUS, LargeCounts: []int64{5}, Types: one}},
		{"vector", func() (*Type, error) { return Vector(5, 2, -3, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_VECTOR, Integers: []int64{5, 2, -3}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_VECTOR, LargeCounts: []int64{5, 2, -3}, Types: one}},
		{"hvector", func() (*Type, error) { return Hvector(5, 2, 77, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_HVECTOR, Integers: []int64{5, 2}, Addresses: []int64{77}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_HVECTOR, LargeCounts: []int64{5, 2, 77}, Types: one}},
		{"indexed", func() (*Type, error) { return Indexed(pair, at, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_INDEXED, Integers: []int64{2, 2, 3, 10, 20}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_INDEXED, LargeCounts: []int64{2, 2, 3, 10, 20}, Types: one}},
		{"hindexed", func() (*Type, error) { return Hindexed(pair, at, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_HINDEXED, Integers: []int64{2, 2, 3}, Addresses: at, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_HINDEXED, LargeCounts: []int64{2, 2, 3, 10, 20}, Types: one}},
		{"indexed block", func() (*Type, error) { return IndexedBlock(4, at, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_INDEXED_BLOCK, Integers: []int64{2, 4, 10, 20}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_INDEXED_BLOCK, LargeCounts: []int64{2, 4, 10, 20}, Types: one}},
		{"hindexed block", func() (*Type, error) { return HindexedBlock(4, at, testInt) },
			Contents{Combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, Integers: []int64{2, 4}, Addresses: at, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, LargeCounts: []int64{2, 4, 10, 20}, Types: one}},
		{"struct", func() (*Type, error) { return Struct(pair, at, mixed) },
			Contents{Combiner: abi.MPI_COMBINER_STRUCT, Integers: []int64{2, 2, 3}, Addresses: at, Types: mixed},
			Contents{Combiner: abi.MPI_COMBINER_STRUCT, LargeCounts: []int64{2, 2, 3, 10, 20}, Types: mixed}},
		{"subarray", func() (*Type, error) {
			return Subarray([]int64{8, 9}, pair, []int64{1, 2}, abi.MPI_ORDER_C, testInt)
		},
			Contents{Combiner: abi.MPI_COMBINER_SUBARRAY, Integers: []int64{2, 8, 9, 2, 3, 1, 2, abi.MPI_ORDER_C}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_SUBARRAY, Integers: []int64{2, abi.MPI_ORDER_C},
				LargeCounts: []int64{8, 9, 2, 3, 1, 2}, Types: one}},
		{"darray", func() (*Type, error) {
			return Darray(6, 1, []int64{8, 9}, []int64{abi.MPI_DISTRIBUTE_BLOCK, abi.MPI_DISTRIBUTE_CYCLIC}, []int64{
				abi.MPI_DISTRIBUTE_DFLT_DARG, 2}, []int64{2, 3}, abi.MPI_ORDER_FORTRAN, testInt)
		},
			Contents{Combiner: abi.MPI_COMBINER_DARRAY,
				Integers: []int64{6, 1, 2, 8, 9, 17, 18, 19, 2, 2, 3, abi.MPI_ORDER_FORTRAN}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_DARRAY, Integers: []int64{6, 1, 2, 17, 18, 19, 2, 2, 3, abi.MPI_ORDER_FORTRAN},
				LargeCounts: []int64{8, 9}, Types: one}},
		{"resized", func() (*Type, error) { return Resized(testInt, -4, 16) },
			Contents{Combiner: abi.MPI_COMBINER_RESIZED, Addresses: []int64{-4, 16}, Types: one},
			Contents{Combiner: abi.MPI_COMBINER_RESIZED, LargeCounts: []int64{-4, 16}, Types: one}},
	} {
		identity := cmp.Comparer(func(a, b *Type) bool { return a == b })
		small, err := e.make()
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if diff := cmp.Diff(e.small, small.Contents(), identity, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", e.name, diff)
		}
		wide, _ := e.make()
		e.wide.Large = true
		if diff := cmp.Diff(e.wide, wide.AsLarge().Contents(), identity, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s_c (-want +got)\n%s", e.name, diff)
		}
	}
	if c := testInt.Contents(); c.Combiner != abi.MPI_COMBINER_NAMED || len(c.Types)+len(c.Integers) != 0 {
		t.Errorf("contents of a predefined type: %+v", c)
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	type result struct {
		class int
		arg   string
		index int
	}
	d := testInt
	four := []int64{abi.MPI_DISTRIBUTE_BLOCK}
	dflt := []int64{abi.MPI_DISTRIBUTE_DFLT_DARG}
	for _, e := range []struct {
		want result
		make func() (*Type, error)
	}{
		{result{abi.MPI_ERR_COUNT, "count", -1}, func() (*Type, error) { return Contiguous(-1, d) }},
		{result{abi.MPI_ERR_TYPE, "oldtype", -1}, func() (*Type, error) { return Contiguous(1, nil) }},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "count", -1}, func() (*Type, error) { return Contiguous(math.MaxInt64/2, d) }},
		{result{abi.MPI_ERR_COUNT, "count", -1}, func() (*Type, error) { return Vector(-2, 1, 1, d) }},
		{result{abi.MPI_ERR_ARG, "blocklength", -1}, func() (*Type, error) { return Vector(2, -1, 1, d) }},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "stride", -1}, func() (*Type, error) { return Vector(2, 1, math.MaxInt64, d) }},
		{result{abi.MPI_ERR_ARG, "blocklength", -1}, func() (*Type, error) { return Hvector(2, -1, 1, d) }},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "count", -1}, func() (*Type, error) {
			return Hvector(3, 1, math.MaxInt64/2+1, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_blocklengths", 1}, func() (*Type, error) {
			return Indexed([]int64{1, -1}, []int64{0, 0}, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_displacements", -1}, func() (*Type, error) {
			return Hindexed([]int64{1, 1}, []int64{0}, d)
		}},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "array_of_displacements", -1}, func() (*Type, error) {
			return IndexedBlock(1, []int64{math.MinInt64}, d)
		}},
		{result{abi.MPI_ERR_ARG, "blocklength", -1}, func() (*Type, error) { return HindexedBlock(-1, []int64{0}, d) }},
		{result{abi.MPI_ERR_ARG, "array_of_types", -1}, func() (*Type, error) {
			return Struct([]int64{1, 1}, []int64{0, 8}, []*Type{d})
		}},
		{result{abi.MPI_ERR_ARG, "array_of_types", -1}, func() (*Type, error) {
			return Struct([]int64{1, 1}, []int64{0}, []*Type{d, d})
		}},
		{result{abi.MPI_ERR_ARG, "array_of_blocklengths", 1}, func() (*Type, error) {
			return Struct([]int64{1, -1}, []int64{0, 8}, []*Type{d, d})
		}},
		{result{abi.MPI_ERR_TYPE, "array_of_types", 1}, func() (*Type, error) {
			return Struct([]int64{1, 1}, []int64{0, 8}, []*Type{d, nil})
		}},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "extent", -1}, func() (*Type, error) { return Resized(d, math.MaxInt64, 1) }},
		{result{abi.MPI_ERR_ARG, "ndims", -1}, func() (*Type, error) { return Subarray(nil, nil, nil, abi.MPI_ORDER_C, d) }},
		{result{abi.MPI_ERR_ARG, "order", -1}, func() (*Type, error) {
			return Subarray([]int64{4}, []int64{1}, []int64{0}, 7, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_subsizes", 0}, func() (*Type, error) {
			return Subarray([]int64{4}, []int64{5}, []int64{0}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_starts", 0}, func() (*Type, error) {
			return Subarray([]int64{4}, []int64{2}, []int64{3}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_VALUE_TOO_LARGE, "array_of_sizes", -1}, func() (*Type, error) {
			return Subarray([]int64{1 << 40, 1 << 40}, []int64{1, 1}, []int64{0, 0}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "size", -1}, func() (*Type, error) {
			return Darray(3, 0, []int64{8}, four, dflt, []int64{2}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "rank", -1}, func() (*Type, error) {
			return Darray(2, 2, []int64{8}, four, dflt, []int64{2}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_dargs", 0}, func() (*Type, error) {
			return Darray(2, 0, []int64{8}, four, []int64{3}, []int64{2}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_distribs", 0}, func() (*Type, error) {
			return Darray(2, 0, []int64{8}, []int64{5}, dflt, []int64{2}, abi.MPI_ORDER_C, d)
		}},
		{result{abi.MPI_ERR_ARG, "array_of_psizes", 0}, func() (*Type, error) {
			return Darray(2, 0, []int64{8}, []int64{abi.MPI_DISTRIBUTE_NONE}, dflt, []int64{2}, abi.MPI_ORDER_C, d)
		}},
	} {
		typ, err := e.make()
		var bad *Error
		if typ != nil || !errors.As(err, &bad) {
			t.Errorf("want %+v, got %v, %v", e.want, typ, err)
			continue
		}
		if got := (result{bad.Class, bad.Arg, bad.Index}); got != e.want || bad.Error() == "" {
			t.Errorf("got %+v %q, want %+v", got, bad.Error(), e.want)
		}
	}
}

func TestATypeThatIsTooLargeIsBlamedOnItsCount(t *testing.T) {
	far := []int64{math.MinInt64 / 2, math.MaxInt64 / 2, math.MaxInt64 - 8}
	for _, e := range []struct {
		count int64
		make  func() (*Type, error)
	}{
		{1 << 61, func() (*Type, error) { return Contiguous(1<<61, testInt) }},
		{7, func() (*Type, error) { return Vector(7, 1<<61, 1, testInt) }},
		{5, func() (*Type, error) { return Hvector(5, 2, math.MaxInt64/2, testInt) }},
		{3, func() (*Type, error) { return Hindexed([]int64{1, 1, 1}, far, testInt) }},
		{3, func() (*Type, error) { return HindexedBlock(1, far, testInt) }},
		{3, func() (*Type, error) { return Struct([]int64{1, 1, 1}, far, slicesOf(testInt, 3)) }},
	} {
		_, err := e.make()
		var bad *Error
		if !errors.As(err, &bad) || bad.Class != abi.MPI_ERR_VALUE_TOO_LARGE || bad.Arg != "count" || bad.Value != e.count {
			t.Errorf("%+v, want a count of %d", err, e.count)
		}
	}
}

func TestSizesBeyondTwoGigabytesAreExact(t *testing.T) {
	huge := ok(Contiguous(3<<30, testDouble))
	rows := ok(Vector(1<<20, 1<<20, 1<<21, testDouble))
	if huge.Size() != 3<<33 || rows.Size() != 1<<43 || rows.Extent() != ((1<<20-1)<<21+1<<20)*8 {
		t.Errorf("sizes %d %d, extent %d", huge.Size(), rows.Size(), rows.Extent())
	}
	if got := rows.PackedSize(1<<21, Native); got != math.MaxInt64 {
		t.Errorf("2^64 bytes are %d", got)
	}
	if got := huge.PackedSize(5, External32); got != 15<<33 {
		t.Errorf("5 of them are %d", got)
	}
	if n := huge.Elements(1<<33, Native); n != 1<<30 {
		t.Errorf("elements %d", n)
	}
}

func TestATypeWithoutDataHasNoElements(t *testing.T) {
	empty := ok(Resized(ok(Contiguous(0, testInt)), 0, 16))
	for _, e := range []struct{ bytes, want int64 }{
		{0, 0}, {1, abi.MPI_UNDEFINED}, {4, abi.MPI_UNDEFINED}, {-1, abi.MPI_UNDEFINED},
	} {
		for _, rep := range []Rep{Native, External32} {
			if n := empty.Elements(e.bytes, rep); n != e.want {
				t.Errorf("%d bytes are %d elements", e.bytes, n)
			}
			if n := empty.Count(e.bytes, rep); n != e.want {
				t.Errorf("%d bytes are count %d", e.bytes, n)
			}
			if n := testInt.Elements(-4, rep); n != abi.MPI_UNDEFINED {
				t.Errorf("-4 bytes are %d elements", n)
			}
		}
	}
	if bytes, fits := empty.FirstBytes(7); bytes != 0 || !fits {
		t.Errorf("seven elements of nothing are %d bytes, %v", bytes, fits)
	}
	if bytes, fits := ok(Contiguous(3, testInt)).FirstBytes(math.MaxInt64 / 4); bytes != math.MaxInt64/4*4 || !fits {
		t.Errorf("the most elements that fit are %d bytes, %v", bytes, fits)
	}
	if _, fits := ok(Contiguous(3, testInt)).FirstBytes(math.MaxInt64/4 + 1); fits {
		t.Error("2^63 bytes fit")
	}
}

func TestDigitsFindTheSmallestTypeThatHasThem(t *testing.T) {
	const u = abi.MPI_UNDEFINED
	for _, e := range []struct{ p, r, real, complex int }{
		{6, 37, abi.MPI_REAL, abi.MPI_COMPLEX}, {u, 37, abi.MPI_REAL, abi.MPI_COMPLEX}, {6, u, abi.MPI_REAL, abi.MPI_COMPLEX},
		{7, 37, abi.MPI_DOUBLE_PRECISION, abi.MPI_DOUBLE_COMPLEX}, {6, 38, abi.MPI_DOUBLE_PRECISION, abi.MPI_DOUBLE_COMPLEX},
		{15, 307, abi.MPI_DOUBLE_PRECISION, abi.MPI_DOUBLE_COMPLEX}, {16, 307, 0, 0}, {15, 308, 0, 0}, {u, u, 0, 0},
	} {
		real, err1 := F90Real(e.p, e.r)
		complex, err2 := F90Complex(e.p, e.r)
		if e.real == 0 {
			if err1 == nil || err2 == nil {
				t.Errorf("%d digits, range %d: %v, %v", e.p, e.r, real, complex)
			}
			continue
		}
		if err1 != nil || err2 != nil || real.Uniform() != Named(e.real) || complex.Uniform() != Named(e.complex) ||
			!real.Committed() {
			t.Errorf("%d digits, range %d: %v, %v", e.p, e.r, err1, err2)
		}
	}
	for r, want := range map[int]int{-1: abi.MPI_INTEGER1, 2: abi.MPI_INTEGER1, 3: abi.MPI_INTEGER2, 4: abi.MPI_INTEGER2,
		5: abi.MPI_INTEGER4,
		9: abi.MPI_INTEGER4, 10: abi.MPI_INTEGER8, 18: abi.MPI_INTEGER8, 19: abi.MPI_INTEGER16, 38: abi.MPI_INTEGER16} {
		if typ, err := F90Integer(r); err != nil || typ.Uniform() != Named(want) {
			t.Errorf("range %d: %v", r, err)
		}
	}
	if typ, err := F90Integer(39); err == nil {
		t.Errorf("range 39: %v", typ)
	}
}

func TestMarkersSetTheBoundsAndStick(t *testing.T) {
	framed := ok(Struct([]int64{1, 1, 1}, []int64{-8, 0, 24}, []*Type{LBMarker, testInt, UBMarker}))
	twice := ok(Contiguous(2, framed))
	if framed.LB() != -8 || framed.UB() != 24 || framed.TrueUB() != 4 || twice.Extent() != 64 || twice.TrueUB() != 36 {
		t.Errorf("bounds %d %d, of two %d %d", framed.LB(), framed.UB(), twice.LB(), twice.UB())
	}
	wider := ok(Struct([]int64{1, 1}, []int64{0, 100}, []*Type{framed, testInt}))
	if wider.LB() != -8 || wider.UB() != 24 {
		t.Errorf("data beyond a marker moved the bounds to %d %d", wider.LB(), wider.UB())
	}
}

func TestACommittedTypeHasANameOfItsOwn(t *testing.T) {
	seen := map[uint64]bool{}
	for range 3 {
		c, err := Contiguous(2, Named(abi.MPI_INT))
		if err != nil {
			t.Fatal(err)
		}
		c.Commit()
		c.Commit()
		if seen[c.ID()] || c.ID()>>32 == 0 {
			t.Errorf("a derived type is %#x", c.ID())
		}
		seen[c.ID()] = true
	}
	if id := Named(abi.MPI_INT).ID(); id != abi.MPI_INT {
		t.Errorf("MPI_INT is %#x", id)
	}
}

func TestAProgramsNameOfATypeIsItsLabel(t *testing.T) {
	double := Named(abi.MPI_DOUBLE)
	pair, err := Contiguous(2, double)
	if err != nil {
		t.Fatal(err)
	}
	if got := pair.Label(); got != "" || double.Label() != "MPI_DOUBLE" {
		t.Errorf("%q, %q", got, double.Label())
	}
	if pair.Rename("pair"); pair.Label() != "pair" || pair.Name() != "" {
		t.Errorf("%q, %q", pair.Label(), pair.Name())
	}
}
