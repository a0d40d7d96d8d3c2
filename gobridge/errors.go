package main

// #include "shim/shim.h"
// #include "shim/z_shim.h"
// #include "shim/z_calls.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/calling"
	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/gobridge/decode"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/hint"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup"
)

// Error codes. A predefined class is its own code; an error with particulars has the code class + k<<7, where k
// names one of the last errors, so that MPI_Error_string of the code can tell them. Codes stay within
// MPI_ERR_LASTCODE (MPI 5.0, 9.4); classes and codes that the program adds lie above it.
//
// Programs that survive losses were written for Open MPI, where a code is its class, and many of them compare it with
// the class. So the program gets the class of such an error, of which the particulars of the last one are kept.

const (
	classBits   = 7
	classMask   = 1<<classBits - 1
	errorSlots  = abi.MPI_ERR_LASTCODE >> classBits // k is 1 .. errorSlots
	toolErrors  = abi.MPI_T_ERR_CANNOT_INIT >> classBits
	firstCustom = abi.MPI_ERR_LASTCODE + 1
)

const kindOfComm = C.IMPI_KIND_COMM

// raised is an error on its way to its handler, and afterwards what MPI_Error_string knows of its code.
type raised struct {
	code    int32
	text    string
	handler *errhandler
	object  uintptr // the handle that the handler gets
	called  *int32  // the code that the handler is told by MPI_X_call_errhandler; nil: code
	status  *raised // MPI_ERR_IN_STATUS: what the handler is told instead, the error in a status; nil: this one
}

var recent struct {
	sync.Mutex
	next   int
	slots  [errorSlots + 1]raised
	losses [lastLoss - firstLoss + 1]raised // the last error that the program has got of each of these classes
}

const firstLoss, lastLoss = abi.MPIX_ERR_PROC_FAILED, abi.MPIX_ERR_REVOKED

// ofLoss reports whether a code is the class of an error because of a loss.
func ofLoss(code int32) bool { return code >= firstLoss && code <= lastLoss }

// toProgram is the code by which the program knows an error.
func toProgram(code int32) int32 {
	class, _ := errorClass(code)
	if !ofLoss(class) || code == class {
		return code
	}
	if r, ok := recall(code); ok {
		keepLoss(raised{code: class, text: r.text})
	}
	return class
}

// keepLoss stores what MPI_Error_string says of a class from now on.
func keepLoss(r raised) {
	r.handler, r.object = defaultHandler(), abi.MPI_COMM_SELF
	recent.Lock()
	defer recent.Unlock()
	recent.losses[r.code-firstLoss] = r
}

// register keeps an error and returns its code.
func register(class int, text string, h *errhandler, object uintptr) int32 {
	return keep(class, raised{text: text, handler: h, object: object})
}

// callHandler returns a code with which the shim calls an error handler, and succeeds if that returns.
func callHandler(h *errhandler, object uintptr, code int32) int32 {
	return keep(abi.MPI_ERR_OTHER, raised{text: "an error handler was called", handler: h, object: object, called: &code})
}

// keep stores an error of a class, and returns its code.
func keep(class int, r raised) int32 {
	noteLoss()
	recent.Lock()
	defer recent.Unlock()
	recent.next = recent.next%errorSlots + 1
	if recent.next == toolErrors { // these codes are MPI_T's own
		recent.next++
	}
	k := recent.next
	code := int32(class + k<<classBits)
	if class > classMask {
		code = int32(class) // added by the program: no room for particulars in the code
		k = 0
	}
	r.code = code
	recent.slots[k] = r
	return code
}

// recall finds the error of a code, if it is still known.
func recall(code int32) (raised, bool) {
	recent.Lock()
	defer recent.Unlock()
	k := 0
	if code >= 0 && code <= abi.MPI_ERR_LASTCODE {
		k = int(code >> classBits)
	}
	r := recent.slots[k]
	if ofLoss(code) {
		r = recent.losses[code-firstLoss]
	}
	return r, r.code == code && r.text != ""
}

// fail registers an error of function fn on communicator c, or without one on that of errors without an object. It
// returns the code for the shim.
func fail(fn string, c *communicator, err error) int32 {
	e := libimpi.AsError(err)
	handler, object := defaultHandler(), uintptr(abi.MPI_COMM_SELF)
	if e.File != nil && c == nil {
		f := e.File.Bridge.(*openFile)
		return register(e.Class, fn+": "+e.Error(), f.errhandler(), f.handle)
	}
	if c == nil && e.Comm != nil {
		c = bridged(e.Comm)
	}
	if c == nil {
		c = unattached()
	}
	if c != nil {
		handler, object = c.errhandler(), c.handle
	}
	r := raised{text: fn + ": " + e.Error(), handler: handler, object: object}
	if first := e.First; first != nil {
		r.status = &raised{code: int32(first.Class), text: fn + ": " + first.Error()}
	}
	return keep(e.Class, r)
}

// describeCode is the text of an error code, for MPI_Error_string: what the program says of its own codes, and the
// particulars of the last error with one of ours.
func describeCode(code int32) (string, bool) {
	if s, ok := custom.text(code); ok {
		return s, true
	}
	if r, ok := recall(code); ok {
		return r.text, true
	}
	if class, ok := predefinedClass(code); ok {
		return libimpi.ClassName(class) + ": " + libimpi.ClassText(class), true
	}
	return "", false
}

// errorClass is the class of an error code.
func errorClass(code int32) (int32, bool) {
	switch {
	case code >= firstCustom:
		return custom.classOf(code)
	case code >= abi.MPI_T_ERR_CANNOT_INIT && code <= abi.MPI_T_ERR_PVAR_NO_ATOMIC:
		return code, true
	}
	class, ok := predefinedClass(code)
	return int32(class), ok
}

// predefinedClass is the predefined class of a code within MPI_ERR_LASTCODE. A success has no particulars: of the
// codes of its class, 0 alone is one.
func predefinedClass(code int32) (class int, ok bool) {
	class = int(code) & classMask
	ok = code >= 0 && code <= abi.MPI_ERR_LASTCODE && libimpi.ClassText(class) != ""
	return class, ok && (class != abi.MPI_SUCCESS || code == abi.MPI_SUCCESS)
}

// errhandler is an error handler: one of the three predefined ones, or a function of the program.
type errhandler struct {
	action int32   // C.IMPI_FATAL ...
	fn     uintptr // C.IMPI_CALL: void (*)(MPI_Comm *, int *, ...); C.IMPI_CALL_X: void (*)(MPI_Comm, int, void *)
	state  *state  // C.IMPI_CALL_X: what it is called with
	// An object has had it.
	attached atomic.Bool

	mu     sync.Mutex
	handle uintptr // of a user's handler, while the program holds one
	holds  int     // how often the program has to free it
}

// newErrhandler is that of a function of the program.
func newErrhandler(fn uintptr, s *state) *errhandler {
	if s != nil {
		return &errhandler{action: C.IMPI_CALL_X, fn: fn, state: s}
	}
	return &errhandler{action: C.IMPI_CALL, fn: fn}
}

var (
	errorsAreFatal = &errhandler{action: C.IMPI_FATAL, handle: abi.MPI_ERRORS_ARE_FATAL}
	errorsAbort    = &errhandler{action: C.IMPI_ABORT, handle: abi.MPI_ERRORS_ABORT}
	errorsReturn   = &errhandler{action: C.IMPI_RETURN, handle: abi.MPI_ERRORS_RETURN}
)

// defaultHandler is the initial error handler: it gets errors before MPI_Init and after MPI_Finalize, and is that of
// MPI_COMM_WORLD and MPI_COMM_SELF until the program sets another (MPI 5.0, 9.3). The launcher may have been told.
var defaultHandler = sync.OnceValue(func() *errhandler { return initialHandler(os.Getenv(startup.EnvErrhandler)) })

func initialHandler(name string) *errhandler {
	switch name {
	case startup.ErrorsAbort:
		return errorsAbort
	case startup.ErrorsReturn:
		return errorsReturn
	}
	return errorsAreFatal
}

// errhandlerOf returns the error handler of a handle, nil if it is none.
func errhandlerOf(h uintptr) *errhandler {
	for _, e := range [...]*errhandler{errorsAreFatal, errorsAbort, errorsReturn} {
		if h == e.handle {
			return e
		}
	}
	return errhandlers.Find(h)
}

// hold returns the handler's handle, which the program has to free once more; 0 if there is no room for it.
func (h *errhandler) hold() uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.handle == 0 {
		if h.handle = errhandlers.Add(h); h.handle == 0 {
			return 0
		}
		h.state.holdHandle()
	}
	h.holds++
	return h.handle
}

// release is the program's freeing of the handle; false if the program has freed it already.
func (h *errhandler) release(handle uintptr) bool {
	if h.fn == 0 {
		return true
	}
	last, ok := h.free(handle)
	if last {
		h.state.releaseHandle()
	}
	return ok
}

func (h *errhandler) free(handle uintptr) (last, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.handle != handle {
		return false, false
	}
	if h.holds--; h.holds > 0 {
		return false, true
	}
	errhandlers.Drop(handle)
	h.handle = 0
	return true, true
}

// attach has an object refer to the handler, and others that are made of it.
func (h *errhandler) attach() {
	if h.state != nil && h.attached.CompareAndSwap(false, true) && h.state.hold() {
		runtime.AddCleanup(h, (*state).collected, h.state)
	}
}

// impi_error_action tells the shim what the error handler of a code wants.
//
//export impi_error_action
func impi_error_action(code int32, action *C.struct_impi_action) {
	r, ok := recall(code)
	if !ok {
		r = raised{code: code, handler: defaultHandler(), object: abi.MPI_COMM_SELF}
	}
	if action.what = C.int(r.handler.action); action.what == C.IMPI_CALL || action.what == C.IMPI_CALL_X {
		leavesForGood()
	}
	action.fn = C.uintptr_t(r.handler.fn)
	action.handle = C.uintptr_t(r.object)
	if s := r.handler.state; s != nil {
		action.extra = C.uintptr_t(s.extra)
	}
	if r.handler != errorsAreFatal && r.handler != errorsAbort {
		code = toProgram(code)
	}
	action.code, action.answer = C.int(code), C.int(code)
	if s := r.status; s != nil && action.fn != 0 {
		action.code = C.int(s.code)
		if ofLoss(s.code) {
			keepLoss(*s)
		}
	}
	if r.called != nil {
		action.code, action.answer = C.int(*r.called), abi.MPI_SUCCESS
	}
}

// impi_error_fatal ends the job because of an error of a call (abi.CallNumbered) whose handler is MPI_ERRORS_ARE_FATAL
// or MPI_ERRORS_ABORT. args are the call's arguments, and the addresses those that the call and what it was called by
// return to.
//
//export impi_error_fatal
func impi_error_fatal(code, call int32, args, returns uintptr, n int32) {
	text := fmt.Sprintf("error code %d", code)
	if r, ok := recall(code); ok {
		text = r.text
	} else if s, ok := describeCode(code); ok {
		text = s
	}
	class, _ := errorClass(code)
	c := abi.CallNumbered(int(call))
	told := explain(c, slice[uint64](args, len(c.Params)), slice[uintptr](returns, int(n)))
	told.Class, told.Text = libimpi.ClassName(int(class)), text
	function, rest, named := strings.Cut(text, ": ")
	if named && strings.HasPrefix(function, "MPI") {
		text = function + told.Where() + ": " + rest
		told.Text = strings.TrimPrefix(rest, told.Class+": ")
	}
	told.Hint = hint.Of(int(class), told.Call, told.Text)
	endJob(startup.Abort{Code: int(max(class, 1)), Text: text, Answer: class == abi.MPI_ERR_PROC_ABORTED, Error: told})
}

// explain says of a call what its arguments are, and which line of the program has made it, if the program has debug
// information.
func explain(c abi.Call, args []uint64, returns []uintptr) *report.Error {
	e := &report.Error{Call: c.Name, Arguments: decode.Arguments(c, args, objects{}), On: decode.On(c, args, objects{})}
	if peer, ok := decode.Peer(c, args, objects{}); ok {
		e.Peer = &peer
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return e
	}
	defer maps.Close()
	calls := callsite.Outside(maps, returns)
	if len(calls) == 0 {
		return e
	}
	calling.Locate(e, calls[0])
	return e
}

// aborted is explain for MPI_Abort, on whose thread it is called. The error code may be that of an error that the
// program has got of another call.
func aborted(comm uintptr, code int32) *report.Error {
	var returns [24]uintptr
	n := calling.Trace(returns[:])
	e := explain(abi.CallNumbered(C.IMPI_CALL_Abort), []uint64{uint64(comm), uint64(code)}, returns[:n])
	if r, ok := recall(code); ok && (code > classMask || ofLoss(code)) {
		e.Text = "the code is that of " + r.text
		class, _ := errorClass(code)
		e.Hint = hint.Of(int(class), "", r.text)
	}
	return e
}

// impi_missing registers the error of a function that has no implementation yet.
//
//export impi_missing
func impi_missing(function *C.char, kind int32, handle uintptr) int32 {
	var c *communicator
	if kind == kindOfComm {
		c = commOf(handle)
	}
	fn := C.GoString(function)
	if started() == nil {
		return fail(fn, nil, notStarted())
	}
	return fail(strings.TrimSuffix(fn, "_c"), c, libimpi.Errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION,
		"not implemented in this version of libimpi"))
}
