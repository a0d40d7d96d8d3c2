package windowtest

import (
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// longs is the first n of some longs as a buffer.
func longs(s []int64, n int) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(n), Type: long}
}

// address is where a slice is.
func address(s []int64) datatype.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// at are n longs at an address.
func at(p datatype.Pointer, n int) []int64 { return unsafe.Slice((*int64)(p), n) }

// number is the address of a slice as a number.
func number(s []int64) uint64 { return uint64(uintptr(address(s))) }
