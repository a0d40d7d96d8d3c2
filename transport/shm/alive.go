package shm

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Who is alive: each rank holds a POSIX record lock on byte localRank of the segment's file. The kernel
// drops it when the process ends, however it ends, and anybody can ask for it from any pid namespace, long
// after the pid has been given to somebody else.

// self names this process in the segments that it attaches to: the kernel does not tell a process of its own locks.
// Its pid would not do, since ranks in namespaces of their own may all be process 1.
var self = rand.Uint64()

// lockRank takes the lock of a local rank for this process.
func lockRank(fd, rank int) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(rank), Len: 1}
	err := unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &lk)
	if err == unix.EAGAIN || err == unix.EACCES {
		return fmt.Errorf("shm: another process is local rank %d already", rank)
	}
	if err != nil {
		return fmt.Errorf("shm: locking local rank %d: %w", rank, err)
	}
	return nil
}

// Dead reports whether the process of a local rank has ended without Close, or that of a guest in any way. A rank that
// never attached is not dead. A system call whose time grows with the number of ranks that live: for moments without
// other work.
func (s *Segment) Dead(rank int) bool {
	if rank >= s.n {
		g := s.guests[rank-s.n]
		return g != nil && g.dead()
	}
	c := s.control(rank)
	if !c.present() || atomic.LoadUint64(&c.self) == self {
		return false
	}
	// It may have detached between the two looks.
	return unlocked(s.fd, rank) && c.present()
}

// unlocked says that no other process is a local rank of a segment: it has ended, if it ever was.
func unlocked(fd, rank int) bool {
	lk, ok := lockOf(fd, rank)
	return ok && lk.Type == unix.F_UNLCK
}

// lockOf asks for the lock of a local rank that another process holds.
func lockOf(fd, rank int) (unix.Flock_t, bool) {
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(rank), Len: 1}
	err := unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &lk)
	return lk, err == nil
}

// present reports whether a rank has attached and not detached, as it and others say; it may be dead.
func (c *control) present() bool {
	state := atomic.LoadUint32(&c.state)
	return state == stateAttached || state == stateDead
}

// Arrived reports whether local rank i has attached by now, whatever has become of it since.
func (s *Segment) Arrived(i int) bool { return atomic.LoadUint32(&s.control(i).state) != stateAbsent }

// Departed implements transport.Departer: the process has detached.
func (t *Transport) Departed(peer int32) bool {
	i := t.Local(peer)
	return i >= 0 && i < t.seg.n && atomic.LoadUint32(&t.seg.control(i).state) == stateDetached
}

// The kernel keeps all locks of the file in one list, so that to ask about each of n ranks takes n² steps. If each of
// them did that once a second, a thousand ranks would do nothing else. So one looks for all of them, whoever first
// finds that the last look is long enough ago, and writes down whom it has found dead. The others believe that only
// after they have asked the kernel about that rank themselves.

// lookEvery is the time between two looks for each rank of the segment: the looks then take less than 1 % of a core up
// to a thousand ranks, and no rank is later than a second of them.
const lookEvery = time.Millisecond

// takeLook reports whether the caller is to look after all ranks.
func (s *Segment) takeLook() bool {
	h := headerOf(s.mem)
	last, now := atomic.LoadUint64(&h.looked), s.clock()
	// A time to come, which nobody writes, is long ago here.
	return now-last >= uint64(s.n)*uint64(lookEvery) && atomic.CompareAndSwapUint64(&h.looked, last, now)
}

// look finds the ranks that have died, and counts all that were found so far: one who died over it has not counted.
func (s *Segment) look() {
	dead := uint32(0)
	for i := range s.n {
		c := s.control(i)
		if i != s.rank && atomic.LoadUint32(&c.state) == stateAttached && s.Dead(i) {
			atomic.CompareAndSwapUint32(&c.state, stateAttached, stateDead)
		}
		if atomic.LoadUint32(&c.state) == stateDead {
			dead++
		}
	}
	atomic.StoreUint32(&headerOf(s.mem).deaths, dead)
}

// deaths is how many ranks have been found dead so far.
func (s *Segment) deaths() uint32 { return atomic.LoadUint32(&headerOf(s.mem).deaths) }

// foundDead reports whether somebody has found a rank dead, and it is.
func (s *Segment) foundDead(rank int) bool {
	return atomic.LoadUint32(&s.control(rank).state) == stateDead && s.Dead(rank)
}

// machineTime is a clock that all processes of a machine share, in nanoseconds.
func machineTime() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return uint64(t.Nano())
}
