package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
	"github.com/libimpi/libimpi/onesided"
)

// Windows and files whose members die before any packet: what is made is there at all survivors or at none, no call
// hangs, and everybody comes to the end.

// may takes the errors of losses, at a process that lives.
func (g *grim) may(t *testing.T, e *Engine, err error) bool {
	if err != nil && !g.dead(e) {
		t.Helper()
		wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
	}
	return err == nil
}

// made is whether a process has got a window or a file.
type made struct{ window, file bool }

// useWindow has one call of each kind of synchronization.
func (g *grim) useWindow(t *testing.T, e *Engine, w *Window) {
	n, me, one := w.Comm().Size(), w.Comm().Rank(), []uint64{1}
	add := func(to int) {
		from := countBuf(one)
		_, err := w.Accumulate(from, coll.Buf{}, onesided.Place{Target: to, Count: 1, Type: from.Type},
			op.Predefined(abi.MPI_SUM), from.Type, false)
		g.may(t, e, err)
	}
	g.may(t, e, w.Fence(0))
	add((me + 1) % n)
	g.may(t, e, w.Fence(abi.MPI_MODE_NOSUCCEED))
	g.may(t, e, w.Post([]int{(me + n - 1) % n}, 0))
	g.may(t, e, w.Start([]int{(me + 1) % n}, 0))
	add((me + 1) % n)
	g.may(t, e, w.Complete())
	g.may(t, e, w.Wait())
	for r := range n {
		if g.may(t, e, w.Lock(r, r%2 == 0, 0)) {
			add(r)
			g.may(t, e, w.Unlock(r))
		}
	}
}

// useFile has collective and independent accesses, and moves the shared pointer.
func (g *grim) useFile(t *testing.T, e *Engine, f *File) {
	b := make([]byte, 100)
	_, err := f.Do(ptrTo(bytesAccess(true, true, int64(100*e.me), b)))
	g.may(t, e, err)
	if _, err := f.Do(ptrTo(bytesAccess(true, false, int64(100*e.me), b))); err != nil && !g.dead(e) {
		t.Errorf("rank %d: an independent access fails: %v", e.me, err)
	}
	_, err = f.members.FetchAdd(1)
	g.may(t, e, err)
	g.may(t, e, f.Sync())
}

func ptrTo[T any](v T) *T { return &v }

// lossy is a job that makes, uses and gives up a window and a file, and loses processes.
func lossy(t *testing.T, machines []int, seed uint64, deaths ...death) int {
	g, disk := doomed(t, machines, seed, deaths...), filetest.NewDisk()
	all := make([]made, len(g.es))
	together(t, g.es, func(e *Engine) {
		w, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Size: 32, Unit: 8,
			Base: countBuf(make([]uint64, 4)).Base})
		if all[e.me].window = g.may(t, e, err); err == nil {
			g.useWindow(t, e, w)
			g.may(t, e, w.Free())
		}
		f, err := e.World().OpenFile(disk, "file", abi.MPI_MODE_RDWR|abi.MPI_MODE_CREATE, file.Hints{}, nil)
		if all[e.me].file = g.may(t, e, err); err == nil {
			g.useFile(t, e, f)
			g.may(t, e, f.Close())
		}
		if err := e.Finish(); err != nil && !g.dead(e) {
			t.Errorf("rank %d: %v", e.me, err)
		}
	})
	first := -1
	for i, e := range g.es {
		switch {
		case g.dead(e):
		case first < 0:
			first = i
		case all[i] != all[first]:
			t.Errorf("rank %d has %+v, and rank %d %+v", i, all[i], first, all[first])
		}
		if !g.dead(e) {
			must(t, e.failure())
		}
	}
	if t.Failed() {
		t.Fatalf("machines %v, seed %d, deaths %v", machines, seed, deaths)
	}
	return g.sent
}

func TestWindowsAndFilesEndWhoeverDiesBeforeAnyPacket(t *testing.T) {
	every := 3
	if testing.Short() {
		every = 29
	}
	for _, machines := range [][]int{{3}, {2, 1}} {
		packets := lossy(t, machines, 1)
		for packet := 0; packet < packets; packet += every {
			lossy(t, machines, uint64(packet), death{packet, packet % 3})
		}
	}
}
