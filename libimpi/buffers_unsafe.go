package libimpi

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Slices of our own as message buffers, and the program's memory as slices.

var (
	intType   = datatype.Named(abi.MPI_INT)
	countType = datatype.Named(abi.MPI_UINT64_T) // IMPI_UINT8
)

// numberBuf is a slice as MPI_INT64_Ts.
func numberBuf(s []int64) coll.Buf { return coll.Numbers(s) }

// byteBuf is a slice as MPI_BYTEs.
func byteBuf(s []byte) coll.Buf { return coll.Bytes(s) }

// intBuf is a slice as MPI_INTs.
func intBuf(s []int32) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: intType}
}

// countBuf is a slice as MPI_UINT64_Ts.
func countBuf(s []uint64) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: countType}
}

// startOf is the address of a slice.
func startOf(b []byte) datatype.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// bytesAt is n bytes of memory.
func bytesAt(p datatype.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

// addressAt is an address as a number.
func addressAt(p datatype.Pointer) uint64 { return uint64(uintptr(p)) }

// addressOf is the address of a slice as a number.
func addressOf(b []byte) uint64 { return addressAt(startOf(b)) }
