package main

import (
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// made returns a committed type, and fails the test if it cannot be made.
func made(t *testing.T) func(*datatype.Type, error) *datatype.Type {
	return func(d *datatype.Type, err error) *datatype.Type {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		d.Commit()
		return d
	}
}

// far are offsets that no int of 32 bits holds.
var far = []int64{0, 1 << 33, 5 << 32}

func TestCIsShownHowATypeLies(t *testing.T) {
	must, double := made(t), datatype.Named(abi.MPI_DOUBLE)
	column := must(datatype.Vector(300, 1, 1024, double))
	long := make([]int64, 100)
	for i := range long {
		long[i] = int64(3 * i * i)
	}
	type shown struct {
		planned, plain, dense, growing bool
		row, most, listed              int64
	}
	for name, c := range map[string]struct {
		t    *datatype.Type
		want shown
	}{
		"a run": {must(datatype.Contiguous(4, double)), shown{true, true, true, false, 0, 1<<63 - 1, 0}},
		"a run in a gap": {must(datatype.Resized(must(datatype.Contiguous(4, double)), 0, 64)), shown{true, true, false,
			false, 0, fewBytes, 0}},
		"a column":       {column, shown{true, true, false, true, 8, fewBytes, 0}},
		"a short column": {must(datatype.Vector(3, 1, 1024, double)), shown{true, true, false, false, 8, fewBytes, 0}},
		"wide rows":      {must(datatype.Vector(300, 9, 1024, double)), shown{true, true, false, false, 72, fewBytes, 0}},
		"near rows":      {must(datatype.Vector(300, 1, 7, double)), shown{true, true, false, false, 8, fewBytes, 0}},
		"columns": {must(datatype.Hvector(1000, 1, 8, column)), shown{true, true, false, true, 300 * 8, fewBytes,
			0}},
		"six levels":   {deep(must, 6), shown{true, true, false, false, 32 * 8, 0, 0}},
		"seven levels": {deep(must, 7), shown{false, true, false, false, 0, 0, 0}},
		"a few blocks": {must(datatype.Indexed([]int64{2, 1, 3}, []int64{0, 3, 9}, double)), shown{true, true, false,
			false, 0, fewBytes, 3}},
		"many blocks": {must(datatype.IndexedBlock(1, long, double)), shown{true, true, false, false, 0, fewBytes,
			100}},
		"blocks far apart": {must(datatype.HindexedBlock(1, far, double)), shown{false, true, false, false, 0, 0, 0}},
		"no data":          {must(datatype.Contiguous(0, double)), shown{false, true, false, false, 0, 0, 0}},
	} {
		h := addType(&dataType{Type: c.t})
		e := entryOf(h)
		got := shown{*flagsOf(e)&planned != 0, *flagsOf(e)&plain != 0, e.plan.dense != 0, e.plan.growing != 0,
			int64(e.plan.row), int64(e.plan.most), int64(e.plan.list.n)}
		if !got.planned { // C does not look at the plan
			got.dense, got.growing, got.row, got.most, got.listed = false, false, 0, 0, 0
		}
		if got != c.want {
			t.Errorf("%s: shown %+v, want %+v", name, got, c.want)
		}
		if !endType(h) || published(h) != nil || endType(h) {
			t.Errorf("%s: the handle did not end once", name)
		}
	}
}

// deep is a type of so many levels of two, three, ... blocks.
func deep(must func(*datatype.Type, error) *datatype.Type, levels int) *datatype.Type {
	d := datatype.Named(abi.MPI_DOUBLE)
	for range levels {
		d = must(datatype.Hvector(2, 1, 3*d.TrueExtent()+8, d))
	}
	return d
}

func TestATypeIsShownWhenItIsCommitted(t *testing.T) {
	d, err := datatype.Vector(3, 1, 2, datatype.Named(abi.MPI_INT))
	if err != nil {
		t.Fatal(err)
	}
	h := addType(&dataType{Type: d})
	e := entryOf(h)
	if *flagsOf(e) != plain || e.shape.size != 12 || e.shape.ub != 20 {
		t.Errorf("before: flags %d, shape %+v", *flagsOf(e), e.shape)
	}
	commitType(h)
	if *flagsOf(e) != plain|planned|compiled|committed || e.plan.size != 12 || e.plan.extent != 20 {
		t.Errorf("after: flags %d, plan %+v", *flagsOf(e), e.plan)
	}
	freeInGo(h)
	if *flagsOf(e) != planned|compiled|committed {
		t.Errorf("for Go to free: flags %d", *flagsOf(e))
	}
	endType(h)
}

func TestATypeOutlivesItsHandleWhileAReceiveHoldsIt(t *testing.T) {
	d := made(t)(datatype.Vector(3, 1, 2, datatype.Named(abi.MPI_INT)))
	h := addType(&dataType{Type: d})
	e := entryOf(h)
	e.refs++ // as C does (impi_type_hold)
	if !endType(h) || published(h) != nil {
		t.Error("a handle has not ended, or can be found then")
	}
	other := addType(&dataType{Type: d})
	if entryOf(other) == entryOf(h) {
		t.Error("an entry that is held is another type's")
	}
	if heldType(unsafe.Pointer(e)) != d {
		t.Error("not the type that was held")
	}
	if endType(other); e.refs != 0 || types.Find(h) != nil {
		t.Errorf("%d references are left, or the object", e.refs)
	}
}
