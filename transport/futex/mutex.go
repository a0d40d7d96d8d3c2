package futex

import "sync/atomic"

// Mutex is a lock whose word is somebody else's memory: 0 free, 1 held, 2 held and somebody may sleep. Only the step
// from 2 to 0 costs a system call. All that take one lock use copies of one word's address; the threads are of one
// process.
type Mutex struct {
	word   *uint32
	shadow shadow
}

// The word's values.
const (
	Free  = 0
	Held  = 1
	Sleep = 2

	spins = 40 // looks before going to sleep: about the time of a short critical section
)

// On is the lock in a word that lives as long as the lock is used.
func On(word *uint32) Mutex { return Mutex{word: word, shadow: shadowOf(word)} }

// TryLock takes the lock if it is free.
func (m *Mutex) TryLock() bool {
	if !atomic.CompareAndSwapUint32(m.word, Free, Held) {
		return false
	}
	m.shadow.acquired()
	return true
}

// Lock takes the lock, and waits for it: spinning at first, then asleep.
func (m *Mutex) Lock() {
	if !m.TryLock() {
		lockSlow(m.word)
		m.shadow.acquired()
	}
}

// Unlock frees the lock. Any thread may do it.
func (m *Mutex) Unlock() {
	m.shadow.released()
	if atomic.SwapUint32(m.word, Free) == Sleep {
		Wake(m.word, 1, Private)
	}
}

func lockSlow(p *uint32) {
	for range spins {
		if atomic.LoadUint32(p) == Free && atomic.CompareAndSwapUint32(p, Free, Held) {
			return
		}
		Pause(4)
	}
	for atomic.SwapUint32(p, Sleep) != Free {
		Wait(p, Sleep, 0, Private)
	}
}
