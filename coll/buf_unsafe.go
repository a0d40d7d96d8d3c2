package coll

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport/bulk"
)

// VBuf is the buffer of a v-variant: block i is Counts[i] elements of Type at Base + Displs[i] extents. One
// entry for each rank; nothing is kept after the call.
type VBuf struct {
	Base           unsafe.Pointer
	Counts, Displs []int64
	Type           *datatype.Type
}

// WBuf is the buffer of Alltoallw: block i is Counts[i] elements of Types[i] at Base + Displs[i] bytes.
type WBuf struct {
	Base           unsafe.Pointer
	Counts, Displs []int64
	Types          []*datatype.Type
}

var inPlace byte

// InPlace is the buffer that stands for MPI_IN_PLACE. (The ABI's own value, 1, must not become a Go pointer.)
func InPlace() Buf { return Buf{Base: unsafe.Pointer(&inPlace)} }

// InPlaceV is InPlace for a VBuf, InPlaceW for a WBuf.
func InPlaceV() VBuf { return VBuf{Base: unsafe.Pointer(&inPlace)} }

// InPlaceW is InPlace for a WBuf.
func InPlaceW() WBuf { return WBuf{Base: unsafe.Pointer(&inPlace)} }

// IsInPlace reports whether b is InPlace().
func (b Buf) IsInPlace() bool { return b.Base == unsafe.Pointer(&inPlace) }

// IsInPlace reports whether b is InPlaceV().
func (b VBuf) IsInPlace() bool { return b.Base == unsafe.Pointer(&inPlace) }

// IsInPlace reports whether b is InPlaceW().
func (b WBuf) IsInPlace() bool { return b.Base == unsafe.Pointer(&inPlace) }

var byteType = datatype.Named(abi.MPI_BYTE)

// Bytes is p as a buffer of MPI_BYTE.
func Bytes(p []byte) Buf {
	return Buf{unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), byteType}
}

// bytes is the memory of a buffer that Bytes has made.
func (b Buf) bytes() []byte { return unsafe.Slice((*byte)(b.Base), b.Count) }

// Size is the number of bytes of data in b, in this machine's representation.
func (b Buf) Size() int64 {
	if b.Count == 0 {
		return 0
	}
	return b.Count * b.Type.Size()
}

// Slice is elements from to from+n of a buffer; they may lie beyond b.Count, as the blocks of a collective do. No
// elements have no address: that of the end of a buffer of ours would be the next object's to the garbage collector.
func (b Buf) Slice(from, n int64) Buf {
	if n == 0 {
		return Buf{Type: b.Type}
	}
	if from != 0 {
		b.Base = unsafe.Add(b.Base, from*b.Type.Extent())
	}
	b.Count = n
	return b
}

// Block is block i of a buffer that holds one block of b.Count elements for each rank.
func (b Buf) Block(i int) Buf { return b.Slice(int64(i)*b.Count, b.Count) }

// Block is the block of rank i.
func (b VBuf) Block(i int) Buf { return b.at(i) }

// at is Block without a copy of the buffer's words, which has to wait for them if they have just been written.
func (b *VBuf) at(i int) Buf {
	return Buf{Base: b.Base, Type: b.Type}.Slice(b.Displs[i], b.Counts[i])
}

// Block is the block of rank i.
func (b WBuf) Block(i int) Buf { return b.at(i) }

func (b *WBuf) at(i int) Buf {
	if b.Counts[i] == 0 {
		return Buf{Type: b.Types[i]}
	}
	return Buf{unsafe.Add(b.Base, b.Displs[i]), b.Counts[i], b.Types[i]}
}

// Copy moves the data of src to dst. Source and destination may have different types of equal signature.
func Copy(dst, src Buf) error {
	if moves, err := copies(dst, src); !moves {
		return err
	}
	if _, truncated := datatype.Copy(dst.Base, dst.Count, dst.Type, src.Base, src.Count, src.Type); truncated {
		return errTruncate
	}
	return nil
}

// copies reports whether a copy has anything to do, or that there is no room.
func copies(dst, src Buf) (bool, error) {
	if src.Count == 0 || src.Type.Size() == 0 || src.Base == dst.Base && src.Type == dst.Type {
		return false, nil
	}
	if dst.Count == 0 {
		return false, errTruncate
	}
	return true, nil
}

var errTruncate = &Error{Class: abi.MPI_ERR_TRUNCATE, Arg: "recvcount",
	Msg: "a rank's own contribution is longer than its place in the receive buffer"}

// Pack writes the data of b to dst, which must have room for it, and Unpack reads it back.
func Pack(dst []byte, b Buf, rep datatype.Rep) error { return pack(dst, b, rep, bulk.Copy) }

// packShown is Pack to memory that other ranks read next, in the representation of this machine; packForAll, if all of
// them read it.
func packShown(dst []byte, b Buf) error  { return pack(dst, b, datatype.Native, bulk.Store) }
func packForAll(dst []byte, b Buf) error { return pack(dst, b, datatype.Native, bulk.StoreForAll) }

func pack(dst []byte, b Buf, rep datatype.Rep, run func(dst, src []byte) int) error {
	if b.Count == 0 {
		return nil
	}
	if whole, ok := contiguous(b); ok && (rep == datatype.Native || b.Type.Portable()) {
		run(dst, whole.bytes())
		return nil
	}
	var c datatype.Cursor
	c.Init(b.Base, b.Count, b.Type, rep)
	c.Pack(dst)
	return c.Err()
}

// Unpack is the inverse of Pack.
func Unpack(b Buf, src []byte, rep datatype.Rep) error {
	if b.Count == 0 || len(src) == 0 {
		return nil
	}
	if run, ok := contiguous(b); ok && (rep == datatype.Native || b.Type.Portable()) {
		bulk.Copy(run.bytes(), src)
		return nil
	}
	var c datatype.Cursor
	c.Init(b.Base, b.Count, b.Type, rep)
	c.Unpack(src)
	return c.Err()
}

// has reports whether an address is in the memory of a run of bytes.
func (b Buf) has(p datatype.Pointer) bool { return uintptr(p)-uintptr(b.Base) < uintptr(b.Count) }

// contiguous returns the memory of b as bytes, if the elements lie there in order and without gaps.
func contiguous(b Buf) (Buf, bool) {
	if b.Count == 0 {
		return Buf{Type: byteType}, true
	}
	p, n, ok := b.Type.Span(b.Base, b.Count)
	return Buf{p, n, byteType}, ok
}

// sameAs reports whether two buffers begin with the same memory, so that nothing has to move from one to the other.
// Addresses alone do not tell: types may have absolute addresses, or displacements of their own (MPI 5.0, 5.1.5).
func (b Buf) sameAs(other Buf) bool {
	if b.Type == other.Type {
		return b.Base == other.Base
	}
	run, isRun := contiguous(b)
	place, isPlace := contiguous(other)
	return isRun && isPlace && run.Base == place.Base
}

// maxLead bounds what Typed wastes to keep the base address of a buffer inside the memory it allocates.
const maxLead = 1 << 20

// Typed allocates room for count elements of t, laid out as in a user's buffer. A base address that lies
// before or after the data (a true lower bound other than 0) is kept inside the allocation, where the
// garbage collector wants pointers to be, unless it is as far away as the absolute addresses of MPI_BOTTOM.
func (s *Scratch) Typed(count int64, t *datatype.Type) (Buf, error) {
	if count == 0 {
		return Buf{Type: t}, nil
	}
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
	return Buf{unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), -lo), count, t}, nil
}

// Counts returns n numbers of undefined value.
func (s *Scratch) Counts(n int) ([]int64, error) {
	mem, err := s.Alloc(int64(n) * 8)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mem))), n), nil
}

var numberType = datatype.Named(abi.MPI_INT64_T)

// Numbers is p as a buffer of MPI_INT64_T.
func Numbers(p []int64) Buf {
	return Buf{unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), numberType}
}
