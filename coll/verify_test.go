package coll_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Of p ranks all call good but rank odd, which calls bad. All of them get an error that has all of want in it.
func TestVerificationNamesThoseWhoDoNotAgree(t *testing.T) {
	t.Parallel()
	ints := func(n int64) coll.Buf { return colltest.NewMem(n, colltest.Int).Of(n) }
	packed := coll.Buf{Count: 8, Type: datatype.Named(abi.MPI_PACKED)}
	bytes := coll.Buf{Count: 8, Type: datatype.Named(abi.MPI_BYTE)}
	sum, most := op.Predefined(abi.MPI_SUM), op.Predefined(abi.MPI_MAX)
	to := func(b coll.Buf) func(int) coll.Buf { return func(int) coll.Buf { return b } }
	for _, c := range []struct {
		what      string
		good, bad coll.Call
		want      []string
	}{
		{"operation", coll.Call{Routine: coll.OpBcast}, coll.Call{Routine: coll.OpReduceScatterBlock},
			[]string{"on W, rank 0 calls MPI_Bcast and rank %d calls MPI_Reduce_scatter_block"}},
		{"form", coll.Call{Routine: coll.OpAlltoallw}, coll.Call{Routine: coll.OpAlltoallw, Form: coll.Nonblocking},
			[]string{"rank 0 calls MPI_Alltoallw and rank %d calls MPI_Ialltoallw"}},
		{"root", coll.Call{Routine: coll.OpGather, Form: coll.Persistent},
			coll.Call{Routine: coll.OpGather, Form: coll.Persistent, Root: 1},
			[]string{"MPI_Gather_init on W: the root is 0 on rank 0, and 1 on rank %d"}},
		{"operator", coll.Call{Op: sum}, coll.Call{Op: most}, []string{"rank 0 and rank %d give different operations"}},
		{"amount", coll.Call{Equal: ints(2)}, coll.Call{Equal: ints(3)},
			[]string{"rank 0 has 8 bytes, and rank %d has 12"}},
		{"type", coll.Call{Equal: ints(2)}, coll.Call{Equal: bytes},
			[]string{"rank 0 and rank %d have different types of elements, both 8 bytes"}},
		{"packed", coll.Call{Equal: ints(2)}, coll.Call{Equal: packed}, nil},
		{"pairs", coll.Call{Routine: coll.OpAlltoallv, Out: to(ints(2)), In: to(ints(2)), Paired: true},
			coll.Call{Routine: coll.OpAlltoallv, Out: to(ints(1)), In: to(ints(2)), Paired: true},
			[]string{"MPI_Alltoallv on W: what rank %d sends to rank 0 is not what that one expects"}},
		{"nothing between", coll.Call{Out: to(coll.NoBuf()), In: to(ints(2)), Paired: true},
			coll.Call{Out: to(ints(1)), In: to(coll.NoBuf()), Paired: true},
			[]string{"what rank %d sends to rank 0 is not what that one expects"}},
	} {
		for p := 2; p <= 9; p++ {
			for _, recorded := range []bool{false, true} {
				w := colltest.New(p)
				w.Recorded = recorded
				odd := 1 + p/3
				if odd >= p {
					odd = p - 1
				}
				err := w.Run(func(r *colltest.Comm) error {
					call := c.good
					if r.Rank() == odd {
						call = c.bad
					}
					err := r.Call(func() error { return coll.Verify(r, "W", &call) })
					for _, want := range c.want {
						if strings.Contains(want, "%") {
							want = fmt.Sprintf(want, odd)
						}
						if err == nil || !strings.Contains(err.Error(), want) {
							return fmt.Errorf("got %v, want %s", err, want)
						}
					}
					if c.want != nil {
						return nil
					}
					return err
				})
				if err != nil {
					t.Fatalf("%s, %d ranks, recorded=%v: %v", c.what, p, recorded, err)
				}
			}
		}
	}
}
