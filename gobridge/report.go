package main

// #cgo noescape impi_calling
// #cgo nocallback impi_calling
// #include <execinfo.h>
// #include "shim/shim.h"
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
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/report"
)

// What the process tells who asks why a job does not go on (libimpi/report): the engine's state, to which the bridge adds
// what it alone knows. Each thread notes the name of its last call as it enters it (shim/fault.c), so that nothing
// more has to be noted.

// caller is what the engine learns of threads of the program.
var caller = libimpi.Caller{
	Call: func() uintptr { return uintptr(unsafe.Pointer(C.impi_calling())) },
	Name: nameOfCall,
	Trace: func(returns []uintptr) int {
		return int(C.backtrace((*unsafe.Pointer)(unsafe.Pointer(&returns[0])), C.int(len(returns))))
	},
}

// nameOfCall is the name at an address of the library's, which stays there; "" for 0: the thread has made no call.
func nameOfCall(at uintptr) string {
	if at == 0 {
		return ""
	}
	return C.GoString(ref[C.char](at))
}

// mainCall is where the process's first thread notes its calls, if it has started MPI. The memory of others goes with
// them.
var mainCall atomic.Uintptr

// noteMainThread is called by the thread that starts MPI.
func noteMainThread() {
	if syscall.Gettid() == os.Getpid() {
		mainCall.Store(uintptr(C.impi_calling_at()))
	}
}

// state is what the process tells.
func (p *process) state() *report.Process {
	s := p.engine.State()
	s.PID = os.Getpid()
	s.Machine, _ = os.Hostname()
	if at := mainCall.Load(); at != 0 {
		s.LastCall = nameOfCall(uintptr(atomic.LoadUintptr(ref[uintptr](at))))
	}
	s.AddArgs()
	for i := range s.Threads {
		s.Threads[i].Returns = calls(s.Threads[i].Returns)
	}
	return s
}

// calls finds the files that return addresses are in, from the program on.
func calls(returns []report.Address) (found []report.Address) {
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

// tellState makes this process answer its launcher's questions about what it does.
func (p *process) tellState() {
	p.link.Tell(func() []byte {
		text, err := p.state().Encode()
		if err != nil {
			return nil
		}
		return text
	})
}
