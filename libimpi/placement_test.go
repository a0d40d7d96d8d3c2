package libimpi

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/transport"
)

func TestClientsOfOtherLibrariesKeepTheOrderOfATopology(t *testing.T) {
	for _, same := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{2, 2}, tune: func(j *transport.Job) {
			for h := range j.Hosts {
				j.Hosts[h].SameImpl = same
			}
		}})
		together(t, es, func(e *Engine) {
			inTurn, err := e.World().Split(0, e.me%2*2+e.me/2) // the clients' processes by turns
			must(t, err)
			line, err := topo.NewCart([]int32{4}, []bool{false}, 4)
			must(t, err)
			made, err := inTurn.CreateCart(line, true)
			must(t, err)
			kept := 0
			for r := range 4 {
				if made.group.World(r) == inTurn.group.World(r) {
					kept++
				}
			}
			if (kept == 4) == same || inTurn.MapCart(line) != made.Rank() {
				t.Errorf("same %v: %d of 4 ranks are kept; mapped to %d, and is %d", same, kept, inTurn.MapCart(line), made.Rank())
			}
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
	}
}

func TestANodeGoesWhereItsRankGoes(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{3, 3}})
		together(t, es, func(e *Engine) {
			c, err := e.World().Split(0, e.me%3*2+e.me/3)
			must(t, err)
			me := int32(c.Rank())
			made, err := c.CreateDistGraphAdjacent(lineThereAndBack(me, weighted), true)
			must(t, err)
			got := made.Topology().(*topo.DistGraph)
			me = int32(made.Rank())
			want := lineThereAndBack(me, weighted)
			if got.Weighted != weighted || !slices.Equal(got.Sources, want.Sources) || !slices.Equal(got.Destinations,
				want.Destinations) ||
				!slices.Equal(got.SourceWeights, want.SourceWeights) || !slices.Equal(got.DestWeights, want.DestWeights) {
				t.Errorf("rank %d has the node %+v, want %+v", me, got, want)
			}
			if me > 0 && e.job.Procs[made.group.World(int(me))].Client != e.job.Procs[made.group.World(int(me-1))].Client &&
				me != 3 {
				t.Errorf("rank %d and the one before it are in different clients", me)
			}
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
	}
}

// lineThereAndBack is one of six nodes of a line; the edge from r to s weighs 10 r + s.
func lineThereAndBack(me int32, weighted bool) *topo.DistGraph {
	g := &topo.DistGraph{Weighted: weighted, Sources: []int32{}}
	for s := max(0, me-1); s <= min(5, me+1); s++ {
		if s == me {
			continue
		}
		g.Sources, g.Destinations = append(g.Sources, s), append(g.Destinations, s)
		if weighted {
			g.SourceWeights, g.DestWeights = append(g.SourceWeights, 10*s+me), append(g.DestWeights, 10*me+s)
		}
	}
	return g
}
