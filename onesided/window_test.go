package onesided_test

import (
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/onesided/windowtest"
	"github.com/libimpi/libimpi/transport"
)

// windowWays are jobs of 4 processes and flavors, by which a window reaches the memory of its targets in all ways.
var windowWays = []struct {
	name   string
	flavor int
	job    func() *onesided.Fake
}{
	{"mapped", abi.MPI_WIN_FLAVOR_ALLOCATE, func() *onesided.Fake { return machine(0) }},
	{"shared", abi.MPI_WIN_FLAVOR_SHARED, func() *onesided.Fake { return machine(0) }},
	{"far", abi.MPI_WIN_FLAVOR_CREATE, func() *onesided.Fake { return machine(0) }},
	{"asked", abi.MPI_WIN_FLAVOR_CREATE, func() *onesided.Fake {
		f := machine(0)
		f.NoRead = true
		return f
	}},
	{"not reached", abi.MPI_WIN_FLAVOR_CREATE, func() *onesided.Fake {
		f := machine(0)
		f.Move = func(_, _ []transport.Run, _ bool) bool { return false } // as if it were a device's
		return f
	}},
	{"nothing found", abi.MPI_WIN_FLAVOR_ALLOCATE, func() *onesided.Fake { return machine(1 << 30) }},
	{"found later", abi.MPI_WIN_FLAVOR_SHARED, func() *onesided.Fake { return machine(2) }},
	{"machines", abi.MPI_WIN_FLAVOR_ALLOCATE, func() *onesided.Fake {
		return onesided.NewFake([]int{0, 1, 0, 1}, 0)
	}},
	{"machines that differ", abi.MPI_WIN_FLAVOR_CREATE, func() *onesided.Fake {
		f := onesided.NewFake([]int{0, 1, 1, 1}, 0)
		f.External = true
		return f
	}},
}

func machine(foundFrom int) *onesided.Fake { return onesided.NewFake([]int{0, 0, 0, 0}, foundFrom) }

func TestWindowsBehaveOnAllWays(t *testing.T) {
	for _, way := range windowWays {
		for _, b := range windowtest.Behaviours {
			t.Run(way.name+", "+b.Name, func(t *testing.T) {
				way.job().Run(t, func(e *onesided.FakeEngine) {
					w, err := e.New(windowtest.Config(way.flavor, b.Longs))
					if err != nil {
						t.Error(err)
						return
					}
					b.Run(t, &windowtest.Process{Window: w, Rank: e.Me, Size: 4, Longs: b.Longs, WaitAll: e.WaitAll,
						Idle: runtime.Gosched})
					if err := w.Free(); err != nil {
						t.Error(err)
					}
					e.Idle(t)
				})
			})
		}
	}
}

func TestDynamicWindowsReachWhatIsAttached(t *testing.T) {
	for _, machines := range [][]int{{0, 0, 0}, {0, 1, 1}} {
		for _, noRead := range []bool{false, true} {
			f := onesided.NewFake(machines, 0)
			f.NoRead = noRead
			f.Run(t, func(e *onesided.FakeEngine) {
				w, err := e.New(windowtest.DynamicConfig())
				if err != nil {
					t.Error(err)
					return
				}
				windowtest.AttachedIsReached(t, &windowtest.Process{Window: w, Rank: e.Me, Size: 3},
					func(own uint64) []uint64 {
						all := make([]uint64, 3)
						if err := e.Allgather([]uint64{own}, all); err != nil {
							t.Error(err)
						}
						return all
					})
				if err := w.Free(); err != nil {
					t.Error(err)
				}
				e.Idle(t)
			})
		}
	}
}
