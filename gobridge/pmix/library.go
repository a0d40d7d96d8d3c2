package pmix

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the PMIx standard's ABI says of the structures that we hand over, or are handed (PMIx 3.2 to 5.0).
typedef int status;
typedef struct { char nspace[256]; uint32_t rank; } proc;
typedef struct { void *name, *value; char separator; } envar; // the widest member of a value
typedef struct {
	uint16_t type;
	union { bool flag; char *string; int8_t i8; int16_t i16; int32_t i32; int64_t i64; uint8_t u8; uint16_t u16;
		uint32_t u32; uint64_t u64; size_t size; int number; unsigned count; envar widest; } data;
} value;
typedef struct { char key[512]; uint32_t flags; value value; } info;
enum { BOOL = 1, STRING = 3, SIZE = 4, INT = 6, INT8, INT16, INT32, INT64, UINT, UINT8, UINT16, UINT32, UINT64 };
enum { GLOBAL = 3, WRONG_TYPE = -18, ACTION_COMPLETE = -334, LOST_3 = -101, LOST_4 = -61 };

typedef void done(status, info *, size_t, void (*)(status, void *), void *, void *);
typedef void handler(size_t, status, const proc *, info *, size_t, info *, size_t, done *, void *);

static struct {
	status (*init)(proc *, info *, size_t);
	status (*finalize)(const info *, size_t);
	status (*abort)(int, const char *, proc *, size_t);
	status (*put)(uint8_t, const char *, value *);
	status (*commit)(void);
	status (*fence)(const proc *, size_t, const info *, size_t);
	status (*get)(const proc *, const char *, const info *, size_t, value **);
	status (*on_event)(status *, size_t, info *, size_t, handler *, void *, void *);
	const char *(*name)(status);
	const char *(*version)(void);
} library;

static const struct { const char *name; void **entry; } entries[] = {
	{"PMIx_Init", (void **)&library.init}, {"PMIx_Finalize", (void **)&library.finalize},
	{"PMIx_Abort", (void **)&library.abort}, {"PMIx_Put", (void **)&library.put},
	{"PMIx_Commit", (void **)&library.commit}, {"PMIx_Fence", (void **)&library.fence},
	{"PMIx_Get", (void **)&library.get}, {"PMIx_Register_event_handler", (void **)&library.on_event},
	{"PMIx_Error_string", (void **)&library.name}, {"PMIx_Get_version", (void **)&library.version},
};

// load answers NULL, or why the file is not a PMIx library, which the caller frees.
static char *load(const char *file)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return strdup(dlerror());
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (!(*entries[i].entry = dlsym(handle, entries[i].name))) {
			char *why = strdup(dlerror());
			dlclose(handle);
			return why;
		}
	return NULL;
}

static info yes(const char *key)
{
	info i = {.value = {BOOL, {.flag = true}}};
	strncpy(i.key, key, sizeof i.key - 1);
	return i;
}

static status put(const char *key, char *text)
{
	value v = {STRING, {.string = text}};
	status code = library.put(GLOBAL, key, &v);
	return code ? code : library.commit();
}

static status fence(void)
{
	info collect = yes("pmix.collect");
	return library.fence(NULL, 0, &collect, 1);
}

// get answers a value that is a text, which the caller frees, or one that is a number.
static status get(const proc *of, const char *key, char **text, int64_t *number)
{
	info now = yes("pmix.immediate");
	value *v = NULL;
	status code = library.get(of, key, &now, 1, &v);
	if (code || !v)
		return code ? code : WRONG_TYPE;
	if (v->type == (text ? STRING : v->type))
		switch (v->type) {
		case STRING: if (text) *text = v->data.string; else { free(v->data.string); code = WRONG_TYPE; } break;
		case SIZE: *number = v->data.size; break;
		case INT: *number = v->data.number; break;
		case INT8: *number = v->data.i8; break;
		case INT16: *number = v->data.i16; break;
		case INT32: *number = v->data.i32; break;
		case INT64: *number = v->data.i64; break;
		case UINT: *number = v->data.count; break;
		case UINT8: *number = v->data.u8; break;
		case UINT16: *number = v->data.u16; break;
		case UINT32: *number = v->data.u32; break;
		case UINT64: *number = v->data.u64; break;
		default: code = WRONG_TYPE;
		}
	else
		code = WRONG_TYPE;
	free(v);
	return code;
}

static int bell; // an eventfd

// ring is called by the library's thread, for which nothing of Go is needed.
static void ring(size_t id, status s, const proc *p, info *i, size_t n, info *r, size_t nr, done *next, void *data)
{
	uint64_t one = 1;
	if (write(bell, &one, sizeof one) < 0) {} // it has been rung before
	if (next)
		next(ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static status watch(int fd)
{
	status lost[] = {LOST_3, LOST_4};
	bell = fd;
	return library.on_event(lost, 2, NULL, 0, ring, NULL, NULL);
}

static status start(proc *me) { return library.init(me, NULL, 0); }
static status end(void) { return library.finalize(NULL, 0); }
static status stop(int code, const char *text) { return library.abort(code, text, NULL, 0); }
static const char *name_of(status s) { return library.name(s); }
static const char *version(void) { return library.version(); }

// layout answers how many numbers it has written: what a test compares with the headers of this machine.
static int layout(size_t *all)
{
	const size_t ours[] = {
		sizeof(proc), offsetof(proc, rank), offsetof(value, data), offsetof(info, flags), offsetof(info, value),
		sizeof(value), sizeof(info), STRING, SIZE, INT, UINT64, GLOBAL,
	};
	memcpy(all, ours, sizeof ours);
	return sizeof ours / sizeof *ours;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/libimpi/libimpi/gobridge/quiet"
)

// The library's calls, as Go sees them. A process has one library, and a call blocks the thread that makes it.

// load takes the file as the process's library.
func load(file string) error {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	why := C.load(name)
	if why == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(why))
	return errors.New(C.GoString(why))
}

// failed is the error of a call; nil: it has worked.
func failed(call string, code C.status) error {
	if code == 0 {
		return nil
	}
	name := "a status without a name"
	if s := C.name_of(code); s != nil {
		name = C.GoString(s)
	}
	return fmt.Errorf("%s: %s (%d)", call, name, int(code))
}

func version() string { return C.GoString(C.version()) }

// process is a process of a job as PMIx names it; the job is a namespace.
type process struct {
	namespace string
	rank      uint32
}

// everybody is the rank that stands for the job in questions about it.
const everybody = 1<<32 - 2

func start() (process, error) {
	var me C.proc
	var code C.status
	quiet.Call(func() { code = C.start(&me) })
	if err := failed("PMIx_Init", code); err != nil {
		return process{}, err
	}
	return process{C.GoString(&me.nspace[0]), uint32(me.rank)}, nil
}

func put(key, text string) error {
	k, v := C.CString(key), C.CString(text)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	return failed("PMIx_Put of "+key, C.put(k, v))
}

func fence() error { return failed("PMIx_Fence", C.fence()) }

// ask gets a value of a process, a text or a number.
func ask(of process, key string, text **C.char, number *C.int64_t) error {
	who := C.proc{rank: C.uint32_t(of.rank)}
	for i := range min(len(of.namespace), len(who.nspace)-1) {
		who.nspace[i] = C.char(of.namespace[i])
	}
	k := C.CString(key)
	defer C.free(unsafe.Pointer(k))
	return failed(fmt.Sprintf("PMIx_Get of %s of %s", key, of), C.get(&who, k, text, number))
}

func (p process) String() string {
	if p.rank == everybody {
		return "job " + p.namespace
	}
	return fmt.Sprintf("rank %d", p.rank)
}

func text(of process, key string) (string, error) {
	s := (**C.char)(C.calloc(1, C.size_t(unsafe.Sizeof(uintptr(0)))))
	defer C.free(unsafe.Pointer(s))
	if err := ask(of, key, s, nil); err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(*s))
	return C.GoString(*s), nil
}

func number(of process, key string) (int64, error) {
	var n C.int64_t
	err := ask(of, key, nil, &n)
	return int64(n), err
}

// watch has the eventfd written when the library has lost its server. A positive status is the handler's number.
func watch(eventfd int) error {
	return failed("PMIx_Register_event_handler", min(C.watch(C.int(eventfd)), 0))
}

func stop(code int, why string) error {
	s := C.CString(why)
	defer C.free(unsafe.Pointer(s))
	return failed("PMIx_Abort", C.stop(C.int(code), s))
}

func end() error { return failed("PMIx_Finalize", C.end()) }

// layout are sizes, offsets and values that the headers of PMIx say, too.
func layout() (all []uint64) {
	var ours [32]C.size_t
	for _, n := range ours[:C.layout(&ours[0])] {
		all = append(all, uint64(n))
	}
	return all
}
