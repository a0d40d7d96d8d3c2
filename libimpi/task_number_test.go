package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
)

// fewNumbers leaves collective operations of each kind only so many numbers.
func fewNumbers(t *testing.T, clients []int, most int) []*Engine {
	es := makeWorld(t, options{clients: clients})
	for _, e := range es {
		e.collectives.mostTasks = most
	}
	return es
}

// record is a broadcast of one integer, of the given form.
func record(t *testing.T, c *Comm, form coll.Form, value []int32, root int) *Task {
	task, err := c.Later(form)
	if must(t, err); err != nil {
		return nil
	}
	must(t, task.Operations().Bcast(intBuf(value), root))
	return task
}

// begun makes a persistent broadcast, and carryOut starts and completes it.
func begun(t *testing.T, c *Comm, value []int32, root int) uint64 {
	return record(t, c, coll.Persistent, value, root).Keep()
}

func carryOut(t *testing.T, c *Comm, id uint64, value []int32, root int, sent int32) {
	t.Helper()
	value[0] = -1
	if c.Rank() == root {
		value[0] = sent
	}
	if err := c.engine.Start(id); err != nil {
		t.Error(err)
		return
	}
	must(t, c.engine.Wait(&id, nil))
	if value[0] != sent {
		t.Errorf("rank %d got %d, not %d", c.Rank(), value[0], sent)
	}
}

func TestNumbersOfPersistentOperationsAreUsedAgain(t *testing.T) {
	for _, clients := range [][]int{{3}, {2, 1}} {
		es := fewNumbers(t, clients, 5)
		together(t, es, func(e *Engine) {
			c := e.World()
			kept, value, late := begun(t, c, make([]int32, 1), 0), make([]int32, 1), uint64(0)
			keptValue := make([]int32, 1)
			must(t, e.FreeRequest(&kept))
			kept = begun(t, c, keptValue, 0)
			for i := range int32(40) {
				id := begun(t, c, value, 1)
				carryOut(t, c, id, value, 1, i)
				carryOut(t, c, kept, keptValue, 0, 100+i)
				if late != 0 {
					must(t, e.FreeRequest(&late))
				}
				if e.Me() == 2 { // which frees each one operation later than the others do
					late = id
				} else {
					must(t, e.FreeRequest(&id))
				}
			}
		})
		noFailure(t, es)
	}
}

func TestTooManyPersistentOperationsAreAnErrorEverywhere(t *testing.T) {
	es := fewNumbers(t, []int{3}, 5)
	together(t, es, func(e *Engine) {
		c, value := e.World(), make([]int32, 1)
		var ids [5]uint64
		for i := range ids {
			ids[i] = begun(t, c, value, 0)
		}
		if _, err := c.Later(coll.Persistent); AsError(err) == nil || AsError(err).Class != abi.MPI_ERR_OTHER {
			t.Errorf("rank %d: %v", e.Me(), err)
		}
		must(t, e.FreeRequest(&ids[2]))
		ids[2] = begun(t, c, value, 0)
		for i, id := range ids {
			carryOut(t, c, id, value, 0, int32(i))
		}
	})
	noFailure(t, es)
}

func TestAnOperationThatCannotBeToldFromAnEarlierOneIsAnError(t *testing.T) {
	es := fewNumbers(t, []int{2}, 5)
	together(t, es, func(e *Engine) {
		c := e.World()
		var values [6][]int32
		var ids [6]uint64
		for i := range values {
			values[i] = []int32{int32(e.Me()) * 10}
			root := 1
			if i == 0 {
				root = 0
			}
			if e.Me() == 0 && i == 0 {
				in := make([]byte, 1)
				must(t, c.Recv(startOf(in), 1, byteT, 1, 7, nil)) // rank 1 has seen the error
			}
			if e.Me() == 1 && i == 5 {
				if _, err := c.Later(coll.Nonblocking); AsError(err) == nil || AsError(err).Class != abi.MPI_ERR_OTHER {
					t.Errorf("the sixth operation beside the first: %v", err)
				}
				must(t, c.Send(startOf(make([]byte, 1)), 1, byteT, 0, 7, modeStandard))
				break
			}
			if i == 5 {
				break
			}
			ids[i] = record(t, c, coll.Nonblocking, values[i], root).Start()
		}
		for i := range 5 {
			must(t, e.Wait(&ids[i], nil))
			if want := int32(min(i, 1) * 10); values[i][0] != want {
				t.Errorf("rank %d: operation %d gave %d, not %d", e.Me(), i, values[i][0], want)
			}
		}
	})
	noFailure(t, es)
}

func TestNumbersOfOperationsThatEndAreUsedAgain(t *testing.T) {
	es := fewNumbers(t, []int{3}, 5)
	together(t, es, func(e *Engine) {
		c, value := e.World(), make([]int32, 1)
		for i := range int32(100) {
			value[0] = i * int32(1-min(e.Me(), 1))
			id := record(t, c, coll.Nonblocking, value, 0).Start()
			if must(t, e.Wait(&id, nil)); value[0] != i {
				t.Errorf("rank %d got %d, not %d", e.Me(), value[0], i)
			}
		}
	})
	noFailure(t, es)
}
