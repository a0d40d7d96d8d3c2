package coll_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
)

// folded are the sums of the vectors of ranks 0 to r, by a loop over the ranks, for every r.
func folded(t *testing.T, p int, n int64) (sums [][]byte) {
	t.Helper()
	sum := op.Predefined(abi.MPI_SUM)
	acc := colltest.NewMem(n, colltest.Double)
	for r := range p {
		next := colltest.NewMem(n, colltest.Double)
		next.Put(0, colltest.Thirds(n, r))
		if r > 0 {
			if err := sum.Apply(acc.Base, next.Base, n, colltest.Double); err != nil {
				t.Fatal(err)
			}
		}
		sums, acc = append(sums, next.Get(0, n)), next
	}
	return sums
}

// Floating-point sums are the same bits for each number of elements, at once and recorded, by messages and on boards,
// whatever algorithm was named.
func TestReproducibleReductionsAreALoopOverTheRanks(t *testing.T) {
	defer choose.Choose("")
	if err := choose.Choose("allreduce:ring,reduce:halving,scan:doubling"); err != nil {
		t.Fatal(err)
	}
	choose.Reproduce()
	if !choose.AllBySlots() {
		t.Error("what Reproduce does counts as chosen by the user")
	}
	sum := op.Predefined(abi.MPI_SUM)
	for p := 1; p <= min(9, mostRanks()); p++ {
		boards := colltest.NewBoards(p, 3, 1<<14, p%2 == 0)
		for _, n := range []int64{1, 7, 200, 1500, 40_000} {
			want := folded(t, p, n*int64(p))
			run(t, p, n, func(c *colltest.Comm) error {
				r := c.Rank()
				vector := func(n int64) (send, recv *colltest.Mem) {
					send, recv = colltest.NewMem(n, colltest.Double), colltest.NewMem(n, colltest.Double)
					send.Put(0, colltest.Thirds(n, r))
					return send, recv
				}
				first := func(b []byte) []byte { return b[:8*n] }
				expect := func(what string, m *colltest.Mem, want []byte, f func() error) error {
					return colltest.First(f(), m.Expect(what, 0, want))
				}
				send, recv := vector(n)
				ways := []error{expect("allreduce", recv, first(want[p-1]), func() error {
					return c.Call(func() error { return coll.Allreduce(c, send.Buf, recv.Buf, sum) })
				})}
				for _, root := range roots(p) {
					send, recv := vector(n)
					sums := recv.Get(0, n)
					if r == root {
						sums = first(want[p-1])
					}
					ways = append(ways, expect("reduce", recv, sums, func() error {
						return c.Call(func() error { return coll.Reduce(c, send.Buf, recv.Buf, sum, root) })
					}))
				}
				send, recv = vector(n)
				ways = append(ways, expect("scan", recv, first(want[r]), func() error {
					return c.Call(func() error { return coll.Scan(c, send.Buf, recv.Buf, sum) })
				}))
				send, recv = vector(n)
				before := recv.Get(0, n)
				if r > 0 {
					before = first(want[r-1])
				}
				ways = append(ways, expect("exscan", recv, before, func() error {
					return c.Call(func() error { return coll.Exscan(c, send.Buf, recv.Buf, sum) })
				}))
				send, _ = vector(n * int64(p))
				recv = colltest.NewMem(n, colltest.Double)
				ways = append(ways, expect("reduce_scatter", recv, want[p-1][8*n*int64(r):8*n*int64(r+1)], func() error {
					return c.Call(func() error { return coll.ReduceScatterBlock(c, send.Buf, recv.Buf, sum) })
				}))
				if b := boards[r]; 8*n <= 1<<14 && p > 1 {
					send, recv := vector(n)
					ways = append(ways, expect("allreduce on a board", recv, first(want[p-1]), func() error {
						return allreduce(b, send.Buf, recv.Buf, sum)
					}))
					send, recv = vector(n)
					ways = append(ways, expect("scan on a board", recv, first(want[r]), func() error {
						return b.Do(inOrder().Scan(b, send.Buf, recv.Buf, sum, false))
					}))
				}
				return colltest.First(ways...)
			})
		}
	}
}
