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

func valued(v ...coll.Value) coll.Call {
	return coll.Call{Routine: coll.Function("MPI_Win_create"), Values: v}
}

// among is a call in which all ranks but the last one of many have to agree, as each of them says.
func among(v coll.Value) coll.Call {
	c := valued(v)
	c.Alike = func(r int) bool { return r < 32 }
	return c
}

// edgesGiven is a call of a rank that gives n edges to each, and expects one of each.
func edgesGiven(n int64) coll.Call {
	return coll.Call{Paired: true, Given: func(int) (int64, int64) { return 5 * n, n },
		Expects: func(int) (int64, int64) { return 5, 1 }}
}

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
		{"operator", coll.Call{Op: sum}, coll.Call{Op: most},
			[]string{"the operation is MPI_SUM on rank 0, and MPI_MAX on rank %d"}},
		{"amount", coll.Call{Equal: ints(2)}, coll.Call{Equal: ints(3)},
			[]string{"rank 0 has 8 bytes, and rank %d has 12"}},
		{"type", coll.Call{Equal: ints(2)}, coll.Call{Equal: bytes},
			[]string{"rank 0 has 2 MPI_INT, and rank %d has 8 MPI_BYTE, both 8 bytes"}},
		{"packed", coll.Call{Equal: ints(2)}, coll.Call{Equal: packed}, nil},
		{"in place", coll.Call{Routine: coll.OpAllgather}, coll.Call{Routine: coll.OpAllgather, InPlace: true},
			[]string{"rank %d passes MPI_IN_PLACE, and rank 0 does not"}},
		{"number", valued(coll.Number("argument size", abi.MPI_ERR_NOT_SAME, 7)),
			valued(coll.Number("argument size", abi.MPI_ERR_NOT_SAME, -8)),
			[]string{"MPI_Win_create on W: argument size is 7 on rank 0, and -8 on rank %d"}},
		{"flag", valued(coll.Flag("argument high", abi.MPI_ERR_ARG, false)),
			valued(coll.Flag("argument high", abi.MPI_ERR_ARG, true)),
			[]string{"argument high is false on rank 0, and true on rank %d"}},
		{"list", valued(coll.List("argument dims", abi.MPI_ERR_DIMS, []int32{2, 1})),
			valued(coll.List("argument dims", abi.MPI_ERR_DIMS, []int32{1, 2})),
			[]string{"argument dims is [2 1] on rank 0, and [1 2] on rank %d"}},
		{"long list", valued(coll.List("x", abi.MPI_ERR_DIMS, make([]int32, 1000))),
			valued(coll.List("x", abi.MPI_ERR_DIMS, make([]int32, 1001))), []string{"x is [0 0", "... on rank 0, and [0 0"}},
		{"anything", valued(coll.Number("x", abi.MPI_ERR_ARG, 7)), valued(coll.Anything("x", abi.MPI_ERR_ARG)), nil},
		{"those named", among(coll.List("group", abi.MPI_ERR_GROUP, []int{0})),
			among(coll.List("group", abi.MPI_ERR_GROUP, []int{0, 1})), []string{"on rank 0, and [0 1] on rank %d"}},
		{"nobody named", among(coll.Number("x", 1, 2)), func() coll.Call {
			c := among(coll.Number("x", 1, 2))
			c.Alike = func(int) bool { return false }
			return c
		}(), nil},
		{"edges of a graph", edgesGiven(1), edgesGiven(2),
			[]string{"rank %d gives 2 edges to rank 0, which gives 1 from it"}},
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

// In one group of an intercommunicator one rank is the root, or none.
func TestVerificationKnowsTheRootsOfTwoGroups(t *testing.T) {
	t.Parallel()
	const root, none = abi.MPI_ROOT, abi.MPI_PROC_NULL
	for _, c := range []struct {
		roots []int
		at    int64
		want  string
	}{
		{[]int{none, root, none}, 1, ""}, {[]int{4, 4}, -5, ""}, {[]int{0}, -1, ""},
		{[]int{root, none, root}, 0, "ranks 0 and 2 both give MPI_ROOT"},
		{[]int{none, root, 1}, 0, "rank 1 gives MPI_ROOT, and rank 2 gives 1"},
		{[]int{0, 1}, 0, "the root is 0 on rank 0, and 1 on rank 1"},
	} {
		err := colltest.New(len(c.roots)).Run(func(r *colltest.Comm) error {
			call := coll.Call{Routine: coll.OpBcast, Root: c.roots[r.Rank()], Across: true}
			err := coll.Verify(r, "W", &call)
			if err == nil {
				err = call.Differs
			}
			switch {
			case c.want == "" && err == nil && call.RootAt != c.at:
				return fmt.Errorf("the root is %d, want %d", call.RootAt, c.at)
			case c.want == "":
				return err
			case err == nil || !strings.Contains(err.Error(), c.want):
				return fmt.Errorf("got %v, want %s", err, c.want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%v: %v", c.roots, err)
		}
	}
}

// What goes along the edges of a ring, both ways, is compared edge by edge.
func TestVerificationComparesWhatGoesAlongEdges(t *testing.T) {
	t.Parallel()
	for p := 1; p <= 5; p++ {
		for _, bad := range []bool{false, true} {
			err := colltest.New(p).Run(func(r *colltest.Comm) error {
				left, right := int32((r.Rank()+p-1)%p), int32((r.Rank()+1)%p)
				edges, err := coll.NewEdges(r.Rank(), []int32{left, right}, []int32{left, right}, true)
				if err != nil {
					return err
				}
				n := int64(2)
				if bad && r.Rank() == p-1 {
					n = 1
				}
				// To the left goes one element, to the right go two: so two come from the left.
				out := coll.Varying(coll.VBuf{Counts: []int64{1, n}, Displs: make([]int64, 2), Type: colltest.Int})
				in := coll.Varying(coll.VBuf{Counts: []int64{2, 1}, Displs: make([]int64, 2), Type: colltest.Int})
				call := coll.Call{Routine: coll.Function("MPI_Neighbor_alltoallv"), Edges: edges, OutAt: &out, InAt: &in}
				err = coll.Verify(r, "W", &call)
				want := fmt.Sprintf("MPI_Neighbor_alltoallv on W: what rank %d sends to rank 0 is not what that one expects "+
					"(4 bytes, and 8)", p-1)
				switch {
				case !bad:
					return err
				case err == nil || err.Error() != want && !strings.Contains(err.Error(), want):
					return fmt.Errorf("got %v, want %s", err, want)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%d ranks, bad=%v: %v", p, bad, err)
			}
		}
	}
}
