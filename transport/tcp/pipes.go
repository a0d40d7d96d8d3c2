package tcp

import (
	"fmt"

	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/pipe"
)

// Links that are pipes: those of a process to its agent. Its rings are looked at with each poll. The socket of a pipe
// brings what epoll is for, a ring of the bell for who sleeps, and the end of the stream; a poll looks there when the
// watcher has been rung out of its sleep, when somebody is about to sleep, and now and then.

// glanceEvery is how many polls in vain go with one look at the sockets.
const glanceEvery = 256

// open makes the pipe of a link that is to have one.
func (h *Host) open(l *link, is bool) error {
	if !is {
		return nil
	}
	e, err := pipe.Open(l.fd)
	if err != nil {
		return fmt.Errorf("the agent: %w", err)
	}
	l.pipe = e
	h.pipes = append(h.pipes, l)
	h.watch.doze = append(h.watch.doze, e)
	return nil
}

// pollPipes is poll where links are pipes.
func (h *Host) pollPipes() bool {
	did := false
	for _, l := range h.pipes {
		if h.serve(l) {
			did = true
		}
	}
	if did {
		h.streak = 0
		return true
	}
	if h.streak++; h.streak%glanceEvery == 0 || h.watch.rung.Load() || h.watch.armed.Load() {
		h.watch.rung.Store(false)
		if h.epoll >= 0 {
			h.sweep(kernel.Ready(h.epoll, h.events[:]))
		}
		for _, l := range h.pipes {
			if h.serve(l) {
				did = true
			}
		}
	}
	return did
}

// signalled takes the bells of a link, and answers for those that ring no more.
func (h *Host) signalled(l *link) {
	l.pipe.Signal()
	if h.watch.armed.Load() {
		l.pipe.Arm()
	}
}

// serve writes what has waited for room, and reads.
func (h *Host) serve(l *link) bool {
	did := false
	if l.pipe.Room() && l.blocked {
		h.flush(l)
		did = true
	}
	return !l.ended && h.read(l) || did
}

// doze has the pipes ring for who waits for epoll. It reports whether there is no need to wait.
func (h *Host) doze() bool {
	for _, l := range h.pipes {
		if l.ended {
			continue
		}
		if l.pipe.Arm(); l.pipe.Pending() {
			return true
		}
	}
	return false
}
