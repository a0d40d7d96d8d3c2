package coll_test

import (
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// dealt are machines to which p ranks are dealt in turn.
func dealt(p, machines int) *coll.Machines {
	number := make([]int32, p)
	for r := range number {
		number[r] = int32(r % machines)
	}
	return coll.NewMachines(number)
}

// A ring passes each machine once, however ranks are placed: of each block one copy enters and one leaves a machine.
func TestRingsPassEachMachineOnce(t *testing.T) {
	defer choose.Choose("")
	const p, count, machines = 12, 30, 3
	type trial struct {
		once int // messages from a machine to the next in a call
		run  func(c *colltest.Comm) error
	}
	v := vector{p * count, colltest.Map, true}
	for choice, k := range map[string]trial{
		"allgather:ring": {p - 1, func(c *colltest.Comm) error { return tryAllgather(c, p, shape{count, colltest.Double}) }},
		"allgatherv:ring": {p - 1, func(c *colltest.Comm) error {
			return tryAllgatherv(c, p, shape{count, colltest.Double})
		}},
		"allreduce:ring": {2 * (p - 1), func(c *colltest.Comm) error {
			op := colltest.Affine{Commutes: true}
			return colltest.First(tryAllreduce(c, p, v, op, false), tryAllreduce(c, p, v, op, true))
		}},
	} {
		if err := choose.Choose(choice); err != nil {
			t.Fatal(err)
		}
		w := colltest.New(p)
		w.Machines, w.Log = dealt(p, machines), true
		if err := w.Run(k.run); err != nil {
			t.Fatalf("%s: %v", choice, err)
		}
		leaving := map[[2]int]int{}
		for _, m := range w.Messages() {
			if a, b := w.Machines.Of(m.Src), w.Machines.Of(m.Dst); a != b {
				leaving[[2]int{a, b}]++
			}
		}
		for pair, n := range leaving {
			if pair[1] != (pair[0]+1)%machines || n != 2*k.once {
				t.Errorf("%s: %d messages in two calls from machine %d to %d", choice, n, pair[0], pair[1])
			}
		}
	}
}

// Most edges of a tree are within machines, however ranks are placed.
func TestATreeOfUnevenBlocksLeavesEachMachineRarely(t *testing.T) {
	defer choose.Choose("")
	if err := choose.Choose("gatherv:tree,scatterv:tree"); err != nil {
		t.Fatal(err)
	}
	const p, machines, root = 64, 4, 5
	w := colltest.New(p)
	w.Machines, w.Log = dealt(p, machines), true
	if err := w.Run(func(c *colltest.Comm) error {
		return colltest.First(tryGatherv(c, root, shape{3, colltest.Int}), tryScatterv(c, root, shape{3, colltest.Int}))
	}); err != nil {
		t.Fatal(err)
	}
	between := 0
	for _, m := range w.Messages() {
		if w.Machines.Of(m.Src) != w.Machines.Of(m.Dst) {
			between++
		}
	}
	if most := 8 * 2 * machines; between > most { // 4 calls, of sizes and data; root splits its machine
		t.Errorf("%d messages between machines, more than %d", between, most)
	}
}
