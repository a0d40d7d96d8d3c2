package shm

import (
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport/futex"
)

// A rank that has begun long transfers and computes has nobody in MPI to go on with them. A thread of its own, the
// progress thread, sleeps meanwhile on a word in shared memory, which each sender of a part of a long message looks at:
//
//	idle     nobody is to be woken: a thread of the rank is in MPI, or nothing long is under way
//	armed    the progress thread sleeps; who brings work sets alerted and wakes it
//	alerted  the progress thread is awake, or on its way
//	dismissed  it shall end
//
// The rank arms and then looks once more at what has arrived; a sender publishes and looks at the word. The sender does
// not fence in between, with its copy still in the store buffer: in the nanoseconds of an arming a packet may be
// overlooked by both, and is found by the next, or by the program when it comes back to MPI. Short messages do not
// look: they cost less than the look. Who publishes on a board does fence (Board.Alert).
const (
	attentionIdle = iota
	attentionArmed
	attentionAlerted
	attentionDismissed
)

// Arm asks for the progress thread when something arrives. The caller polls afterwards if Arm answers true: it was
// not armed before.
func (s *Segment) Arm() bool {
	return atomic.CompareAndSwapUint32(&s.bell.attention, attentionIdle, attentionArmed)
}

// Disarm takes Arm back; a thread that has been alerted already finds that there is nothing to do.
func (s *Segment) Disarm() {
	if atomic.LoadUint32(&s.bell.attention) == attentionArmed {
		atomic.CompareAndSwapUint32(&s.bell.attention, attentionArmed, attentionIdle)
	}
}

// AwaitAlert blocks the progress thread until it is wanted; false: it shall end, and another may begin.
func (s *Segment) AwaitAlert() bool {
	for {
		switch v := atomic.LoadUint32(&s.bell.attention); v {
		case attentionAlerted:
			return true
		case attentionDismissed:
			atomic.StoreUint32(&s.bell.attention, attentionIdle)
			return false
		default:
			futex.Wait(&s.bell.attention, v, 0, futex.Shared)
		}
	}
}

// Nap sleeps for so long, or until the progress thread shall end. Go's own sleep takes a millisecond at least where
// nothing else runs.
func (s *Segment) Nap(d time.Duration) {
	if v := atomic.LoadUint32(&s.bell.attention); v != attentionDismissed {
		futex.Wait(&s.bell.attention, v, d, futex.Shared)
	}
}

// Relax says that the progress thread has done what it was woken for.
func (s *Segment) Relax() {
	atomic.CompareAndSwapUint32(&s.bell.attention, attentionAlerted, attentionIdle)
}

// Alert wakes this rank's progress thread, if it is armed.
func (s *Segment) Alert() { alert(s.bell) }

// Dismiss ends the progress thread, which AwaitAlert tells.
func (s *Segment) Dismiss() {
	atomic.StoreUint32(&s.bell.attention, attentionDismissed)
	futex.Wake(&s.bell.attention, futex.All, futex.Shared)
}

func alert(c *control) {
	if atomic.LoadUint32(&c.attention) == attentionArmed && atomic.CompareAndSwapUint32(&c.attention, attentionArmed,
		attentionAlerted) {
		futex.Wake(&c.attention, futex.All, futex.Shared)
	}
}
