package libimpi

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// The progress thread goes on with long transfers inside the machine while all threads of the program compute: it
// answers the first packet of a message, copies what the sender streams, and reads what a sender that computes as
// well does not send (claims.go). It sleeps until a part of a long message arrives and nobody is in MPI
// (shm/attention.go), and is made when that can first happen.
//
// Where programs come back to MPI soon it would only be in the way: an alert that finds the program back in MPI after a
// nap was in vain, and after each the progress thread pauses.

// ThreadPolicy says when there is a progress thread.
type ThreadPolicy int

// With ThreadWhereFree there is one if the processes of the machine do not outnumber its cores.
const (
	ThreadWhereFree ThreadPolicy = iota
	ThreadAlways
	ThreadNever
)

// ParseThreadPolicy reads the setting IMPI_PROGRESS: 0, 1 or nothing.
func ParseThreadPolicy(s string) (ThreadPolicy, error) {
	switch s {
	case "":
		return ThreadWhereFree, nil
	case "0":
		return ThreadNever, nil
	case "1":
		return ThreadAlways, nil
	}
	return 0, fmt.Errorf("IMPI_PROGRESS=%s: it is 0, 1 or unset", s)
}

// progressThread is the state of the progress thread; the engine's lock guards it.
type progressThread struct {
	on        bool          // it may be used at all
	ended     chan struct{} // closed when it has ended; nil: there is none
	inside    int           // threads of the program that wait in MPI, and poll
	long      int           // requests under way that it could bring on
	pause     time.Duration // after the last alert in vain; 0 if there was none
	busy      bool          // awake, or pausing: it need not be armed
	dismissed bool          // it shall end
}

const (
	// threadNap is how long the program must have stayed away when the progress thread begins: longer than a program
	// that is about to wait takes to get there.
	threadNap = 50 * time.Microsecond
	// threadStay is how long the progress thread polls after the last thing it has done.
	threadStay = 50 * time.Microsecond
	// After an alert in vain, which costs some microseconds of both cores, the progress thread pauses for a time
	// between these: twice as long after each.
	shortPause = 2 * time.Millisecond
	longPause  = 64 * time.Millisecond
)

// bringOn counts a request that has just started, if the progress thread can advance it.
func (e *Engine) bringOn(r *Request) {
	within := r.env.peer < 0 || e.peer(r.env.peer).local >= 0
	if e.thread.on && !r.state.done && !r.long && within && r.mem.size > int64(e.ways.local.Limits().Eager) {
		r.long = true
		e.thread.long++
	}
}

// away is called when a thread leaves MPI with requests under way. Engine lock held.
func (e *Engine) away() {
	if h := &e.thread; h.long > 0 && h.inside == 0 {
		e.arm()
	}
}

// leaveRunning is away for a thread that has just started r: a long message to or from another client the sockets'
// watcher carries on from now on, and not only when it has found out that nobody polls.
func (e *Engine) leaveRunning(r *Request) {
	e.away()
	byNetwork := e.ways.network.waker != nil && r.mem.size >= carried
	byVendor := e.ways.vendor.waker != nil && (r.mem.size > int64(e.ways.vendor.Limits().Eager) || e.waitsForRoom(r))
	if r.state.done || !byNetwork && !byVendor {
		return
	}
	peer := r.env.peer
	if peer == noPeer && r.env.source >= 0 {
		peer = r.comm.group.World(int(r.env.source))
	}
	if peer == e.me || peer != noPeer && e.peer(peer).local >= 0 {
		return
	}
	if byNetwork {
		e.ways.network.waker.Arm()
	}
	if byVendor {
		e.carryOn(r)
	}
}

// waitsForRoom reports whether a send may not have left, because its receiver has not acknowledged enough.
func (e *Engine) waitsForRoom(r *Request) bool {
	return r.kind == sendRequest && r.env.peer >= 0 && e.peer(r.env.peer).queued
}

// carryOn has the watcher of the other MPI library look after it until r is done: the library does not do so by itself.
func (e *Engine) carryOn(r *Request) {
	e.ways.vendor.waker.Arm()
	if !r.carried {
		r.carried = true
		e.ways.library.carried++
	}
}

// carried is the length, in bytes, from which a message takes longer than its carrying on costs.
const carried = 512 << 10

func (e *Engine) arm() {
	h := &e.thread
	if h.busy {
		return
	}
	if h.ended == nil {
		h.ended = make(chan struct{})
		go e.assist(h.ended)
	}
	// What arrived before a sender could see that we are armed is taken in here.
	if e.home.Attention.Arm() && e.pollLocal() {
		e.home.Attention.Alert() // there may be more
	}
}

// beginWait is called when a thread begins to wait. Engine lock held.
func (e *Engine) beginWait() {
	h := &e.thread
	h.inside++
	if h.inside == 1 && h.long > 0 {
		e.home.Attention.Disarm()
	}
}

// endWait is called when it need not wait any longer.
func (e *Engine) endWait() {
	e.thread.inside--
	e.away()
}

// assist is the progress thread.
func (e *Engine) assist(ended chan struct{}) {
	defer close(ended)
	for e.home.Attention.AwaitAlert() {
		e.help()
	}
}

// help does what the progress thread was woken for.
func (e *Engine) help() {
	h := &e.thread
	e.mu.Lock()
	defer e.mu.Unlock()
	h.busy = true
	before := e.waiting.ticks
	e.mu.Unlock()
	e.home.Attention.Nap(threadNap)
	e.mu.Lock()
	if e.waiting.ticks == before && h.inside == 0 {
		h.pause = 0
		e.bring()
		e.home.Attention.Relax()
	} else {
		h.pause = min(max(2*h.pause, shortPause), longPause)
		e.home.Attention.Relax()
		e.mu.Unlock()
		e.home.Attention.Nap(h.pause)
		e.mu.Lock()
	}
	if h.busy = h.dismissed; !h.busy {
		e.away()
	}
}

// bring polls as long as something comes.
func (e *Engine) bring() {
	h := &e.thread
	since := time.Now()
	for h.inside == 0 && h.long > 0 && !h.dismissed && e.loss.failed.Load() == nil {
		if e.pollLocal() {
			since = time.Now()
		} else if time.Since(since) > threadStay {
			return
		}
		e.mu.Unlock()
		kernel.Yield()
		futex.Pause(looks / 8)
		e.mu.Lock()
	}
}

// pollLocal polls what is inside the machine: sockets have a watcher of their own.
func (e *Engine) pollLocal() bool {
	did := e.ways.local.Poll()
	return e.followUp() || did
}

// dismissThread ends the progress thread. Called without the lock.
func (e *Engine) dismissThread() {
	h := &e.thread
	e.mu.Lock()
	ended := h.ended
	h.busy, h.dismissed = ended != nil, ended != nil // no new one until this one has ended
	e.mu.Unlock()
	if ended == nil {
		return
	}
	e.home.Attention.Dismiss()
	<-ended
	e.mu.Lock()
	h.ended, h.busy, h.dismissed = nil, false, false
	e.mu.Unlock()
}
