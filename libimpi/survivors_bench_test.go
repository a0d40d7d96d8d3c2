package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// inSteps starts an operation in each engine, and steps them in turn until all are done, again and again: it measures
// the work of all processes together, whatever the scheduler does with them.
func inSteps(b *testing.B, es []*Engine, start func(e *Engine) uint64) {
	ids := make([]uint64, len(es))
	for b.Loop() {
		for i, e := range es {
			ids[i] = start(e)
		}
		for left := len(es); left > 0; {
			left = len(es)
			for i, e := range es {
				done, err := e.Test(&ids[i], nil)
				if err != nil {
					b.Fatal(err)
				}
				if done {
					left--
				}
			}
		}
	}
}

// BenchmarkAgree compares an agreement of 8 processes in shared memory with an allreduce of one integer, by messages
// and on a board.
func BenchmarkAgree(b *testing.B) {
	in, out := []int32{1}, make([][1]int32, 8)
	sum := func(e *Engine) uint64 {
		task, err := e.World().Later(coll.Nonblocking)
		if err == nil {
			err = task.Operations().Allreduce(intBuf(in), intBuf(out[e.me][:]), op.Predefined(abi.MPI_BAND))
		}
		if err != nil {
			b.Fatal(err)
		}
		return task.Start()
	}
	job := options{clients: []int{8}, tune: faultTolerant}
	b.Run("agree", func(b *testing.B) {
		inSteps(b, makeWorld(b, job), func(e *Engine) uint64 { return e.World().Iagree(1, func(int32) {}) })
	})
	b.Run("allreduce by messages", func(b *testing.B) { inSteps(b, makeWorld(b, job), sum) })
	b.Run("allreduce on a board", func(b *testing.B) {
		es := makeWorld(b, job)
		together(b, es, func(e *Engine) { must(b, onBoards(e).Barrier()) })
		inSteps(b, es, sum)
	})
}

// BenchmarkRevokeAndShrink makes a communicator of those that are left of 64 processes in shared memory when one has
// been lost, and revokes it.
func BenchmarkRevokeAndShrink(b *testing.B) {
	es := makeWorld(b, options{clients: []int{64}, tune: faultTolerant})
	for _, e := range es {
		e.mu.Lock()
		e.noteLost(7, errTest)
		e.tellSurvivors()
		e.mu.Unlock()
	}
	left := append(es[:7:7], es[8:]...)
	inSteps(b, left, func(e *Engine) uint64 {
		return e.World().Ishrink(func(c *Comm) {
			if e.me == 0 {
				c.Revoke()
			}
			c.Discard()
		})
	})
}
