package contexts

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestABlockServesItsNumberOfCommunicators(t *testing.T) {
	for clients, base := range map[int]uint64{1: 0, 2: Own} {
		_, first := New(clients, 0, 3)
		made := 1 // MPI_COMM_WORLD
		for b := first; !b.Empty(); b = b.Rest() {
			if b.Next != base+uint64(2*made) {
				t.Errorf("communicator %d has id %d", made, b.Next)
			}
			made++
		}
		if made != BlockSize {
			t.Errorf("%d communicators", made)
		}
	}
}

// Processes give blocks without asking each other, as many as they want.
func TestNobodyGivesABlockOfAnothers(t *testing.T) {
	const size = 5
	for clients := 1; clients < 3; clients++ {
		seen := map[uint64]bool{}
		everybody := make([]IDs, size)
		for i := range everybody {
			var world Block
			everybody[i], world = New(clients, i, size)
			for b := world; !b.Empty(); b = b.Rest() {
				seen[b.Next] = true
			}
		}
		for giver := range everybody {
			for range 3 * (giver + 1) {
				b, err := everybody[giver].Give()
				if err != nil {
					t.Fatal(err)
				}
				for i := range everybody {
					if got, err := everybody[i].Given(giver, b.Word()); got != b || err != nil {
						t.Errorf("process %d takes %v for %v, %v", i, b, got, err)
					}
					if _, err := everybody[i].Given((giver+1)%size, b.Word()); !errors.Is(err, ErrNotIts) {
						t.Errorf("process %d believes another giver: %v", i, err)
					}
				}
				for n := 0; !b.Empty(); b = b.Rest() {
					if n++; seen[b.Next] || b.Next >= 2*Own || b.Next&(Groups|Jobs|Subgroups|Survivors) != 0 {
						t.Fatalf("id %#x is given twice, or is none of a block", b.Next)
					}
					seen[b.Next] = true
				}
			}
		}
	}
}

func TestAWordThatNamesNoBlockIsRefused(t *testing.T) {
	ids, world := New(2, 0, 2)
	b, err := ids.Give()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []uint64{1, 2, world.Next, Own, Own - 2*BlockSize, b.Next + 2, b.Next &^ Own, b.Next | Jobs,
		b.Next | Subgroups, b.Next | Survivors, b.Next | Groups, b.Next | Home, b.Next | Partitioned, b.Next | Self,
		1<<64 - 2*BlockSize} {
		if got, err := ids.Given(0, word); !errors.Is(err, ErrNotIts) {
			t.Errorf("%#x is %v, %v", word, got, err)
		}
	}
}

func TestBlocksEndForAll(t *testing.T) {
	last, _ := New(1, mostBlocks-3, mostBlocks-2)
	b, err := last.Give()
	if err != nil || b.End > Survivors {
		t.Fatalf("the last but one is %v, %v", b, err)
	}
	none, err := last.Give()
	if !errors.Is(err, ErrNoneLeft) {
		t.Fatalf("one more: %v, %v", none, err)
	}
	other, _ := New(1, 0, mostBlocks-2)
	if _, err := other.Given(mostBlocks-3, none.Word()); !errors.Is(err, ErrNoneLeft) {
		t.Errorf("the others hear %v", err)
	}
}

// step lets all processes take a step of an agreement and reports whether they are done.
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
	a, _ := New(1, 0, 2)
	b, _ := New(2, 0, 1) // of a job that counts its own blocks from elsewhere
	b.LargestOfJobs += 1001
	last := Block{}
	for range 3 {
		all := begin(Place{}, &a, &b)
		step(t, all)
		if done, err := step(t, all); !done || err != nil {
			t.Fatalf("not done after a round: %v", err)
		}
		got := all[0].Block()
		if got != all[1].Block() || got.Next < max(Jobs+1002, last.End) || got.End > Jobs+Survivors {
			t.Errorf("blocks %v and %v after %v", got, all[1].Block(), last)
		}
		if a.LargestOfJobs != got.End-1 || b.LargestOfJobs != got.End-1 {
			t.Errorf("the largest are %d and %d", a.LargestOfJobs, b.LargestOfJobs)
		}
		last = got
		end(all)
	}
	if a.Largest != 1 || b.Largest != 1 {
		t.Errorf("IMPI's largest are %d and %d", a.Largest, b.Largest)
	}
}

func TestAProcessConsentsToTheFirstOfItsAgreements(t *testing.T) {
	a, _ := New(1, 0, 1)
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
	a, _ := New(1, 0, 1)
	waits := begin(Place{0, 0}, &a)
	waits[0].Say()
	other := begin(Place{2, 0}, &a)
	step(t, other)
	if done, _ := step(t, other); !done {
		t.Error("it hinders another one")
	}
}

func TestAnIdThatIsUsedMeanwhileUndoesABlock(t *testing.T) {
	a, _ := New(1, 0, 1)
	b, _ := New(1, 0, 1)
	all := begin(Place{}, &a, &b)
	step(t, all)
	b.LargestOfJobs += 10
	if done, err := step(t, all); done || err != nil {
		t.Fatalf("done %t, %v", done, err)
	}
	step(t, all)
	if done, _ := step(t, all); !done {
		t.Fatal("not done in the second round")
	}
	if next := all[0].Block().Next; next <= b.LargestOfJobs-2*BlockSize {
		t.Errorf("the block begins at %d", next)
	}
}

func TestAnAgreementFailsForAllWhereNoIdIsLeft(t *testing.T) {
	for _, largest := range []uint64{Jobs + Survivors - 1, 1<<64 - 1, 7} { // the last two are lies
		a, _ := New(1, 0, 1)
		b, _ := New(1, 0, 1)
		a.LargestOfJobs, b.LargestOfJobs = min(a.LargestOfJobs, largest), largest
		all := begin(Place{}, &a, &b)
		if _, err := step(t, all); !errors.Is(err, ErrNoneLeft) {
			t.Errorf("%#x: error %v", largest, err)
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
			processes[i], _ = New(1+int(seed%2), 0, 1)
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
		if id&1 != 0 || id&Groups == 0 || id&Survivors != 0 || id >= Home {
			t.Errorf("%s: id %#x is out of the range of groups", name, id)
		}
	}
	members := []int32{0, 1}
	if mine, theirs := OfGroup("create", "x", members), OfGroup("create", "x", slices.Clone(members)); mine != theirs {
		t.Errorf("the members do not find each other: %#x and %#x", mine, theirs)
	}
}
