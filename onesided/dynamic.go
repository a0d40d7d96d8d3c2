package onesided

import (
	"math"
	"runtime"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Dynamic windows (MPI 5.0, 12.2.4): each process attaches memory when it likes, and displacements are addresses. What
// is attached the process itself knows. In one machine it publishes where its table of regions is, which the others
// read out of its memory when they see that there is a new one; elsewhere they find out by asking. Which data
// lies in it, Regions knows.

// attachments are what this process has attached, and the same as others see it. They are never changed.
type attachments struct {
	each, joined Regions
}

const regionBytes = 16

// Attach makes memory accessible in a dynamic window, and Detach ends that.
func (w *Window) Attach(base uint64, size int64) error {
	return w.reattach(func(old Regions) (Regions, error) { return old.Attach(base, size) })
}

// Detach takes Attach back.
func (w *Window) Detach(base uint64) error {
	return w.reattach(func(old Regions) (Regions, error) { return old.Detach(base) })
}

// reattach makes a new list of regions the process's, for itself, and for those that read it.
func (w *Window) reattach(change func(old Regions) (Regions, error)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.requests.attached.Load()
	each, err := change(old.each)
	if err != nil {
		return err
	}
	list := &attachments{each, each.Joined()}
	w.requests.attached.Store(list)
	if w.words != nil {
		w.words.Publish(addressOfRegions(list.joined), uint64(len(list.joined)))
	}
	runtime.KeepAlive(old) // whoever has begun to read it notices that there is a new one
	return nil
}

// attachedAt returns the memory at an address of this process, in a dynamic window.
func (w *Window) attachedAt(addr, count int64, t *datatype.Type) (datatype.Pointer, error) {
	return w.attachedHere(addr, coll.Buf{Count: count, Type: t}, 0, count*t.Size(), math.MaxInt64)
}

// attachedHere is attachedAt for bytes first to end of a buffer.
func (w *Window) attachedHere(addr int64, b coll.Buf, first, end, most int64) (datatype.Pointer, error) {
	if first == end {
		return startOf(nothingAt[:]), nil
	}
	err := w.attached(w.requests.attached.Load().joined, w.me, addr, b, first, end, most)
	if err != nil {
		return nil, err
	}
	return pointerAt(uint64(addr)), nil
}

// attached refuses bytes first to end of data at an address that are not in the regions of a member, or if that would
// take more than so many steps to find out.
func (w *Window) attached(list Regions, rank int, addr int64, b coll.Buf, first, end, most int64) error {
	switch list.Hold(addr, b, first, end, most) {
	case HeldAll:
		return nil
	case HeldUnknown:
		return errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "the data at %#x of rank %d of %s does not lie in one attached "+
			"region, and has more than %d runs of bytes: access it in several calls", addr, rank, w, most)
	}
	lo, hi, ok := Reach(b.Count, b.Type)
	if !ok {
		return errorf(abi.MPI_ERR_RMA_RANGE, "%d elements at %#x reach further than 63 bits can say", b.Count, addr)
	}
	return errorf(abi.MPI_ERR_RMA_RANGE, "not all of the data from %#x to %#x is attached at rank %d of %s", addr+lo,
		addr+hi, rank, w)
}

// published is the list of regions that another member has published, as this process has read it.
type published struct {
	version uint64
	list    Regions
}

// mostRegions bounds a list that is read from another process.
const mostRegions = 1 << 20

// regionsOf are those of another member of this machine. False: they cannot be read.
func (w *Window) regionsOf(member int) (list Regions, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := &w.direct.tables[member]
	for tries := 0; known.version != w.words.Version(member); tries++ {
		table, n, version, settled := w.words.Published(member)
		if n > mostRegions || tries > 0 && (w.losses.gone(member) || w.engine.Relax() != nil) {
			return nil, false
		}
		if !settled {
			continue
		}
		list := make(Regions, n)
		read := n == 0 || w.engine.Move(member,
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
