package calling

// #include <execinfo.h>
// #include "../shim/shim.h"
import "C"

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/report"
)

// Crashes. A thread that crashes cannot call Go, for it may have been anywhere. Its handler of signals (shim/fault.c)
// rings a bell, and waits, for some seconds at most, until a goroutine on another thread has found the place in the
// program and told the launcher. Then the signal ends the process, as it would have without us.

// WatchCrashes has tell called with a crash of this process, once.
func WatchCrashes(tell func(*report.Error)) {
	watching.Do(func() {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return
		}
		bell := os.NewFile(uintptr(fd), "crashes")
		C.impi_crash.bell = C.int(fd)
		atomic.StoreInt32((*int32)(&C.impi_crash.process), int32(os.Getpid()))
		go func() {
			var b [8]byte
			if _, err := bell.Read(b[:]); err == nil {
				tell(crashed())
			}
			enter(C.IMPI_CRASH_TOLD)
			bell.Read(b[:]) // the file stays open
		}()
	})
}

var watching sync.Once

// enter changes the state that the crashed thread waits for.
func enter(state int32) { atomic.StoreInt32((*int32)(&C.impi_crash.state), state) }

// crashed puts a crash into words. Where the program is at work the instruction is the place. A library of the system
// or MPI's has been called: by whom a trace tells.
func crashed() *report.Error {
	c := &C.impi_crash
	e := &report.Error{Signal: int(c.signal)}
	if c.call.names != nil {
		e.Call = C.GoString(c.call.names)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return e
	}
	pc, caller := registers(c.context)
	at, _ := callsite.At(bytes.NewReader(maps), pc)
	var callers []uintptr
	in, known := callsite.Crash(bytes.NewReader(maps), pc, nil)
	if !known {
		callers = trace(pc, caller)
		in, known = callsite.Crash(bytes.NewReader(maps), pc, callers)
	}
	if known {
		Locate(e, in)
	}
	address, code := uint64(uintptr(c.address)), int(c.code)
	if s := syscall.Signal(c.signal); code > 0 && (s == syscall.SIGSEGV || s == syscall.SIGBUS) &&
		callsite.InMPI(bytes.NewReader(maps), append([]uintptr{pc}, callers...)) {
		e.Class, e.Text = "MPI_ERR_BUFFER", inside(address, code != kernelCode)
	} else {
		e.Text = reason(s, code, address)
		if at.File != "" && at.File != in.File {
			e.Text += ", in " + filepath.Base(at.File)
		}
	}
	return e
}

// Locate tells of an error where in the program it is. The launcher makes a line of the place if that takes much
// memory.
func Locate(e *report.Error, in callsite.Call) {
	e.Function = in.Function()
	if site, ok := in.QuickLine(); ok {
		e.File, e.Line = site.File, site.Line
	} else {
		e.Place = &report.Address{File: in.File, Offset: in.Offset}
	}
}

// kernelCode is the si_code of a fault whose address the processor does not tell.
const kernelCode = 0x80

// registers returns the instruction of a thread that a handler has interrupted, by its ucontext_t, and where the
// function returns to that it is in, if that has no frame: memcpy and the like.
func registers(context unsafe.Pointer) (pc, caller uintptr) {
	word := func(offset uintptr) uintptr { return *(*uintptr)(unsafe.Add(context, offset)) }
	switch runtime.GOARCH {
	case "amd64":
		var top [8]byte
		if Read(uint64(word(160)), top[:]) == len(top) { // rsp
			caller = uintptr(binary.NativeEndian.Uint64(top[:]))
		}
		return word(168), caller // rip
	case "arm64":
		return word(440), word(424) // pc, x30
	}
	return 0, 0
}

// traceTime is how long the crashed thread may take for a trace.
const traceTime = time.Second

// trace returns the addresses to which the functions return that have led the crashed thread to an instruction. Its
// handler may look for them now: a first trace loads a library, and this thread has it loaded. Without a trace the one
// address is left that the registers tell.
func trace(pc, caller uintptr) (returns []uintptr) {
	c := &C.impi_crash
	var own [1]unsafe.Pointer
	C.backtrace(&own[0], 1)
	enter(C.IMPI_CRASH_TRACE)
	for begin := time.Now(); time.Since(begin) < traceTime; time.Sleep(time.Millisecond) {
		if atomic.LoadInt32((*int32)(&c.state)) != C.IMPI_CRASH_TRACED {
			continue
		}
		for _, r := range c.returns { // as far as the trace went, which a broken stack may have ended
			returns = append(returns, uintptr(r))
		}
		if i := slices.Index(returns, pc); i >= 0 { // the handler's own come first
			return returns[i+1:]
		}
		break
	}
	return []uintptr{caller}
}

// inside is what a call met in the library: memory of one of its arguments, mostly.
func inside(address uint64, known bool) string {
	call := &C.impi_crash.call
	name, names := "the progress of messages", unsafe.Pointer(call.names)
	where := "an address that the system does not tell"
	what := "the buffer of an operation that was started before, or an error in the library (GOTRACEBACK=all tells more)"
	if known {
		where = fmt.Sprintf("address %#x", address)
	}
	if names != nil {
		name = C.GoString(call.names)
	}
	if known && names != nil {
		if arg, p := argument(address); arg != "" {
			what = fmt.Sprintf("argument %s is %#x, and not all of what it stands for is memory of the program", arg, p)
		}
	}
	return fmt.Sprintf("%s met no usable memory at %s: %s", name, where, what)
}

// argument is the argument whose memory an address is in: the last that begins before it, or in the same page.
func argument(address uint64) (arg string, value uint64) {
	const page, farthest = 4096, 1 << 38
	call := &C.impi_crash.call
	least := uint64(farthest)
	name := unsafe.Add(unsafe.Pointer(call.names), len(C.GoString(call.names))+1)
	for i := range call.at {
		text := C.GoString((*C.char)(name))
		if text == "" {
			break
		}
		name = unsafe.Add(name, len(text)+1)
		p := uint64(uintptr(call.at[i]))
		if begin := p - p%page; address >= begin && address-begin < least {
			least, arg, value = address-begin, text, p
		}
	}
	return arg, value
}

// codes are what the system says of a signal, by its si_code.
var codes = map[syscall.Signal][]string{
	syscall.SIGFPE: {1: "an integer was divided by 0", 2: "an integer is too large", 3: "a number was divided by 0",
		4: "a number is too large", 5: "a number is too small", 6: "a result is not exact", 7: "an operation is not valid"},
	syscall.SIGBUS: {1: "the address is not aligned", 2: "there is no memory, or no part of the file, for the address",
		3: "an error of the hardware"},
}

// firstPage is below all memory of a program: what is there was reached from NULL.
const firstPage = 4096

// reason is why there was a signal.
func reason(s syscall.Signal, code int, address uint64) (text string) {
	if code <= 0 {
		if text = "the program sent the signal to itself"; s == syscall.SIGABRT {
			text = "the program called abort"
		}
		return text
	}
	switch {
	case s == syscall.SIGSEGV && code == 2:
		text = fmt.Sprintf("the program may not access address %#x in this way", address)
	case s == syscall.SIGSEGV && code == 1 && address < firstPage:
		text = fmt.Sprintf("address %#x is no memory: a pointer was NULL", address)
	case s == syscall.SIGSEGV && code == 1:
		text = fmt.Sprintf("address %#x is no memory of the program", address)
	case s == syscall.SIGSEGV:
		text = "the address is none that memory could have"
	case s == syscall.SIGILL:
		text = "the processor does not know the instruction"
	case code < len(codes[s]):
		text = codes[s][code]
	default:
		text = fmt.Sprintf("the system gives code %d", code)
	}
	return text
}

// Read copies memory of this process from an address on, and returns how many bytes there were: less than asked for if
// the rest is no memory.
func Read(address uint64, b []byte) int {
	if address > 1<<62 {
		return 0
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return 0
	}
	defer memory.Close()
	n, _ := memory.ReadAt(b, int64(address))
	return n
}
