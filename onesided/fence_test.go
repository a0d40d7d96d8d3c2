package onesided

import (
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// A fence that counts, where what is under way arrives late. Rank 0 is the target, on machine 0.

var int64s = datatype.Named(abi.MPI_INT64_T)

// fenced is a member of a window of longs.
type fenced struct {
	*Window
	t testing.TB
	e *FakeEngine
}

// fencedBy runs a body for each member of a window of n longs, which it leaves in no epoch.
func fencedBy(t *testing.T, f *Fake, n int, body func(p fenced)) {
	t.Helper()
	f.Run(t, func(e *FakeEngine) {
		mem := make([]uint64, n)
		w, err := e.New(Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: int64(8 * n), Unit: 8,
			Alloc: func(int64) (datatype.Pointer, error) { return countBuf(mem).Base, nil }})
		if err != nil {
			t.Error(err)
			return
		}
		p := fenced{w, t, e}
		body(p)
		p.must(w.Free())
		e.Idle(t)
	})
}

func (p fenced) must(err error) {
	if err != nil {
		p.t.Helper()
		p.t.Errorf("process %d: %v", p.e.Me, err)
	}
}

func (p fenced) cell(i int) uint64 { return *(*uint64)(offset(p.Base(), int64(8*i))) }

func (p fenced) put(to, cell int, values ...uint64) {
	b := countBuf(values)
	_, err := p.Put(coll.Buf{Base: b.Base, Count: int64(len(values)), Type: int64s},
		Place{Target: to, Disp: int64(cell), Count: int64(len(values)), Type: int64s}, false)
	p.must(err)
}

// until turns until something holds.
func (p fenced) until(holds func() bool) {
	for !holds() && p.e.Failure() == nil {
		p.must(p.e.Relax())
	}
}

// enough is how many turns a process gives others to do what they must not do.
const enough = 300

func TestAFenceWaitsForWhatIsUnderWayToItsProcess(t *testing.T) {
	f := NewFake([]int{0, 1, 2}, 0)
	var waited int
	var ahead atomic.Bool
	f.Waits = func(e *FakeEngine) {
		if e.Me != 0 || !ahead.Load() {
			return
		}
		if waited++; waited == 3 { // what process 1 has put after the fence is here
			f.Arrive()
		}
	}
	f.Delay(2, 0)
	fencedBy(t, f, 2, func(p fenced) {
		p.must(p.Fence(0))
		if p.e.Me == 2 {
			p.put(0, 0, 1)
			p.put(0, 1, 7)
		}
		p.must(p.Fence(0))
		switch p.e.Me {
		case 0:
			if got := p.cell(1); got != 7 {
				t.Errorf("%d after the fence, want 7", got)
			}
		case 1:
			p.put(0, 0, 2)
			ahead.Store(true)
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
		if got := p.cell(0); p.e.Me == 0 && got != 2 {
			t.Errorf("%d, want that of the later epoch", got)
		}
	})
}

func TestMembersOfAMachineSeeWhatAFenceHasCompleted(t *testing.T) {
	f := NewFake([]int{0, 0, 1}, 0)
	waited := 0
	f.Waits = func(e *FakeEngine) {
		if e.Me != 0 {
			return
		}
		if waited++; waited == enough {
			f.Arrive()
		}
	}
	f.Delay(2, 0)
	fencedBy(t, f, 1, func(p fenced) {
		p.must(p.Fence(0))
		if p.e.Me == 2 {
			p.put(0, 0, 7)
		}
		p.must(p.Fence(0))
		if p.e.Me == 1 {
			got := []uint64{0}
			_, err := p.Get(coll.Buf{Base: countBuf(got).Base, Count: 1, Type: int64s}, Place{0, 0, 1, int64s}, false)
			p.must(err)
			if got[0] != 7 {
				t.Errorf("%d in the memory of process 0, want 7", got[0])
			}
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
	})
}

func TestAFenceThatEndsNoEpochLetsRequestsWaitForTheirTarget(t *testing.T) {
	var ahead atomic.Bool
	fencedBy(t, NewFake([]int{0, 1}, 0), 1, func(p fenced) {
		if p.e.Me == 0 {
			p.until(ahead.Load) // process 1 leaves its fence although this one has not called it
			for range 5 {
				p.e.Turn()
			}
			if got := p.cell(0); got != 0 {
				t.Errorf("%d before the fence", got)
			}
		}
		p.must(p.Fence(abi.MPI_MODE_NOPRECEDE))
		if p.e.Me == 1 {
			p.put(0, 0, 5)
			ahead.Store(true)
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
		if got := p.cell(0); p.e.Me == 0 && got != 5 {
			t.Errorf("%d after the fence, want 5", got)
		}
	})
}

func TestAFenceThatEndsNoEpochWaitsForMembersOfTheMachine(t *testing.T) {
	var left atomic.Bool
	fencedBy(t, NewFake([]int{0, 0, 1}, 0), 1, func(p fenced) {
		if p.e.Me == 0 {
			for range enough {
				p.must(p.e.Relax())
			}
			if left.Load() {
				t.Error("process 1 has left the fence, and may access memory here")
			}
		}
		p.must(p.Fence(abi.MPI_MODE_NOPRECEDE))
		if p.e.Me == 1 {
			left.Store(true)
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
	})
}

func TestFencesThatEndNoEpochMeetBeforeTheirNumbersWrap(t *testing.T) {
	var left atomic.Int64
	fencedBy(t, NewFake([]int{0, 1}, 0), 1, func(p fenced) {
		if p.e.Me == 0 {
			p.until(func() bool { return left.Load() >= unmet-1 })
			for range enough {
				p.must(p.e.Relax())
			}
			if n := left.Load(); n != unmet-1 {
				t.Errorf("process 1 has left %d fences that this one has not called", n)
			}
		}
		for range 5 * unmet {
			p.must(p.Fence(abi.MPI_MODE_NOPRECEDE | abi.MPI_MODE_NOSUCCEED))
			left.Add(int64(p.e.Me))
		}
	})
}

func TestATargetThatHasNotComeToAFenceKeepsLittle(t *testing.T) {
	const count, values = 100, inlineBytes / 8
	var blocked atomic.Bool
	f := NewFake([]int{0, 1}, 0)
	f.Waits = func(e *FakeEngine) {
		if e.Me == 1 {
			blocked.Store(true)
		}
	}
	fencedBy(t, f, count*values, func(p fenced) {
		if p.e.Me == 0 {
			p.until(blocked.Load)
			for range enough {
				p.must(p.e.Relax())
			}
			kept := 0
			for _, b := range p.requests.origins[1].early {
				kept += len(b)
			}
			if most := aheadBytes + 2*inlineBytes; kept > most || kept < aheadBytes/2 {
				t.Errorf("%d bytes are kept, want some and at most %d", kept, most)
			}
		}
		p.must(p.Fence(abi.MPI_MODE_NOPRECEDE))
		if p.e.Me == 1 {
			for i := range count {
				block := make([]uint64, values)
				for k := range block {
					block[k] = uint64(i + 1)
				}
				p.put(0, i*values, block...)
			}
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
		for i := 0; i < count && p.e.Me == 0; i++ {
			if got := p.cell(i*values + values - 1); got != uint64(i+1) {
				t.Fatalf("block %d: %d", i, got)
			}
		}
	})
}

func TestCommunicationBeforeAFenceThatEndsNoEpochIsTold(t *testing.T) {
	fencedBy(t, NewFake([]int{0, 1}, 0), 1, func(p fenced) {
		p.must(p.Fence(0))
		p.put(1-p.e.Me, 0, 1)
		if e, ok := p.Fence(abi.MPI_MODE_NOPRECEDE).(*Error); !ok || e.Class != abi.MPI_ERR_ASSERT {
			t.Errorf("%v", e)
		}
		p.must(p.Fence(abi.MPI_MODE_NOSUCCEED))
	})
}

func TestAnUncheckedPostSendsNothingAndTheNextStartWaits(t *testing.T) {
	var posted atomic.Bool
	fencedBy(t, NewFake([]int{0, 1}, 0), 1, func(p fenced) {
		const target = 0
		if p.e.Me == target {
			p.must(p.Post([]int{1}, abi.MPI_MODE_NOCHECK))
			if got := p.requests.targets[1].sent; got != 0 {
				t.Errorf("%d requests", got)
			}
		}
		p.must(p.e.Barrier())
		if p.e.Me == target {
			p.must(p.Wait())
			for range enough {
				p.must(p.e.Relax())
			}
			posted.Store(true)
			p.must(p.Post([]int{1}, 0))
			p.must(p.Wait())
			return
		}
		for _, assert := range []int{abi.MPI_MODE_NOCHECK, 0} {
			p.must(p.Start([]int{target}, assert))
			if assert == 0 && !posted.Load() {
				t.Error("MPI_Win_start has returned before MPI_Win_post")
			}
			p.put(target, 0, 1)
			p.must(p.Complete())
		}
	})
}
