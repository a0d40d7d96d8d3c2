package onesided

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
)

func TestCallsOnMappedMemoryAllocateNothing(t *testing.T) {
	NewFake([]int{0}, 0).Run(t, func(e *FakeEngine) {
		w, err := e.New(Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 80, Unit: 8})
		if err != nil {
			t.Error(err)
			return
		}
		b, p := buf(make([]int64, 10), 10, int64Type), Place{Count: 10, Type: int64Type}
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		for name, call := range map[string]func(){
			"fence": func() { must(w.Fence(abi.MPI_MODE_NOSUCCEED)) },
			"lock, put, get, flush, unlock": func() {
				must(w.Lock(0, true, 0))
				_, err := w.Put(b, p, false)
				must(err)
				_, err = w.Get(b, p, false)
				must(err)
				must(w.Flush(0, false, "MPI_Win_flush"))
				must(w.Unlock(0))
			},
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		must(w.Free())
	})
}
