package main

// #include "shim/shim.h"
import "C"

import (
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Handles. Predefined ones are the ABI's small integers; those of objects that are made at run time are package
// handle's. The low half of a handle is what MPI_X_toint answers.
//
// C may end a datatype by itself; the slot is given back a little later (types.go). Requests are the engine's
// (libimpi/request.go, quick.go); their generations have 32 bits, and begin anew. Attribute keys are integers that are
// given once.

const (
	kindComm handle.Kind = iota + 1
	kindType
	kindOp
	kindGroup
	kindSession
	kindWin
	kindInfo
	kindErrhandler
	kindMessage
	kindFile
	kindEnum
	kindControl
	kindToolSession
	kindVariable
	kindRegistration
	kindInstance
)

// C has the same idea of the first handle.
const (
	_ = uint(C.IMPI_FIRST_HANDLE - handle.First)
	_ = uint(handle.First - C.IMPI_FIRST_HANDLE)
)

var (
	comms       = handle.Table[communicator]{Kind: kindComm}
	types       = handle.Table[dataType]{Kind: kindType}
	ops         = handle.Table[operation]{Kind: kindOp}
	groups      = handle.Table[group]{Kind: kindGroup}
	sessions    = handle.Table[session]{Kind: kindSession}
	windows     = handle.Table[window]{Kind: kindWin}
	infos       = handle.Table[info]{Kind: kindInfo}
	errhandlers = handle.Table[errhandler]{Kind: kindErrhandler}
	files       = handle.Table[openFile]{Kind: kindFile}
	messages    = handle.Table[libimpi.Matched]{Kind: kindMessage}
)

// fromIntOr is the handle of an integer, null if there is none.
func fromIntOr[T any](t *handle.Table[T], n int32, null uintptr) uintptr {
	if n < handle.First {
		return uintptr(n)
	}
	if h := t.FromInt(n); h != 0 {
		return h
	}
	return null
}
