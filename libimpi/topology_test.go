package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/topo"
)

func TestCommunicatorsCarryTheirTopology(t *testing.T) {
	for name, o := range spaces {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				w := e.World()
				grid, err := topo.NewCart([]int32{2}, []bool{true}, 3)
				must(t, err)
				if r := w.MapCart(grid); r != []int{0, 1, abi.MPI_UNDEFINED}[e.me] {
					t.Errorf("rank %d is mapped to %d", e.me, r)
				}
				c, err := w.CreateCart(grid, true)
				must(t, err)
				if (c == nil) != (e.me == 2) {
					t.Fatalf("rank %d: %v", e.me, c)
				}
				if w.Topology() != nil {
					t.Error("the old communicator has got a topology")
				}
				if c != nil {
					if e.job.Clients > 1 {
						wantCIDs(t, c, contexts.Own|2)
					} else {
						wantCIDs(t, c, 2)
					}
					d, err := c.Dup()
					must(t, err)
					if d.Topology() != topo.Topology(grid) {
						t.Error("a duplicate without topology")
					}
					s, err := d.Split(0, 0)
					must(t, err)
					if s.Topology() != nil {
						t.Error("a split communicator has a topology")
					}
					p, err := d.SubCart(grid, []bool{false})
					must(t, err)
					if p.Size() != 1 || p.Topology().(*topo.Cart).Size() != 1 {
						t.Errorf("a part of %d processes: %v", p.Size(), p.Topology())
					}
				}
				must(t, w.Barrier())
			})
			noFailure(t, es)
		})
	}
}
