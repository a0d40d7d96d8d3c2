package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls of the hot path, on sockets that never block. They bypass the Go scheduler: it has nothing
// to do for a call that returns at once, and telling it costs as much as a tenth of the call. MSG_NOSIGNAL,
// because the program we are loaded into decides what SIGPIPE does.

const never = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL

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
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), never, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// vector is room for the arguments of sendmsg, so that sending needs no memory of its own.
type vector struct {
	msg unix.Msghdr
	iov [3]unix.Iovec
}

// send writes a prefix of a, b and c, any of which may be empty, but not all.
func (v *vector) send(fd int, a, b, c []byte) (int, syscall.Errno) {
	k := 0
	for _, p := range [3][]byte{a, b, c} {
		if len(p) > 0 {
			v.iov[k].Base = unsafe.SliceData(p)
			v.iov[k].SetLen(len(p))
			k++
		}
	}
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(k)
	n, _, e := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), never)
	for i := range k {
		v.iov[i].Base = nil
	}
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// receive reads into a, and what there is beyond it into b. Neither is empty.
func (v *vector) receive(fd int, a, b []byte) (int, syscall.Errno) {
	v.iov[0].Base, v.iov[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	v.iov[0].SetLen(len(a))
	v.iov[1].SetLen(len(b))
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(2)
	n, _, e := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_DONTWAIT)
	v.iov[0].Base, v.iov[1].Base = nil, nil
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
