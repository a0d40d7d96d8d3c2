package members

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

var (
	numberType = datatype.Named(abi.MPI_INT64_T)
	maskType   = datatype.Named(abi.MPI_UINT64_T)
)

// masks is a slice of bits as a buffer.
func masks(s []uint64) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: maskType}
}

// parts cuts memory into n slices of equal length, and returns where they are.
func parts(mem []byte, n int) []datatype.Pointer {
	at := make([]datatype.Pointer, n)
	for i := range at {
		at[i] = unsafe.Pointer(unsafe.SliceData(mem[len(mem)/n*i:]))
	}
	return at
}

// zeroed sets n bytes of memory to 0.
func zeroed(p datatype.Pointer, n int) { clear(unsafe.Slice((*byte)(p), n)) }
