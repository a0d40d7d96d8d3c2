// Package calling tells in which call of MPI a thread of the program is, and where that was made. Each thread notes the
// name of its last call as it enters it (shim/fault.c), so that nothing more has to be noted while a program runs.
package calling

// #cgo noescape impi_calling
// #cgo nocallback impi_calling
// #include <execinfo.h>
// #include "../shim/shim.h"
//
// static const char *impi_calling(void) { return impi_call.names; }
// static const void *impi_calling_at(void) { return &impi_call.names; }
import "C"

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/report"
)

// Call is the call that the calling thread has made last: a number for Name.
func Call() uintptr { return uintptr(unsafe.Pointer(C.impi_calling())) }

// Name is the name of a call; "" for that of a thread that has made none. Names are constants of the library.
func Name(call uintptr) string {
	if call == 0 {
		return ""
	}
	return C.GoString(*(**C.char)(unsafe.Pointer(&call)))
}

// Trace finds the addresses to which the functions return that have led the calling thread here, innermost first, and
// returns how many there are.
func Trace(returns []uintptr) int {
	return int(C.backtrace((*unsafe.Pointer)(unsafe.Pointer(&returns[0])), C.int(len(returns))))
}

// first is where the process's first thread notes its calls, if it has started MPI. The memory of others goes with
// them.
var first atomic.Pointer[uintptr]

// Started is called by the thread that starts MPI.
func Started() {
	if syscall.Gettid() == os.Getpid() {
		first.Store((*uintptr)(C.impi_calling_at()))
	}
}

// Last is the call that the process's first thread has made last; "" if that is not known.
func Last() string {
	at := first.Load()
	if at == nil {
		return ""
	}
	return Name(atomic.LoadUintptr(at))
}

// Places finds the files that return addresses are in, from the program on.
func Places(returns []report.Address) (found []report.Address) {
	if len(returns) == 0 {
		return nil
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	addresses := make([]uintptr, len(returns))
	for i, a := range returns {
		addresses[i] = uintptr(a.Offset)
	}
	for _, c := range callsite.Outside(maps, addresses) {
		found = append(found, report.Address{File: c.File, Offset: c.Offset})
	}
	return found
}
