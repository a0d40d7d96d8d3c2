package contexts

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAnIdFollowsTheLargestOfAllAndIsEven(t *testing.T) {
	for _, tt := range []struct {
		largest []uint64 // of each process
		want    uint64
	}{
		{[]uint64{1, 1}, 2},
		{[]uint64{3, 1, 1}, 4},
		{[]uint64{1, 40}, 42}, // 40 is used, and so is the id beside it
		{[]uint64{1, 41}, 42},
		{[]uint64{1<<40 + 1, 1}, 1<<40 + 2},
	} {
		most := uint64(0)
		for _, n := range tt.largest {
			ids := IDs{Largest: n}
			most = max(most, ids.Offer())
		}
		for _, n := range tt.largest {
			ids := IDs{Largest: n}
			if id, err := ids.Take(most); id != tt.want || err != nil {
				t.Errorf("%v: id %d, %v, want %d", tt.largest, id, err, tt.want)
			}
			if ids.Largest != tt.want+1 {
				t.Errorf("%v: the largest is now %d, want %d", tt.largest, ids.Largest, tt.want+1)
			}
		}
	}
}

func TestIdsEndWhereIMPISays(t *testing.T) {
	ids := IDs{Largest: Most - 3}
	if id, err := ids.Take(ids.Offer()); id != Most-2 || err != nil {
		t.Errorf("id %d, %v", id, err)
	}
	if _, err := ids.Take(ids.Offer()); !errors.Is(err, ErrNoneLeft) {
		t.Errorf("error %v", err)
	}
	if ids.Largest != Most-1 {
		t.Errorf("what fails counts: the largest is %d", ids.Largest)
	}
}

// The largest that another process offers may be below what this one has used meanwhile.
func TestTakingAnIdLowersNoCount(t *testing.T) {
	ids := IDs{Largest: 101}
	if id, err := ids.Take(9); id != 10 || err != nil || ids.Largest != 101 {
		t.Errorf("id %d, %v, largest %d", id, err, ids.Largest)
	}
}

func TestABlockServesItsNumberOfCommunicators(t *testing.T) {
	ids, first := New(1)
	made := 1 // MPI_COMM_WORLD
	for b := first; !b.Empty(); b = b.Rest() {
		if b.Next != uint64(2*made) || b.Next+1 > ids.Largest {
			t.Errorf("communicator %d has id %d; the largest is %d", made, b.Next, ids.Largest)
		}
		made++
	}
	if made != BlockSize {
		t.Errorf("%d communicators", made)
	}
	if _, first = New(2); !first.Empty() {
		t.Errorf("the block %v of a world that spans clients", first)
	}
}

// step lets all processes take a step of an agreement and answers whether they are done.
func step(t *testing.T, all []*Agreement) (done bool, err error) {
	t.Helper()
	most := uint64(0)
	for _, a := range all {
		most = max(most, a.Say())
	}
	for i, a := range all {
		d, e := a.Hear(most)
		if i > 0 && (d != done || e != err) {
			t.Fatalf("process %d: %t, %v; those before it: %t, %v", i, d, e, done, err)
		}
		done, err = d, e
	}
	return done, err
}

// begin begins an agreement of some processes.
func begin(at Place, ids ...*IDs) (all []*Agreement) {
	for _, x := range ids {
		a := x.Agree(at)
		all = append(all, &a)
	}
	return all
}

func end(all []*Agreement) {
	for _, a := range all {
		a.End()
	}
}

func TestABlockFollowsWhatAnybodyHasUsed(t *testing.T) {
	a, _ := New(1)
	b, _ := New(1)
	b.Largest = 1001
	all := begin(Place{}, &a, &b)
	step(t, all)
	if done, err := step(t, all); !done || err != nil {
		t.Fatalf("not done after a round: %v", err)
	}
	want := Block{1002, 1002 + 2*BlockSize}
	if all[0].Block() != want || all[1].Block() != want {
		t.Errorf("blocks %v and %v, want %v", all[0].Block(), all[1].Block(), want)
	}
	if a.Largest != want.End-1 || b.Largest != want.End-1 {
		t.Errorf("the largest are %d and %d", a.Largest, b.Largest)
	}
}

func TestBlocksOfSeveralClientsAreApartFromTheIdsOfIMPI(t *testing.T) {
	a, _ := New(2)
	a.Largest = 77
	all := begin(Place{}, &a)
	step(t, all)
	step(t, all)
	if got := all[0].Block().Next; got != Own+2 {
		t.Errorf("the block begins at %#x", got)
	}
	if a.Largest != 77 {
		t.Errorf("IMPI's largest is %d", a.Largest)
	}
	if got := a.Offer(); got != 77 {
		t.Errorf("offers %d", got)
	}
}

// Jobs of one client and of several meet: the block is one of those that the latter count apart, the ids of IMPI
// and the low ones stay as they are, and the next block follows.
func TestJobsThatCountDifferentlyAgree(t *testing.T) {
	a, _ := New(1)
	b, _ := New(2)
	b.LargestOwn += 100
	before := a.Largest
	last := Block{}
	for range 3 {
		all := begin(Place{}, &a, &b)
		for done := false; !done; {
			var err error
			if done, err = step(t, all); err != nil {
				t.Fatal(err)
			}
		}
		got := all[0].Block()
		if got != all[1].Block() || got.Next < max(Own+100, last.End) || got.Next >= 2*Own {
			t.Errorf("blocks %v and %v after %v", got, all[1].Block(), last)
		}
		last = got
		end(all)
	}
	if a.Largest != before || b.Largest != 1 {
		t.Errorf("the largest of the others are %d and %d", a.Largest, b.Largest)
	}
	all := begin(Place{}, &a)
	step(t, all)
	if done, _ := step(t, all); !done || all[0].Block().Next != before+1 {
		t.Errorf("the next block of the job alone is %v", all[0].Block())
	}
}

func TestAProcessConsentsToTheFirstOfItsAgreements(t *testing.T) {
	a, _ := New(1)
	early, late := begin(Place{2, 0}, &a), begin(Place{2, 1}, &a)
	step(t, late)
	step(t, early) // both have begun
	if done, _ := step(t, late); done {
		t.Error("the second is done before the first")
	}
	if done, _ := step(t, early); !done {
		t.Error("the first is not done")
	}
	end(early)
	step(t, late)
	if done, _ := step(t, late); !done {
		t.Error("the second is not done when it is alone")
	}
	if x, y := early[0].Block(), late[0].Block(); x.End > y.Next {
		t.Errorf("blocks %v and %v", x, y)
	}
}

// A process that has not heard from all may wait for the very thread that wants another agreement.
func TestAnAgreementThatStillWaitsHindersNoOther(t *testing.T) {
	a, _ := New(1)
	waits := begin(Place{0, 0}, &a)
	waits[0].Say()
	other := begin(Place{2, 0}, &a)
	step(t, other)
	if done, _ := step(t, other); !done {
		t.Error("it hinders another one")
	}
}

func TestAnIdThatIsUsedMeanwhileUndoesABlock(t *testing.T) {
	a, _ := New(1)
	b, _ := New(1)
	all := begin(Place{}, &a, &b)
	step(t, all)
	b.Largest += 10
	if done, err := step(t, all); done || err != nil {
		t.Fatalf("done %t, %v", done, err)
	}
	step(t, all)
	if done, _ := step(t, all); !done {
		t.Fatal("not done in the second round")
	}
	if next := all[0].Block().Next; next <= b.Largest-2*BlockSize {
		t.Errorf("the block begins at %d", next)
	}
}

func TestAnAgreementFailsForAllWhereNoIdIsLeft(t *testing.T) {
	for _, clients := range []int{1, 2} {
		a, _ := New(clients)
		b, _ := New(clients)
		*b.count(0) |= Groups - 1
		all := begin(Place{}, &a, &b)
		if _, err := step(t, all); !errors.Is(err, ErrNoneLeft) {
			t.Errorf("%d clients: error %v", clients, err)
		}
		end(all)
		if len(a.agreeing)+len(b.agreeing) != 0 {
			t.Error("a failed agreement hinders others")
		}
	}
}

// Agreements of any groups of processes, in any order of their steps, all end, and no id is given out twice where a
// process could see it.
func TestAgreementsInAnyOrderEndAndKeepApart(t *testing.T) {
	type agreement struct {
		members []int
		all     []*Agreement
		first   int // of the members that has to take its step; the maximum is complete after the last
		most    uint64
	}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		processes := make([]IDs, 4)
		for i := range processes {
			processes[i], _ = New(1 + int(seed%2))
		}
		var running []*agreement
		for i := range 6 {
			place := Place{uint64(rnd.IntN(2)), i}
			a := &agreement{members: rnd.Perm(len(processes))[:1+rnd.IntN(len(processes))]}
			for _, p := range a.members {
				x := processes[p].Agree(place)
				a.all = append(a.all, &x)
			}
			running = append(running, a)
		}
		given := make([][]Block, len(processes))
		for steps := 0; len(running) > 0; steps++ {
			if steps > 10000 {
				t.Fatalf("seed %d: %d agreements go on for ever", seed, len(running))
			}
			n := rnd.IntN(len(running))
			a := running[n]
			a.most = max(a.most, a.all[a.first].Say())
			if a.first++; a.first < len(a.all) {
				continue
			}
			over := false
			for _, x := range a.all {
				done, err := x.Hear(a.most)
				if err != nil {
					t.Fatal(err)
				}
				over = done
			}
			a.first, a.most = 0, 0
			if !over {
				continue
			}
			for i, p := range a.members {
				b := a.all[i].Block()
				if slices.ContainsFunc(given[p], func(c Block) bool { return b.Next < c.End && c.Next < b.End }) {
					t.Fatalf("seed %d: process %d has %v in two agreements", seed, p, b)
				}
				given[p] = append(given[p], b)
			}
			end(a.all)
			running = slices.Delete(running, n, n+1)
		}
	}
}

func TestTheContextOfAGroupDependsOnAllOfIt(t *testing.T) {
	seen := map[uint64]string{}
	for name, id := range map[string]uint64{
		"one":             OfGroup("create", "x", []int32{0, 1}),
		"another kind":    OfGroup("home", "x", []int32{0, 1}),
		"another tag":     OfGroup("create", "y", []int32{0, 1}),
		"another order":   OfGroup("create", "x", []int32{1, 0}),
		"more members":    OfGroup("create", "x", []int32{0, 1, 2}),
		"a moved letter":  OfGroup("creat", "ex", []int32{0, 1}),
		"no tag, no rank": OfGroup("create", "", nil),
	} {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the same id, %#x", name, other, id)
		}
		seen[id] = name
		if id&1 != 0 || id&Groups == 0 || id >= Home {
			t.Errorf("%s: id %#x is out of the range of groups", name, id)
		}
	}
	members := []int32{0, 1}
	if mine, theirs := OfGroup("create", "x", members), OfGroup("create", "x", slices.Clone(members)); mine != theirs {
		t.Errorf("the members do not find each other: %#x and %#x", mine, theirs)
	}
}
