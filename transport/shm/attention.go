package shm

import (
	"sync/atomic"
	"time"
)

// A rank that has begun long transfers and computes has nobody in MPI to go on with them. A thread of its own, the
// helper, sleeps meanwhile on a word in shared memory, which each sender of a part of a long message looks at:
//
//	idle     nobody is to be woken: a thread of the rank is in MPI, or nothing long is under way
//	armed    the helper sleeps; who brings work sets alerted and wakes it
//	alerted  the helper is awake, or on its way
//	dismissed  it shall end
//
// The rank arms and then looks once more at what has arrived; a sender publishes and looks at the word. The sender does
// not fence in between, with its copy still in the store buffer: in the nanoseconds of an arming a packet may be overlooked by
// both, and is found by the next, or by the program when it comes back to MPI. Short messages do not
// look: they cost less than the look.
const (
	attentionIdle = iota
	attentionArmed
	attentionAlerted
	attentionDismissed
)

// Arm asks for the helper when something arrives. The caller polls afterwards if Arm answers true: it was not armed before.
func (s *Segment) Arm() bool {
	return atomic.CompareAndSwapUint32(&s.bell.attention, attentionIdle, attentionArmed)
}

// Disarm takes Arm back; a helper that has been alerted already finds that there is nothing to do.
func (s *Segment) Disarm() {
	if atomic.LoadUint32(&s.bell.attention) == attentionArmed {
		atomic.CompareAndSwapUint32(&s.bell.attention, attentionArmed, attentionIdle)
	}
}

// AwaitAlert blocks the helper until it is wanted; false: it shall end.
func (s *Segment) AwaitAlert() bool {
	for {
		switch v := atomic.LoadUint32(&s.bell.attention); v {
		case attentionAlerted:
			return true
		case attentionDismissed:
			return false
		default:
			futexWait(&s.bell.attention, v, 0, futexShared)
		}
	}
}

// Nap sleeps for so long, or until the helper shall end. Go's own sleep takes a millisecond at least where nothing else runs.
func (s *Segment) Nap(d time.Duration) {
	futexWait(&s.bell.attention, attentionAlerted, d, futexShared)
}

// Rest is Nap for a helper that has relaxed.
func (s *Segment) Rest(d time.Duration) {
	futexWait(&s.bell.attention, attentionIdle, d, futexShared)
}

// Relax says that the helper has done what it was woken for.
func (s *Segment) Relax() {
	atomic.CompareAndSwapUint32(&s.bell.attention, attentionAlerted, attentionIdle)
}

// Dismissed says whether the helper shall end.
func (s *Segment) Dismissed() bool { return atomic.LoadUint32(&s.bell.attention) == attentionDismissed }

// Alert wakes this rank's helper, if it is armed.
func (s *Segment) Alert() { alert(s.bell) }

// Dismiss ends the helper. Engage makes place for another.
func (s *Segment) Dismiss() {
	atomic.StoreUint32(&s.bell.attention, attentionDismissed)
	futexWake(&s.bell.attention, allSleepers, futexShared)
}

// Engage is called before a helper begins.
func (s *Segment) Engage() { atomic.StoreUint32(&s.bell.attention, attentionIdle) }

func alert(c *control) {
	if atomic.LoadUint32(&c.attention) == attentionArmed && atomic.CompareAndSwapUint32(&c.attention, attentionArmed, attentionAlerted) {
		futexWake(&c.attention, allSleepers, futexShared)
	}
}
