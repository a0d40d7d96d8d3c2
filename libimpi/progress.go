package libimpi

import (
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Progress. A thread that waits polls the transports, hands out what waited for room, and looks at its
// condition again. It spins first, for a time worth a sleep and a wake-up, and then sleeps on the process's
// bell; in a program with more ranks than cores it gives its core away after each look.
//
// No wake-up is lost: the sleeper announces itself (transport.Bell) before it polls for the last time, and
// whoever brings work after that poll sees the announcement and rings. Work comes from another rank
// (shm rings the bell after it has published), from the socket watcher, or from another thread of this
// process that polled on the sleeper's behalf (complete).

const (
	// A waiting thread polls for a time between these before it sleeps: long while that pays, because a sleep
	// and a wake-up cost more than most waits, and because the core of the rank that is waited for may be
	// taken by some other program for a slice; short while it does not, because that rank may need this very
	// core. The shorter is longer than a sleep and a wake-up, so that two ranks find out of it again.
	shortSpin = 300 * time.Microsecond
	longSpin  = 5 * time.Millisecond
	// patientSpin is the time where ranks outnumber cores: some turns of all of them.
	patientSpin = 500 * time.Microsecond
	// networkEvery is how many polls inside the machine go with one of what comes from elsewhere, which may cost a
	// system call, when the awaited message may come from either.
	networkEvery = 16
)

// anyPeer is for a wait whose message may come from anywhere.
const anyPeer int32 = -1

// poll moves what can move, first of all what may come from process from. Engine lock held.
func (e *Engine) poll(from int32) bool {
	did := false
	e.waiting.ticks++
	if e.protocol.Waits() && e.ways.network.gatherer != nil {
		e.ways.network.gatherer.Cork() // what waited for room leaves together
		defer e.ways.network.gatherer.Uncork()
	}
	if e.ways.local.Poll() {
		did = true
	}
	if e.ways.network.connected() && (e.position.alone || e.waiting.ticks%networkEvery == 0 || from >= 0 &&
		e.peer(from).local < 0) &&
		e.ways.network.Poll() {
		did = true
	}
	if e.guests.far != nil && (e.position.alone || e.waiting.ticks%networkEvery == 0 || from >= 0 &&
		e.peer(from).local < 0) && e.pollFar() {
		did = true
	}
	return e.followUp() || did
}

// followUp does what polls bring about: what waits for room, collective operations, messages that are shared.
func (e *Engine) followUp() bool {
	did := e.goOn()
	if len(e.collectives.onBoards) > 0 && e.advanceOnBoards() {
		did = true
	}
	if e.protocol.Waits() && e.flush() {
		did = true
	}
	did = did || e.protocol.Pulls() && e.protocol.Pull()
	if len(e.guests.leaving) > 0 && e.seeOff() {
		did = true
	}
	return e.goOn() || did // at once: with the last message of a round nothing may be under way that another poll is for
}

// flush hands over what waited for room. It reports whether anything left.
func (e *Engine) flush() bool {
	did := e.protocol.Flush()
	if !e.protocol.Waits() {
		e.ring() // a thread may wait for this: Finish
	}
	return did
}

// progress polls from a thread that waits for nothing: the socket watcher's. The watcher may come once more after
// the end.
func (e *Engine) progress() {
	e.waiting.watcher.Lock()
	defer e.waiting.watcher.Unlock()
	for more, n, looks := !e.waiting.over, 0, 0; more && n < watcherPolls; {
		e.mu.Lock()
		more = e.pollAll()
		e.notice(more)
		flows := e.protocol.Flows()
		e.mu.Unlock()
		if more {
			n, looks = n+1, 0
		} else if flows && looks < watcherLooks {
			more, looks = true, looks+1
			kernel.Yield()
		}
	}
}

// retire returns when the watcher is out of the engine, for good. Called without the lock.
func (e *Engine) retire() {
	e.thread.Dismiss()
	e.waiting.watcher.Lock()
	e.waiting.over = true
	e.waiting.watcher.Unlock()
}

// watcherLooks is how often the watcher looks again, giving its core away in between, while a long message flows: to be
// woken for each piece takes longer than the piece.
const watcherLooks = 64

// watcherPolls bounds one turn of the watcher: its caller looks for the program's own polls in between.
const watcherPolls = 64

func (e *Engine) pollAll() bool {
	e.waiting.ticks++
	if e.protocol.Waits() && e.ways.network.gatherer != nil {
		e.ways.network.gatherer.Cork()
		defer e.ways.network.gatherer.Uncork()
	}
	did := e.ways.local.Poll()
	if e.ways.network.connected() && e.ways.network.Poll() {
		did = true
	}
	if e.guests.far != nil && e.pollFar() {
		did = true
	}
	return e.followUp() || did
}

// wait returns when r is done, or pends (loss.go). Engine lock held, given up while waiting.
func (e *Engine) wait(r *Request) {
	e.settle()
	if !r.state.done {
		e.waitAmong(func() bool { return r.state.done || e.pends(r) }, r.env.peer, forRequest(r), nil)
	}
}

// waitOf is wait for one of some requests that a call waits for. It does not wait any longer when one of them pends.
func (e *Engine) waitOf(r *Request, ids []uint64) {
	e.settle()
	if !r.state.done {
		e.waitAmong(func() bool { return r.state.done || e.anyPends(ids) }, r.env.peer, forRequest(r), ids)
	}
}

// waitFor returns when cond, which is called under the lock, says so, or when a peer is lost.
// from is the process whose message is awaited, or anyPeer; why is for whoever asks what the thread waits for.
func (e *Engine) waitFor(cond func() bool, from int32, why cause) { e.waitAmong(cond, from, why, nil) }

// waitAmong is waitFor in a call that waits for all or any of some requests.
func (e *Engine) waitAmong(cond func() bool, from int32, why cause, ids []uint64) {
	w := waiter{why: why}
	e.settle()
	e.thread.Enter()
	defer e.thread.Leave()
	if e.watch.counts && !cond() {
		defer e.waited(time.Now())
	}
	for !cond() {
		if e.loss.failed.Load() != nil {
			w.leave(e)
			return
		}
		if e.poll(from) || len(e.collectives.calls) > 0 && e.callProgram() {
			w.moved(e, ids)
			continue
		}
		w.pause(e, cond, from, ids)
	}
	w.leave(e)
	if !w.slept && e.waiting.budget < longSpin {
		e.waiting.budget *= 2
	}
}

// waiter is how patient a wait has become.
type waiter struct {
	polls uint32
	since time.Time
	slept bool

	why     cause
	moves   uint32   // fruitful polls before it was entered
	blocked *blocked // nil: not entered (blocked.go)
}

func (w *waiter) reset() { w.polls = 0 }

// clockEvery is how many fruitless polls go with one look at the clock.
const clockEvery = 16

// patientEvery is the same where each poll is a turn of the core's.
const patientEvery = 4

// pause spends the time between two polls. Engine lock held, given up in between.
func (w *waiter) pause(e *Engine, cond func() bool, from int32, ids []uint64) {
	w.polls++
	switch {
	case e.home.InTurn: // what is awaited comes while this thread sleeps
	case e.waiting.patient.Load() || e.files.Busy(): // what is awaited may need this core
		if e.giveWay(w) {
			return
		}
	case w.polls%clockEvery != 0 || !w.expired(e):
		if w.polls%e.waiting.offers == 0 {
			e.offer()
		} else if w.polls%clockEvery != 0 {
			e.spin(from)
		}
		return
	}
	e.waiting.budget = max(e.waiting.budget/2, shortSpin)
	w.enter(e, ids)
	e.sleep(cond, w.blocked)
	w.reset()
	w.slept = true
}

func (w *waiter) expired(e *Engine) bool {
	if w.polls == clockEvery {
		w.since = time.Now()
		return false
	}
	return time.Since(w.since) > e.waiting.budget
}

// spin waits a moment without the lock, so that other threads of the program get on.
func (e *Engine) spin(from int32) {
	alone := e.position.alone
	e.mu.Unlock()
	switch {
	case e.waiting.nap > 0 && (alone || from >= 0 && e.peer(from).local < 0):
		futex.Pause(e.waiting.nap)
	case alone:
	case from >= 0 && e.peer(from).local >= 0 && !e.ways.network.connected() && e.ways.local.spinner != nil:
		e.ways.local.spinner.Spin(from, looks)
	default:
		futex.Pause(looks / 8)
	}
	e.mu.Lock()
}

// napTime is how long a spinning thread leaves the sockets alone after it has found nothing there. To look costs a
// system call of about half that time, during which what comes in has to wait for the socket's lock.
const napTime = 800 * time.Nanosecond

// napMax is the most rounds of a spin loop that make a nap. The shortest take a nanosecond.
const napMax = 1000

// naps is how many rounds of a spin loop make a nap on this machine, if so many take that long.
func naps(rounds uint32, took time.Duration) uint32 {
	return uint32(min(max(int64(rounds)*int64(napTime)/max(int64(took), 1), 1), napMax))
}

// tryNaps finds out. The shortest of some times counts: the first is longer, as all is that is done for the first time,
// and a core may be taken away meanwhile.
func tryNaps() uint32 {
	const rounds = 100
	took := time.Second
	for range 5 {
		start := time.Now()
		futex.Pause(rounds)
		took = min(took, time.Since(start))
	}
	return naps(rounds, took)
}

// A spinning thread now and then offers its core to others, although there are cores for all: what it waits for may be
// made by a process that wants this very core, one of another job, or of a machine that shares cores with this one
// (containers). The time that the offer takes tells whether there is one:
//
//   - none: so it costs a fraction of a microsecond, and the next offer may be later;
//   - one that soon gives the core back, as a rank that waits does: the two take turns, a poll each;
//   - one that keeps the core for as long as the kernel lets it, as a program that computes does: each offer is a slice
//     lost, and the next is as late as can be.
const (
	// offersMany and offersFew are the fewest and the most polls between two offers: powers of two.
	offersMany, offersFew = 1, 8 * clockEvery
	// takenMin is what an offer takes at least if somebody has had the core, and takenMax how long somebody has it who
	// gives it back: well below a slice of the kernel's.
	takenMin, takenMax = 3 * time.Microsecond, 300 * time.Microsecond
)

// offer offers the core, and finds out when to do it again. Engine lock held, given up meanwhile.
func (e *Engine) offer() {
	start := time.Now()
	e.offerCore()
	e.waiting.offers = offersAfter(e.waiting.offers, time.Since(start))
}

// offersAfter is how many polls there are until the next offer, if there were so many before one that took so long.
func offersAfter(polls uint32, took time.Duration) uint32 {
	switch {
	case took < takenMin:
		return min(2*polls, offersFew)
	case took < takenMax:
		return offersMany
	}
	return offersFew
}

// offerCore offers the core once.
func (e *Engine) offerCore() {
	e.mu.Unlock()
	kernel.Yield()
	e.mu.Lock()
}

// giveWay lets another rank have the core, when ranks outnumber cores. If none wants it, this costs nobody anything,
// and the thread is awake when its message comes. False: it has waited long enough.
func (e *Engine) giveWay(w *waiter) bool {
	e.offerCore()
	if w.polls%patientEvery != 0 {
		return true
	}
	if w.polls == patientEvery {
		w.since = time.Now()
	}
	return time.Since(w.since) < patientSpin
}

// looks is how often a spinning thread looks at one ring before it polls them all.
const looks = 64

// sleep blocks the thread until something may have happened. Engine lock held, given up while asleep.
func (e *Engine) sleep(cond func() bool, b *blocked) {
	value := e.bell.Bell()
	if !e.bell.PrepareSleep(value) {
		return
	}
	e.waiting.sleepers++
	if e.ways.network.waker != nil {
		e.ways.network.waker.Arm()
	}
	if e.guests.far != nil {
		e.armFar()
	}
	if len(e.guests.here) > 0 {
		e.noticeParted()
	}
	soon := e.protocol.Pulls() && !e.home.InTurn // there is something to read
	if e.pollAll() {
		e.notice(true)
	} else if !cond() && e.loss.failed.Load() == nil && !soon && len(e.collectives.calls) == 0 {
		b.asleep, b.bell = true, value
		e.mu.Unlock()
		e.waitForBell(value)
		e.mu.Lock()
		b.asleep = false
		if e.bell.Bell() == value && e.ways.local.examiner != nil {
			e.ways.local.examiner.CheckPeers() // nobody rang for a second
			e.examineFar()
		}
	}
	e.bell.DoneSleep(value)
	e.waiting.sleepers--
	e.rest()
	b.trace(e)
}

// waitForBell is the sleep itself, without the lock.
func (e *Engine) waitForBell(value uint32) {
	if !e.waiting.timed.Load() {
		e.bell.Wait(value, longSleep)
		return
	}
	start := time.Now()
	e.bell.Wait(value, longSleep)
	e.waiting.asleep.Add(int64(time.Since(start)))
}

// TimeSleeps makes the engine add up how long threads sleep in waits, and Asleep is the sum.
func (e *Engine) TimeSleeps() { e.waiting.timed.Store(true) }

// Asleep: see TimeSleeps.
func (e *Engine) Asleep() time.Duration { return time.Duration(e.waiting.asleep.Load()) }

// rest lets the watcher of the other MPI library rest if nobody needs it.
func (e *Engine) rest() {
	if e.ways.vendor.rester != nil && e.waiting.sleepers == 0 && e.ways.library.carried == 0 {
		e.ways.vendor.rester.Rest()
	}
}

// longSleep is more than a bell lets a thread sleep at once.
const longSleep = time.Hour

// complete ends a request. Its owner may be asleep, or may have given it up.
func (e *Engine) complete(r *Request) {
	if !r.wire.Ends() {
		return
	}
	r.state.done = true
	e.shared.UnderWay--
	if e.watch.on {
		e.countUnpacked(r)
	}
	if e.watch.observes(RequestCompleted) {
		e.noteCompleted(r)
	}
	if r.long {
		r.long = false
		e.thread.Over()
	}
	if r.carried {
		r.carried = false
		e.ways.library.carried--
		e.rest()
	}
	if r.buffered.buffer != nil {
		e.release(r)
	}
	if r.state.detached {
		e.discard(r)
	}
	e.ring() // also for a detached one: a thread may wait for the attached buffer
}

// ring wakes the threads of this process that sleep.
func (e *Engine) ring() { e.bell.Wake() }

// threadEngine is what the progress thread needs of the engine (background.Engine).
type threadEngine struct{ *Engine }

func (e threadEngine) Lock()         { e.mu.Lock() }
func (e threadEngine) Unlock()       { e.mu.Unlock() }
func (e threadEngine) Poll() bool    { return e.pollLocal() }
func (e threadEngine) Ticks() uint32 { return e.waiting.ticks }
func (e threadEngine) Failed() bool  { return e.failure() != nil }

// pollLocal polls what is inside the machine: sockets have a watcher of their own.
func (e *Engine) pollLocal() bool {
	did := e.ways.local.Poll()
	did = e.followUp() || did
	e.notice(did)
	return did
}

// bringOn counts a request that has just started, if the progress thread can advance it.
func (e *Engine) bringOn(r *Request) {
	within := r.env.peer < 0 || e.peer(r.env.peer).local >= 0
	if e.thread.Used() && !r.state.done && !r.long && within && r.mem.size > int64(e.ways.local.Limits().Eager) {
		r.long = true
		e.thread.Begun()
	}
}

// awaitWord returns when a word of shared memory is at least so large. Who raises it rings this process's bell. It does
// not wait in vain: when members are lost or the communicator is revoked inVain is asked again and again, under the
// lock, and its error is returned. Errors besides: the job has failed.
func (c *Comm) awaitWord(word *uint64, least uint64, why cause, inVain func() error) (err error) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	over := func() bool {
		if atomic.LoadUint64(word) >= least {
			return true
		}
		if c.losses.first != nil {
			err = inVain()
		}
		return err != nil
	}
	if e.waitFor(over, anyPeer, why); !over() {
		return e.failure()
	}
	return err
}

// Turn advances requests under way, and waits for nothing.
func (e *Engine) Turn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	e.look()
}

// Crowded reports whether ranks outnumber the cores of this machine: a thread that spins keeps others from running.
func (e *Engine) Crowded() bool { return e.waiting.patient.Load() }
