package tcp

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/pipe"
	"golang.org/x/sys/unix"
)

// The watcher notices traffic that nobody polls for: the program computes, or its thread sleeps inside MPI.
//
// All sockets, but for one while it is busy (apart.go), are in an inner epoll, level-triggered. The inner epoll is in
// an outer one, with EPOLLONESHOT: once the outer has fired it says nothing more until it is armed again, and packets
// for a program that polls wake nobody. A goroutine waits for the outer in Go's netpoller. When it fires, and nobody
// polls, the goroutine calls wake: the engine takes its lock and polls. That is all the watcher ever does.
//
// Who arms. A thread that is going to sleep calls Arm. When nobody calls it (the program went off to
// compute), the watcher arms by itself:
//   - after its own wake, at once, if wake has polled;
//   - after an event that came while the program was polling (Poll has been called since the arming), when
//     a period passes without Poll: 1 ms, doubled up to 8 ms as long as Poll is being called. The watcher
//     does not wake the engine for such an event: the poller sees it. If the last Poll has left an
//     acknowledgement to be sent (owes), the watcher wakes the engine when it arms, in both cases.
//
// A timer may run out, too, when something that has gathered is to leave (gather.go): the watcher wakes the engine.
//
// Who disarms. An event that the poller takes before the watcher's thread runs is no event: epoll looks again,
// and waits on, armed, to be scheduled in vain for the next packet, and the next. So a Poll that finds
// something well after the arming disarms, and kicks the watcher into waiting by the timer.
// So a program that polls pays for one timer in 8 ms, and an idle one sits armed and pays nothing.
//
// No wake-up is lost:
//   - Arming is EPOLL_CTL_MOD, with which the kernel looks at the state of the inner epoll, and so at
//     its sockets. Traffic between a thread's last Poll and its Arm fires at once; later traffic fires when
//     it comes. There is no gap between the two.
//   - armed is true from before the MOD until the watcher has seen the event, or the kick that follows a
//     disarming: while it is true, either the outer is armed or the watcher is about to look.
//   - Arm does nothing if armed is already true. Either that arming has not fired; then it covers the
//     caller. Or it has fired, or was undone, and the watcher is about to clear armed; it may have fired for something
//     that was polled long ago, and what comes next would find the outer disarmed. So the caller first sets
//     asleep and then looks at armed again: if it is still true, then the watcher's clearing comes after,
//     and after clearing the watcher looks at asleep, wakes, and arms anew. If not, Arm starts over.
//     (All of these are sequentially consistent atomics.)
//   - Pipes (pipes.go) ring only for who has asked them to. Each call of Arm asks, before anything else, and the
//     caller's poll after it sees what came before. When the watcher arms by itself, it looks (pending). A poll that
//     takes the bells while armed is true asks anew.
//   - After a disarming, or an event left to the poller, the outer is disarmed until the next arming. Who
//     goes to sleep in that time calls Arm. Who slept before is served by the poller, and when that goes
//     off to compute without a word, by the timer.
type watch struct {
	inner, outer int
	sleeper      *os.File // owns outer
	conn         syscall.RawConn
	look         func(uintptr) bool // asks outer, for conn; answers into the next two
	events       [3]unix.EpollEvent
	n            int
	kicker       int          // an eventfd: look at stopped, or take it that a Poll has disarmed
	timer        atomic.Int32 // a timerfd; -1 until it is needed. Written under mu
	wake         func()

	doze []*pipe.End // ring only for who has asked them to. Complete before the first arming
	rung atomic.Bool // the watcher has seen an event that no poll has looked for

	apart atomic.Int32 // the socket that is not in inner for the time being (apart.go); -1: none. Written under mu
	host  int32        // and the host it leads to

	quietMin, quietMax time.Duration // see above; tests have others

	polls   atomic.Uint64 // how often Poll was called
	at      atomic.Uint64 // polls at the last arming
	armed   atomic.Bool
	expired atomic.Bool // the timer has run out, and no Poll has followed
	asleep  atomic.Bool // a thread has relied on an arming that was already there
	owes    atomic.Bool // the last Poll has left something to be sent by the next: no arming, but a wake is due

	mu      sync.Mutex // guards the descriptors against reuse; not taken on the hot path
	running bool
	stopped bool
	done    chan struct{} // closed when the goroutine has ended
}

// newWatch makes a watcher of inner, which stays the caller's. Its goroutine is not running yet.
func newWatch(inner int, wake func()) (*watch, error) {
	outer, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(outer, true); err != nil { // for os.NewFile to give it to the netpoller
		unix.Close(outer)
		return nil, err
	}
	sleeper := os.NewFile(uintptr(outer), "epoll")
	conn, err := sleeper.SyscallConn()
	if err != nil {
		sleeper.Close()
		return nil, err
	}
	kicker, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		sleeper.Close()
		return nil, err
	}
	w := &watch{inner: inner, outer: outer, sleeper: sleeper, conn: conn, kicker: kicker, wake: wake,
		done:     make(chan struct{}),
		quietMin: time.Millisecond, quietMax: 8 * time.Millisecond}
	w.apart.Store(-1)
	w.timer.Store(-1)
	w.look = func(uintptr) bool {
		w.n = kernel.Ready(w.outer, w.events[:])
		return w.n > 0
	}
	err = unix.EpollCtl(outer, unix.EPOLL_CTL_ADD, kicker, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(kicker)})
	if err == nil {
		err = unix.EpollCtl(outer, unix.EPOLL_CTL_ADD, inner, &unix.EpollEvent{Events: unix.EPOLLONESHOT, Fd: int32(inner)})
	}
	if err != nil {
		w.release()
		return nil, err
	}
	return w, nil
}

// polled notes a call of Poll. Calls are serial.
func (w *watch) polled() { w.polls.Store(w.polls.Load() + 1) }

// enough is how many polls after an arming show that the program is polling, and not just waking up.
const enough = 8

// found notes that a Poll has found something.
func (w *watch) found() {
	if !w.armed.Load() || w.polls.Load()-w.at.Load() < enough {
		return
	}
	w.at.Store(w.polls.Load()) // not again until the watcher has looked
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.mod(unix.EPOLLONESHOT)
		w.kick()
	}
}

func (w *watch) mod(events uint32) {
	unix.EpollCtl(w.outer, unix.EPOLL_CTL_MOD, w.inner, &unix.EpollEvent{Events: events, Fd: int32(w.inner)})
}

func (w *watch) kick() {
	one := [8]byte{7: 1}
	unix.Write(w.kicker, one[:])
}

// arm makes sure that what is there to be polled, or comes from now on, wakes the engine.
func (w *watch) arm() {
	for _, p := range w.doze {
		p.Arm()
	}
	for w.armed.Swap(true) {
		w.asleep.Store(true)
		if w.armed.Load() {
			return
		}
	}
	w.at.Store(w.polls.Load())
	w.start()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopped:
	case w.restore():
		w.mod(unix.EPOLLIN | unix.EPOLLONESHOT)
	default: // until it can be put back, the watcher looks after it
		w.asleep.Store(true)
		w.kick()
	}
}

// start runs the goroutine, at the first call.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin()
}

// begin is start under mu.
func (w *watch) begin() {
	if !w.running && !w.stopped {
		w.running = true
		go w.run()
	}
}

// remind has the engine woken so long from now, once; 0: not after all. False: that cannot be.
func (w *watch) remind(after time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begin(); w.stopped {
		return false
	}
	if w.timer.Load() < 0 && !w.openTimer() {
		return false
	}
	w.expired.Store(false)
	return kernel.SetTimer(int(w.timer.Load()), after) == 0
}

// openTimer makes the timer. Edge-triggered, it need not be read: each setting makes a new edge.
func (w *watch) openTimer() bool {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return false
	}
	w.timer.Store(int32(fd))
	if err := unix.EpollCtl(w.outer, unix.EPOLL_CTL_ADD, fd,
		&unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}); err != nil {
		w.timer.Store(-1)
		unix.Close(fd)
		return false
	}
	return true
}

// stop ends the goroutine, soon: it may be inside wake, waiting for a lock of the caller's.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.stopped = true
	if !w.running {
		w.release()
		close(w.done)
		return
	}
	w.kick()
}

func (w *watch) release() {
	w.sleeper.Close()
	unix.Close(w.kicker)
	if fd := w.timer.Load(); fd >= 0 {
		unix.Close(int(fd))
	}
}

// run is the goroutine.
func (w *watch) run() {
	defer close(w.done)
	defer w.release()
	quiet := w.quietMin
	seen := w.polls.Load()
	for {
		event, kicked, timed, stop := w.wait(quiet)
		if timed && !stop {
			seen = w.remember(seen)
		}
		switch {
		case stop:
			return
		case event || kicked:
			quiet = w.quietMin
			w.rung.Store(true)
			w.armed.Store(false)
			seen = w.polls.Load()
			if w.asleep.Swap(false) || !kicked && seen == w.at.Load() {
				w.wake()
				if w.polls.Load() != seen {
					w.rearm()
				}
			}
		case timed || w.armed.Load():
		case w.polls.Load() == seen:
			w.rearm()
		default:
			seen = w.polls.Load()
			quiet = min(2*quiet, w.quietMax)
		}
	}
}

// remember wakes the engine for what has gathered. Its poll does not count as the program's.
func (w *watch) remember(seen uint64) uint64 {
	before := w.polls.Load()
	w.expired.Store(true)
	w.wake()
	after := w.polls.Load()
	w.at.CompareAndSwap(before, after)
	return seen + after - before
}

// rearm arms for a program that does not poll: what the last Poll has left to be sent leaves now.
func (w *watch) rearm() {
	if w.arm(); w.owes.Load() || w.pending() {
		w.wake()
	}
}

// pending reports whether a pipe has something that it may not have rung for: it came before the arming.
func (w *watch) pending() bool {
	for _, p := range w.doze {
		if p.Pending() {
			return true
		}
	}
	return false
}

// wait sleeps until the outer epoll fires, or there is a kick: for ever if it is armed, otherwise for the
// time given. It sleeps in Go's netpoller and not in a system call of its own: after each of those Go's
// monitor thread looks around every 20 us for some milliseconds, on a core that the program spins on.
func (w *watch) wait(quiet time.Duration) (event, kicked, timed, stop bool) {
	deadline := time.Time{}
	if !w.armed.Load() {
		deadline = time.Now().Add(quiet)
	}
	err := w.sleeper.SetReadDeadline(deadline)
	if err == nil {
		err = w.conn.Read(w.look)
	}
	if err != nil {
		return false, false, false, !errors.Is(err, os.ErrDeadlineExceeded)
	}
	for _, e := range w.events[:w.n] {
		switch e.Fd {
		case int32(w.inner):
			event = true
		case w.timer.Load():
			timed = true
		default:
			kicked, stop = true, w.kicked()
		}
	}
	return event, kicked, timed, stop
}

// kicked takes a kick, and reports whether it was the last.
func (w *watch) kicked() (stop bool) {
	var count [8]byte
	unix.Read(w.kicker, count[:])
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}
