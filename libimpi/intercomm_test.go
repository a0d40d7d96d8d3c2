package libimpi

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// halves are the kinds of job in which two groups of two meet: within a client, one client each, and across.
var halves = map[string]options{
	"one client":            {clients: []int{4}},
	"a client each":         {clients: []int{2, 2}},
	"groups of two clients": {clients: []int{1, 2, 1}},
}

// meet joins ranks 0 and 1 with ranks 2 and 3; the leaders are ranks 0 and 3.
func meet(t *testing.T, e *Engine) (local, inter *Comm) {
	t.Helper()
	local, err := e.World().Split(e.me/2, 0)
	must(t, err)
	inter, err = local.CreateInter(int(e.me/2), e.World(), []int{3, 0}[e.me/2], 77)
	must(t, err)
	return local, inter
}

func TestIntercommunicatorsCountContextIdsOfBothSides(t *testing.T) {
	for name, o := range halves {
		t.Run(name, func(t *testing.T) {
			o.tune = foreign
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				local, inter := meet(t, e)
				counted := name != "one client"
				if counted {
					wantCIDs(t, inter, 4)
				}
				if !inter.Inter() || local.Inter() || inter.Rank() != int(e.me%2) || inter.Size() != 2 || inter.Ranks() != 2 {
					t.Errorf("rank %d: is rank %d of %d, across %d", e.me, inter.Rank(), inter.Size(), inter.Ranks())
				}
				if inter.spans() != (name != "one client") {
					t.Errorf("spans: %t", inter.spans())
				}
				far := []int32{2, 3}
				if e.me >= 2 {
					far = []int32{0, 1}
				}
				if !slices.Equal(inter.RemoteGroup().Worlds(), far) {
					t.Errorf("remote group %v, want %v", inter.RemoteGroup().Worlds(), far)
				}
				if got := inter.String(); counted && got != "intercommunicator 4 of sizes 2 and 2" {
					t.Error(got)
				}
				// The largest count of all decides, be it on this side or that, with a leader or not.
				for i, want := range []uint64{42, 62, 82, 102} {
					if e.me == int32(i) {
						e.contexts.ids.Largest = want - 2
					}
					d, err := inter.Dup()
					must(t, err)
					if counted {
						wantCIDs(t, d, want)
					}
					must(t, d.Barrier())
					must(t, d.Free())
				}
				if e.me == 2 {
					e.contexts.ids.Largest = 200
				}
				m, err := inter.Merge(e.me < 2)
				must(t, err)
				if counted {
					wantCIDs(t, m, 202)
				}
				if want := []int32{2, 3, 0, 1}; !slices.Equal(m.group.Worlds(), want) {
					t.Errorf("merged to %v, want %v", m.group.Worlds(), want)
				}
				m, err = inter.Merge(true)
				must(t, err)
				if want := []int32{0, 1, 2, 3}; !slices.Equal(m.group.Worlds(), want) {
					t.Errorf("merged to %v, want %v", m.group.Worlds(), want)
				}
				must(t, inter.Free())
				if !inter.freed {
					t.Error("not freed")
				}
			})
			for _, e := range es {
				idle(t, e, 0)
			}
			noFailure(t, es)
		})
	}
}

func TestIntercommunicatorsAreSplitOnBothSides(t *testing.T) {
	for name, o := range halves {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				_, inter := meet(t, e)
				// Color 0 is on both sides, color 1 on one only.
				color := []int32{0, 1, 0, 0}[e.me]
				s, err := inter.Split(color, -int32(e.me))
				must(t, err)
				if (s == nil) != (e.me == 1) {
					t.Fatalf("rank %d: %v", e.me, s)
				}
				if s != nil {
					want := []int32{3, 2}
					if e.me >= 2 {
						want = []int32{0}
					}
					if !slices.Equal(s.RemoteGroup().Worlds(), want) {
						t.Errorf("rank %d: remote group %v, want %v", e.me, s.RemoteGroup().Worlds(), want)
					}
					must(t, s.Barrier())
				}
				d, err := inter.Dup()
				must(t, err)
				if inter.Compare(inter) != abi.MPI_IDENT || inter.Compare(d) != abi.MPI_CONGRUENT ||
					inter.Compare(e.World()) != abi.MPI_UNEQUAL {
					t.Error("compare")
				}
				s, err = inter.Split(0, -int32(e.me))
				must(t, err)
				if got := inter.Compare(s); got != abi.MPI_SIMILAR {
					t.Errorf("compare with another order: %d", got)
				}
			})
			noFailure(t, es)
		})
	}
}

func TestGroupsOfAnIntercommunicatorAreDisjoint(t *testing.T) {
	es := late(t, 2, 1)
	together(t, es, func(e *Engine) {
		for _, remote := range [][]int32{{0}, {1}, {1, 0}} {
			err := e.checkRemote(e.World().group, remote)
			wantClass(t, err, abi.MPI_ERR_COMM)
		}
		for _, remote := range [][]int32{{-1}, {2}, {5, 5}} {
			err := e.checkRemote(EmptyGroup, remote)
			wantClass(t, err, abi.MPI_ERR_INTERN)
		}
		must(t, e.checkRemote(e.Self().group, []int32{1 - e.me}))
	})
}

func TestColorsOfAnIntercommunicatorCountBothGroups(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 2}})
	together(t, es, func(e *Engine) {
		_, inter := meet(t, e)
		if got, want := inter.Colors(), [4]int32{2, e.me / 2, 4, e.me}; got != want {
			t.Errorf("rank %d: colors %v, want %v", e.me, got, want)
		}
	})
}
