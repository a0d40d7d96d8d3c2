package coll_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// partition puts p ranks on machines at random: in their order, or not; of the same size, or not. The machines are in
// clusters of two or three.
func partition(rng *rand.Rand, p int) (number []int32, m *coll.Machines) {
	number = make([]int32, p)
	count := 1 + rng.IntN(p)
	switch rng.IntN(3) {
	case 0: // as equal as possible, one after the other
		for r := range number {
			number[r] = int32(r * count / p)
		}
	case 1: // round robin
		for r := range number {
			number[r] = int32(r % count)
		}
	default:
		for r := range number {
			number[r] = int32(rng.IntN(count))
		}
	}
	if m = coll.NewMachines(number); m != nil {
		outer, each := make([]int32, m.Count()), 2+rng.IntN(2)
		for i := range outer {
			outer[i] = int32(i / each)
		}
		m.Outer = coll.NewMachines(outer)
	}
	return number, m
}

// All operations, with the algorithms of the tables and with those of machines for long messages, too, on partitions
// of up to 24 ranks.
func TestOperationsOnMachines(t *testing.T) {
	defer choose.Choose("")
	const chosen = "barrier:machines,bcast:machines,reduce:machines,allreduce:machines,gather:machines," +
		"scatter:machines,allgather:machines"
	rng := rand.New(rand.NewPCG(1, 2))
	trials, most := 150, 24
	if race {
		trials, most = 30, 12
	}
	for i := range trials {
		p := 2 + rng.IntN(most-1)
		number, m := partition(rng, p)
		if err := choose.Choose([]string{chosen, ""}[i%2]); err != nil {
			t.Fatal(err)
		}
		s := []shape{{1, colltest.Int}, {33, colltest.Gapped}, {700, colltest.Mixed}, {3, colltest.Double}}[rng.IntN(4)]
		v := []vector{{1, colltest.Map, false}, {77, colltest.MapGapped, true}, {40, colltest.MapBelow, false},
			{5003, colltest.Map, rng.IntN(2) == 0}}[rng.IntN(4)]
		w := colltest.New(p)
		w.Machines, w.Recorded, w.Eager = m, rng.IntN(2) == 0, int64(rng.IntN(2)*1000)
		inPlace := rng.IntN(2) == 0
		if err := w.Run(func(c *colltest.Comm) error {
			o := colltest.Affine{Commutes: v.commutes}
			if err := colltest.First(c.Call(func() error { return coll.Barrier(c) }), tryAllgather(c, p, s),
				tryReduce(c, p, v, o, inPlace), tryAllreduce(c, p, v, o, inPlace)); err != nil {
				return err
			}
			for root := range p {
				if err := colltest.First(tryBcast(c, root, s), tryGather(c, root, s), tryScatter(c, root, s)); err != nil {
					return fmt.Errorf("root %d: %w", root, err)
				}
			}
			return nil
		}); err != nil {
			t.Fatalf("%d ranks on %v, shape %v, vector %v, recorded %v: %v", p, number, s, v, w.Recorded, err)
		}
	}
}

// A barrier is left by nobody before all have entered it.
func TestABarrierOfMachinesWaitsForAll(t *testing.T) {
	defer choose.Choose("")
	if err := choose.Choose("barrier:machines"); err != nil {
		t.Fatal(err)
	}
	for p := 3; p <= 12; p++ {
		w := colltest.New(p)
		w.Machines = pairs(p)
		entered := make(chan int, p)
		if err := w.Run(func(c *colltest.Comm) error {
			entered <- c.Rank()
			if err := coll.Barrier(c); err != nil {
				return err
			}
			if n := len(entered); n != p {
				return fmt.Errorf("%d of %d have entered", n, p)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// One machine, and one rank on each, are no machines to an operation.
func TestMachinesThatDoNotMatter(t *testing.T) {
	for _, number := range [][]int32{{}, {7}, {3, 3, 3}, {1, 5, 2}} {
		if m := coll.NewMachines(number); m != nil {
			t.Errorf("%v: %+v", number, m)
		}
	}
}
