package coll_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// With a Comm that allocates nothing, a short collective allocates nothing.
func TestShortCollectivesDoNotAllocate(t *testing.T) {
	if testing.CoverMode() != "" || race {
		t.Skip("pools are not kept")
	}
	const p, runs = 5, 200
	sum := op.Predefined(abi.MPI_SUM)
	counts, displs := []int64{1, 1, 1, 1, 1}, []int64{0, 1, 2, 3, 4}
	for name, f := range map[string]func(c *colltest.Comm, a, b *colltest.Mem) error{
		"Barrier":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Barrier(c) },
		"Central":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.BarrierAmong(c, true) },
		"Bcast":     func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Bcast(c, a.Of(4), 1) },
		"Reduce":    func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Reduce(c, a.Of(4), b.Of(4), sum, 2) },
		"Allreduce": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Allreduce(c, a.Of(4), b.Of(4), sum) },
		"Gather":    func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Gather(c, a.Of(1), b.Of(1), 0) },
		"Scatter":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Scatter(c, b.Of(1), a.Of(1), 3) },
		"Allgather": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Allgather(c, a.Of(1), b.Of(1)) },
		"Allgatherv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Allgatherv(c, a.Of(1), b.V(counts, displs))
		},
		"Alltoall": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Alltoall(c, a.Of(1), b.Of(1)) },
		"Alltoallv": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.Alltoallv(c, a.V(counts, displs), b.V(counts, displs))
		},
		"Scan":   func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Scan(c, a.Of(4), b.Of(4), sum) },
		"Exscan": func(c *colltest.Comm, a, b *colltest.Mem) error { return coll.Exscan(c, a.Of(4), b.Of(4), sum) },
		"ReduceScatterBlock": func(c *colltest.Comm, a, b *colltest.Mem) error {
			return coll.ReduceScatterBlock(c, a.Of(1), b.Of(1), sum)
		},
	} {
		w := colltest.New(p)
		allocs := make([]float64, p)
		if err := w.Run(func(c *colltest.Comm) error {
			a, b := colltest.NewMem(8, colltest.Double), colltest.NewMem(8, colltest.Double)
			a.Put(0, make([]byte, 64))
			b.Put(0, make([]byte, 64))
			var err error
			once := func() {
				if e := f(c, a, b); e != nil {
					err = e
				}
			}
			if c.Rank() == 0 {
				allocs[0] = testing.AllocsPerRun(runs, once)
				return err
			}
			for range runs + 1 {
				once()
			}
			return err
		}); err != nil {
			t.Fatal(name, err)
		}
		if allocs[0] != 0 {
			t.Errorf("%s: %v allocations a call, of %d ranks together", name, allocs[0], p)
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
