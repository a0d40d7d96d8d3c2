package agent

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls of the loop, on descriptors that never block. They bypass the Go scheduler: it has nothing to do for a
// call that returns at once.

// recv reads what has arrived, at most len(p) bytes and 0 at the end of the stream. p is not empty.
func recv(fd int, p []byte) (int, syscall.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// send writes a prefix of p, which is not empty.
func send(fd int, p []byte) (int, syscall.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// ready asks an epoll what is ready now, without waiting.
func ready(epfd int, events []unix.EpollEvent) int {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// giveWay lets another process have the core, if one wants it.
func giveWay() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
