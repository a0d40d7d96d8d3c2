package choose

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

const long = transport.BoardLongest

func TestEachTableBeginsWithTheRowOfSlots(t *testing.T) {
	for _, o := range Operations {
		first := 0
		if o == Allreduce {
			first = 1 // after the slices
		}
		if got, want := o.Table()[first], Slots+": "+slotsText(o.longest); got != want {
			t.Errorf("the table of %s begins with %q, not %q", o.Name, got, want)
		}
	}
}

func TestShortContributionsGoBySlots(t *testing.T) {
	for _, x := range []struct {
		o      *Operation
		n      int64
		blocks int
		want   bool
	}{
		{Barrier, 0, 1, true},
		{Bcast, 0, 1, false},
		{Bcast, long, 1, true},
		{Bcast, long + 1, 1, false},
		{Scatter, long / 4, 4, true},
		{Scatter, long / 4, 5, false},
		{Scatter, 1 << 62, 4, false},
		{Alltoallv, 1, 1, true},
	} {
		if x.o.FitsSlots(x.n, x.blocks) != x.want {
			t.Errorf("%s, %d blocks of %d bytes: by slots is %t", x.o.Name, x.blocks, x.n, !x.want)
		}
	}
	if !AllBySlots() {
		t.Error("something does not go by slots though nothing has been chosen")
	}
}

// Slices are for operations that combine in any order, unless slots are chosen, or one order is.
func TestSlicesAreForRanksWithACoreEach(t *testing.T) {
	defer Choose("")
	for p := 2; p <= 9; p++ {
		for _, k := range []Case{{}, {Commutes: true}, {Crowded: true}, {Crowded: true, Commutes: true}} {
			k.Ranks = p
			want := int64(long)
			if p > 2 && k.Commutes && !k.Crowded {
				want = slicesFrom - 1
			}
			for _, choice := range []string{"", "allreduce:board", "allreduce:slots"} {
				if err := Choose(choice); err != nil {
					t.Fatal(err)
				}
				if choice == "allreduce:slots" {
					want = long
				}
				if got := Allreduce.LongestInSlots(k); got != want {
					t.Errorf("%q, %+v: vectors of up to %d bytes go by slots, not of %d", choice, k, got, want)
				}
			}
			Reproduce()
			if got := Allreduce.LongestInSlots(k); got != long {
				t.Errorf("in one order, %+v: vectors of up to %d bytes go by slots", k, got)
			}
		}
	}
	if err := Choose(""); err != nil {
		t.Fatal(err)
	}
	if got := picked(Allreduce, Case{Ranks: 3, Commutes: true, Board: 1 << 16, Bytes: slicesFrom}); got != board {
		t.Errorf("slices go by %s", got)
	}
}

// TestAChoiceAgainstSlotsIsOneForItsOperation chooses algorithms, and looks at which operations still go by slots.
func TestAChoiceAgainstSlotsIsOneForItsOperation(t *testing.T) {
	defer Choose("")
	for choice, without := range map[string][]*Operation{
		"allreduce:doubling":              {Allreduce},
		"reduce_scatter:circulant":        {ReduceScatter},
		"alltoallv:pairwise":              {Alltoallv},
		"barrier:central,bcast:board":     {Barrier},
		"allreduce:slots,gather:slots":    nil,
		"allreduce:board-root,scan:board": nil,
	} {
		if err := Choose(choice); err != nil {
			t.Fatal(err)
		}
		for _, o := range Operations {
			n := int64(8)
			if o == Barrier {
				n = 0
			}
			if got, want := !o.FitsSlots(n, 1), slices.Contains(without, o); got != want {
				t.Errorf("%s: %s goes without slots: %t", choice, o.Name, got)
			}
		}
		if AllBySlots() != (without == nil) {
			t.Errorf("%s: all go by slots: %t", choice, !(without == nil))
		}
	}
}
