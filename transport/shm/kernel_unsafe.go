package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexShared  = 0
	futexPrivate = 128 // FUTEX_PRIVATE_FLAG
	futexOpWait  = 0
	futexOpWake  = 1
	allSleepers  = 1<<31 - 1

	membarrierGlobalExpedited         = 1 << 1
	membarrierRegisterGlobalExpedited = 1 << 2
)

// futexWait sleeps while *p is v, at most d (0: for ever). It may return early.
func futexWait(p *uint32, v uint32, d time.Duration, scope uintptr) {
	var ts *unix.Timespec
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		ts = &t
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), futexOpWait|scope, uintptr(v), uintptr(unsafe.Pointer(ts)), 0, 0)
}

// futexWake wakes at most n of those that sleep on p. It does not block, so the scheduler need not know.
func futexWake(p *uint32, n uintptr, scope uintptr) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(p)), futexOpWake|scope, n, 0, 0, 0)
}

// registerBarrier makes this process one of those that others' barriers reach.
func registerBarrier() bool {
	_, _, e := unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterGlobalExpedited, 0, 0)
	return e == 0 && barrier()
}

// barrier is a full fence on every running thread of all registered processes.
func barrier() bool {
	_, _, e := unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierGlobalExpedited, 0, 0)
	return e == 0
}

func fullFence() {
	var x uint32
	atomic.AddUint32(&x, 1)
}
