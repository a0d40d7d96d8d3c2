package shm

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Memory that ranks share for windows: a memfd of its own for each part. Its number tells the descriptor in the rank
// that has made it, through whose entry in /proc the others open it. It is closed when all have done so. Then the
// mappings alone keep the memory, and the kernel takes it back whatever becomes of the ranks.
//
// Ranks in process or user namespaces of their own, as in containers, do not find each other in /proc, or may not open
// what is there. The first that fails writes that down in the segment, and from then on memory is made of the segment's
// file (annex.go).

// A number: bit 63 is set if the memory is behind the segment, and the others say at which page of it. Else bits 0-30
// are the descriptor, and 31-62 the file's inode: a rank in another process namespace has other processes under the
// same pids.
const (
	idBehind    = 1 << 63
	idFileShift = 31
	idFileMask  = 1<<32 - 1
)

// Share implements transport.Memory.
func (s *Segment) Share(n, align int) (mem []byte, id uint64, err error) {
	if atomic.LoadUint32(&headerOf(s.mem).apart) != 0 {
		return s.shareBehind(n, align)
	}
	fd, err := memfd()
	if err != nil {
		return nil, 0, fmt.Errorf("shm: %w", err)
	}
	if err = resize(fd, uint64(n)); err != nil {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("shm: memory of %w", err)
	}
	file, err := fileOf(fd)
	if err == nil {
		mem, err = mapAll(fd, 0, n, align)
	}
	if err != nil {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("shm: memory of %d bytes: %w", n, err)
	}
	return mem, file.ino&idFileMask<<idFileShift | uint64(fd), nil
}

// Hide implements transport.Memory.
func (s *Segment) Hide(id uint64) {
	if id&idBehind == 0 {
		unix.Close(int(id & (1<<idFileShift - 1)))
	}
}

// Find implements transport.Memory.
func (s *Segment) Find(local int, id uint64, n, align int) ([]byte, error) {
	if id&idBehind != 0 {
		return s.findBehind(id&^idBehind, n, align)
	}
	fd, err := s.descriptor(local, id, n)
	if err != nil {
		atomic.StoreUint32(&headerOf(s.mem).apart, 1)
		return nil, fmt.Errorf("shm: memory of local rank %d: %w", local, err)
	}
	defer unix.Close(fd)
	mem, err := mapAll(fd, 0, n, align)
	if err != nil {
		return nil, fmt.Errorf("shm: mapping %d bytes: %w", n, err)
	}
	return mem, nil
}

// descriptor opens the file of so many bytes that another rank shares under a number.
func (s *Segment) descriptor(local int, id uint64, n int) (fd int, err error) {
	const flags = unix.O_RDWR | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK // whatever file that is
	name := fmt.Sprintf("/proc/%d/fd/%d", atomic.LoadUint32(&s.control(local).pid), id&(1<<idFileShift-1))
	if fd, err = unix.Open(name, flags, 0); err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino&idFileMask != id>>idFileShift || st.Size != int64(n) {
		unix.Close(fd)
		return -1, fmt.Errorf("%s is not the memory of %d bytes that is meant", name, n)
	}
	return fd, nil
}

// Forget implements transport.Memory.
func (s *Segment) Forget(mem []byte) {
	if !s.forgetBehind(mem) {
		unmapAll(mem)
	}
}
