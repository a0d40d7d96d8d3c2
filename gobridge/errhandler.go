package main

import "C"

import (
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Error handlers, classes and codes (MPI 5.0, 9.3 to 9.5).

//export impi_Comm_create_errhandler
func impi_Comm_create_errhandler(comm_errhandler_fn, errhandlerOut uintptr) int32 {
	return createErrhandler("MPI_Comm_create_errhandler", comm_errhandler_fn, "comm_errhandler_fn", nil, errhandlerOut)
}

//export impi_Session_create_errhandler
func impi_Session_create_errhandler(session_errhandler_fn, errhandlerOut uintptr) int32 {
	return createErrhandler("MPI_Session_create_errhandler", session_errhandler_fn, "session_errhandler_fn", nil,
		errhandlerOut)
}

// createErrhandler makes an error handler of a function, which has a state if it is of mpix.h.
func createErrhandler(name string, fn uintptr, arg string, s *extension, errhandlerOut uintptr) int32 {
	k := check{fn: name}
	k.result(fn, arg)
	k.result(errhandlerOut, "errhandler")
	if k.err != nil {
		return k.fail()
	}
	return k.answer(newErrhandler(fn, s.state()).hold(), errhandlerOut)
}

//export impi_Comm_create_errhandler_x
func impi_Comm_create_errhandler_x(comm_errhandler_fn_x, destructor_fn, extra_state, errhandler uintptr) int32 {
	return createErrhandler("MPIX_Comm_create_errhandler_x", comm_errhandler_fn_x, "comm_errhandler_fn_x",
		&extension{extra_state, destructor_fn}, errhandler)
}

//export impi_Win_create_errhandler_x
func impi_Win_create_errhandler_x(win_errhandler_fn_x, destructor_fn, extra_state, errhandler uintptr) int32 {
	return createErrhandler("MPIX_Win_create_errhandler_x", win_errhandler_fn_x, "win_errhandler_fn_x",
		&extension{extra_state, destructor_fn}, errhandler)
}

//export impi_File_create_errhandler_x
func impi_File_create_errhandler_x(file_errhandler_fn_x, destructor_fn, extra_state, errhandler uintptr) int32 {
	return createErrhandler("MPIX_File_create_errhandler_x", file_errhandler_fn_x, "file_errhandler_fn_x",
		&extension{extra_state, destructor_fn}, errhandler)
}

//export impi_Session_create_errhandler_x
func impi_Session_create_errhandler_x(session_errhandler_fn_x, destructor_fn, extra_state, errhandler uintptr) int32 {
	return createErrhandler("MPIX_Session_create_errhandler_x", session_errhandler_fn_x, "session_errhandler_fn_x",
		&extension{extra_state, destructor_fn}, errhandler)
}

//export impi_Comm_set_errhandler
func impi_Comm_set_errhandler(comm, errhandler uintptr) int32 {
	k := objectQuery("MPI_Comm_set_errhandler", comm)
	h := k.errhandler(errhandler)
	if k.err != nil {
		return k.fail()
	}
	k.c.handler.Store(h)
	k.c.handlerIsOwn.Store(true)
	return 0
}

func (k *check) errhandler(h uintptr) *errhandler {
	e := errhandlerOf(h)
	if e == nil {
		k.badErrhandler(h)
		return nil
	}
	e.attach()
	return e
}

func (k *check) badErrhandler(h uintptr) {
	k.isNot(abi.MPI_ERR_ERRHANDLER, "an error handler", "errhandler", h)
}

//export impi_Comm_get_errhandler
func impi_Comm_get_errhandler(comm, errhandler uintptr) int32 {
	k := objectQuery("MPI_Comm_get_errhandler", comm)
	k.result(errhandler, "errhandler")
	if k.err != nil {
		return k.fail()
	}
	return k.answer(k.c.errhandler().hold(), errhandler)
}

//export impi_Errhandler_free
func impi_Errhandler_free(errhandler uintptr) int32 {
	k := check{fn: "MPI_Errhandler_free"}
	if k.result(errhandler, "errhandler"); k.err != nil {
		return k.fail()
	}
	handle := *ref[uintptr](errhandler)
	if h := errhandlerOf(handle); h == nil || !h.release(handle) {
		k.badErrhandler(handle)
		return k.fail()
	}
	endUnused()
	put[uintptr](errhandler, abi.MPI_ERRHANDLER_NULL)
	return 0
}

// The handler of MPI_X_call_errhandler is called by the shim, as that of an error, and is told the program's code.

//export impi_Comm_call_errhandler
func impi_Comm_call_errhandler(comm uintptr, errorcode int32) int32 {
	k := objectQuery("MPI_Comm_call_errhandler", comm)
	if k.err != nil {
		return k.fail()
	}
	return callHandler(k.c.errhandler(), comm, errorcode)
}

//export impi_Session_call_errhandler
func impi_Session_call_errhandler(session uintptr, errorcode int32) int32 {
	k := sessionQuery("MPI_Session_call_errhandler", session)
	if k.err != nil {
		return k.fail()
	}
	return callHandler(k.s.errhandler(), session, errorcode)
}

//export impi_Error_class
func impi_Error_class(errorcode int32, errorclass uintptr) int32 {
	k := check{fn: "MPI_Error_class"}
	k.result(errorclass, "errorclass")
	class, ok := errorClass(errorcode)
	if !ok {
		k.set(abi.MPI_ERR_ARG, "argument errorcode (%d) is not an error code", errorcode)
	}
	if k.err != nil {
		return k.fail()
	}
	put(errorclass, class)
	return 0
}

//export impi_Error_string
func impi_Error_string(errorcode int32, str, resultlen uintptr) int32 {
	k := check{fn: "MPI_Error_string"}
	k.result(str, "string")
	k.result(resultlen, "resultlen")
	s, ok := describeCode(errorcode)
	if !ok {
		k.set(abi.MPI_ERR_ARG, "argument errorcode (%d) is not an error code", errorcode)
	}
	if k.err != nil {
		return k.fail()
	}
	put(resultlen, int32(putText(str, s, abi.MPI_MAX_ERROR_STRING)))
	return 0
}

// customCodes are the classes and codes that the program has added, numbered from firstCustom. Numbers that have been
// removed are given again, and MPI_LASTUSEDCODE falls when the last one is: nothing is left of classes and codes that
// come and go.
type customCodes struct {
	sync.Mutex
	entries []customCode // the last is in use
	removed []int        // entries that may be given again; some have been, or are beyond the last
}

type customCode struct {
	class   int32
	isClass bool
	text    string
	codes   int // of a class: how many it has
	removed bool
}

var custom customCodes

// add gives a number to a new class (of itself) or code.
func (c *customCodes) add(class int32) int32 {
	c.Lock()
	defer c.Unlock()
	i := c.place()
	n := int32(firstCustom + i)
	e := customCode{class: class}
	if class < 0 {
		e = customCode{class: n, isClass: true}
	} else if of := c.entry(class); of != nil {
		of.codes++
	}
	c.entries[i] = e
	c.show()
	return n
}

// place finds the place of a new entry. The lock is held.
func (c *customCodes) place() int {
	for n := len(c.removed); n > 0; n = len(c.removed) {
		i := c.removed[n-1]
		if c.removed = c.removed[:n-1]; i < len(c.entries) && c.entries[i].removed {
			return i
		}
	}
	c.entries = append(c.entries, customCode{})
	return len(c.entries) - 1
}

// entry finds what a number stands for; the lock is held.
func (c *customCodes) entry(code int32) *customCode {
	if i := int(code) - firstCustom; i >= 0 && i < len(c.entries) && !c.entries[i].removed {
		return &c.entries[i]
	}
	return nil
}

func (c *customCodes) text(code int32) (string, bool) {
	c.Lock()
	defer c.Unlock()
	if e := c.entry(code); e != nil {
		return e.text, true
	}
	return "", false
}

func (c *customCodes) classOf(code int32) (int32, bool) {
	c.Lock()
	defer c.Unlock()
	if e := c.entry(code); e != nil {
		return e.class, true
	}
	return 0, false
}

// last is MPI_LASTUSEDCODE.
func (c *customCodes) last() int32 {
	c.Lock()
	defer c.Unlock()
	return c.lastUsed()
}

// show stores MPI_LASTUSEDCODE where programs look at it. The lock is held.
func (c *customCodes) show() {
	if p := started(); p != nil {
		p.values.lastCode = c.lastUsed()
	}
}

func (c *customCodes) lastUsed() int32 { return int32(abi.MPI_ERR_LASTCODE + len(c.entries)) }

// remove takes a class or a code away; it must be what the caller says, without a string, and a class without codes
// (MPI 5.0, 9.5).
func (c *customCodes) remove(code int32, isClass bool) *libimpi.Error {
	c.Lock()
	defer c.Unlock()
	e := c.entry(code)
	switch {
	case e == nil || e.isClass != isClass:
		return libimpi.Errorf(abi.MPI_ERR_ARG, "%d has not been added by this program", code)
	case e.codes > 0:
		return libimpi.Errorf(abi.MPI_ERR_ARG, "class %d still has %d codes", code, e.codes)
	case e.text != "":
		return libimpi.Errorf(abi.MPI_ERR_ARG, "%d still has a string: call MPI_Remove_error_string first", code)
	}
	if of := c.entry(e.class); of != nil && !isClass {
		of.codes--
	}
	*e = customCode{removed: true}
	c.removed = append(c.removed, int(code)-firstCustom)
	n := len(c.entries)
	for n > 0 && c.entries[n-1].removed {
		n--
	}
	c.entries = c.entries[:n]
	c.show()
	return nil
}

//export impi_Add_error_class
func impi_Add_error_class(errorclass uintptr) int32 {
	k := check{fn: "MPI_Add_error_class"}
	if k.result(errorclass, "errorclass"); k.err != nil {
		return k.fail()
	}
	put(errorclass, custom.add(-1))
	return 0
}

//export impi_Add_error_code
func impi_Add_error_code(errorclass int32, errorcode uintptr) int32 {
	k := check{fn: "MPI_Add_error_code"}
	k.result(errorcode, "errorcode")
	if class, ok := errorClass(errorclass); !ok || class != errorclass {
		k.set(abi.MPI_ERR_ARG, "argument errorclass (%d) is not an error class", errorclass)
	}
	if k.err != nil {
		return k.fail()
	}
	put(errorcode, custom.add(errorclass))
	return 0
}

//export impi_Add_error_string
func impi_Add_error_string(errorcode int32, str uintptr) int32 {
	k := check{fn: "MPI_Add_error_string"}
	if k.result(str, "string"); k.err != nil {
		return k.fail()
	}
	custom.Lock()
	e := custom.entry(errorcode)
	if e != nil {
		e.text = text(str, abi.MPI_MAX_ERROR_STRING-1)
	}
	custom.Unlock()
	if e == nil {
		k.set(abi.MPI_ERR_ARG, "argument errorcode (%d) has not been added by this program", errorcode)
		return k.fail()
	}
	return 0
}

//export impi_Remove_error_class
func impi_Remove_error_class(errorclass int32) int32 {
	k := check{fn: "MPI_Remove_error_class", err: custom.remove(errorclass, true)}
	if k.err != nil {
		return k.fail()
	}
	return 0
}

//export impi_Remove_error_code
func impi_Remove_error_code(errorcode int32) int32 {
	k := check{fn: "MPI_Remove_error_code", err: custom.remove(errorcode, false)}
	if k.err != nil {
		return k.fail()
	}
	return 0
}

//export impi_Remove_error_string
func impi_Remove_error_string(errorcode int32) int32 {
	k := check{fn: "MPI_Remove_error_string"}
	custom.Lock()
	e := custom.entry(errorcode)
	if e != nil {
		e.text = ""
	}
	custom.Unlock()
	if e == nil {
		k.set(abi.MPI_ERR_ARG, "argument errorcode (%d) has not been added by this program", errorcode)
		return k.fail()
	}
	return 0
}

//export impi_Errhandler_fromint
func impi_Errhandler_fromint(errhandler int32) uintptr {
	return fromIntOr(&errhandlers, errhandler, abi.MPI_ERRHANDLER_NULL)
}
