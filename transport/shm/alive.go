package shm

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Who is alive: each rank holds a POSIX record lock on byte localRank of the segment's file. The kernel
// drops it when the process ends, however it ends, and anybody can ask for it from any pid namespace, long
// after the pid has been given to somebody else.

// claim takes the lock of a local rank for this process.
func claim(fd, rank int) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(rank), Len: 1}
	err := unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &lk)
	if err == unix.EAGAIN || err == unix.EACCES {
		return fmt.Errorf("shm: another process is local rank %d already", rank)
	}
	if err != nil {
		return fmt.Errorf("shm: claiming local rank %d: %w", rank, err)
	}
	return nil
}

// Dead says whether the process of a local rank has ended without Close. A rank that never attached is not
// dead. A system call: for moments without other work.
func (s *Segment) Dead(rank int) bool {
	c := s.control(rank)
	if atomic.LoadUint32(&c.state) != stateAttached || atomic.LoadUint32(&c.pid) == uint32(os.Getpid()) {
		return false
	}
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(rank), Len: 1}
	if err := unix.FcntlFlock(uintptr(s.fd), unix.F_GETLK, &lk); err != nil {
		return false
	}
	// It may have detached between the two looks.
	return lk.Type == unix.F_UNLCK && atomic.LoadUint32(&c.state) == stateAttached
}
