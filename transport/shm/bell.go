package shm

import (
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport/futex"
)

// How a rank sleeps, and why nobody rings in vain.
//
// Sleeper (any thread of the rank)          Sender (any thread of any rank)
//
//	v := Bell()                               publish a record (release store)
//	PrepareSleep(v): sleepers++               look at sleepers (plain load)
//	                 membarrier               if not 0: Ring: bell++ and sleepers = 0, in one step;
//	look at everything once more                        futex_wake(all)
//	if there is nothing: Wait(v)
//	DoneSleep(v)
//
// The sender has no fence between its store and its load, so the load may be done before the store is
// visible. The sleeper's membarrier makes up for it: between its call and its return every running thread of
// the registered processes passes a full fence at some point B. If the sender's store comes before its B in
// program order, the store is visible when the sleeper looks once more. Otherwise the sender's load comes
// after B, and sees sleepers != 0, which was written before the call. Either the sleeper finds the record, or the
// sender rings. A thread that is not running passes a full fence when it is switched in or out.
//
// A ring between Bell() and Wait changes the bell, and futex_wait refuses. So does PrepareSleep, which counts
// itself only while the bell is still v; the count hence belongs to this value of the bell, and DoneSleep takes
// back what nobody has cleared. Clearing it with the ring means that one sender wakes, not each sender until the
// sleeper runs. If a sender is killed between clearing and waking, the sleeper stays asleep at most longestWait.
//
// What a rank waits for is any change that ends in Ring: a record, room in a ring, a word of another thread of
// its own. All of them are stores followed by a look at sleepers, and the argument is the same.
//
// Where the kernel refuses membarrier to a process, it sets sleepersNoBarrier for good, which sends others into
// Ring's slow path, and itself fences always. Nobody sleeps before it has attached, and a sender that has
// read the word before the bit was set published its record long before; longestWait covers the rest.

// longestWait bounds every sleep: an answer to what no protocol can prevent, a peer killed in the middle of Ring.
const longestWait = time.Second

// ringTries bounds the fight for a bell word: a peer that writes nonsense there cannot hold us.
const ringTries = 1000

// Bell is the value of this rank's bell now, for PrepareSleep, Wait and DoneSleep.
func (s *Segment) Bell() uint32 { return atomic.LoadUint32(&s.bell.bell) }

// PrepareSleep announces that this thread is about to sleep. If it answers true, the caller looks at all it
// waits for once more, Waits if there is nothing, and calls DoneSleep in any case. False: somebody has rung.
func (s *Segment) PrepareSleep(v uint32) bool {
	for range ringTries {
		w := s.loadBell()
		if w.bell() != v {
			return false
		}
		if s.casBell(w, w.sleep(1)) {
			if s.priv.fence != 0 || !barrier() {
				fullFence()
			}
			return true
		}
	}
	return false
}

// Sleepers is the number of this rank's threads that sleep, or are about to.
func (s *Segment) Sleepers() uint32 { return s.loadBell().sleepers() }

// Wait sleeps until the bell is no longer v, but not for longer than timeout nor a second. It may return early.
func (s *Segment) Wait(v uint32, timeout time.Duration) {
	if timeout > 0 {
		futex.Wait(&s.bell.bell, v, min(timeout, s.maxWait), futex.Shared)
	}
}

// DoneSleep takes back a PrepareSleep(v) that answered true.
func (s *Segment) DoneSleep(v uint32) {
	for range ringTries {
		w := s.loadBell()
		if w.bell() != v || w.sleepers() == 0 || s.casBell(w, w.sleep(-1)) {
			return
		}
	}
}

// Ring wakes the threads of a local rank that sleep or are about to. It costs a load if there are none. Before
// the call the caller has stored what they wait for.
func (s *Segment) Ring(rank int) {
	c := s.control(rank)
	if atomic.LoadUint32(&c.sleepers)|s.priv.fence != 0 {
		ring(c)
	}
}

// Wake is Ring for this rank's own threads.
func (s *Segment) Wake() {
	if atomic.LoadUint32(&s.bell.sleepers)|s.priv.fence != 0 {
		ring(s.bell)
	}
}

func ring(c *control) {
	fullFence()
	for range ringTries {
		w := loadBell(c)
		if w.sleepers() == 0 {
			return
		}
		if casBell(c, w, w.rung()) {
			break
		}
	}
	futex.Wake(&c.bell, futex.All, futex.Shared)
}

func (s *Segment) loadBell() bellWord                { return loadBell(s.bell) }
func (s *Segment) casBell(before, now bellWord) bool { return casBell(s.bell, before, now) }
