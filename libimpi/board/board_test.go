package board

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/transport"
)

func yield() { runtime.Gosched() }

// says is what a rank contributes in a round.
func says(rank, round, n int) []byte { return bytes.Repeat([]byte{byte(7*rank + round)}, n) }

// allgather is an operation of n bytes a rank, and where it gathers them.
func allgather(b board.Seats, round, n int) (*board.Operation, []byte) {
	all := make([]byte, n*b.Size())
	recv := buffer.Bytes(all)
	recv.Count = int64(n)
	return new(board.Operation).Allgather(b, buffer.Bytes(says(b.Rank(), round, n)), recv), all
}

func expect(all []byte, round, ranks int) error {
	for r, n := 0, len(all)/ranks; r < ranks; r++ {
		if got := all[r*n : r*n+n]; !bytes.Equal(got, says(r, round, n)) {
			return fmt.Errorf("round %d: got other %d bytes of rank %d", round, n, r)
		}
	}
	return nil
}

// There are more rounds than slots of any size, so that ranks that run ahead have to wait.
func TestBlockingOperationsUseSlotsOfAllSizes(t *testing.T) {
	all, _ := members(3)
	together(t, all, func(b *Board) error {
		for round := range 200 {
			n := []int{8, 120, 121, 1000, 1001, 5000}[round*round%6]
			o, got := allgather(b, round, n)
			if err := errors.Join(b.ReserveFor(o.Most()), o.Do(&b.Blocking), expect(got, round, 3)); err != nil {
				return err
			}
		}
		return nil
	})
}

// task is a nonblocking operation, or several, as progress carries it out.
type task struct {
	p   Place
	o   []board.Operation
	got [][]byte
	at  int
}

// advance goes on with it, and reports whether it is over.
func (k *task) advance() (over bool, err error) {
	for ; k.at < len(k.o); k.at++ {
		if over, err := k.o[k.at].Run(&k.p); !over || err != nil {
			return false, err
		}
		if k.at+1 < len(k.o) {
			k.p.Next()
		}
	}
	k.p.Leave()
	return true, nil
}

// Nonblocking operations are begun all at once, and are advanced from the last to the first; a blocking one waits for
// none of them here, since all are over.
func TestOperationsOfSeveralTasksAreUnderWay(t *testing.T) {
	all, m := members(3)
	together(t, all, func(b *Board) error {
		for round := range 50 {
			var under []*task
			for i := range 3 {
				k := new(task)
				for j := range i + 1 {
					o, got := allgather(b, round+j, []int{8, 500, 2000}[(i+j)%3])
					k.o, k.got = append(k.o, *o), append(k.got, got)
				}
				if err := b.ReserveFor(2000); err != nil {
					return err
				}
				k.p.Enter(b, k.o)
				under = append([]*task{k}, under...)
			}
			for len(under) > 0 {
				left := under[:0]
				for _, k := range under {
					over, err := k.advance()
					if err != nil {
						return err
					}
					if !over {
						left = append(left, k)
						continue
					}
					for j := range k.got {
						if err := expect(k.got[j], round+j, 3); err != nil {
							return err
						}
					}
				}
				under = left
				yield()
			}
			if *b.Tasks != 0 || len(b.underWay) != 0 {
				return fmt.Errorf("%d are under way", *b.Tasks)
			}
		}
		o, _ := allgather(b, 1, 8)
		return o.Do(&b.Blocking)
	})
	for r := range all {
		if *m.Done(r) != *all[r].Begun {
			t.Errorf("rank %d has begun %d operations, and says that it has done %d", r, *all[r].Begun, *m.Done(r))
		}
	}
}

// A member says it has done all operations before the first that is under way.
func TestDoneIsBeforeTheOldestUnfinishedOperation(t *testing.T) {
	all, m := members(2)
	b := all[0]
	barrier := func() []board.Operation { return []board.Operation{*new(board.Operation).Barrier(b)} }
	var first, second Place
	first.Enter(b, barrier())
	second.Enter(b, barrier())
	if second.Leave(); *m.Done(0) != 0 {
		t.Errorf("rank 0 says it has done %d operations, while the first is under way", *m.Done(0))
	}
	if first.Leave(); *m.Done(0) != 2 {
		t.Errorf("rank 0 says it has done %d operations, and not 2", *m.Done(0))
	}
}

// Whoever fails, or calls an operation of another length, leaves nobody waiting.
func TestContributionsThatDoNotComeAreNoticed(t *testing.T) {
	for name, wrong := range map[string]func(b *Board) error{
		"shows nothing": func(b *Board) error {
			b.Blocking.Begin(8)
			b.Blocking.End()
			return nil
		},
		"shows more": func(b *Board) error {
			o, _ := allgather(b, 1, 500)
			return o.Do(&b.Blocking)
		},
	} {
		all, _ := members(2)
		together(t, all, func(b *Board) error {
			if b.Rank() == 1 {
				_ = wrong(b)
				return nil
			}
			o, _ := allgather(b, 1, 8)
			if o.Do(&b.Blocking) == nil {
				return fmt.Errorf("%s: no error", name)
			}
			return nil
		})
		together(t, all, func(b *Board) error {
			o, got := allgather(b, 2, 8)
			return errors.Join(o.Do(&b.Blocking), expect(got, 2, 2))
		})
	}
}

// Who gives up does not say that it has done its part: others would take that for an operation that has gone wrong.
func TestALostPeerEndsAWait(t *testing.T) {
	all, m := members(2)
	b := all[0]
	b.engine.(*engine).lost.Store(true)
	var later Place
	later.Enter(b, []board.Operation{*new(board.Operation).Barrier(b)})
	if later.Abandon(); *b.Tasks != 0 || *m.Done(0) != 0 {
		t.Errorf("%d operations are under way, and %d are said to be done", *b.Tasks, *m.Done(0))
	}
	o, _ := allgather(b, 1, 8)
	if err := o.Do(&b.Blocking); !errors.Is(err, errLost) || *m.Done(0) != 0 {
		t.Errorf("got %v, and %d operations are said to be done", err, *m.Done(0))
	}
}

// What a member wrote is not believed: neither a length nor where a contribution stands.
func TestLengthsOnABoardAreBounded(t *testing.T) {
	for _, length := range []uint64{121, 254, 255} {
		all, m := members(2)
		word, mem := m.Slot(transport.NarrowSlot, 1, 1)
		copy(mem, bytes.Repeat([]byte{0xff}, 8))
		atomic.StoreUint64(word, 1<<8|length)
		b := all[0]
		b.Blocking.Begin(board.AnyLength)
		if part, err := b.Blocking.Get(1); err != nil || len(part) > 5000 {
			t.Errorf("length %d: %d bytes, %v", length, len(part), err)
		}
		b.Blocking.End()
	}
}

// An operation that C has left is begun again with its number.
func TestGoBeginsAgainWhatCHasLeft(t *testing.T) {
	all, _ := members(2)
	for _, b := range all {
		*b.Begun, *b.Left = 1, 1
	}
	together(t, all, func(b *Board) error {
		o, got := allgather(b, 3, 8)
		return errors.Join(o.Do(&b.Blocking), expect(got, 3, 2))
	})
	if *all[0].Begun != 1 {
		t.Errorf("%d operations have begun", *all[0].Begun)
	}
}

// C waits in Go for the word of a contribution, of either size, or for that of a member's completed operations.
func TestGoWaitsForC(t *testing.T) {
	all, m := members(2)
	b := all[0]
	*b.Begun = 1
	for size := transport.NarrowSlot; size <= transport.WideSlot; size++ {
		word, _ := m.Slot(size, 1, 1)
		_, _, shift := m.Slots(size)
		atomic.StoreUint64(word, 1<<shift)
		if raised, err := b.AwaitForC(word, 1<<shift); !raised || err != nil {
			t.Errorf("size %d: %v, %v", size, raised, err)
		}
		atomic.StoreUint64(word, 0)
	}
	*m.Done(1) = 1
	word, _ := m.Slot(transport.NarrowSlot, 1, 1)
	if raised, err := b.AwaitForC(word, 1<<8); raised || err != nil {
		t.Errorf("a contribution that does not come: %v, %v", raised, err)
	}
	if raised, err := b.AwaitForC(m.Done(1), 1); !raised || err != nil {
		t.Errorf("completed operations: %v, %v", raised, err)
	}
}

// Members start the operations of two lanes in different orders, and run ahead as far as slots let them.
func TestLanesAreStartedInAnyOrder(t *testing.T) {
	all, _ := members(3)
	together(t, all, func(b *Board) error {
		var lanes [2]Lane
		for i := range lanes {
			if err := lanes[i].Open(b, 24); err != nil {
				return err
			}
		}
		for round := range 100 {
			var under [2]*board.Operation
			var got [2][]byte
			for i := range lanes {
				i = (i + b.Rank()) % 2
				under[i], got[i] = allgather(b, round+i, 8)
				lanes[i].Begin(8)
				_, _ = lanes[i].Run(under[i])
			}
			for i := range lanes {
				for over := false; !over; yield() {
					var err error
					if over, err = lanes[i].Run(under[i]); err != nil {
						return err
					}
				}
				if err := expect(got[i], round+i, 3); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// A member that fails in a lane says so, and those that wait for it get an error in this round, and none in the next.
func TestAFailureInALaneIsTold(t *testing.T) {
	all, _ := members(2)
	together(t, all, func(b *Board) error {
		var l Lane
		if err := l.Open(b, 16); err != nil {
			return err
		}
		for round := range 3 {
			n := 8
			if round == 1 && b.Rank() == 1 {
				n = 100 // is longer than a slot
			}
			o, _ := allgather(b, round, n)
			l.Begin(8)
			var over bool
			var err error
			for ; !over; yield() {
				over, err = l.Run(o)
			}
			if (err != nil) != (round == 1) {
				return fmt.Errorf("round %d: %v", round, err)
			}
		}
		return nil
	})
}

func TestLanesEndWithTheirRoom(t *testing.T) {
	all, m := members(1)
	b, given := all[0], 0
	for ; b.HasLane(1000); given++ {
		if err := new(Lane).Open(b, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if given != m.room/4000 || !b.HasLane(int64(m.room-b.LaneBytes())/4) {
		t.Errorf("%d lanes were given", given)
	}
}
