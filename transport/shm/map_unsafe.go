package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapAll maps n bytes of a file, from a page on, at an address that is a multiple of align, a power of two. The kernel
// promises that for pages: for more it is asked for as many addresses as have such a one among them, and gets those
// back that are too many.
func mapAll(fd int, off int64, n, align int) ([]byte, error) {
	const access = unix.PROT_READ | unix.PROT_WRITE
	if align <= pageBytes {
		p, err := unix.MmapPtr(fd, off, nil, uintptr(n), access, unix.MAP_SHARED)
		if err != nil {
			return nil, err
		}
		return unsafe.Slice((*byte)(p), n), nil
	}
	length := uintptr(alignPage(n))
	room := length + uintptr(align)
	begin, err := unix.MmapPtr(-1, 0, nil, room, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	before := -uintptr(begin) & uintptr(align-1)
	at := unsafe.Add(begin, before)
	if _, err := unix.MmapPtr(fd, off, at, length, access, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		unix.MunmapPtr(begin, room)
		return nil, err
	}
	if before > 0 {
		unix.MunmapPtr(begin, before)
	}
	if behind := room - before - length; behind > 0 {
		unix.MunmapPtr(unsafe.Add(at, length), behind)
	}
	return unsafe.Slice((*byte)(at), n), nil
}

// unmapAll undoes it.
func unmapAll(mem []byte) {
	unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(mem)), uintptr(alignPage(len(mem))))
}
