package datatype

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// A view is a type laid over a section: elements of it are those of the type over the virtual memory of the section's
// elements, of which element i is not some distance from element i-1. It has the type's size, extent, bounds and
// signature, which count in that virtual memory. Buffers of any count are valid with it, in communication and in
// packing; what looks for elements itself asks At for the address, as the address of an element says nothing of the
// next. What is moved is an ordinary type that is made for the count (lay.go), once.
type view struct {
	section *Section
	off     int64 // virtual byte at which element 0 begins
	origin  int64 // where that is in memory, from the section's first byte: it is the address of the buffer

	whole  *views
	latest atomic.Pointer[laid]
}

// laid is so many elements of a view as one of an ordinary type.
type laid struct {
	count int64
	t     *Type
}

// views are those of one type and section that begin at several elements, as the blocks of a collective operation do:
// by the byte at which they begin. It forgets them when there are too many.
type views struct {
	mu sync.Mutex
	by map[int64]*Type
}

const mostViews = 1024

// View lays t over a section whose first byte is the address of the buffers. It is committed. The error is an *Error: a
// basic element of t would lie in several elements of the section.
func View(s Section, t *Type) (*Type, error) {
	if len(s.Dims) == 0 {
		return t, nil
	}
	if !s.holds(t) {
		return nil, &Error{Class: abi.MPI_ERR_BUFFER, Arg: "datatype", Index: -1, Value: s.Elem,
			Text: "a basic element of the datatype would lie in several elements of the section: " +
				"the datatype is not one of the array's elements"}
	}
	return (&view{section: &s, whole: &views{by: map[int64]*Type{}}}).of(t), nil
}

func (v *view) of(t *Type) *Type {
	made := wrap(t, abi.MPI_COMBINER_DUP, nil, t)
	made.view = v
	made.Commit()
	return made
}

// IsView reports whether t is a View.
func (t *Type) IsView() bool { return t.view != nil }

// Plain is the type that a view lays over a section: what has the same data and signature without a section. Of any
// other type it is t.
func (t *Type) Plain() *Type {
	if t.view != nil {
		return t.old
	}
	return t
}

// Reach is which bytes of a view's virtual memory its first so many elements take, from lo to hi, and how many bytes
// that memory has.
func (t *Type) Reach(count int64) (lo, hi, room int64) {
	var m safeMath
	last := m.mul(max(count-1, 0), t.extent())
	lo, hi = m.add(t.view.off+t.lo, min(last, 0)), m.add(t.view.off+t.hi, max(last, 0))
	if room = t.view.section.Size(); m.overflow {
		hi = math.MaxInt64
	}
	return lo, hi, room
}

// beyond is a view whose element 0 is so many virtual bytes behind that of t, and by how many bytes its address
// differs.
func (t *Type) beyond(bytes int64) (*Type, int64) {
	v := t.view
	off := v.off + bytes
	at := v.section.position(off)
	v.whole.mu.Lock()
	defer v.whole.mu.Unlock()
	other := v.whole.by[off]
	if other == nil {
		if len(v.whole.by) >= mostViews {
			clear(v.whole.by)
		}
		other = (&view{section: v.section, off: off, origin: at, whole: v.whole}).of(t.old)
		v.whole.by[off] = other
	}
	return other, at - v.origin
}

// laid is count elements of a view as one of an ordinary type.
func (t *Type) laid(count int64) *Type {
	v := t.view
	if l := v.latest.Load(); l != nil && l.count == count {
		return l.t
	}
	made, err := v.section.lay(t.old, count, v.off, v.origin)
	if err != nil { // 63 bits do not count its bytes: there is no such array
		made = empty
	}
	made.Commit()
	v.latest.Store(&laid{count, made})
	return made
}

// Laid is count elements of t as elements of an ordinary type: t itself, if it is no view.
func (t *Type) Laid(count int64) (*Type, int64) {
	if t.view != nil {
		return t.laid(count), 1
	}
	return t, count
}

// Even returns how many elements of t from element i on, at most n, lie in memory at the same distance each from the
// next, which distance, and where the first is, in bytes from the address of the buffer. n = 0: element i itself is in
// several places.
func (t *Type) Even(i, most int64) (at, distance, n int64) {
	extent := t.extent()
	if t.view == nil {
		return i * extent, extent, most
	}
	s, off := t.view.section, t.view.off+i*extent
	at = s.position(off+t.lo) - t.lo - t.view.origin
	if n = fitting(off+t.lo, off+t.hi, extent, most, s.Elem); n != 1 || extent != s.Elem {
		return at, extent, n
	}
	if n = most; len(s.Dims) > 1 {
		index, _ := split(off+t.lo, s.Elem)
		_, index = split(index, s.Dims[0].N)
		n = min(most, s.Dims[0].N-index)
	}
	return at, s.Dims[0].Stride, n
}
