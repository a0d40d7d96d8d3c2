package span_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/coll/span"
)

// With a Comm that allocates nothing (here: that converts nothing), neither do the common operations.
func TestCommonOperationsDoNotAllocate(t *testing.T) {
	if testing.CoverMode() != "" || race {
		t.Skip("pools are not kept")
	}
	sum := op.Predefined(abi.MPI_SUM)
	l, err := span.NewLayout([]int32{0, 1, 0, 1, 2, 3, 4}, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(c *colltest.Comm, a, b *colltest.Mem) error{
		"Barrier":   func(c *colltest.Comm, a, b *colltest.Mem) error { return span.Barrier(c, l) },
		"Bcast":     func(c *colltest.Comm, a, b *colltest.Mem) error { return span.Bcast(c, l, a.Of(4), 3) },
		"Reduce":    func(c *colltest.Comm, a, b *colltest.Mem) error { return span.Reduce(c, l, a.Of(4), b.Of(4), sum, 2) },
		"Allreduce": func(c *colltest.Comm, a, b *colltest.Mem) error { return span.Allreduce(c, l, a.Of(4), b.Of(4), sum) },
		"Allgather": func(c *colltest.Comm, a, b *colltest.Mem) error { return span.Allgather(c, l, a.Of(1), b.Of(1)) },
	} {
		allocs, err := colltest.Allocations(colltest.New(7), 8, f)
		if err != nil {
			t.Fatal(name, err)
		}
		if allocs != 0 {
			t.Errorf("%s: %v allocations a call, of all ranks together", name, allocs)
		}
	}
}
