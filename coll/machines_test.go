package coll_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
		m.Outer, m.Crowded = coll.NewMachines(outer), rng.IntN(2) == 0
	}
	return number, m
}

// byMachines chooses the algorithms of all operations that need several machines, the first or the last of each.
func byMachines(last bool) string {
	var choices []string
	for _, o := range choose.Operations {
		var name string
		for _, a := range o.Algorithms {
			if strings.Contains(a.Needs(), "several machines") && (name == "" || last) {
				name = a.Name
			}
		}
		if name != "" {
			choices = append(choices, o.Name+":"+name)
		}
	}
	return strings.Join(choices, ",")
}

// All operations, with the algorithms of the tables and with all that are for machines, on partitions of up to 24
// ranks, four of which are roots.
func TestOperationsOnMachines(t *testing.T) {
	defer choose.Choose("")
	choices := []string{"", byMachines(false), byMachines(true) + ",allgather:bruck-ring",
		"allgather:ring,allgatherv:ring,allreduce:ring,reduce_scatter:pairwise,gatherv:tree,scatterv:tree"}
	rng := rand.New(rand.NewPCG(1, 2))
	trials, most := 60, 24
	if race {
		trials, most = 30, 12
	}
	for i := range trials {
		p := 2 + rng.IntN(most-1)
		number, m := partition(rng, p)
		choice := choices[i%len(choices)]
		if err := choose.Choose(choice); err != nil {
			t.Fatal(err)
		}
		s := []shape{{1, colltest.Int}, {33, colltest.Gapped},
			{700, colltest.SectionMixed}, {3, colltest.Section}}[rng.IntN(4)]
		v := []vector{{1, colltest.Map, false}, {77, colltest.MapGapped, true}, {40, colltest.MapBelow, false},
			{5003, colltest.Map, rng.IntN(2) == 0}}[rng.IntN(4)]
		w := colltest.New(p)
		w.Machines, w.Recorded, w.Eager = m, rng.IntN(2) == 0, int64(rng.IntN(2)*1000)
		inPlace, roots := rng.IntN(2) == 0, rng.Perm(p)
		roots = roots[:min(p, 4)]
		if err := w.Run(func(c *colltest.Comm) error {
			o := colltest.Affine{Commutes: v.commutes}
			if err := colltest.First(c.Call(func() error { return coll.Barrier(c) }), tryAllgather(c, p, s),
				tryAllgatherv(c, p, s), tryReduce(c, p, v, o, inPlace), tryAllreduce(c, p, v, o, inPlace),
				tryReduceScatter(c, p, v, o, inPlace), tryScanAndExscan(c, p, v, o, inPlace), tryAlltoall(c, p, s),
				tryAlltoallvAndAlltoallw(c, p, s)); err != nil {
				return err
			}
			// A long message, which passes through all levels in a pipeline.
			if err := tryBcast(c, i%p, shape{5003, colltest.Gapped}); err != nil {
				return err
			}
			for _, root := range roots {
				if err := colltest.First(tryBcast(c, root, s), tryGather(c, root, s), tryScatter(c, root, s),
					tryGatherv(c, root, s), tryScatterv(c, root, s)); err != nil {
					return fmt.Errorf("root %d: %w", root, err)
				}
			}
			return nil
		}); err != nil {
			t.Fatalf("%d ranks on %v, %q, shape %v, vector %v, recorded %v: %v", p, number, choice, s, v, w.Recorded, err)
		}
	}
}

// Short blocks between two machines are one message in either direction, or as many as there are ranks for on the
// smallest machine. One has more ranks than messages are under way at once.
func TestShortBlocksAreFewMessagesBetweenTwoMachines(t *testing.T) {
	defer choose.Choose("")
	if err := choose.Choose("alltoall:machines"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		sizes []int
		want  int
	}{{[]int{3, 2, 1, 4}, 1}, {[]int{3, 3, 3}, 1}, {[]int{2, 1, 1, 1, 1, 1}, 1}, {[]int{5, 4}, 4},
		{[]int{90, 5, 13, 7}, 1}, {[]int{90, 10, 13, 11}, 3}} {
		var number []int32
		for i, n := range x.sizes {
			number = append(number, slices.Repeat([]int32{int32(i)}, n)...)
		}
		p := len(number)
		w := colltest.New(p)
		w.Machines, w.Log = coll.NewMachines(number), true
		if err := w.Run(func(c *colltest.Comm) error {
			send, recv := colltest.NewMem(int64(p), colltest.Int), colltest.NewMem(int64(p), colltest.Int)
			for i := range p {
				send.Put(int64(i), colltest.Pattern(1, colltest.Int, c.Rank(), i))
			}
			err := coll.Alltoall(c, send.Of(1), recv.Of(1))
			for i := range p {
				err = colltest.First(err, recv.Expect("block", int64(i), colltest.Pattern(1, colltest.Int, i, c.Rank())))
			}
			return err
		}); err != nil {
			t.Fatalf("%v: %v", x.sizes, err)
		}
		between := map[[2]int32]int{}
		for _, m := range w.Messages() {
			if number[m.Src] != number[m.Dst] {
				between[[2]int32{number[m.Src], number[m.Dst]}]++
			}
		}
		for pair, n := range between {
			if machines := len(x.sizes); n != x.want || len(between) != machines*(machines-1) {
				t.Errorf("%v: %d messages between machines %d; %d pairs", x.sizes, n, pair, len(between))
			}
		}
	}
}

// Ranks that outnumber the cores of their machines leave what is between these to one of each, if it is short.
func TestShortOperationsOfCrowdedMachinesAreOneMessageEachWay(t *testing.T) {
	number := []int32{0, 0, 0, 0, 1, 1, 1}
	p := len(number)
	ints := func(n int) coll.Buf { return colltest.NewMem(int64(n), colltest.Int).Of(int64(n)) }
	block := func(n int) coll.Buf { return ints(n*p).Slice(0, int64(n)) }
	op := colltest.Affine{Commutes: true}
	for name, call := range map[string]func(c *colltest.Comm) error{
		"barrier":   func(c *colltest.Comm) error { return coll.Barrier(c) },
		"allgather": func(c *colltest.Comm) error { return coll.Allgather(c, ints(9), block(9)) },
		"alltoall":  func(c *colltest.Comm) error { return coll.Alltoall(c, block(9), block(9)) },
		"allreduce": func(c *colltest.Comm) error {
			return tryAllreduce(c, p, vector{1, colltest.Map, true}, op, false)
		},
		"reduce_scatter": func(c *colltest.Comm) error {
			send, recv := ints(9*p), ints(9)
			return coll.ReduceScatterBlock(c, send, recv, op)
		},
	} {
		w := colltest.New(p)
		w.Machines, w.Log = coll.NewMachines(number), true
		w.Machines.Crowded = true
		if err := w.Run(call); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		between := 0
		for _, m := range w.Messages() {
			if number[m.Src] != number[m.Dst] {
				between++
			}
		}
		if between != 2 {
			t.Errorf("%s: %d messages between two machines", name, between)
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
