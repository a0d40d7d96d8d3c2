package libimpi

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

var numberType = datatype.Named(abi.MPI_INT64_T)

// numberBuf is a slice as MPI_INT64_Ts.
func numberBuf(s []int64) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: numberType}
}

// byteBuf is a slice as MPI_BYTEs.
func byteBuf(s []byte) coll.Buf {
	return coll.Buf{Base: startOf(s), Count: int64(len(s)), Type: byteType}
}
