package libimpi

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// mismatches are operations that member 1, the root, calls with n bytes, and the others with other. What is shorter
// than the room for it is no error of those with one root, as it is none of a message.
var mismatches = []struct {
	name  string
	wrong func(n, other int) bool
	call  func(v Collectives, send, recv []byte, n int) error
}{
	{"bcast", fromRoot, func(v Collectives, _, recv []byte, n int) error { return v.Bcast(coll.Bytes(recv[:n]), 1) }},
	{"gather", toRoot, func(v Collectives, send, recv []byte, n int) error {
		return v.Gather(coll.Bytes(send[:n]), coll.Bytes(recv[:n]), 1)
	}},
	{"scatter", fromRoot, func(v Collectives, send, recv []byte, n int) error {
		return v.Scatter(coll.Bytes(send[:n]), coll.Bytes(recv[:n]), 1)
	}},
	{"allgather", always, func(v Collectives, send, recv []byte, n int) error {
		return v.Allgather(coll.Bytes(send[:n]), coll.Bytes(recv[:n]))
	}},
	{"alltoall", always, func(v Collectives, send, recv []byte, n int) error {
		return v.Alltoall(coll.Bytes(send[:n]), coll.Bytes(recv[:n]))
	}},
	{"allreduce", always, func(v Collectives, send, recv []byte, n int) error {
		return v.Allreduce(coll.Bytes(send[:n]), coll.Bytes(recv[:n]), op.Predefined(abi.MPI_BOR))
	}},
	{"reduce", toRoot, func(v Collectives, send, recv []byte, n int) error {
		return v.Reduce(coll.Bytes(send[:n]), coll.Bytes(recv[:n]), op.Predefined(abi.MPI_BOR), 1)
	}},
	{"scan", always, func(v Collectives, send, recv []byte, n int) error {
		return v.Scan(coll.Bytes(send[:n]), coll.Bytes(recv[:n]), op.Predefined(abi.MPI_BOR))
	}},
}

func fromRoot(n, other int) bool { return n > other }
func toRoot(n, other int) bool   { return n < other }
func always(int, int) bool       { return true }

// Whatever lengths the members of a board call a short operation with, nobody waits for ever, and somebody hears of
// what has no room. The operations that follow have no fault.
func TestNobodyWaitsForWhoHasAnotherLength(t *testing.T) {
	lengths := []int{8, 100, 600, 4000}
	for _, later := range []bool{false, true} {
		for _, m := range mismatches {
			t.Run(fmt.Sprintf("%s later=%v", m.name, later), func(t *testing.T) {
				for i := range len(lengths) * len(lengths) {
					if n, other := lengths[i/len(lengths)], lengths[i%len(lengths)]; n != other {
						if failed := disagree(t, later, n, other, m.call); failed == 0 && m.wrong(n, other) {
							t.Errorf("of %d and %d bytes, no member has heard", n, other)
						}
					}
				}
			})
		}
	}
}

// disagree carries one out and returns how many members got an error.
func disagree(t *testing.T, later bool, n, other int,
	call func(v Collectives, send, recv []byte, n int) error) int32 {
	es := world(t, 3)
	var ended, failed atomic.Int32
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		must(t, c.Barrier())
		length := other
		if e.Me() == 1 {
			length = n
		}
		send, recv := make([]byte, 3*length), make([]byte, 3*length)
		if formOf(e, c, later, func(v Collectives) error { return call(v, send, recv, length) }) != nil {
			failed.Add(1)
		}
		must(t, c.Barrier())
		sum := []byte{1}
		must(t, c.CarryOut(func(v Collectives) error {
			return v.Allreduce(coll.InPlace(), coll.Bytes(sum), op.Predefined(abi.MPI_BOR))
		}))
		for ended.Add(1); ended.Load() < 3; runtime.Gosched() { // as MPI_Finalize does
			e.Turn()
		}
	})
	return failed.Load()
}

func formOf(e *Engine, c *Comm, later bool, operation func(v Collectives) error) error {
	if !later {
		return c.CarryOut(operation)
	}
	task, err := c.Later(coll.Nonblocking)
	if err != nil {
		return err
	}
	if err := operation(task.Operations()); err != nil {
		return err
	}
	id := task.Start()
	return e.Wait(&id, nil)
}
