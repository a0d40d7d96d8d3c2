package onesided

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Memory of our own as buffers, and the program's as slices.

var countType = datatype.Named(abi.MPI_UINT64_T)

// countBuf is a slice as MPI_UINT64_Ts.
func countBuf(s []uint64) Buf {
	return Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: countType}
}
