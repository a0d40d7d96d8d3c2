package main

// #include "shim/shim.h"
import "C"

import (
	"fmt"

	"github.com/libimpi/libimpi/gobridge/calling"
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

// objects are what decode asks for: names of what handles stand for, and memory of the program.
type objects struct{}

// Name implements decode.Objects.
func (objects) Name(kind string, handle uint64) string {
	h := uintptr(handle)
	switch kind {
	case "COMMUNICATOR":
		if c := objectOf(h); c != nil {
			return c.String()
		}
	case "DATATYPE":
		if d := types.Find(h); d != nil && d.name != "" {
			return d.name
		} else if d != nil {
			return fmt.Sprintf("datatype of %d bytes", d.Size())
		}
	case "WINDOW":
		if w := windows.Find(h); w != nil {
			return w.String()
		}
	case "FILE":
		if f := files.Find(h); f != nil {
			return fmt.Sprintf("file %q", f.Name())
		}
	case "OPERATION":
		if ops.Find(h) != nil {
			return "operation of the program"
		}
	case "GROUP":
		if g := groupOf(h); g != nil {
			return fmt.Sprintf("group of size %d", g.Size())
		}
	case "ERRHANDLER":
		if errhandlers.Find(h) != nil {
			return "error handler of the program"
		}
	}
	return ""
}

// group returns the processes that the ranks of an object stand for, and the caller's rank.
func (objects) group(kind string, handle uint64) (g *libimpi.Group, rank int) {
	var c *libimpi.Comm
	h := uintptr(handle)
	switch kind {
	case "COMMUNICATOR":
		if o := objectOf(h); o != nil {
			c = o.Comm
		}
	case "WINDOW":
		if w := windows.Find(h); w != nil {
			c = w.Comm()
		}
	}
	if c == nil {
		return nil, 0
	}
	if c.Inter() {
		return c.RemoteGroup(), c.Rank()
	}
	return c.Group(), c.Rank()
}

// Members implements decode.Objects.
func (o objects) Members(kind string, handle uint64) (size, rank int, ok bool) {
	g, rank := o.group(kind, handle)
	if g == nil {
		return 0, 0, false
	}
	return g.Size(), rank, true
}

// World implements decode.Objects. Processes of other jobs have no such rank.
func (o objects) World(kind string, handle uint64, rank int) (int, bool) {
	g, _ := o.group(kind, handle)
	e := engine()
	if g == nil || e == nil || rank < 0 || rank >= g.Size() {
		return 0, false
	}
	w := int(g.World(rank))
	return w, w >= 0 && w < e.World().Size()
}

// Read implements decode.Objects.
func (objects) Read(address uint64, b []byte) int { return calling.Read(address, b) }
