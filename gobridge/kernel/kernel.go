// Package kernel is the loops in C that move and combine large or many pieces of data: kernels.h for package datatype
// and for elements that C moves by itself, reduce.h for short reductions. Each has an oracle in Go.
package kernel

// #include <stddef.h>
// #include "kernels.h"
// enum { offsetof_unpack = offsetof(struct impi_nest, unpack), offsetof_block = offsetof(struct impi_nest, block) };
// #cgo noescape impi_move_loops
// #cgo nocallback impi_move_loops
// #cgo noescape impi_move_listed
// #cgo nocallback impi_move_listed
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// The kernels in C (kernels.c), as package datatype wants them. Addresses go over as numbers: they are the program's,
// or of memory that does not move, and what lies at mem alone may be nothing at all.

func moveNest(mem, buf unsafe.Pointer, at, to int64, nest datatype.Nest) {
	n := (*C.struct_impi_nest)(unsafe.Pointer(&nest))
	C.impi_move_loops(number(mem, at), number(buf, to), &n.dims[0], n.depth, n.block, C.int(flag(nest.Unpack)))
	runtime.KeepAlive(mem)
	runtime.KeepAlive(buf)
}

func moveListed(mem, buf unsafe.Pointer, at, to int64, offs []int64, scale, block int64, unpack bool) {
	C.impi_move_listed(number(mem, at), number(buf, to), (*C.int64_t)(&offs[0]), nil, C.int64_t(len(offs)),
		C.int64_t(scale), C.int64_t(block), 0, 0, C.int(flag(unpack)))
	runtime.KeepAlive(mem)
	runtime.KeepAlive(buf)
}

func moveVaried(mem, buf unsafe.Pointer, at, to int64, offs, lens []int64, scale, unit, least, most int64,
	unpack bool) {
	C.impi_move_listed(number(mem, at), number(buf, to), (*C.int64_t)(&offs[0]), (*C.int64_t)(&lens[0]),
		C.int64_t(len(offs)), C.int64_t(scale), C.int64_t(unit), C.int64_t(least), C.int64_t(most), C.int(flag(unpack)))
	runtime.KeepAlive(mem)
	runtime.KeepAlive(buf)
}

// C and Go have the same idea of nests.
const (
	_ = uint(C.sizeof_struct_impi_nest - unsafe.Sizeof(datatype.Nest{}))
	_ = uint(unsafe.Sizeof(datatype.Nest{}) - C.sizeof_struct_impi_nest)
	_ = uint(C.offsetof_unpack - unsafe.Offsetof(datatype.Nest{}.Unpack))
	_ = uint(unsafe.Offsetof(datatype.Nest{}.Unpack) - C.offsetof_unpack)
	_ = uint(C.offsetof_block - unsafe.Offsetof(datatype.Nest{}.Block))
	_ = uint(unsafe.Offsetof(datatype.Nest{}.Block) - C.offsetof_block)
)

func number(p unsafe.Pointer, off int64) C.uintptr_t { return C.uintptr_t(uintptr(p) + uintptr(off)) }

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}

// Kernels are those of kernels.h.
var Kernels = datatype.Kernels{Nest: moveNest, Listed: moveListed, Varied: moveVaried}
