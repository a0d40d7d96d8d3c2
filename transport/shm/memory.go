package shm

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Memory that ranks share for windows: a memfd of its own for each part. The number of a part is that of its descriptor
// in the rank that has made it, through whose entry in /proc the others open it. It is closed when all have done so.
// Then the mappings alone keep the memory, and the kernel takes it back whatever becomes of the ranks.

// Share implements transport.Memory.
func (s *Segment) Share(n int) (mem []byte, id uint64, err error) {
	fd, err := memfd()
	if err != nil {
		return nil, 0, fmt.Errorf("shm: %w", err)
	}
	if err = resize(fd, uint64(n)); err != nil {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("shm: memory of %w", err)
	}
	if mem, err = mapAll(fd, n); err != nil {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("shm: memory of %d bytes: %w", n, err)
	}
	return mem, uint64(fd), nil
}

// Hide implements transport.Memory.
func (s *Segment) Hide(id uint64) { unix.Close(int(id)) }

// Find implements transport.Memory.
func (s *Segment) Find(local int, id uint64, n int) ([]byte, error) {
	name := fmt.Sprintf("/proc/%d/fd/%d", atomic.LoadUint32(&s.control(local).pid), id)
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: memory of local rank %d: %w", local, &os.PathError{Op: "open", Path: name, Err: err})
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Size != int64(n) {
		return nil, fmt.Errorf("shm: memory of local rank %d is not %d bytes long", local, n)
	}
	mem, err := mapAll(fd, n)
	if err != nil {
		return nil, fmt.Errorf("shm: mapping %d bytes: %w", n, err)
	}
	return mem, nil
}

// Forget implements transport.Memory.
func (s *Segment) Forget(mem []byte) { unix.Munmap(mem) }

func mapAll(fd, n int) ([]byte, error) {
	return unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
