package buffer

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport/bulk"
)

// Buf is a message buffer: Count elements of Type at Base. Count 0 is an empty message.
type Buf struct {
	Base  datatype.Pointer
	Count int64
	Type  *datatype.Type
}

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

// Byte is MPI_BYTE.
var Byte = datatype.Named(abi.MPI_BYTE)

// Bytes is p as a buffer of MPI_BYTE.
func Bytes(p []byte) Buf {
	return Buf{unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), Byte}
}

// Mem is the memory of a buffer that Bytes has made.
func (b Buf) Mem() []byte { return unsafe.Slice((*byte)(b.Base), b.Count) }

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
		if b.Type.IsView() {
			b.Base, b.Type = b.Type.At(b.Base, from)
		} else {
			b.Base = unsafe.Add(b.Base, from*b.Type.Extent())
		}
	}
	b.Count = n
	return b
}

// Block is block i of a buffer that holds one block of b.Count elements for each rank.
func (b Buf) Block(i int) Buf { return b.Slice(int64(i)*b.Count, b.Count) }

// Block is the block of rank i.
func (b VBuf) Block(i int) Buf { return b.At(i) }

// At is Block without a copy of the buffer's words, which has to wait for them if they have just been written.
func (b *VBuf) At(i int) Buf {
	return Buf{Base: b.Base, Type: b.Type}.Slice(b.Displs[i], b.Counts[i])
}

// Block is the block of rank i.
func (b WBuf) Block(i int) Buf { return b.At(i) }

// At is Block without such a copy.
func (b *WBuf) At(i int) Buf {
	if b.Counts[i] == 0 {
		return Buf{Type: b.Types[i]}
	}
	base, t := b.Types[i].Beyond(b.Base, b.Displs[i])
	return Buf{base, b.Counts[i], t}
}

// Copy moves the data of src to dst. Source and destination may have different types of equal signature.
func Copy(dst, src Buf) error {
	if moves, err := Copies(dst, src); !moves {
		return err
	}
	if _, truncated := datatype.Copy(dst.Base, dst.Count, dst.Type, src.Base, src.Count, src.Type); truncated {
		return errTruncate
	}
	return nil
}

// Copies reports whether a copy has anything to do, or that there is no room.
func Copies(dst, src Buf) (bool, error) {
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

// PackShown is Pack to memory that other ranks read next, in the representation of this machine; PackForAll, if all of
// them read it.
func PackShown(dst []byte, b Buf) error  { return pack(dst, b, datatype.Native, bulk.Store) }
func PackForAll(dst []byte, b Buf) error { return pack(dst, b, datatype.Native, bulk.StoreForAll) }

func pack(dst []byte, b Buf, rep datatype.Rep, run func(dst, src []byte) int) error {
	if b.Count == 0 {
		return nil
	}
	if whole, ok := Contiguous(b); ok && (rep == datatype.Native || b.Type.Portable()) {
		run(dst, whole.Mem())
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
	if run, ok := Contiguous(b); ok && (rep == datatype.Native || b.Type.Portable()) {
		bulk.Copy(run.Mem(), src)
		return nil
	}
	var c datatype.Cursor
	c.Init(b.Base, b.Count, b.Type, rep)
	c.Unpack(src)
	return c.Err()
}

// Has reports whether an address is in the memory of a run of bytes.
func (b Buf) Has(p datatype.Pointer) bool { return uintptr(p)-uintptr(b.Base) < uintptr(b.Count) }

// Contiguous returns the memory of b as bytes, if the elements lie there in order and without gaps.
func Contiguous(b Buf) (Buf, bool) {
	if b.Count == 0 {
		return Buf{Type: Byte}, true
	}
	if b.Type.IsView() {
		b.Type, b.Count = b.Type.Laid(b.Count)
	}
	p, n, ok := b.Type.Span(b.Base, b.Count)
	return Buf{p, n, Byte}, ok
}

// SameAs reports whether two buffers begin with the same memory, so that nothing has to move from one to the other.
// Addresses alone do not tell: types may have absolute addresses, or displacements of their own (MPI 5.0, 5.1.5).
func (b Buf) SameAs(other Buf) bool {
	if b.Type == other.Type {
		return b.Base == other.Base
	}
	run, isRun := Contiguous(b)
	place, isPlace := Contiguous(other)
	return isRun && isPlace && run.Base == place.Base
}

var numberType = datatype.Named(abi.MPI_INT64_T)

// Numbers is p as a buffer of MPI_INT64_T.
func Numbers(p []int64) Buf {
	return Buf{unsafe.Pointer(unsafe.SliceData(p)), int64(len(p)), numberType}
}

// Pieces is a vector cut into n nearly equal pieces of whole elements, and of these the ones from `from` on, before to.
func (b Buf) Pieces(n, from, to int) Buf {
	lo, hi := PieceAt(b.Count, n, from), PieceAt(b.Count, n, to)
	return b.Slice(lo, hi-lo)
}

// PieceAt is the first element of piece i of n: the first count%n pieces have one element more.
func PieceAt(count int64, n, i int) int64 {
	q, rest := count/int64(n), count%int64(n)
	return int64(i)*q + min(int64(i), rest)
}
