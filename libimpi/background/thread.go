// Package background is the progress thread, which goes on with long transfers inside the machine while all threads of
// the program compute: it answers the first packet of a message, copies what the sender streams, and reads what a
// sender that computes as well does not send (libimpi/direct).
//
//	a long request begins -> Begun; the last thread of the program leaves MPI -> Away: the thread is armed
//	a part of a long message arrives -> the transport alerts it (shm/attention.go) -> it polls while something comes
//	a thread of the program waits in MPI -> Enter: it is disarmed
//
// It is made when it can first be needed. Where programs come back to MPI soon it would only be in the way: an alert
// that finds the program back in MPI after a nap was in vain, and after each the progress thread pauses.
package background

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Policy says when there is a progress thread.
type Policy int

// With WhereFree there is one if the processes of the machine do not outnumber its cores.
const (
	WhereFree Policy = iota
	Always
	Never
)

// ParsePolicy reads the setting IMPI_PROGRESS: 0, 1 or nothing.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "":
		return WhereFree, nil
	case "0":
		return Never, nil
	case "1":
		return Always, nil
	}
	return 0, fmt.Errorf("IMPI_PROGRESS=%s: it is 0, 1 or unset", s)
}

// Allows reports whether there may be a progress thread, where ranks outnumber cores or not.
func (p Policy) Allows(crowded bool) bool { return p == Always || p == WhereFree && !crowded }

// Engine is what the progress thread needs of the engine.
type Engine interface {
	Lock()
	Unlock()
	// Poll takes in what has arrived inside the machine, and reports whether anything has, without blocking. Lock held.
	Poll() bool
	// Ticks changes whenever a thread of the program polls. Lock held.
	Ticks() uint32
	// Failed reports whether a peer is lost: then nothing goes on.
	Failed() bool
}

// Thread is the progress thread. The engine's lock guards it, and is held in its methods, but in Dismiss. The zero
// value is one that is never used.
type Thread struct {
	engine    Engine // nil: it is not to be used
	attention transport.Attention

	ended     chan struct{} // closed when it has ended; nil: there is none
	inside    int           // threads of the program that wait in MPI, and poll
	long      int           // requests under way that it could advance
	pause     time.Duration // after the last alert in vain; 0 if there was none
	busy      bool          // awake, or pausing: it need not be armed
	dismissed bool          // it shall end
}

const (
	// nap is how long the program must have stayed away when the progress thread begins: longer than a program that is
	// about to wait takes to get there.
	nap = 50 * time.Microsecond
	// stay is how long the progress thread polls after the last thing it has done.
	stay = 50 * time.Microsecond
	// After an alert in vain, which costs some microseconds of both cores, the progress thread pauses for a time
	// between these: twice as long after each.
	shortPause = 2 * time.Millisecond
	longPause  = 64 * time.Millisecond
	// spins are the rounds of a spin loop between two polls.
	spins = 8
)

// Use says that the thread is to be used.
func (t *Thread) Use(e Engine, attention transport.Attention) { t.engine, t.attention = e, attention }

// Used reports whether it is.
func (t *Thread) Used() bool { return t.engine != nil }

// Begun counts a long request that has begun, and Over one that is over.
func (t *Thread) Begun() { t.long++ }

// Over ends a long request.
func (t *Thread) Over() { t.long-- }

// Inside returns how many threads of the program wait in MPI.
func (t *Thread) Inside() int { return t.inside }

// Enter is called when a thread of the program begins to wait, and Leave when it need not wait any longer.
func (t *Thread) Enter() {
	t.inside++
	if t.inside == 1 && t.long > 0 {
		t.attention.Disarm()
	}
}

// Leave ends a wait.
func (t *Thread) Leave() {
	t.inside--
	t.Away()
}

// Away is called when a thread of the program leaves MPI with requests under way.
func (t *Thread) Away() {
	if t.long > 0 && t.inside == 0 {
		t.arm()
	}
}

func (t *Thread) arm() {
	if t.busy {
		return
	}
	if t.ended == nil {
		t.ended = make(chan struct{})
		go t.run(t.ended)
	}
	// What arrived before a sender could see that we are armed is taken in here.
	if t.attention.Arm() && t.engine.Poll() {
		t.attention.Alert() // there may be more
	}
}

// run is the progress thread. Called without the lock, as the following is.
func (t *Thread) run(ended chan struct{}) {
	defer close(ended)
	for t.attention.AwaitAlert() {
		t.serve()
	}
}

// serve does what the thread was woken for.
func (t *Thread) serve() {
	t.engine.Lock()
	defer t.engine.Unlock()
	t.busy = true
	before := t.engine.Ticks()
	t.engine.Unlock()
	t.attention.Nap(nap)
	t.engine.Lock()
	if t.engine.Ticks() == before && t.inside == 0 {
		t.pause = 0
		t.advance()
		t.attention.Relax()
	} else {
		t.pause = min(max(2*t.pause, shortPause), longPause)
		t.attention.Relax()
		t.engine.Unlock()
		t.attention.Nap(t.pause)
		t.engine.Lock()
	}
	if t.busy = t.dismissed; !t.busy {
		t.Away()
	}
}

// advance polls as long as something comes. Lock held, given up in between.
func (t *Thread) advance() {
	since := time.Now()
	for t.inside == 0 && t.long > 0 && !t.dismissed && !t.engine.Failed() {
		if t.engine.Poll() {
			since = time.Now()
		} else if time.Since(since) > stay {
			return
		}
		t.engine.Unlock()
		kernel.Yield()
		futex.Pause(spins)
		t.engine.Lock()
	}
}

// Dismiss ends the thread, and blocks until it has. Called without the lock.
func (t *Thread) Dismiss() {
	if t.engine == nil {
		return
	}
	t.engine.Lock()
	ended := t.ended
	t.busy, t.dismissed = ended != nil, ended != nil // no new one until this one has ended
	t.engine.Unlock()
	if ended == nil {
		return
	}
	t.attention.Dismiss()
	<-ended
	t.engine.Lock()
	t.ended, t.busy, t.dismissed = nil, false, false
	t.engine.Unlock()
}
