package bundle

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls on sockets that never block. They bypass the Go scheduler, which has nothing to do for a call that
// returns at once.

// vector is room for the arguments of sendmsg and recvmsg, so that neither needs memory of its own.
type vector struct {
	msg unix.Msghdr
	iov [4]unix.Iovec
}

// add puts p behind the k that are there.
func (v *vector) add(k int, p []byte) int {
	if len(p) == 0 {
		return k
	}
	v.iov[k].Base = unsafe.SliceData(p)
	v.iov[k].SetLen(len(p))
	return k + 1
}

// call makes a system call with the k first, and forgets them.
func (v *vector) call(trap uintptr, fd, k int, flags uintptr) (int, syscall.Errno) {
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(k)
	n, _, e := unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), flags)
	for i := range k {
		v.iov[i].Base = nil
	}
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// send writes a prefix of the parts, which are not all empty.
func (v *vector) send(fd int, parts *[4][]byte) (int, syscall.Errno) {
	k := 0
	for _, p := range parts {
		k = v.add(k, p)
	}
	return v.call(unix.SYS_SENDMSG, fd, k, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// receive reads into x, then y, then z, which are not all empty. 0: the end of the connection.
func (v *vector) receive(fd int, x, y, z []byte) (int, syscall.Errno) {
	return v.call(unix.SYS_RECVMSG, fd, v.add(v.add(v.add(0, x), y), z), unix.MSG_DONTWAIT)
}

// recv reads into p, which is not empty. 0: the end of the connection.
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
