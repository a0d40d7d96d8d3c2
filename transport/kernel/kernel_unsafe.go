// Package kernel makes the system calls of the hot paths: on sockets, epolls and timers, none of which blocks. They
// bypass the Go scheduler, which has nothing to do for a call that returns at once; telling it costs as much as a tenth
// of the call. MSG_NOSIGNAL, because the program we are loaded into decides what SIGPIPE does.
package kernel

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const never = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL

// Recv reads what has arrived, at most len(p) bytes and 0 at the end of the stream. p is not empty.
func Recv(fd int, p []byte) (int, syscall.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
	return count(n, e)
}

// Send writes a prefix of p, which is not empty.
func Send(fd int, p []byte) (int, syscall.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)), never, 0, 0)
	return count(n, e)
}

func count(n uintptr, e syscall.Errno) (int, syscall.Errno) {
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// maxParts is how many runs of memory a Vector takes.
const maxParts = 4

// Vector is room for the arguments of sendmsg and recvmsg, so that neither needs memory of its own.
type Vector struct {
	msg unix.Msghdr
	iov [maxParts]unix.Iovec
}

// Send writes a prefix of the parts, at most maxParts and not all empty.
func (v *Vector) Send(fd int, parts ...[]byte) (int, syscall.Errno) {
	return v.call(unix.SYS_SENDMSG, fd, never, parts)
}

// Receive reads into the parts, one after the other: at most maxParts, not all empty. 0: the end of the stream.
func (v *Vector) Receive(fd int, parts ...[]byte) (int, syscall.Errno) {
	return v.call(unix.SYS_RECVMSG, fd, unix.MSG_DONTWAIT, parts)
}

// call makes a system call with the parts, and forgets them.
func (v *Vector) call(trap uintptr, fd int, flags uintptr, parts [][]byte) (int, syscall.Errno) {
	k := 0
	for _, p := range parts {
		if len(p) > 0 {
			v.iov[k].Base = unsafe.SliceData(p)
			v.iov[k].SetLen(len(p))
			k++
		}
	}
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(k)
	n, _, e := unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), flags)
	for i := range k {
		v.iov[i].Base = nil
	}
	return count(n, e)
}

// Ready asks an epoll what is ready now, without waiting.
func Ready(epfd int, events []unix.EpollEvent) int {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)), 0, 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// SetTimer has a timerfd expire once, so long from now; 0: not at all.
func SetTimer(fd int, after time.Duration) syscall.Errno {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(after))}
	_, _, e := unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	return e
}

// Yield lets another process have the core, if one wants it.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
