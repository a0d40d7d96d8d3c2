package kernel

// #include "reduce.h"
// static int impi_reduce(int op, int element, uintptr_t left, uintptr_t right, int64_t count)
// {
//     impi_combine *combine = impi_combines[op][element];
//     if (combine) combine((void *)left, (const void *)right, count);
//     return combine != 0;
// }
// static int impi_reduce_apart(int op, int element, uintptr_t left, int64_t l, uintptr_t right, int64_t r,
//                              int64_t size, int64_t count)
// {
//     impi_combine *combine = impi_combines[op][element];
//     if (combine) impi_combine_apart(combine, left, l, right, r, size, count);
//     return combine != 0;
// }
// #cgo nocallback impi_reduce
// #cgo nocallback impi_reduce_apart
import "C"

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Combine is op.LongKernel: the kernels in C, which want elements where the processor does. Those of a program may lie
// anywhere.
func Combine(handle int, t *datatype.Type, left, right unsafe.Pointer, count int64) bool {
	if size := t.Size(); size > 0 && (uintptr(left)|uintptr(right))%uintptr(size) != 0 {
		return false
	}
	done := C.impi_reduce(C.int(opCodes[handle-abi.MPI_OP_NULL]), C.int(ElementOf(t)), number(left, 0), number(right, 0),
		C.int64_t(count)) != 0
	runtime.KeepAlive(left)
	runtime.KeepAlive(right)
	return done
}

// CombineApart is op.ApartKernel.
func CombineApart(handle int, t *datatype.Type, left unsafe.Pointer, l int64, right unsafe.Pointer,
	r, count int64) bool {
	done := C.impi_reduce_apart(C.int(opCodes[handle-abi.MPI_OP_NULL]), C.int(ElementOf(t)), number(left, 0),
		C.int64_t(l), number(right, 0), C.int64_t(r), C.int64_t(t.Size()), C.int64_t(count)) != 0
	runtime.KeepAlive(left)
	runtime.KeepAlive(right)
	return done
}

// opCodes is OpCodes as an array, by handle - MPI_OP_NULL.
var opCodes = func() (codes [abi.MPI_NO_OP - abi.MPI_OP_NULL + 1]uint8) {
	for handle, code := range OpCodes {
		codes[handle-abi.MPI_OP_NULL] = code
	}
	return codes
}()

// OpCodes are the operations that reduce.h knows, by handle.
var OpCodes = map[int]uint8{
	abi.MPI_SUM: C.IMPI_OP_SUM, abi.MPI_PROD: C.IMPI_OP_PROD, abi.MPI_MIN: C.IMPI_OP_MIN, abi.MPI_MAX: C.IMPI_OP_MAX,
	abi.MPI_BAND: C.IMPI_OP_BAND, abi.MPI_BOR: C.IMPI_OP_BOR, abi.MPI_BXOR: C.IMPI_OP_BXOR,
	abi.MPI_LAND: C.IMPI_OP_LAND, abi.MPI_LOR: C.IMPI_OP_LOR, abi.MPI_LXOR: C.IMPI_OP_LXOR,
	abi.MPI_MINLOC: C.IMPI_OP_MINLOC, abi.MPI_MAXLOC: C.IMPI_OP_MAXLOC,
}

// ElementOf is the kind of a datatype's elements for these kernels.
func ElementOf(t *datatype.Type) uint8 {
	kind, bytes := op.Number(t)
	size := uint8(bits.Len(uint(bytes)) - 1)
	switch kind {
	case op.Signed:
		return C.IMPI_ELEMENT_SIGNED + size
	case op.Unsigned:
		return C.IMPI_ELEMENT_UNSIGNED + size
	case op.Float:
		return C.IMPI_ELEMENT_FLOAT + size - 2
	}
	return C.IMPI_ELEMENT_NONE
}
