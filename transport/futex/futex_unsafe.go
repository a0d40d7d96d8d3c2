// Package futex waits on words of memory: asleep in the kernel, or in a spin loop. Words may lie in memory that
// processes share, and a lock's word in memory that C shares, which then takes the same lock.
package futex

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The scope of a word: who may sleep on it, and wake.
const (
	Shared  = 0   // any process that maps it
	Private = 128 // this process; FUTEX_PRIVATE_FLAG
)

// All is more threads than can sleep.
const All = 1<<31 - 1

const (
	opWait = 0
	opWake = 1
)

// Wait sleeps while *p is v, at most d (0: for ever). It may return early.
func Wait(p *uint32, v uint32, d time.Duration, scope uintptr) {
	var ts *unix.Timespec
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		ts = &t
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), opWait|scope, uintptr(v), uintptr(unsafe.Pointer(ts)), 0, 0)
}

// Wake wakes at most n of those that sleep on p. It does not block, so the scheduler need not know.
func Wake(p *uint32, n uintptr, scope uintptr) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), opWake|scope, n, 0, 0, 0)
}
