package main

// #include "reduce.h"
// static int impi_reduce(int op, int element, void *left, const void *right, int64_t count)
// {
//     impi_combine *combine = impi_combines[op][element];
//     if (combine) combine(left, right, count);
//     return combine != 0;
// }
// #cgo noescape impi_reduce
// #cgo nocallback impi_reduce
import "C"

import (
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// combine does left[i] = left[i] op right[i] with the kernel in C for a predefined operation. False: there is none.
func combine(handle int, t *datatype.Type, left, right unsafe.Pointer, count int64) bool {
	return C.impi_reduce(C.int(opCodes[handle]), C.int(elementOf(t)), left, right, C.int64_t(count)) != 0
}
