package libimpi

import (
	"runtime"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
)

// Dynamic windows (MPI 5.0, 12.2.4): each process attaches memory when it likes, and displacements are addresses. What
// is attached the process itself knows. In one machine it publishes where its table of regions is, which the others
// read out of its memory when they see that there is a new one; elsewhere they find out by asking.

// region is memory that is attached to a dynamic window.
type region struct {
	base uint64
	size int64
}

const regionBytes = 16

// regions are those of a process, none of which overlap, in the order of their bases. A list is never changed.
type regions []region

// Attach makes memory accessible in a dynamic window, and Detach ends that.
func (w *Window) Attach(base uint64, size int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := *w.requests.regions.Load()
	at := len(old)
	for i, r := range old {
		if base < r.base+uint64(r.size) && r.base < base+uint64(size) {
			return errorf(abi.MPI_ERR_RMA_ATTACH, "arguments base (%#x) and size (%d) overlap the %d bytes at %#x, which are "+
				"attached already", base, size, r.size, r.base)
		}
		if at == len(old) && (r.base > base || r.base == base && r.size > size) {
			at = i
		}
	}
	w.replaceRegions(slices.Insert(slices.Clone(old), at, region{base, size}))
	return nil
}

// Detach takes Attach back.
func (w *Window) Detach(base uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := *w.requests.regions.Load()
	for i, r := range old {
		if r.base == base {
			w.replaceRegions(slices.Delete(slices.Clone(old), i, i+1))
			return nil
		}
	}
	return errorf(abi.MPI_ERR_RMA_ATTACH, "argument base (%#x) is not where memory has been attached", base)
}

// replaceRegions makes a new list the process's, for itself, and for those that read it.
func (w *Window) replaceRegions(list regions) {
	old := w.requests.regions.Swap(&list)
	if w.words != nil {
		w.words.Publish(addressOfRegions(list), uint64(len(list)))
	}
	runtime.KeepAlive(old) // whoever has begun to read it notices that there is a new one
}

// hold says whether n bytes from an address on are in one of the regions.
func (list regions) hold(addr, n int64) bool {
	i, _ := slices.BinarySearchFunc(list, addr, func(r region, addr int64) int {
		if int64(r.base) <= addr {
			return -1
		}
		return 1
	})
	for i--; i >= 0; i-- {
		if at := addr - int64(list[i].base); at >= 0 && at <= list[i].size-n {
			return true
		}
		if list[i].size > 0 {
			break
		}
	}
	return false
}

// attachedAt answers the memory at an address of this process, in a dynamic window.
func (w *Window) attachedAt(addr, count int64, t *datatype.Type) (datatype.Pointer, error) {
	if count == 0 || t.Size() == 0 {
		return startOf(nothingAt[:]), nil
	}
	if err := w.attached(*w.requests.regions.Load(), int(w.comm.rank), addr, count, t); err != nil {
		return nil, err
	}
	return pointerAt(uint64(addr)), nil
}

// attached refuses data that is not in the regions of a member.
func (w *Window) attached(list regions, rank int, addr, count int64, t *datatype.Type) error {
	lo, hi := onesided.Reach(count, t)
	if first := addr + lo; (lo < 0) == (first < addr) && list.hold(first, hi-lo) {
		return nil
	}
	return errorf(abi.MPI_ERR_RMA_RANGE, "the %d bytes at %#x are not attached at rank %d of %s", hi-lo, addr+lo, rank, w)
}

// published is the list of regions that another member has published, as this process has read it.
type published struct {
	version uint64
	list    regions
}

// mostRegions bounds a list that is read from another process.
const mostRegions = 1 << 20

// regionsOf are those of another member of this machine. False: they cannot be read.
func (w *Window) regionsOf(member int) (list regions, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := &w.tables[member]
	for tries := 0; known.version != w.words.Version(member); tries++ {
		table, n, version, settled := w.words.Published(member)
		if n > mostRegions || tries > 0 && w.Relax() != nil {
			return nil, false
		}
		if !settled {
			continue
		}
		list := make(regions, n)
		read := n == 0 || w.engine.local.writer.Move(w.comm.group.World(member),
			[]transport.Run{{Addr: addressOfRegions(list), Len: regionBytes * n}},
			[]transport.Run{{Addr: table, Len: regionBytes * n}}, false)
		if w.words.Version(member) != version {
			continue
		}
		if !read {
			return nil, false
		}
		*known = published{version, list}
	}
	return known.list, true
}
