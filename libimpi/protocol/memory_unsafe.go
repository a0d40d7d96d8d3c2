package protocol

import (
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// startOf is the address of a slice.
func startOf(b []byte) datatype.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// bytesAt is n bytes of memory, from byte at of p on.
func bytesAt(p datatype.Pointer, at, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, at)), n)
}

// addressAt is an address as a number.
func addressAt(p datatype.Pointer) uint64 { return uint64(uintptr(p)) }
