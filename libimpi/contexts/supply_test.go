package contexts

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Members call in the same order, some of them with all that they ask for under way. Blocks come in any order, and each
// member has the same ids, in the order of its calls.
func TestMembersGetTheSameIdsInTheOrderOfTheirCalls(t *testing.T) {
	const calls = 5 * BlockSize
	var want []uint64
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		ids, first := New(1, 0, 1)
		var s Supply
		s.Stock(first)
		type asked struct {
			c *Coming
			b Block
		}
		var under []asked
		come := func() {
			i := rnd.IntN(len(under))
			s.Bring(under[i].c, under[i].b, nil)
			under = slices.Delete(under, i, i+1)
		}
		var got []*Promise
		kept := 0
		for range calls {
			p, bring := s.Ask(func() { kept++ })
			if got = append(got, p); bring != nil {
				b, err := ids.Give() // at all members with the same call
				if err != nil {
					t.Fatal(err)
				}
				under = append(under, asked{bring, b})
			}
			for len(under) > 0 && rnd.IntN(BlockSize) == 0 {
				come()
			}
		}
		later := 0
		for _, p := range got {
			if !p.Done {
				later++
			}
		}
		for before := kept; len(under) > 0; {
			if come(); len(under) == 0 && kept-before != later {
				t.Errorf("seed %d: %d calls of kept, want %d", seed, kept-before, later)
			}
		}
		all := make([]uint64, calls)
		for i, p := range got {
			if all[i] = p.ID; !p.Done || p.Err != nil {
				t.Fatalf("seed %d: call %d is not done, %v", seed, i, p.Err)
			}
		}
		if want == nil {
			want = all
		}
		if !slices.Equal(all, want) {
			t.Fatalf("seed %d: ids %v, want %v", seed, all, want)
		}
	}
	slices.Sort(want)
	if n := len(slices.Compact(want)); n != calls {
		t.Errorf("%d ids for %d calls", n, calls)
	}
}

func TestABlockThatDoesNotComeFailsThoseThatWaitForIt(t *testing.T) {
	var s Supply
	p, lost := s.Ask(nil)
	q, again := s.Ask(nil)
	if lost == nil || again != nil {
		t.Fatal("two calls ask for the same block")
	}
	gone := errors.New("gone")
	s.Bring(lost, Block{}, gone)
	if !p.Done || !q.Done || p.Err != gone || q.Err != gone {
		t.Errorf("%+v, %+v", p, q)
	}
	p, next := s.Ask(nil)
	if next == nil {
		t.Fatal("the next call does not ask for a block")
	}
	s.Bring(next, Block{64, 128}, nil)
	if q, next = s.Ask(nil); p.ID != 64 || q.ID != 66 || next != nil {
		t.Errorf("ids %d and %d", p.ID, q.ID)
	}
}
