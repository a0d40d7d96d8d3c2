package windowtest

import (
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/onesided"
)

// DynamicConfig is a window to which processes attach memory.
func DynamicConfig() onesided.Config {
	return onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_DYNAMIC, Unit: 1}
}

// AttachedIsReached is what a dynamic window has to do. all tells a number to all members, by their ranks.
func AttachedIsReached(t testing.TB, p *Process, all func(own uint64) []uint64) {
	mem := make([]int64, 3000)
	var pin runtime.Pinner // others know mem by its address alone, and a stack would move it
	pin.Pin(&mem[0])
	defer pin.Unpin()
	base := number(mem)
	must(t, p.Attach(base, 8*3000))
	wantClass(t, p.Attach(base+8, 8), abi.MPI_ERR_RMA_ATTACH)
	bases, next := all(base), (p.Rank+1)%p.Size
	must(t, p.LockAll(0))
	out := make([]int64, 2000)
	out[1999] = int64(p.Rank) + 1
	there := func(disp, n int64) onesided.Place {
		return onesided.Place{Target: next, Disp: int64(bases[next]) + disp, Count: n, Type: long}
	}
	_, err := p.Put(longs(out, 2000), there(800, 2000), false)
	must(t, err)
	must(t, p.FlushAll(false, "test"))
	_, err = p.Put(longs(out, 2000), there(8*1001, 2000), false)
	if err == nil {
		err = p.Flush(next, false, "test")
	}
	wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
	_, err = p.Get(longs(out, 1), there(-8, 1), false)
	if err == nil {
		err = p.Flush(next, false, "test")
	}
	wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
	must(t, p.UnlockAll())
	must(t, p.Fence(0))
	if got, want := mem[100+1999], int64((p.Rank+p.Size-1)%p.Size)+1; got != want {
		t.Errorf("rank %d has %d, want %d", p.Rank, got, want)
	}
	must(t, p.Detach(base))
	wantClass(t, p.Detach(base), abi.MPI_ERR_RMA_ATTACH)
}
