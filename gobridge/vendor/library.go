package vendor

/*
#cgo LDFLAGS: -ldl
#cgo noescape impi_vendor_isend
#cgo nocallback impi_vendor_isend
#cgo nocallback impi_vendor_improbe
#cgo noescape impi_vendor_imrecv
#cgo nocallback impi_vendor_imrecv
#cgo nocallback impi_vendor_test
#cgo nocallback impi_vendor_begin
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../mpi.h"
#include "z_headers.h"

// The entry points have the names of the profiling interface, so that tools see the calls of the program only.
#define ENTRIES(X) \
	X(Abi_get_version) X(Get_library_version) X(Init_thread) X(Initialized) X(Finalized) X(Finalize) X(Abort) \
	X(Error_string) X(Comm_set_errhandler) X(Comm_dup) X(Comm_free) X(Comm_rank) X(Comm_size) X(Comm_get_attr) \
	X(Isend) X(Improbe) X(Imrecv) X(Get_count) X(Test) X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Allgather)

#define FIELD(f) __typeof__(PMPI_##f) *f;
#define NAMED(f) {"PMPI_" #f, (void **)&mpi.f},
static struct { ENTRIES(FIELD) } mpi;
static const struct { const char *name; void **at; } entries[] = { ENTRIES(NAMED) };

enum { COMMUNICATORS = 8 };
static MPI_Comm comm, together[COMMUNICATORS]; // ours alone: for messages, and for collective operations

// show_environment lets a library see the environment that binds to the C library before the program (RTLD_DEEPBIND).
// If the program itself names environ, that variable is in the program, and the C library's own stays empty.
static void show_environment(void)
{
	void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	char ***own = c ? dlsym(c, "environ") : NULL;
	if (own && own != &environ)
		*own = environ;
	if (c)
		dlclose(c);
}

// impi_vendor_load answers NULL, or why the file is not a library with these entry points, which the caller frees. What
// the library calls of its own must not become calls of ours, which has the same names (RTLD_DEEPBIND).
static char *impi_vendor_load(const char *file)
{
	show_environment();
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!handle)
		return strdup(dlerror());
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (!(*entries[i].at = dlsym(handle, entries[i].name)))
			return strdup(dlerror());
	return NULL;
}

static int impi_vendor_init(int level, int *provided)
{
	show_environment();
	int code = mpi.Init_thread(NULL, NULL, level, provided);
	if (code)
		return code;
	mpi.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // duplicates have it, too
	code = mpi.Comm_dup(MPI_COMM_WORLD, &comm);
	for (int i = 0; !code && i < COMMUNICATORS; i++)
		code = mpi.Comm_dup(MPI_COMM_WORLD, &together[i]);
	return code;
}

static int impi_vendor_finalize(void)
{
	int code = mpi.Comm_free(&comm);
	for (int i = 0; !code && i < COMMUNICATORS; i++)
		code = mpi.Comm_free(&together[i]);
	return code ? code : mpi.Finalize();
}

// An operation that has begun: 0 if it is complete.
typedef struct { int code; uintptr_t request; } begun;

static begun complete_or(int code, MPI_Request r, int looks)
{
	int done = 0;
	for (; !code && !done && looks > 0; looks--)
		code = mpi.Test(&r, &done, MPI_STATUS_IGNORE);
	return (begun){code, done || code ? 0 : (uintptr_t)r};
}

static begun impi_vendor_isend(const void *b, int n, int to, int tag)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int code = mpi.Isend(b, n, MPI_BYTE, to, tag, comm, &r);
	return complete_or(code, r, 1);
}

typedef struct { int code, there, from, bytes; uintptr_t message; } probed;

static probed impi_vendor_improbe(int from, int tag)
{
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Status s;
	probed p = {0};
	p.code = mpi.Improbe(from < 0 ? MPI_ANY_SOURCE : from, tag, comm, &p.there, &m, &s);
	if (p.code || !p.there)
		return p;
	p.code = mpi.Get_count(&s, MPI_BYTE, &p.bytes);
	p.from = s.MPI_SOURCE;
	p.message = (uintptr_t)m;
	return p;
}

static begun impi_vendor_imrecv(void *b, int n, uintptr_t message)
{
	MPI_Message m = (MPI_Message)message;
	MPI_Request r = MPI_REQUEST_NULL;
	int code = mpi.Imrecv(b, n, MPI_BYTE, &m, &r);
	return complete_or(code, r, 1);
}

static begun impi_vendor_test(uintptr_t request) { return complete_or(0, (MPI_Request)request, 1); }

// LOOKS is how often a collective operation is looked at when it begins: others begin theirs at about the same time.
enum { LOOKS = 32 };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE }; // as transport.OperationKind

static begun impi_vendor_begin(int kind, int at, int root, uintptr_t send, uintptr_t to, int n, uintptr_t type,
			       uintptr_t op)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Comm on = together[at];
	const void *own = send ? (const void *)send : MPI_IN_PLACE;
	void *recv = (void *)to;
	int code = MPI_SUCCESS;
	switch (kind) {
	case BARRIER: code = mpi.Ibarrier(on, &r); break;
	case BCAST: code = mpi.Ibcast(recv, n, MPI_BYTE, root, on, &r); break;
	case REDUCE: code = mpi.Ireduce(own, recv, n, (MPI_Datatype)type, (MPI_Op)op, root, on, &r); break;
	case ALLREDUCE: code = mpi.Iallreduce(own, recv, n, (MPI_Datatype)type, (MPI_Op)op, on, &r);
	}
	return complete_or(code, r, LOOKS);
}

static int impi_vendor_allgather(const void *mine, int n, void *all)
{
	return mpi.Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, comm);
}

// attribute is a number attached to MPI_COMM_WORLD; otherwise if there is none.
static int impi_vendor_attribute(int key, int otherwise)
{
	int *value = NULL, there = 0;
	return !mpi.Comm_get_attr(MPI_COMM_WORLD, key, &value, &there) && there ? *value : otherwise;
}

static int impi_vendor_rank(int *rank, int *size)
{
	int code = mpi.Comm_rank(comm, rank);
	return code ? code : mpi.Comm_size(comm, size);
}

static int impi_vendor_state(int *initialized, int *finalized)
{
	int code = mpi.Initialized(initialized);
	return code ? code : mpi.Finalized(finalized);
}

static int impi_vendor_abi(int *major, int *minor) { return mpi.Abi_get_version(major, minor); }
static int impi_vendor_version(char *text, int *n) { return mpi.Get_library_version(text, n); }
static int impi_vendor_text(int code, char *text, int *n) { return mpi.Error_string(code, text, n); }
static int impi_vendor_abort(int code) { return mpi.Abort(MPI_COMM_WORLD, code); }
enum { VERSION_LENGTH = MPI_MAX_LIBRARY_VERSION_STRING, TEXT_LENGTH = MPI_MAX_ERROR_STRING };
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

// load takes the file as the process's library.
func load(file string) error {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	var why *C.char
	quiet.Call(func() { why = C.impi_vendor_load(name) })
	if why == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(why))
	return errors.New(C.GoString(why))
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
	return fmt.Errorf("%s: %s (%d)", call, C.GoStringN(&text[0], n), int(code))
}

// abiVersion is the version of the ABI that the library has; -1: none.
func abiVersion() (major int, err error) {
	var M, m C.int
	err = failed("MPI_Abi_get_version", C.impi_vendor_abi(&M, &m))
	return int(M), err
}

// version is the first line of what the library says of itself.
func version() string {
	var text [C.VERSION_LENGTH]C.char
	var n C.int
	if C.impi_vendor_version(&text[0], &n) != abi.MPI_SUCCESS {
		return ""
	}
	line, _, _ := strings.Cut(C.GoStringN(&text[0], n), "\n")
	return strings.Join(strings.Fields(line), " ")
}

// start initializes the library, and returns the level of thread support that it provides.
func start() (level int, err error) {
	var provided C.int
	var code C.int
	quiet.Call(func() { code = C.impi_vendor_init(abi.MPI_THREAD_SERIALIZED, &provided) })
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

// attribute is a predefined attribute that is a number.
func attribute(key, otherwise int32) int32 {
	return int32(C.impi_vendor_attribute(C.int(key), C.int(otherwise)))
}

func allgather(mine, all []byte) error {
	return failed("MPI_Allgather", C.impi_vendor_allgather(unsafe.Pointer(unsafe.SliceData(mine)), C.int(len(mine)),
		unsafe.Pointer(unsafe.SliceData(all))))
}

func stop(code int) error { return failed("MPI_Abort", C.impi_vendor_abort(C.int(code))) }
func end() error          { return failed("MPI_Finalize", C.impi_vendor_finalize()) }

func isend(b []byte, to, tag int) (uintptr, error) {
	r := C.impi_vendor_isend(unsafe.Pointer(unsafe.SliceData(b)), C.int(len(b)), C.int(to), C.int(tag))
	return uintptr(r.request), failed("MPI_Isend", r.code)
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
		C.int(n), C.uintptr_t(o.Type), C.uintptr_t(o.Op))
	return uintptr(r.request), failed(calls[o.Kind], r.code)
}

// address is where some memory is, which may be a part of an object that has pointers elsewhere: these C leaves alone.
func address(b []byte) C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

var calls = [...]string{transport.Barrier: "MPI_Ibarrier", transport.Bcast: "MPI_Ibcast",
	transport.Reduce: "MPI_Ireduce", transport.Allreduce: "MPI_Iallreduce"}

// C has as many communicators as Go.
var _ [vendor.Communicators]int = [C.COMMUNICATORS]int{}
