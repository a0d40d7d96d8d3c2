package board

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// voters are members of a board who vote, some of whom end.
type voters struct {
	boards []*Board
	ended  []atomic.Bool
}

func newVoters(n int) *voters {
	boards, _ := members(n)
	return &voters{boards: boards, ended: make([]atomic.Bool, n)}
}

func (v *voters) begin(rank int, value uint64, abstains bool) Vote {
	return v.boards[rank].Vote(value, abstains, func(r int) bool { return v.ended[r].Load() })
}

func (v *voters) vote(rank int, value uint64, abstains bool) (uint64, bool) {
	b := v.begin(rank, value, abstains)
	for !b.Looks() && !b.Holds() {
		runtime.Gosched()
	}
	return b.Result()
}

// Members vote again and again. In some rounds one abstains, and from some round on one is not there. All others come
// to the same, and to the bitwise and if all have voted.
func TestAllMembersComeToTheSameVote(t *testing.T) {
	const rounds = 40
	for n := 2; n <= 8; n++ {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		v, abstainer, last, dead := newVoters(n), rng.IntN(n), 10+rng.IntN(rounds), rng.IntN(n)
		value := func(rank, round int) uint64 { return ^(uint64(1) << ((rank*7 + round) % 64)) }
		var all sync.WaitGroup
		for rank := range n {
			all.Go(func() {
				for round := range rounds {
					if rank == dead && round == last {
						v.ended[rank].Store(true)
						return
					}
					want := ^uint64(0)
					for r := range n {
						want &= value(r, round)
					}
					abstains := round%5 == 3
					got, agreed := v.vote(rank, value(rank, round), abstains && rank == abstainer)
					if agreed != (!abstains && round < last) || agreed && got != want {
						t.Errorf("%d members, round %d: %x, %t at rank %d", n, round, got, agreed, rank)
					}
				}
			})
		}
		all.Wait()
	}
}

// One that others have taken for ended votes nevertheless: it finds out, and nobody counts its vote.
func TestWhoComesTooLateHasAbstained(t *testing.T) {
	v := newVoters(3)
	v.ended[2].Store(true)
	first := v.begin(0, 1, false)
	second := v.begin(1, 1, false)
	if !first.Holds() {
		t.Fatal("a member waits for one that has ended")
	}
	v.ended[2].Store(false)
	late := v.begin(2, 1, false)
	for rank, one := range []Vote{first, second, late} {
		if !one.Looks() {
			t.Errorf("rank %d waits", rank)
		}
		if _, agreed := one.Result(); agreed {
			t.Errorf("rank %d counts a vote that came too late", rank)
		}
	}
}

func TestWhoDoesNotUseTheBoardAbstainsForEver(t *testing.T) {
	v := newVoters(2)
	Abstain(v.boards[1].shared, 1)
	for range 3 {
		if _, agreed := v.vote(0, 1, false); agreed {
			t.Error("it has agreed")
		}
	}
}
