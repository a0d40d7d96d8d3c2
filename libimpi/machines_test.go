package libimpi

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport/fake"
)

// Clients on several machines: operations at once and recorded, on the world and in another order, go by machine.
func TestCollectivesOfClientsOnSeveralMachines(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"one client":  {Machines: []int{3, 2, 3}, Late: 10},
		"two clients": {Machines: []int{2, 2, 1, 3}, Clients: []int32{0, 0, 1, 1}, Late: 10},
	} {
		t.Run(name, func(t *testing.T) {
			choose.Count(true)
			defer choose.Choose("")
			if err := choose.Choose(""); err != nil { // counts from here
				t.Fatal(err)
			}
			es := makeWorld(t, options{clients: []int{8}, fake: &o})
			together(t, es, func(e *Engine) {
				c := e.World()
				mixed, err := c.Split(0, int32(3*c.Rank()%8)) // so that no machine's ranks follow one another
				must(t, err)
				for _, c := range []*Comm{c, mixed} {
					sumOverMachines(t, c, func(do func(v Collectives) error) { must(t, do(c.Collectives)) })
					sumOverMachines(t, c, func(do func(v Collectives) error) {
						task, err := c.Later(coll.Nonblocking)
						must(t, err)
						must(t, do(task.Operations()))
						id := task.Start()
						must(t, e.Wait(&id, nil))
					})
				}
			})
			noFailure(t, es)
			for _, of := range []*choose.Operation{choose.Barrier, choose.Bcast, choose.Allreduce, choose.Gather} {
				few := len(o.Clients) > 0 && of != choose.Bcast && of != choose.Gather
				if used := of.Used("machines"); (used == 0) != few {
					t.Errorf("%s went by machine %d times", of.Name, used)
				}
			}
		})
	}
}

// sumOverMachines has all members of c make some operations, and looks at their results.
func sumOverMachines(t *testing.T, c *Comm, run func(do func(v Collectives) error)) {
	t.Helper()
	n, r := int32(c.Size()), int32(c.Rank())
	mine, sum, told := []int32{r, 1}, make([]int32, 2), []int32{r}
	all := make([]int32, n)
	one := intBuf(all)
	one.Count = 1
	run(func(v Collectives) error { return v.Barrier() })
	run(func(v Collectives) error { return v.Allreduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)) })
	run(func(v Collectives) error { return v.Bcast(intBuf(told), 1) })
	run(func(v Collectives) error { return v.Gather(intBuf(mine[:1]), one, int(n)-1) })
	if want := []int32{n * (n - 1) / 2, n}; !slices.Equal(sum, want) {
		t.Errorf("rank %d of %d: the sum is %v, not %v", r, n, sum, want)
	}
	if told[0] != 1 {
		t.Errorf("rank %d of %d: rank 1 has said %d", r, n, told[0])
	}
	for i := range all {
		if r == n-1 && all[i] != int32(i) {
			t.Errorf("the root has gathered %v", all)
		}
	}
}
