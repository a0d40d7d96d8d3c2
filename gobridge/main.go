// Package main is libmpi.so: the place where C and Go meet.
//
// The generated shim (package shim) defines PMPI_X and weak MPI_X. Each calls the export impi_X of this package,
// with handles and all pointers as uintptr: MPI's sentinels (MPI_IN_PLACE is 1) must never be Go pointers. An
// export serves MPI_X and MPI_X_c alike; it checks its arguments, calls the engine and answers an error code.
//
// Errors: the export registers the error (fail) and answers its code. The shim then asks what the error
// handler wants (impi_error_action) and does it in C, with no Go frame on the stack, so that a handler may
// longjmp. Other callbacks of the program are called from Go with no lock of the engine held.
package main

// #cgo LDFLAGS: -Wl,--wrap=pthread_create
// #include "shim/z_exports.h"
import "C"

import _ "github.com/libimpi/libimpi/gobridge/shim"

func main() {}
