package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

// Dynamic windows (MPI 5.0, 12.2.4): each process attaches memory when it likes, and displacements are addresses. Only
// the process itself knows what is attached, so that others find out by asking.

// Attach makes memory accessible in a dynamic window, and Detach ends that.
func (w *Window) Attach(base uint64, size int64) error {
	old := *w.requests.regions.Load()
	for _, r := range old {
		if base < r.base+uint64(r.size) && r.base < base+uint64(size) {
			return errorf(abi.MPI_ERR_RMA_ATTACH, "arguments base (%#x) and size (%d) overlap the %d bytes at %#x, which are "+
				"attached already", base, size, r.size, r.base)
		}
	}
	w.replaceRegions(append(old[:len(old):len(old)], region{base, size}))
	return nil
}

// Detach takes Attach back.
func (w *Window) Detach(base uint64) error {
	old := *w.requests.regions.Load()
	for i, r := range old {
		if r.base == base {
			w.replaceRegions(append(append([]region(nil), old[:i]...), old[i+1:]...))
			return nil
		}
	}
	return errorf(abi.MPI_ERR_RMA_ATTACH, "argument base (%#x) is not where memory has been attached", base)
}

func (w *Window) replaceRegions(r []region) { w.requests.regions.Store(&r) }

// region is memory that is attached to a dynamic window.
type region struct {
	base uint64
	size int64
}

// attachedAt answers the memory at an address of this process, in a dynamic window.
func (w *Window) attachedAt(addr, count int64, t *datatype.Type) (datatype.Pointer, error) {
	if count == 0 || t.Size() == 0 {
		return startOf(nothingAt[:]), nil
	}
	lo, hi := onesided.Reach(count, t)
	for _, r := range *w.requests.regions.Load() {
		if at := addr - int64(r.base); at >= 0-hi && at <= r.size-lo && at+lo >= 0 && at+hi <= r.size {
			return pointerAt(uint64(addr)), nil
		}
	}
	return nil, errorf(abi.MPI_ERR_RMA_RANGE, "the %d bytes at %#x are not attached at rank %d of %s", hi-lo, addr+lo,
		w.comm.rank, w)
}
