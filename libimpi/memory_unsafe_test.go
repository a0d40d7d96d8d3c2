package libimpi

import (
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// vector is a buffer of elements in a test: room for count elements of a type, with known bytes between the data.
type vector struct {
	mem   []byte
	base  unsafe.Pointer
	count int64
	typ   *datatype.Type
}

const gapByte = 0xEE

func newVector(count int64, t *datatype.Type) *vector {
	lo := min(0, t.TrueLB(), t.TrueLB()+(count-1)*t.Extent())
	hi := max(0, t.TrueUB(), t.TrueUB()+(count-1)*t.Extent())
	v := &vector{mem: make([]byte, hi-lo+1), count: count, typ: t}
	for i := range v.mem {
		v.mem[i] = gapByte
	}
	v.base = unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.mem)), -lo)
	return v
}

// put stores packed bytes from the first element on.
func (v *vector) put(packed []byte) *vector {
	var c datatype.Cursor
	c.Init(v.base, v.count, v.typ, datatype.Native)
	c.Unpack(packed)
	return v
}

// get is all elements, packed.
func (v *vector) get() []byte {
	p := make([]byte, v.typ.PackedSize(v.count, datatype.Native))
	var c datatype.Cursor
	c.Init(v.base, v.count, v.typ, datatype.Native)
	c.Pack(p)
	return p
}

// at is the address of a buffer.
func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// longBuf is the first n of some longs, longsAt n of them at an address.
func longBuf(s []int64, n int) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(n), Type: longT}
}

func longsAt(p datatype.Pointer, n int) []int64 { return unsafe.Slice((*int64)(p), n) }

// addressOf is the address of a slice as a number.
func addressOf(b []byte) uint64 { return uint64(uintptr(startOf(b))) }
