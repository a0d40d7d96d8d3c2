package onesided

import (
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

var int64Type = datatype.Named(abi.MPI_INT64_T)

func TestAFenceWaitsForAllMembers(t *testing.T) {
	for n := 1; n <= 5; n++ {
		w := newWorld(n, 8)
		w.run(t, func(me int, words *Words) {
			for round := range int64(200) {
				numbers[int64](w.parts[me])[0] = round
				if err := words.Fence(); err != nil {
					t.Error(err)
				}
				for r := range n {
					if got := numbers[int64](w.parts[r])[0]; got != round {
						t.Errorf("round %d: member %d of %d has %d at member %d", round, me, n, got, r)
					}
				}
				if err := words.Fence(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestAnExclusiveLockExcludesAndSharedOnesDoNot(t *testing.T) {
	const n, rounds = 4, 500
	w := newWorld(n, 16)
	w.run(t, func(me int, words *Words) {
		count := numbers[int64](w.parts[0])
		for round := range rounds {
			exclusive := (round+me)%3 != 0
			if err := words.Lock(0, exclusive); err != nil {
				t.Error(err)
			}
			if exclusive {
				count[0]++
				count[1]++
			} else if count[0] != count[1] {
				t.Errorf("a reader sees %d and %d", count[0], count[1])
			}
			words.Unlock(0, exclusive)
		}
	})
	want := int64(0)
	for me := range n {
		for round := range rounds {
			if (round+me)%3 != 0 {
				want++
			}
		}
	}
	if got := numbers[int64](w.parts[0])[0]; got != want {
		t.Errorf("%d writers of %d", got, want)
	}
}

func TestReadersShareALock(t *testing.T) {
	w := newWorld(2, 8)
	meet := make(chan bool)
	w.run(t, func(me int, words *Words) {
		if err := words.Lock(1, false); err != nil {
			t.Error(err)
		}
		if me == 0 { // both are inside
			meet <- true
		} else {
			<-meet
		}
		if err := words.Unlock(1, false); err != nil {
			t.Error(err)
		}
	})
}

func TestPostStartCompleteWaitPairUp(t *testing.T) {
	const n = 4
	w := newWorld(n, 8*n)
	w.run(t, func(me int, words *Words) {
		left, right := (me+n-1)%n, (me+1)%n
		for round := int64(1); round < 300; round++ {
			words.Post([]int{left})
			if err := words.Start([]int{right}, false); err != nil {
				t.Error(err)
			}
			numbers[int64](w.parts[right])[me] = round
			words.Complete([]int{right})
			if round%2 == 0 {
				for !words.Test([]int{left}) {
					if err := (machine{}).Relax(); err != nil {
						t.Error(err)
					}
				}
			} else if err := words.Wait([]int{left}); err != nil {
				t.Error(err)
			}
			if got := numbers[int64](w.parts[me])[left]; got != round {
				t.Errorf("round %d: %d from the left", round, got)
			}
		}
	})
}

func TestATableIsPublishedAsAWhole(t *testing.T) {
	const n, rounds = 3, 2000
	w := newWorld(n, 8)
	w.run(t, func(me int, words *Words) {
		if me == 0 {
			for i := range uint64(rounds) {
				words.Publish(2*i, 3*i)
			}
			return
		}
		for last, seen := uint64(0), uint64(0); seen != 2*rounds; {
			table, entries, version, ok := words.Published(0)
			if !ok || version == 0 {
				runtime.Gosched()
				continue
			}
			seen = version
			if table/2 != entries/3 || table/2 != version/2-1 || table < last {
				t.Errorf("version %d says %d and %d", version, table, entries)
				return
			}
			last = table
		}
	})
}

func TestAccumulatesOfAllMembersDoNotMix(t *testing.T) {
	const n, rounds, long = 4, 100, 5000
	w := newWorld(n, 8*long)
	sum := op.Predefined(abi.MPI_SUM)
	w.run(t, func(me int, words *Words) {
		ones := make([]int64, long)
		for i := range ones {
			ones[i] = 1
		}
		for round := range rounds {
			count := int64(1 + round%3*(long-1)/2)
			a := Accumulation{Origin: buf(ones, count, int64Type), Target: buf(numbers[int64](w.parts[0]), count, int64Type),
				Element: int64Type, Op: sum, Lock: func() error { return words.Hold(0) }, Unlock: func() { words.Drop(0) }}
			if err := a.Do(); err != nil {
				t.Error(err)
			}
		}
	})
	want := make([]int64, long)
	for round := range rounds {
		for i := range 1 + round%3*(long-1)/2 {
			want[i] += n
		}
	}
	for i, got := range numbers[int64](w.parts[0])[:long] {
		if got != want[i] {
			t.Fatalf("element %d is %d, want %d", i, got, want[i])
		}
	}
}
