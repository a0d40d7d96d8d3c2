package coll

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// TestTheFirstRowOfATableIsThatOfSlots also holds each routine to the row of its table.
func TestTheFirstRowOfATableIsThatOfSlots(t *testing.T) {
	defer Choose("")
	for _, o := range operations() {
		d := o.describe()
		first := 0
		if d.Name == "allreduce" {
			first = 1 // behind the slices
		}
		if want := slotsName + ": " + slotsText(o.slotLimit()); d.Table[first] != want {
			t.Errorf("the table of %s begins with %q, not %q", d.Name, d.Table[first], want)
		}
	}
	if !AllBySlots() {
		t.Error("something does not go by slots though nothing has been chosen")
	}
	for _, x := range []struct {
		o      Routine
		n      int64
		blocks int
		want   bool
	}{
		{OpBarrier, 0, 1, true},
		{OpBcast, 0, 1, false},
		{OpBcast, transport.BoardLongest, 1, true},
		{OpBcast, transport.BoardLongest + 1, 1, false},
		{OpScatter, transport.BoardLongest / 4, 4, true},
		{OpScatter, transport.BoardLongest / 4, 5, false},
		{OpScatter, 1 << 62, 4, false},
		{OpAlltoallv, 1, 1, true},
		{OpNeighbors, 1, 1, true},
	} {
		if BySlots(x.o, x.n, x.blocks) != x.want {
			t.Errorf("%v, %d blocks of %d bytes: by slots is %t", x.o, x.blocks, x.n, !x.want)
		}
	}
}

// TestAChoiceAgainstSlotsIsOneForItsOperation chooses algorithms, and looks at which routines still go by slots.
func TestAChoiceAgainstSlotsIsOneForItsOperation(t *testing.T) {
	defer Choose("")
	for choice, without := range map[string][]Routine{
		"allreduce:doubling":              {OpAllreduce},
		"reduce_scatter:circulant":        {OpReduceScatter, OpReduceScatterBlock},
		"alltoallv:pairwise":              {OpAlltoallv, OpAlltoallw, OpNeighbors},
		"barrier:central,bcast:board":     {OpBarrier},
		"allreduce:slots,gather:slots":    nil,
		"allreduce:board-root,scan:board": nil,
	} {
		if err := Choose(choice); err != nil {
			t.Fatal(err)
		}
		for o := OpBarrier; o <= OpNeighbors; o++ {
			if got, want := slotLimits[o] < 0, slices.Contains(without, o); got != want {
				t.Errorf("%s: %v goes without slots: %t", choice, o, got)
			}
		}
		if AllBySlots() != (without == nil) {
			t.Errorf("%s: all go by slots: %t", choice, !(without == nil))
		}
		if BySlots(OpBarrier, 0, 1) == slices.Contains(without, OpBarrier) {
			t.Errorf("%s: a barrier goes by slots, or not", choice)
		}
	}
}
