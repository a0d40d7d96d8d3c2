package coll_test

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// The tests of this file choose algorithms for the whole process, and so they do not run in parallel.

// Each algorithm of each operation is chosen in turn for 1 to 33 ranks, with messages of one piece and of several. An
// algorithm that cannot be used in a case gives way to another one, but it is used in some.
func TestEveryAlgorithm(t *testing.T) {
	choose.Count(true)
	defer choose.Choose("")
	tried := map[string]bool{}
	try := func(name string, run func(t *testing.T)) {
		tried[name] = true
		for _, a := range choose.Find(name).Algorithms {
			if a.Name == choose.Slots {
				continue // which callers of this package carry out: see the tests of libimpi
			}
			t.Run(name+"/"+a.Name, func(t *testing.T) {
				if a.Name == "vendor" {
					t.Skip("needs another MPI library: see the tests of coll/span and libimpi")
				}
				if err := choose.Choose(name + ":" + a.Name); err != nil {
					t.Fatal(err)
				}
				run(t)
				if a.Used() == 0 {
					t.Errorf("%s was never used", a.Name)
				}
			})
		}
	}
	moves := func(f func(c *colltest.Comm, p int, s shape) error) func(t *testing.T) {
		return func(t *testing.T) {
			for p := range someRanks {
				for _, s := range someShapes(p) {
					run(t, p, s, func(c *colltest.Comm) error { return f(c, p, s) })
				}
			}
		}
	}
	reduces := func(f func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error) func(t *testing.T) {
		return func(t *testing.T) {
			for p := range someRanks {
				for i, v := range someVectors(p) {
					run(t, p, v, func(c *colltest.Comm) error {
						return f(c, p, v, colltest.Affine{Commutes: v.commutes}, (p+i)%2 == 0)
					})
				}
			}
		}
	}
	try("barrier", moves(func(c *colltest.Comm, _ int, _ shape) error {
		return c.Call(func() error { return coll.Barrier(c) })
	}))
	few := func(f func(c *colltest.Comm, p int, s shape) error) func(t *testing.T) {
		return moves(func(c *colltest.Comm, p int, s shape) error {
			if p > 9 { // blocks of p ranks, at p ranks
				s.count = min(s.count, 150)
			}
			return f(c, p, s)
		})
	}
	try("bcast", moves(atRoots(tryBcast)))
	try("gather", few(atRoots(tryGather)))
	try("gatherv", few(atRoots(tryGatherv)))
	try("scatter", few(atRoots(tryScatter)))
	try("scatterv", few(atRoots(tryScatterv)))
	try("allgather", few(tryAllgather))
	try("allgatherv", moves(tryAllgatherv))
	try("alltoall", few(tryAlltoall))
	try("alltoallv", few(tryAlltoallvAndAlltoallw))
	try("neighbors", few(func(c *colltest.Comm, p int, s shape) error {
		return tryGraph(c, p, s, func(e *coll.Edges, send, recv *coll.Blocks) error {
			return coll.Neighbors(c, e, send, recv)
		})
	}))
	try("reduce", reduces(tryReduce))
	try("allreduce", reduces(tryAllreduce))
	try("reduce_scatter", reduces(tryReduceScatter))
	try("scan", reduces(tryScanAndExscan))
	try("exscan", reduces(tryScanAndExscan))
	for _, o := range choose.Operations {
		if !tried[o.Name] {
			t.Errorf("no algorithm of %s is tried", o.Name)
		}
	}
}

// Pipelines of more blocks than they have rounds besides.
func TestPipelinesOfMoreBlocksThanRoundsAreRight(t *testing.T) {
	defer choose.Choose("")
	ranks := []int{2, 3, 6, 7, 12, 17}
	if race {
		ranks = ranks[1:3]
	}
	for _, p := range ranks {
		for choice, f := range map[string]func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error{
			"reduce:circulant": tryReduce, "reduce:two-tree": tryReduce, "allreduce:two-tree": tryAllreduce,
			"scan:pipeline,exscan:pipeline": tryScanAndExscan, "scan:tree,exscan:tree": tryScanAndExscan,
		} {
			v := vector{30001, colltest.Map, strings.Contains(choice, "reduce")}
			if err := choose.Choose(choice); err != nil {
				t.Fatal(err)
			}
			run(t, p, choice, func(c *colltest.Comm) error { return f(c, p, v, colltest.Affine{Commutes: v.commutes}, false) })
		}
		for _, choice := range []string{"bcast:circulant", "bcast:two-tree"} {
			if err := choose.Choose(choice); err != nil {
				t.Fatal(err)
			}
			run(t, p, choice, func(c *colltest.Comm) error { return tryBcast(c, p-1, shape{10007, colltest.Gapped}) })
		}
		if err := choose.Choose("allgatherv:circulant"); err != nil {
			t.Fatal(err)
		}
		run(t, p, "allgatherv", func(c *colltest.Comm) error { return tryAllgatherv(c, p, shape{3001, colltest.Gapped}) })
	}
}

// run tries an operation on p ranks, at once or, in turn, recorded.
func run(t *testing.T, p int, what any, f func(c *colltest.Comm) error) {
	t.Helper()
	w := colltest.New(p)
	w.Recorded = p%2 == 0
	w.Machines = pairs(p)
	if w.Board = 72; p%3 == 0 { // a few elements, or many
		w.Board = 20 << 10
	}
	if err := w.Run(f); err != nil {
		t.Fatalf("p=%d recorded=%v %v: %v", p, w.Recorded, what, err)
	}
}

// pairs are machines of two ranks, the last of one to three.
func pairs(p int) *coll.Machines {
	number := make([]int32, p)
	for r := range number {
		number[r] = int32(min(r/2, max(0, p/2-1)))
	}
	return coll.NewMachines(number)
}

func someShapes(p int) []shape {
	all := []shape{{1, colltest.Int}, {33, colltest.Gapped}, {0, colltest.Int}, {90, colltest.SectionMixed}}
	if p <= 9 || p%8 <= 1 {
		return append(all, shape{1100, colltest.Gapped}, shape{2500, colltest.Section})
	}
	return all[p%2 : p%2+2]
}

func someVectors(p int) []vector {
	all := []vector{{1, colltest.Map, false}, {77, colltest.MapGapped, true}, {40, colltest.MapBelow, false},
		{5, colltest.Map, true}}
	if p <= 9 || p%8 <= 1 {
		return append(all, vector{3301, colltest.MapGapped, true}, vector{2003, colltest.Map, false})
	}
	return all[p%3 : p%3+2]
}

// someRanks yields the numbers of ranks that every algorithm is tried with: all of the small ones, powers of two, and
// numbers beside these. Under the race detector, which is slow, there are the small ones only.
func someRanks(yield func(p int) bool) {
	for p := 1; p <= 17; p++ {
		if (p <= 5 || !race && (p == 7 || p == 8 || p >= 16)) && !yield(p) {
			return
		}
	}
}

// Ranks that outnumber their cores use their board by default, others do not.
func TestCrowdedRanksUseTheirBoard(t *testing.T) {
	choose.Count(true)
	defer choose.Choose("")
	for _, few := range []bool{false, true} {
		w := colltest.New(5)
		w.Board, w.Crowded, w.TwoCores = 1<<12, true, few
		if err := choose.Choose(""); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(func(c *colltest.Comm) error {
			return tryAllreduce(c, 5, vector{10001, colltest.Map, true}, colltest.Affine{Commutes: true}, false)
		}); err != nil {
			t.Fatal(err)
		}
		for _, a := range choose.Allreduce.Algorithms {
			if a.Used() > 0 != (a.Name == "board-root" && few || a.Name == "board" && !few) {
				t.Errorf("few cores=%v: an allreduce takes %s %d times", few, a.Name, a.Used())
			}
		}
	}
	for _, crowded := range []bool{false, true} {
		if err := choose.Choose(""); err != nil {
			t.Fatal(err)
		}
		w := colltest.New(5)
		w.Board, w.Crowded = 1<<12, crowded
		if err := w.Run(func(c *colltest.Comm) error {
			v, op := vector{3001, colltest.Map, true}, colltest.Affine{Commutes: true}
			return colltest.First(tryBcast(c, 2, shape{3001, colltest.Gapped}), tryReduce(c, 5, v, op, false),
				tryAllreduce(c, 5, v, op, false), tryScanAndExscan(c, 5, v, op, true),
				tryAllgather(c, 5, shape{1001, colltest.Double}), tryAllgatherv(c, 5, shape{1001, colltest.Gapped}),
				tryAlltoall(c, 5, shape{101, colltest.Gapped}), tryAlltoall(c, 5, shape{501, colltest.Double}))
		}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bcast", "reduce", "allreduce", "scan", "exscan", "allgather", "allgatherv",
			"alltoall"} {
			for _, a := range choose.Find(name).Algorithms {
				if a.Name == "board" && a.Used() > 0 != crowded {
					t.Errorf("crowded=%v: %s takes its board %d times", crowded, name, a.Used())
				}
			}
		}
	}
}
