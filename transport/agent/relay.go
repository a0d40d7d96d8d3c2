package agent

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// The loop. epoll is edge-triggered (EPOLLET): it reports arrivals once, and a link stays active until a read has found
// nothing more. Each round reads one buffer from every active link, so that no link starves another.

// poller is epoll, and how the loop waits for it.
type poller struct {
	epoll   int
	sleeper *os.File // owns epoll
	conn    syscall.RawConn
	look    func(uintptr) bool // asks epoll, for conn; answers into the next two
	pipes   []*link
	events  [64]unix.EpollEvent
	n       int
	kicker  int // an eventfd that wakes the loop when Agent.closed or link.doomed has been set
	budget  time.Duration
	vec     kernel.Vector
}

// A loop that finds nothing polls on for a time between these bounds before it sleeps. The time is long while polling
// pays, because a sleep and a wake-up cost more than relaying a packet, and short while it does not.
const (
	shortSpin = 50 * time.Microsecond
	longSpin  = 2 * time.Millisecond
)

const (
	interestIn = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET
	kicked     = -1 // in an event in place of a link's number: the kicker
)

// start makes a poller of links; an event's descriptor is the number of the link.
func (p *poller) start(links []*link) (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	p.budget = longSpin
	p.look = func(uintptr) bool {
		p.n = kernel.Ready(p.epoll, p.events[:])
		return p.n > 0
	}
	if p.kicker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(p.epoll)
		return os.NewSyscallError("eventfd", err)
	}
	err = unix.SetNonblock(p.epoll, true) // for os.NewFile to give it to the netpoller
	p.sleeper = os.NewFile(uintptr(p.epoll), "epoll")
	if err == nil {
		p.conn, err = p.sleeper.SyscallConn()
	}
	if err == nil {
		err = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.kicker, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: kicked})
	}
	for i, l := range links {
		if l.many != nil {
			err = errors.Join(err, l.many.Register(p.epoll, int32(i), unix.EPOLLIN|unix.EPOLLET))
		} else {
			err = errors.Join(err,
				unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, l.fd, &unix.EpollEvent{Events: interestIn, Fd: int32(i)}))
		}
		l.number = int32(i)
	}
	if err != nil {
		p.stop()
		return os.NewSyscallError("epoll", err)
	}
	return nil
}

func (p *poller) stop() {
	p.sleeper.Close()
	unix.Close(p.kicker)
}

func (p *poller) kick() {
	one := [8]byte{7: 1}
	unix.Write(p.kicker, one[:])
}

func (p *poller) unkick() {
	var count [8]byte
	unix.Read(p.kicker, count[:])
}

// interest says whether a link waits for room.
func (p *poller) interest(l *link, room bool) {
	if l.many != nil || l.pipe != nil {
		return // they look for room themselves
	}
	events := uint32(interestIn)
	if room {
		events |= unix.EPOLLOUT
	}
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_MOD, l.fd, &unix.EpollEvent{Events: events, Fd: l.number})
}

// yieldEvery is after how many polls and rounds the loop lets the process's other goroutines run.
const yieldEvery = 64

// wait returns when epoll has an event, or a pipe has data or room.
func (p *poller) wait() {
	start := time.Now()
	for polls := 1; ; polls++ {
		if p.pending() || p.look(0) {
			p.budget = min(2*p.budget, longSpin)
			return
		}
		if polls%yieldEvery == 0 {
			runtime.Gosched()
		}
		if polls%8 == 0 && time.Since(start) > p.budget {
			break
		}
		kernel.Yield()
	}
	p.budget = max(p.budget/2, shortSpin)
	for _, l := range p.pipes {
		l.pipe.Arm()
	}
	if !p.pending() {
		p.conn.Read(p.look)
	}
	for _, l := range p.pipes {
		l.pipe.Disarm()
	}
}

// pending reports whether any pipe has data, or room that was waited for.
func (p *poller) pending() bool {
	for _, l := range p.pipes {
		if l.fd >= 0 && (l.pipe.Granted() || l.brings()) {
			return true
		}
	}
	return false
}

// brings reports whether a process's pipe has something that the loop can act on now.
func (l *link) brings() bool {
	return !l.stalled && !l.in.ended && l.in.owed == 0 && l.pipe.Holds(l.in.wants)
}

// scan activates the links whose pipes have data or room.
func (a *Agent) scan() {
	for _, l := range a.pipes {
		if l.fd < 0 {
			continue
		}
		if l.pipe.Room() && l.out.waits() > 0 {
			l.writable = true
			a.activate(l)
		}
		if !l.readable && l.brings() {
			l.readable = true
			a.activate(l)
		}
	}
}

// run is the loop.
func (a *Agent) run() {
	defer close(a.finished)
	a.mu.Lock()
	for rounds := 1; a.running > 0 && !a.closed; rounds++ {
		if len(a.news) > 0 || len(a.active) == 0 || a.asking.Load() > 0 {
			a.mu.Unlock()
			a.tell()
			if len(a.active) == 0 {
				a.wait()
			}
			a.mu.Lock()
		} else {
			a.look(0)
		}
		if rounds%yieldEvery == 0 {
			runtime.Gosched()
		}
		a.mark()
		a.scan()
		a.round()
	}
	quiet := a.closed
	for _, l := range a.links {
		a.shut(l)
	}
	a.over = true
	a.stop()
	a.mu.Unlock()
	if !quiet {
		a.tell()
	}
}

// tell calls Config.Lost and Config.Warn with what has happened. mu must not be held.
func (a *Agent) tell() {
	for _, f := range a.news {
		f()
	}
	a.news = nil
}

// mark activates the links that epoll has reported.
func (a *Agent) mark() {
	for _, e := range a.events[:a.n] {
		if e.Fd == kicked {
			a.unkick()
			a.giveUp()
			continue
		}
		l := a.links[e.Fd]
		if l.pipe != nil {
			l.pipe.Signal()
		}
		if e.Events&unix.EPOLLOUT != 0 {
			l.writable = true
			if l.many != nil && l.many.Writable(int(e.Pad)) != 0 {
				a.breakOff(l)
			}
		}
		if e.Events&^unix.EPOLLOUT != 0 {
			l.readable = true
		}
		if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			l.hup = true
		}
		a.activate(l)
	}
	a.n = 0
}

// activate gives a link its turn in the next round.
func (a *Agent) activate(l *link) {
	if !l.waiting && l.fd >= 0 {
		l.waiting = true
		a.active = append(a.active, l)
	}
}

// round serves the active links.
func (a *Agent) round() {
	now := a.active
	a.active = a.spare[:0]
	for _, l := range now {
		l.waiting = false
		a.serve(l)
	}
	clear(now)
	a.spare = now[:0]
}

// serve writes what there is room for, passes on what has waited, and reads.
func (a *Agent) serve(l *link) {
	if l.writable || l.hup {
		l.writable = false
		a.flush(l)
	}
	if !l.stalled && l.in.w > 0 && !l.in.ended {
		a.pass(l)
	}
	if !l.stalled && l.readable && !l.in.ended && l.in.owed == 0 {
		a.read(l)
	}
	if l.readable && !l.stalled && !l.in.ended && l.in.owed == 0 {
		a.activate(l)
	}
}
