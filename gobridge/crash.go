package main

import (
	"os"
	"syscall"
	"unsafe"
)

// When Go's runtime ends the process, because it gets no more memory, say, it writes a trace of a hundred lines. Users
// get the first; GOTRACEBACK, or GODEBUG, which asks for other output, leaves all of it.

//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32

func init() {
	if os.Getenv("GOTRACEBACK") == "" && os.Getenv("GODEBUG") == "" {
		overrideWrite = writeFirstLine
	}
}

// crash is how far the line is. Only the runtime's own crash uses it, from which no way leads back.
var crash struct{ begun, over bool }

// crashName begins the line; what comes with MPI_Init says more (fault.go).
var crashName = "libimpi"

const crashHint = " (GOTRACEBACK=all tells more)\n"

// writeFirstLine is write(2) for the runtime, which calls it with pieces of lines, and to wake its poller, on any stack
// and with any locks held: it must neither allocate nor grow the stack.
//
//go:nosplit
//go:norace
func writeFirstLine(fd uintptr, p unsafe.Pointer, n int32) int32 {
	if fd != uintptr(syscall.Stderr) {
		written, _, err := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
		if err != 0 {
			return -int32(err)
		}
		return int32(written)
	}
	if crash.over {
		return n
	}
	if !crash.begun {
		crash.begun = true
		writeString(fd, crashName)
		writeString(fd, ": ")
	}
	length := int32(0)
	for length < n && *(*byte)(unsafe.Add(p, length)) != '\n' {
		length++
	}
	syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(length))
	if length < n {
		crash.over = true
		writeString(fd, crashHint)
	}
	return n
}

//go:nosplit
//go:norace
func writeString(fd uintptr, s string) {
	syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(len(s)))
}
