// Package windowtest is what every window has to do, whatever carries it: memory that all members map, the kernel, or
// requests. Package onesided runs it against an engine in memory, libimpi against real ones.
//
// What a window contains is compared with plain memory after random epochs.
package windowtest

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

var long = datatype.Named(abi.MPI_LONG)

// Process is a member of a window of longs, on a thread or goroutine of its own.
type Process struct {
	*onesided.Window
	Rank, Size int
	Longs      int                           // that each member has in the window
	WaitAll    func(requests []uint64) error // MPI_Waitall
	Idle       func()                        // what a program does that has nothing to do but wait
	InTurn     bool                          // others run only while this one waits
}

// mine is the memory of the process.
func (p *Process) mine() []int64 { return at(p.Base(), p.Longs) }

// Config is a window of so many longs of a process, with memory of its own where it is not shared.
func Config(flavor, n int) onesided.Config {
	mem := make([]int64, n+1)
	return onesided.Config{Flavor: flavor, Base: address(mem), Size: int64(8 * n), Unit: 8, Contiguous: true,
		Alloc: func(int64) (datatype.Pointer, error) { return address(mem), nil }}
}

// Behaviour is something that a window has to do. All members carry it out, and leave the window in no epoch.
type Behaviour struct {
	Name  string // of the test
	Longs int
	Run   func(t testing.TB, p *Process)
}

// Behaviours are all of them.
var Behaviours = []Behaviour{
	{"puts and gets between fences", 5000, putsAndGetsBetweenFences},
	{"accumulates of all add up", 6000, accumulatesOfAllAddUp},
	{"locks exclude", 2, locksExclude},
	{"post, start, complete, wait", 3000, postStartCompleteWait},
	{"swaps of all take turns", 1, swapsOfAllTakeTurns},
	{"who looks at its own memory serves the others", len(waysToLook), whoLooksServes},
	{"requests complete", 4000, requestsComplete},
	{"derived types on both sides", 6000, derivedTypes},
	{"random epochs leave what plain memory would have", 3000, randomEpochs},
	{"what lies beyond is refused", 10, beyondIsRefused},
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Error(err)
	}
}

func wantClass(t testing.TB, err error, class int) {
	t.Helper()
	if e, ok := err.(*onesided.Error); !ok || e.Class != class {
		t.Errorf("error %v, want one of class %d", err, class)
	}
}

// place is that of n longs.
func place(target, disp, n int) onesided.Place {
	return onesided.Place{Target: target, Disp: int64(disp), Count: int64(n), Type: long}
}

// none is no buffer.
var none coll.Buf
