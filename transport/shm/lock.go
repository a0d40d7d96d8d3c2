package shm

import "sync/atomic"

// The engine's lock is the first word of private memory, so that C takes the same one: 0 free, 1 held, 2 held
// and somebody may sleep. Only the step from 2 to 0 costs a system call.

const (
	lockFree  = 0
	lockHeld  = 1
	lockSleep = 2
	lockSpins = 40 // looks before going to sleep: about the time of a short critical section
)

// TryLock takes the lock if it is free.
func (s *Segment) TryLock() bool {
	if !atomic.CompareAndSwapUint32(&s.priv.lock, lockFree, lockHeld) {
		return false
	}
	s.shadow.acquired()
	return true
}

// Lock takes the lock, and waits for it: spinning at first, then asleep.
func (s *Segment) Lock() {
	if !s.TryLock() {
		lockSlow(&s.priv.lock)
		s.shadow.acquired()
	}
}

// Unlock frees the lock. Any thread may do it.
func (s *Segment) Unlock() {
	s.shadow.released()
	if atomic.SwapUint32(&s.priv.lock, lockFree) == lockSleep {
		futexWake(&s.priv.lock, 1, futexPrivate)
	}
}

func lockSlow(p *uint32) {
	for range lockSpins {
		if atomic.LoadUint32(p) == lockFree && atomic.CompareAndSwapUint32(p, lockFree, lockHeld) {
			return
		}
		Pause(4)
	}
	for atomic.SwapUint32(p, lockSleep) != lockFree {
		futexWait(p, lockSleep, 0, futexPrivate)
	}
}
