package choose

import (
	"slices"
	"strings"
	"testing"
)

// The tests of this package choose algorithms for the whole process, and so they do not run in parallel.

func TestAChoiceThatDoesNotExistIsAnErrorWithAllThatDo(t *testing.T) {
	defer Choose("")
	for choice, want := range map[string]string{
		"bcast:fast":               `"bcast:fast" is not operation:algorithm; algorithms: bcast:binomial, `,
		"reduce:binomial,bcst:any": `"bcst:any" is not operation:algorithm; operations: barrier, bcast, reduce, `,
		"ring":                     `"ring" is not operation:algorithm; operations: barrier, bcast, reduce, `,
		"scan":                     `"scan" is not operation:algorithm; algorithms: scan:doubling, scan:direct`,
	} {
		if err := Choose(choice); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", choice, err)
		}
	}
}

func TestAChoiceHoldsUntilTheNext(t *testing.T) {
	defer Choose("")
	if err := Choose("bcast:binomial, reduce:halving"); err != nil {
		t.Fatal(err)
	}
	if b, r := Bcast.Chosen(), Reduce.Chosen(); b != "binomial" || r != "halving" {
		t.Errorf("chosen: %q, %q", b, r)
	}
	if err := Choose("bcast:scatter-ring"); err != nil {
		t.Fatal(err)
	}
	if b, r := Bcast.Chosen(), Reduce.Chosen(); b != "scatter-ring" || r != "" {
		t.Errorf("chosen: %q, %q", b, r)
	}
}

// In no case may an operation be left without an algorithm: the last row of its table fits always, and needs nothing.
func TestTheLastRowOfATableFitsAlways(t *testing.T) {
	for _, o := range Operations {
		rows := o.Table()
		last := rows[len(rows)-1]
		if i := o.index(last); i < 0 || o.Algorithms[i].Needs() != "" {
			t.Errorf("%s: %q", o.Name, last)
		}
	}
}

func TestARowOfATableNamesAnAlgorithmOfItsOperation(t *testing.T) {
	for _, o := range Operations {
		for _, r := range o.rules {
			if r.algorithm < 0 {
				t.Errorf("%s has no algorithm %s", o.Name, r.use)
			}
		}
	}
}

// picked is what an operation takes in a case.
func picked(o *Operation, k Case) string { return o.Algorithms[o.Pick(k)].Name }

func TestAnAlgorithmThatCannotBeUsedGivesWayToTheTable(t *testing.T) {
	defer Choose("")
	if err := Choose("allreduce:halving"); err != nil {
		t.Fatal(err)
	}
	k := Case{Ranks: 8, Bytes: 64, Count: 8, Commutes: true}
	if got := picked(Allreduce, k); got != "halving" {
		t.Errorf("8 ranks take %s", got)
	}
	k.Ranks = 7
	if got := picked(Allreduce, k); got != "doubling" {
		t.Errorf("7 ranks take %s", got)
	}
}

func TestAPickIsCountedAndAllocatesNothing(t *testing.T) {
	defer Choose("")
	Count(true)
	defer Count(false)
	if err := Choose(""); err != nil {
		t.Fatal(err)
	}
	k := Case{Ranks: 8, Bytes: 1 << 20, Commutes: true, Count: 1 << 17}
	allocs := testing.AllocsPerRun(100, func() {
		if Allreduce.Pick(k) < 0 || Allreduce.LongestInSlots(k) >= k.Bytes {
			t.Error("a long vector goes by slots")
		}
	})
	if used := Allreduce.Used(picked(Allreduce, k)); allocs != 0 || used != 102 {
		t.Errorf("%g allocations, %d calls", allocs, used)
	}
	if i := slices.IndexFunc(Operations, func(o *Operation) bool { return o.Used(Slots) > 0 }); i >= 0 {
		t.Errorf("%s has gone by slots", Operations[i].Name)
	}
}
