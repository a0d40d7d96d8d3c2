package board_test

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
)

// What C is told of an operation is what the operation does. Where it would have to know more, it is told nothing.
func TestOperationsOfRunsAreTold(t *testing.T) {
	boards := colltest.NewBoards(3, 3, 64, false)
	sum := op.Predefined(abi.MPI_SUM)
	buf := func() coll.Buf {
		return coll.Buf{Base: coll.Bytes(make([]byte, 64)).Base, Count: 1, Type: colltest.Int}
	}
	b, send, recv := boards[1], buf(), buf()
	gapped := recv
	gapped.Type = colltest.Gapped
	begun := func() *board.Operation { return new(board.Operation) }
	for _, c := range []struct {
		name      string
		operation *board.Operation
		want      board.Runs
	}{
		{"barrier", begun().Barrier(b), board.Runs{Shows: true, End: 3}},
		{"bcast at the root", begun().Bcast(b, recv, 1), board.Runs{Own: recv.Base, N: 4, Shows: true}},
		{"bcast", begun().Bcast(b, recv, 2), board.Runs{First: 2, End: 3, Take: 4, To: recv.Base}},
		{"gather at the root", begun().Gather(b, send, recv, 1, 4), board.Runs{Own: send.Base, N: 4, End: 3, Take: 4,
			To: recv.Base, Stride: 4}},
		{"alltoall", begun().Alltoall(b, send, recv), board.Runs{Own: send.Base, N: 12, Shows: true, End: 3, At: 4, Take: 4,
			To: recv.Base, Stride: 4}},
		{"scan", begun().Scan(b, send, recv, sum, false), board.Runs{Own: send.Base, N: 4, Shows: true, End: 2, Take: 4,
			To: recv.Base, Op: sum, Of: colltest.Int, Count: 1}},
		{"exscan at the first", begun().Scan(boards[0], send, recv, sum, true), board.Runs{Own: send.Base, N: 4, Shows: true,
			To: recv.Base, Op: sum, Of: colltest.Int, Count: 1, Take: 4}},
	} {
		if got, simple := c.operation.Runs(); !simple || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, simple, c.want)
		}
	}
	for name, operation := range map[string]*board.Operation{
		"alltoall in place": begun().Alltoall(b, coll.InPlace(), recv),
		"gaps":              begun().Bcast(b, gapped, 0),
	} {
		if got, simple := operation.Runs(); simple {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
