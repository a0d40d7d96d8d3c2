package main

// #include "shim/shim.h"
import "C"

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
)

// What MPI says of files where there are none yet: error handlers, and conversions of their null handle. Every other
// handle of a file is no such thing.

// fileHandler is the error handler of MPI_FILE_NULL, which files begin with (MPI 5.0, 14.7): MPI_ERRORS_RETURN, unless
// the program has set another.
var fileHandler atomic.Pointer[errhandler]

func fileErrhandler() *errhandler {
	if h := fileHandler.Load(); h != nil {
		return h
	}
	return errorsReturn
}

// file accepts the one handle of files that there is.
func (k *check) file(h uintptr) {
	if h != abi.MPI_FILE_NULL {
		k.set(abi.MPI_ERR_FILE, "argument file (%#x) is not a file", h)
	}
}

func fileQuery(fn string, file uintptr) check {
	k := check{fn: fn}
	if !k.notStarted() {
		k.file(file)
	}
	return k
}

//export impi_File_create_errhandler
func impi_File_create_errhandler(file_errhandler_fn, errhandler uintptr) int32 {
	return createErrhandler("MPI_File_create_errhandler", file_errhandler_fn, "file_errhandler_fn", errhandler)
}

//export impi_File_set_errhandler
func impi_File_set_errhandler(file, errhandler uintptr) int32 {
	k := fileQuery("MPI_File_set_errhandler", file)
	h := k.errhandler(errhandler)
	if k.err != nil {
		return k.fail()
	}
	fileHandler.Store(h)
	return 0
}

//export impi_File_get_errhandler
func impi_File_get_errhandler(file, errhandler uintptr) int32 {
	k := fileQuery("MPI_File_get_errhandler", file)
	if k.result(errhandler, "errhandler"); k.err != nil {
		return k.fail()
	}
	return k.answer(fileErrhandler().hold(), errhandler)
}

//export impi_File_call_errhandler
func impi_File_call_errhandler(file uintptr, errorcode int32) int32 {
	k := fileQuery("MPI_File_call_errhandler", file)
	if k.err != nil {
		return k.fail()
	}
	return callHandler(fileErrhandler(), file, errorcode)
}

//export impi_File_toint
func impi_File_toint(file uintptr) int32 { return handle.Int(file) }

//export impi_File_fromint
func impi_File_fromint(file int32) uintptr { return predefinedOr(file, abi.MPI_FILE_NULL) }

//export impi_File_c2f
func impi_File_c2f(file uintptr) int32 { return handle.Int(file) }

//export impi_File_f2c
func impi_File_f2c(file int32) uintptr { return predefinedOr(file, abi.MPI_FILE_NULL) }
