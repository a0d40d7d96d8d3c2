package libimpi

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// countedMemory counts the memory that a process has made and has not given back.
type countedMemory struct {
	transport.Memory
	made, open *atomic.Int64
}

func (c countedMemory) Share(n, align int) ([]byte, uint64, error) {
	c.made.Add(1)
	c.open.Add(1)
	return c.Memory.Share(n, align)
}

func (c countedMemory) Find(local int, id uint64, n, align int) ([]byte, error) {
	c.open.Add(1)
	return c.Memory.Find(local, id, n, align)
}

func (c countedMemory) Forget(mem []byte) {
	c.open.Add(-1)
	c.Memory.Forget(mem)
}

// count counts the memory of all processes.
func count(es []*Engine) (made, open *atomic.Int64) {
	made, open = new(atomic.Int64), new(atomic.Int64)
	for _, e := range es {
		e.home.Memory = countedMemory{e.home.Memory, made, open}
	}
	return made, open
}

func sharedWindow(t *testing.T, c *Comm, longs int) (*Window, []int64) {
	w, err := c.NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_SHARED, Size: int64(8 * longs), Unit: 8})
	must(t, err)
	return w, longsAt(w.Base(), longs)
}

func TestMemoryOfAFreedWindowIsThatOfTheNextAndClear(t *testing.T) {
	const n = 1000
	es := makeWorld(t, options{clients: []int{3}})
	made, _ := count(es)
	together(t, es, func(e *Engine) {
		for range 5 {
			w, mine := sharedWindow(t, e.World(), n)
			for i, v := range mine {
				if v != 0 {
					t.Fatalf("element %d is %d at first", i, v)
				}
				mine[i] = -1
			}
			must(t, w.Lock(0, true, 0)) // so that words, too, are not as they were
			must(t, w.Unlock(0))
			must(t, w.Fence(0))
			must(t, w.Fence(abi.MPI_MODE_NOSUCCEED))
			must(t, w.Free())
		}
	})
	if n := made.Load(); n != 1 {
		t.Errorf("memory was made %d times", n)
	}
	noFailure(t, es)
}

func TestAMemberThatHasLetGoOfMemoryGetsNew(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	made, open := count(es)
	together(t, es, func(e *Engine) {
		for round := range 4 {
			if round == 2 && e.Me() == 1 {
				e.releaseSpares()
			}
			w, _ := sharedWindow(t, e.World(), 1)
			must(t, w.Free())
		}
	})
	if made.Load() != 2 || open.Load() != 3 {
		t.Errorf("memory was made %d times, and %d mappings are open", made.Load(), open.Load())
	}
	noFailure(t, es)
}

func TestOthersDoNotGetTheMemoryOfFreedWindows(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	made, _ := count(es)
	together(t, es, func(e *Engine) {
		w, _ := sharedWindow(t, e.World(), 1)
		must(t, w.Free())
		turned, err := e.World().Split(0, -e.Me())
		must(t, err)
		w, _ = sharedWindow(t, turned, 1)
		must(t, w.Free())
	})
	if n := made.Load(); n != 2 {
		t.Errorf("memory was made %d times", n)
	}
	noFailure(t, es)
}

func TestFewAndShortMemoryIsKept(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}})
	_, open := count(es)
	together(t, es, func(e *Engine) {
		for i := range 2 * mostSpares {
			w, _ := sharedWindow(t, e.World(), 1+i*pageBytes/8)
			must(t, w.Free())
		}
		w, _ := sharedWindow(t, e.World(), spareBytes/8)
		must(t, w.Free())
		if n := len(e.spares.kept); n != mostSpares {
			t.Errorf("rank %d keeps %d", e.Me(), n)
		}
	})
	if n := open.Load(); n != 2*mostSpares {
		t.Errorf("%d mappings are open", n)
	}
	for _, e := range es {
		e.releaseSpares()
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d mappings are open at the end", n)
	}
	noFailure(t, es)
}

func TestMemoryOfAWindowThatAMemberHasNotLeftStaysAsItIs(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	made, _ := count(es)
	together(t, es, func(e *Engine) {
		w, _ := sharedWindow(t, e.World(), 1)
		old := w.shared
		for i := range old.bytes {
			old.bytes[i] = gapByte // as all members do
		}
		must(t, e.World().Barrier())
		if e.Me() != 2 { // which is as if a thread of it were in MPI_Win_free
			e.spares.keep(old)
		}
		w, _ = sharedWindow(t, e.World(), 1)
		must(t, e.World().Barrier())
		if i := slices.IndexFunc(old.bytes, func(b byte) bool { return b != gapByte }); e.Me() == 2 && i >= 0 {
			t.Errorf("byte %d of %d has changed", i, len(old.bytes))
		}
		must(t, w.Free())
	})
	if n := made.Load(); n != 2 {
		t.Errorf("memory was made %d times", n)
	}
	noFailure(t, es)
}
