package vendor

/*
#cgo LDFLAGS: -ldl
#cgo noescape impi_vendor_move
#cgo nocallback impi_vendor_move
#cgo noescape impi_vendor_post
#cgo nocallback impi_vendor_post
#cgo nocallback impi_vendor_testany
#cgo nocallback impi_vendor_improbe
#cgo noescape impi_vendor_imrecv
#cgo nocallback impi_vendor_imrecv
#cgo nocallback impi_vendor_test
#cgo nocallback impi_vendor_begin
#include <stdlib.h>
#include "calls.h"
#include "z_headers.h"

// The calls of the library of this process.
static const calls *library;

static void impi_vendor_take(const calls *of) { library = of; }
static begun impi_vendor_move(int to, void *b, int n, int peer, int tag) { return library->move(to, b, n, peer, tag); }
static int impi_vendor_post(int at, void *b, int n, int from, int tag) { return library->post(at, b, n, from, tag); }
static probed impi_vendor_testany(int n) { return library->testany(n); }
static begun impi_vendor_withdraw(int at) { return library->withdraw(at); }
static probed impi_vendor_improbe(int from, int tag) { return library->improbe(from, tag); }
static begun impi_vendor_imrecv(void *b, int n, uintptr_t message) { return library->imrecv(b, n, message); }
static begun impi_vendor_test(uintptr_t request) { return library->test(request); }
static begun impi_vendor_begin(int kind, int at, int root, uintptr_t send, uintptr_t recv, int n, int type, int op)
{
	return library->begin(kind, at, root, (const void *)send, (void *)recv, n, type, op);
}
static int impi_vendor_init(int *provided) { return library->init(provided); }
static int impi_vendor_finalize(void) { return library->finalize(); }
static int impi_vendor_state(int *initialized, int *finalized) { return library->state(initialized, finalized); }
static int impi_vendor_rank(int *rank, int *size) { return library->rank(rank, size); }
static int impi_vendor_attribute(int key, int otherwise) { return library->attribute(key, otherwise); }
static int impi_vendor_version(char *text, int *n) { return library->version(text, n); }
static int impi_vendor_text(int code, char *text, int *n) { return library->text(code, text, n); }
static int impi_vendor_abort(int code) { return library->abort(code); }
static int impi_vendor_allgather(const void *mine, int n, void *all) { return library->allgather(mine, n, all); }
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/quiet"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/vendor"
)

// The library's calls, as Go sees them. A process has one library.

// threads, appNum and universeSize are MPI_THREAD_SERIALIZED, MPI_APPNUM and MPI_UNIVERSE_SIZE in the library's ABI.
var threads, appNum, universeSize int

// plugins is the name by which the library's plugins would find another library, not this one; "": they would not.
var plugins string

// errNone is the error of a file that is no library with an ABI that we know.
var errNone = errors.New("its ABI is unknown: there is no PMPI_Abi_get_version that returns 1, as in the ABI of MPI " +
	"5.0, no MPIR_Dup_fn of MPICH's ABI, and no ompi_mpi_comm_world of Open MPI's")

// load takes the file as the process's library.
func load(file string) error {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	var l C.loaded
	quiet.Call(func() { l = C.impi_vendor_load(name) })
	switch {
	case l.error != nil:
		defer C.free(unsafe.Pointer(l.error))
		return errors.New(C.GoString(l.error))
	case l.calls == nil:
		return errNone
	case l.missing != nil:
		return fmt.Errorf("it has %s, but no %s", C.GoString(l.calls.abi), C.GoString(l.missing))
	}
	C.impi_vendor_take(l.calls)
	plugins = C.GoString(l.hidden)
	threads, appNum, universeSize = int(l.calls.serialized), int(l.calls.appnum), int(l.calls.universe_size)
	return nil
}

// failed is the error of a call; nil: it has worked.
func failed(call string, code C.int) error {
	if code == abi.MPI_SUCCESS {
		return nil
	}
	var text [C.TEXT_LENGTH]C.char
	var n C.int
	if C.impi_vendor_text(code, &text[0], &n) != abi.MPI_SUCCESS || n <= 0 {
		return fmt.Errorf("%s answers the error %d", call, int(code))
	}
	return fmt.Errorf("%s: %s (%d)", call, C.GoStringN(&text[0], min(n, C.TEXT_LENGTH)), int(code))
}

// version is what the library says of itself, up to the end of a line or a comma: Open MPI goes on with who built it.
func version() string {
	var text [C.VERSION_LENGTH]C.char
	var n C.int
	if C.impi_vendor_version(&text[0], &n) != abi.MPI_SUCCESS {
		return ""
	}
	said := C.GoStringN(&text[0], min(n, C.VERSION_LENGTH))
	if end := strings.IndexAny(said, ",\n\x00"); end >= 0 {
		said = said[:end]
	}
	return strings.Join(strings.Fields(said), " ")
}

// start initializes the library, and returns the level of thread support that it provides.
func start() (level int, err error) {
	var provided C.int
	var code C.int
	quiet.Call(func() { code = C.impi_vendor_init(&provided) })
	return int(provided), failed("MPI_Init_thread", code)
}

// inUse reports whether somebody else in this process uses the library, or has.
func inUse() bool {
	var begun, over C.int
	return C.impi_vendor_state(&begun, &over) != abi.MPI_SUCCESS || begun != 0 || over != 0
}

func rankAndSize() (rank, size int, err error) {
	var r, n C.int
	err = failed("MPI_Comm_rank", C.impi_vendor_rank(&r, &n))
	return int(r), int(n), err
}

// attribute is a predefined attribute that is a number. Its key is the library's.
func attribute(key int, otherwise int32) int32 {
	return int32(C.impi_vendor_attribute(C.int(key), C.int(otherwise)))
}

func allgather(mine, all []byte) error {
	return failed("MPI_Allgather", C.impi_vendor_allgather(unsafe.Pointer(unsafe.SliceData(mine)), C.int(len(mine)),
		unsafe.Pointer(unsafe.SliceData(all))))
}

func stop(code int) error { return failed("MPI_Abort", C.impi_vendor_abort(C.int(code))) }
func end() error          { return failed("MPI_Finalize", C.impi_vendor_finalize()) }

func isend(b []byte, to, tag int) (uintptr, error) {
	r := C.impi_vendor_move(1, unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b)), C.int(to), C.int(tag))
	return uintptr(r.request), failed("MPI_Isend", r.code)
}

func irecv(b []byte, from, tag int) (uintptr, error) {
	r := C.impi_vendor_move(0, unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b)), C.int(from), C.int(tag))
	return uintptr(r.request), failed("MPI_Irecv", r.code)
}

func post(at int, b []byte, from, tag int) error {
	return failed("MPI_Irecv", C.impi_vendor_post(C.int(at), unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b)),
		C.int(from), C.int(tag)))
}

func testany(n int) (at, bytes int, there bool, err error) {
	p := C.impi_vendor_testany(C.int(n))
	return int(p.from), int(p.bytes), p.there != 0, failed("MPI_Testany", p.code)
}

// withdraw returns what is left of the receive's request.
func withdraw(at int) (uintptr, error) {
	r := C.impi_vendor_withdraw(C.int(at))
	return uintptr(r.request), failed("MPI_Cancel", r.code)
}

func improbe(from, tag int) (source, bytes int, message uintptr, there bool, err error) {
	p := C.impi_vendor_improbe(C.int(from), C.int(tag))
	return int(p.from), int(p.bytes), uintptr(p.message), p.there != 0, failed("MPI_Improbe", p.code)
}

func imrecv(b []byte, message uintptr) (uintptr, error) {
	r := C.impi_vendor_imrecv(unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b)), C.uintptr_t(message))
	return uintptr(r.request), failed("MPI_Imrecv", r.code)
}

// test returns what is left of a request: 0 if it is done.
func test(request uintptr) (uintptr, error) {
	r := C.impi_vendor_test(C.uintptr_t(request))
	return uintptr(r.request), failed("MPI_Test", r.code)
}

// begin begins a collective operation on a communicator. A broadcast is one of bytes.
func begin(communicator int, o *transport.Operation) (uintptr, error) {
	n := o.Count
	if o.Kind == transport.Bcast {
		n = len(o.Recv)
	}
	r := C.impi_vendor_begin(C.int(o.Kind), C.int(communicator), C.int(o.Root), address(o.Send), address(o.Recv),
		C.int(n), C.int(o.Type), C.int(o.Op))
	return uintptr(r.request), failed(calls[o.Kind], r.code)
}

// address is where some memory is, which may be a part of an object that has pointers elsewhere: these C leaves alone.
func address(b []byte) C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

var calls = [...]string{transport.Barrier: "MPI_Ibarrier", transport.Bcast: "MPI_Ibcast",
	transport.Reduce: "MPI_Ireduce", transport.Allreduce: "MPI_Iallreduce"}

// C has as many communicators and posted receives as Go.
var _ [vendor.Communicators]int = [C.COMMUNICATORS]int{}
var _ [vendor.Posts]int = [C.POSTS]int{}
