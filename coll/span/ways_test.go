package span_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/coll/simulate"
	"github.com/libimpi/libimpi/coll/span"
)

// longWays is a model in which only messages between clients take time, one unit each.
type longWays []int32

func (m longWays) Route(from, to int, _ int64) simulate.Route {
	r := simulate.Route{Out: from, In: to}
	if m[from] != m[to] {
		r.Transit = 1
	}
	return r
}
func (longWays) Copy(int64) simulate.Time    { return 0 }
func (longWays) Combine(int64) simulate.Time { return 0 }

// call is an operation on vectors, or blocks, of n bytes.
type call func(c *simulate.Rank, l *span.Layout, n int64) error

var sum = simulate.Reduction{Op: op.Predefined(abi.MPI_SUM)}

// calls are all operations whose messages do not depend on data.
var calls = map[string]call{
	"barrier": func(c *simulate.Rank, l *span.Layout, _ int64) error { return span.Barrier(c, l) },
	"bcast":   func(c *simulate.Rank, l *span.Layout, n int64) error { return span.Bcast(c, l, c.Buf(n), 1) },
	"reduce": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Reduce(c, l, c.Buf(n), c.Buf(n), sum, 1)
	},
	"allreduce": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Allreduce(c, l, c.Buf(n), c.Buf(n), sum)
	},
	"allgather": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Allgather(c, l, c.Buf(n), c.Blocks(n))
	},
	"gather": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Gather(c, l, c.Buf(n), c.Blocks(n), 1)
	},
	"scatter": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Scatter(c, l, c.Blocks(n), c.Buf(n), 1)
	},
	"alltoall": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Alltoall(c, l, c.Blocks(n), c.Blocks(n))
	},
	"reduce_scatter_block": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.ReduceScatterBlock(c, l, c.Blocks(n), c.Buf(n), sum)
	},
	"scan": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Scan(c, l, c.Buf(n), c.Buf(n), sum)
	},
	"exscan": func(c *simulate.Rank, l *span.Layout, n int64) error {
		return span.Exscan(c, l, c.Buf(n), c.Buf(n), sum)
	},
}

// Data crosses the way between clients once in each operation of short data, and of long data between two clients. The
// log shows what IMPI's masters take.
func TestClientsTogetherTakeOneLongWay(t *testing.T) {
	for name, f := range calls {
		for _, m := range []int{2, 4} {
			for _, n := range []int64{8, 1 << 20} {
				client, machine := make([]int32, 8*m), make([]int32, 8*m)
				for r := range client {
					client[r], machine[r] = int32(r/8), int32(r/4)
				}
				take := func(place []int32, own bool) (ways, messages, bytes int64) {
					l, err := span.NewLayout(client, -1, -1)
					if err != nil {
						t.Fatal(err)
					}
					l.Native, l.Own = true, own
					l.Place(place)
					s, err := simulate.Record(len(client), simulate.MostSteps, func(c *simulate.Rank) error { return f(c, l, n) })
					if err != nil {
						t.Fatal(name, err)
					}
					took, err := s.Run(longWays(client))
					if err != nil {
						t.Fatal(name, err)
					}
					messages, bytes = s.Leaving(coll.NewMachines(client))
					return int64(took), messages, bytes
				}
				ways, messages, bytes := take(machine, true)
				was, wasMessages, wasBytes := take(nil, false)
				t.Logf("%s of %d bytes, %d clients: %d long ways, %d messages and %d bytes leave a client; by masters %d, %d, %d",
					name, n, m, ways, messages, bytes, was, wasMessages, wasBytes)
				if ways > was || ways != 1 && (n == 8 || m == 2) {
					t.Errorf("%s of %d bytes takes %d ways between %d clients; by masters %d", name, n, ways, m, was)
				}
			}
		}
	}
}
