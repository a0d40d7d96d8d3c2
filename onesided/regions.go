package onesided

import (
	"math"
	"slices"
	"sort"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Memory of a dynamic window (MPI 5.0, 12.2.4). A process attaches and detaches regions; what the others may access is
// the sum of them: data may lie in several regions, and one run of bytes in two that touch.
//
//	Attach, Detach -> Regions, in order, none of which overlap -> Joined: no two of which touch -> Hold: may this be
//	accessed?

// Region is memory of a process, from an address on. Others read lists of them out of the process's memory.
type Region struct {
	Base uint64
	Size int64
}

// Regions are those of a process, in the order of their bases. A list is never changed.
type Regions []Region

// Attach returns the list with one more region. Errors: it overlaps another one, or is no memory.
func (list Regions) Attach(base uint64, size int64) (Regions, error) {
	if base > math.MaxInt64-uint64(size) {
		return nil, errorf(abi.MPI_ERR_SIZE, "arguments base (%#x) and size (%d) reach beyond the end of memory", base, size)
	}
	at := len(list)
	for i, r := range list {
		if base < r.Base+uint64(r.Size) && r.Base < base+uint64(size) {
			return nil, errorf(abi.MPI_ERR_RMA_ATTACH, "arguments base (%#x) and size (%d) overlap the %d bytes at %#x, which "+
				"are attached already", base, size, r.Size, r.Base)
		}
		if at == len(list) && (r.Base > base || r.Base == base && r.Size > size) {
			at = i
		}
	}
	return slices.Insert(slices.Clone(list), at, Region{base, size}), nil
}

// Detach returns the list without the region that begins there.
func (list Regions) Detach(base uint64) (Regions, error) {
	i := slices.IndexFunc(list, func(r Region) bool { return r.Base == base })
	if i < 0 {
		return nil, errorf(abi.MPI_ERR_RMA_ATTACH, "argument base (%#x) is not where memory has been attached", base)
	}
	return slices.Delete(slices.Clone(list), i, i+1), nil
}

// Joined is the same memory in the fewest regions.
func (list Regions) Joined() Regions {
	joined := make(Regions, 0, len(list))
	for _, r := range list {
		last := len(joined) - 1
		switch {
		case r.Size == 0:
		case last >= 0 && joined[last].Base+uint64(joined[last].Size) == r.Base:
			joined[last].Size += r.Size
		default:
			joined = append(joined, r)
		}
	}
	return joined
}

// has reports whether one region has the n bytes from an address on. The list may be anything that another process
// says.
func (list Regions) has(addr, n int64) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].Base > uint64(addr) }) - 1
	if i < 0 || addr < 0 {
		return false
	}
	r := list[i]
	at := uint64(addr) - r.Base
	return r.Size >= n && at <= uint64(r.Size-n)
}

// Held is what Hold finds out.
type Held int

const (
	HeldNot Held = iota
	HeldAll
	HeldUnknown // it would take too long
)

// Hold looks whether bytes first to end of the data of a buffer, whose Base says nothing, lie in joined regions if the
// buffer is at an address. What lies in one region is found at once. Otherwise that takes a step for each run of bytes
// that is looked at, and most of them at most.
func (list Regions) Hold(addr int64, b coll.Buf, first, end, most int64) Held {
	lo, hi, ok := Reach(b.Count, b.Type)
	if at := addr + lo; !ok || (lo < 0) != (at < addr) || at > math.MaxInt64-(hi-lo) {
		return HeldNot
	}
	h := holding{list, b.Type, most}
	if size := b.Type.Size(); first == 0 && end == size*b.Count {
		return h.elements(addr, b.Count)
	}
	return h.runs(addr, b.Count, first, end)
}

// holding is a Hold under way.
type holding struct {
	list Regions
	t    *datatype.Type
	left int64 // steps
}

// elements looks at whole elements: all at once, or at each half, so that few are looked at one by one.
func (h *holding) elements(addr, count int64) Held {
	lo, hi, _ := Reach(count, h.t)
	if h.list.has(addr+lo, hi-lo) {
		return HeldAll
	}
	if h.left--; h.left < 0 {
		return HeldUnknown
	}
	if count == 1 {
		return h.runs(addr, 1, 0, h.t.Size())
	}
	half := count / 2
	if held := h.elements(addr, half); held != HeldAll {
		return held
	}
	return h.elements(addr+half*h.t.Extent(), count-half)
}

// runs looks at each run of bytes first to end of the data.
func (h *holding) runs(addr, count, first, end int64) Held {
	var layout datatype.Cursor
	layout.Init(nil, count, h.t, datatype.Native)
	runs := runLists.Get().(*datatype.Runs)
	defer runLists.Put(runs)
	for first < end {
		first = layout.List(runs, first, end)
		if h.left -= int64(runs.N); h.left < 0 {
			return HeldUnknown
		}
		for i := range runs.N {
			if !h.list.has(addr+runs.Off[i], runs.Len[i]) {
				return HeldNot
			}
		}
	}
	return HeldAll
}
