package coll

import (
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// maxLead bounds what Typed wastes to keep the base address of a buffer inside the memory it allocates.
const maxLead = 1 << 20

// Typed allocates room for count elements of t, laid out as in a user's buffer. A base address that lies
// before or after the data (a true lower bound other than 0) is kept inside the allocation, where the
// garbage collector wants pointers to be, unless it is as far away as the absolute addresses of MPI_BOTTOM. Elements of
// a view have the layout of its plain type.
func (s *Scratch) Typed(count int64, t *datatype.Type) (Buf, error) {
	if count == 0 {
		return Buf{Type: t}, nil
	}
	t = t.Plain()
	lo, hi := t.TrueLB(), t.TrueLB()+t.TrueExtent()
	if last := (count - 1) * t.Extent(); last < 0 {
		lo += last
	} else {
		hi += last
	}
	if lo > 0 && lo <= maxLead {
		lo = 0
	}
	if hi < 0 && hi >= -maxLead {
		hi = 0
	}
	mem, err := s.Alloc(hi - lo + 1)
	if err != nil {
		return Buf{}, err
	}
	return Buf{Base: unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), -lo), Count: count, Type: t}, nil
}

// Counts returns n numbers of undefined value.
func (s *Scratch) Counts(n int) ([]int64, error) {
	mem, err := s.Alloc(int64(n) * 8)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mem))), n), nil
}
