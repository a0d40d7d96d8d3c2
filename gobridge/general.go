package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Generalized requests (MPI 5.0, 13.2). The engine calls these methods with its lock given up.
type generalRequest struct{ query, free, cancel, extra uintptr }

// Query implements libimpi.General.
func (g *generalRequest) Query(st *libimpi.CStatus) error {
	if st == nil { // the program wants none, but the function expects one
		st = new(libimpi.CStatus)
	}
	*st = libimpi.CStatus{Source: abi.MPI_ANY_SOURCE, Tag: abi.MPI_ANY_TAG, Error: st.Error}
	status := (*C.MPI_Status)(unsafe.Pointer(st))
	return answered(C.impi_call_Grequest_query(C.uintptr_t(g.query), C.uintptr_t(g.extra), status), "query")
}

// Free implements libimpi.General.
func (g *generalRequest) Free() error {
	return answered(C.impi_call_Grequest_free(C.uintptr_t(g.free), C.uintptr_t(g.extra)), "free")
}

// Cancel implements libimpi.General.
func (g *generalRequest) Cancel(complete bool) error {
	c := C.int(0)
	if complete {
		c = 1
	}
	return answered(C.impi_call_Grequest_cancel(C.uintptr_t(g.cancel), C.uintptr_t(g.extra), c), "cancel")
}

// answered is the error of a function's code; its class is the code's.
func answered(code C.int, what string) error {
	if code == abi.MPI_SUCCESS {
		return nil
	}
	class, ok := errorClass(int32(code))
	if !ok {
		class = abi.MPI_ERR_OTHER
	}
	return libimpi.Errorf(int(class), "the %s function of a generalized request answered error %d", what, code)
}

//export impi_Grequest_start
func impi_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request uintptr) int32 {
	k := check{fn: "MPI_Grequest_start"}
	if k.notStarted() {
		return k.fail()
	}
	k.result(query_fn, "query_fn")
	k.result(free_fn, "free_fn")
	k.result(cancel_fn, "cancel_fn")
	k.result(request, "request")
	if k.err != nil {
		return k.fail()
	}
	put(request, engine().StartGeneral(&generalRequest{query_fn, free_fn, cancel_fn, extra_state}))
	return 0
}

//export impi_Grequest_complete
func impi_Grequest_complete(request uintptr) int32 {
	k := check{fn: "MPI_Grequest_complete"}
	if k.notStarted() {
		return k.fail()
	}
	return k.done(engine().CompleteGeneral(uint64(request)))
}
