package libimpi

import (
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/transport"
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

// All members of a communicator know of a crowded machine among theirs, and no others.
func TestMembersKnowThatAMachineIsCrowded(t *testing.T) {
	o := fake.Options{Machines: []int{3, 2, 3}}
	es := makeWorld(t, options{clients: []int{8}, fake: &o, tune: func(j *transport.Job) { j.Hosts[7].Crowded = true }})
	together(t, es, func(e *Engine) {
		half, err := e.World().Split(int32(e.World().Rank()/5), 0)
		must(t, err)
		if m := e.World().seats.machines; !m.Crowded {
			t.Error("the world is not crowded")
		}
		if m := half.seats.machines; m != nil && m.Crowded {
			t.Error("the first two machines are crowded")
		}
	})
	noFailure(t, es)
}

// Short blocks of neighbors go from machine to machine together, on a topology and on a duplicate of it, at once, later
// and each time that a request is started. On a sparse graph they go directly.
func TestBlocksOfNeighborsGoByMachine(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"one client":  {Machines: []int{4, 4}, Late: 10},
		"two clients": {Machines: []int{4, 2, 2}, Clients: []int32{0, 1, 1}, Late: 10},
	} {
		t.Run(name, func(t *testing.T) {
			choose.Count(true)
			if err := choose.Choose(""); err != nil { // counts from here
				t.Fatal(err)
			}
			es := makeWorld(t, options{clients: []int{8}, fake: &o, tune: func(j *transport.Job) {
				for i := range j.Hosts {
					j.Hosts[i].SameImpl, j.Hosts[i].Native = true, true
				}
			}})
			together(t, es, func(e *Engine) {
				c := e.World()
				all := make([]int32, c.Size())
				for i := range all {
					all[i] = int32((i + c.Rank()) % len(all))
				}
				for _, neighbors := range [][]int32{all, {int32(c.Rank() ^ 4)}} {
					made, err := c.CreateDistGraphAdjacent(&topo.DistGraph{Sources: neighbors, Destinations: neighbors}, false)
					must(t, err)
					if edges, err := made.edges(); err != nil || (edges.Plan != nil) != (len(neighbors) > 1) {
						t.Errorf("%d neighbors: %v, %v", len(neighbors), edges, err)
					}
					dup, err := made.Dup()
					must(t, err)
					for _, on := range []*Comm{made, dup} {
						swapWithNeighbors(t, on, neighbors)
					}
				}
			})
			noFailure(t, es)
			if n := choose.Neighbors.Used("machines"); n != 8*2*3*2 {
				t.Errorf("blocks went by machine in %d calls", n)
			}
		})
	}
}

// swapWithNeighbors gives a different number to each neighbor, in blocks of one length and of any.
func swapWithNeighbors(t *testing.T, c *Comm, neighbors []int32) {
	t.Helper()
	mine, theirs, ones := make([]int32, len(neighbors)), make([]int32, len(neighbors)), make([]int32, len(neighbors))
	for i := range ones {
		ones[i] = 1
	}
	even := [2]coll.Blocks{coll.Even(perRank(mine)), coll.Even(perRank(theirs))}
	varying := [2]coll.Blocks{coll.Varying(blocks(mine, ones)), coll.Varying(blocks(theirs, ones))}
	for i, b := range [][2]coll.Blocks{even, varying} {
		swap := func(v Collectives) error { return v.Neighbors("MPI_Neighbor_alltoallw", b[0], b[1]) }
		for _, form := range []coll.Form{coll.Blocking, coll.Nonblocking, coll.Persistent} {
			starts := 1
			if form == coll.Persistent {
				starts = 3
			}
			var task *Task
			var id uint64
			if form != coll.Blocking {
				var err error
				task, err = c.Later(form)
				must(t, err)
				must(t, swap(task.Operations()))
			}
			if form == coll.Persistent {
				id = task.Keep()
			}
			for start := range starts {
				for j, to := range neighbors {
					mine[j], theirs[j] = int32(1000*start+10*c.Rank())+to, -1
				}
				switch form {
				case coll.Blocking:
					must(t, swap(c.Collectives))
				case coll.Nonblocking:
					id = task.Start()
				default:
					if err := c.engine.Start(id); err != nil {
						t.Fatal(err)
					}
				}
				if task != nil {
					must(t, c.engine.Wait(&id, nil))
				}
				for j, from := range neighbors {
					if want := 1000*int32(start) + int32(c.Rank()) + 10*from; theirs[j] != want {
						t.Fatalf("%d blocks, kind %d, form %d: %d from rank %d, not %d", len(neighbors), i, form, theirs[j], from,
							want)
					}
				}
			}
		}
	}
}
