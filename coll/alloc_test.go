package coll_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// With a Comm that allocates nothing, a collective allocates nothing, whatever the algorithm and wherever the ranks
// are: once its memory has come from the pool, that is.
func TestCollectivesDoNotAllocate(t *testing.T) {
	if testing.CoverMode() != "" || race {
		t.Skip("pools are not kept")
	}
	defer choose.Choose("")
	const n = 6000 // elements: pipelines have several blocks
	sum := op.Predefined(abi.MPI_SUM)
	counts, displs := []int64{1, 1, 1, 1, 1}, []int64{0, 1, 2, 3, 4}
	for name, f := range map[string]func(c *colltest.Comm, a, b *colltest.Mem) error{
		"barrier":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Barrier(c) },
		"bcast":     func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Bcast(c, a.Of(n), 1) },
		"reduce":    func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Reduce(c, a.Of(n), b.Of(n), sum, 2) },
		"allreduce": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Allreduce(c, a.Of(n), b.Of(n), sum) },
		"gather":    func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Gather(c, a.Of(1), b.Of(1), 0) },
		"gatherv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Gatherv(c, a.Of(1), b.V(counts, displs), 0)
		},
		"scatter": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Scatter(c, b.Of(1), a.Of(1), 3) },
		"scatterv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Scatterv(c, b.V(counts, displs), a.Of(1), 3)
		},
		"allgather": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Allgather(c, a.Of(1), b.Of(1)) },
		"allgatherv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Allgatherv(c, a.Of(1), b.V(counts, displs))
		},
		"alltoall": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Alltoall(c, a.Of(1), b.Of(1)) },
		"alltoallv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Alltoallv(c, a.V(counts, displs), b.V(counts, displs))
		},
		"scan":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Scan(c, a.Of(n), b.Of(n), sum) },
		"exscan": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Exscan(c, a.Of(n), b.Of(n), sum) },
		"reduce_scatter": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.ReduceScatter(c, a.Of(1), b.Of(1), counts, sum)
		},
	} {
		for _, algorithm := range choose.Find(name).Algorithms {
			if err := choose.Choose(name + ":" + algorithm.Name); err != nil {
				t.Fatal(err)
			}
			for _, m := range []*coll.Machines{nil, pairs(5), dealt(5, 2)} {
				w := colltest.New(5)
				w.Machines = m
				if allocs, err := colltest.Allocations(w, n, f); err != nil || allocs != 0 {
					t.Errorf("%s, %s: %v allocations a call, of 5 ranks together; %v", name, algorithm.Name, allocs, err)
				}
			}
		}
	}
}

// An address at the end of a buffer of ours, kept while the garbage collector runs, names the next object.
func TestNoElementsHaveNoAddress(t *testing.T) {
	ints := datatype.Named(abi.MPI_INT)
	b := coll.Bytes(make([]byte, 48))
	v := coll.VBuf{Base: b.Base, Counts: []int64{12, 0}, Displs: []int64{0, 12}, Type: ints}
	w := coll.WBuf{Base: b.Base, Counts: []int64{12, 0}, Displs: []int64{0, 48}, Types: []*datatype.Type{ints, ints}}
	for name, none := range map[string]coll.Buf{"slice": b.Slice(48, 0), "v": v.Block(1), "w": w.Block(1)} {
		if none.Base != nil || none.Size() != 0 {
			t.Errorf("%s: %d bytes at %v", name, none.Size(), none.Base)
		}
	}
}
