package tcp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// The end (IMPI 0.0, 3.8). On every link, in this order:
//
//	what waits in out -> FINI -> the peer's FINI -> half-close -> the peer's end of stream -> close
//
// Until the peer's FINI its messages are read, acknowledged and thrown away; a DATASYNC gets its SYNCACK and
// a CANCEL a CANCELNO, so that nobody waits for us. The half-close, and reading to the end, are because
// closing a socket with unread acknowledgements in it resets the connection, and a reset can overtake and
// destroy our FINI. A peer that closes as soon as both FINIs are through is welcome to.
//
// A host of libimpi need not wait until the others come to their end: another of libimpi that goes on answers its FINI
// at once, for nothing that is sent there from now on has a receiver. Other implementations answer when they finish.

// linger is how long Finish waits for the end of streams on which both FINIs are through: the job is done,
// only good manners are left.
const linger = 2 * time.Second

// maxReplies bounds the answers that wait for a peer which asks without end and acknowledges nothing.
const maxReplies = 1 << 16

// Finish ends the use of all connections in order. It is called when all local processes are done and the
// engine has nothing left to send; no Deliver or Lost comes from it. It blocks until every other host has
// finished too, or until the deadline. The error names the hosts that terminated abnormally while it waited,
// or did not finish in time. The Host is closed in any case.
func (h *Host) Finish(deadline time.Time) error {
	if h.epoll < 0 {
		return nil
	}
	h.finishing = true
	h.watch.stop()
	h.watch.putBack()
	h.guard.end()
	h.openAll()
	for _, l := range h.links {
		if l != nil && !l.ended && !l.finiOut {
			h.sayFini(l)
		}
	}
	for {
		waiting := h.halve()
		if h.nopen == 0 {
			break
		}
		until := deadline
		if soon := time.Now().Add(linger); waiting == 0 && soon.Before(until) {
			until = soon
			deadline = soon
		}
		if !h.await(until) {
			break
		}
	}
	for _, l := range h.links {
		if l != nil && !l.ended && !l.halved {
			h.lose(l.host, errors.New("has not finished in time"))
		}
	}
	h.closeAll()
	return errors.Join(h.failures...)
}

// Abort ends the use of all connections at once, without FINI, so that every other host sees that this one
// terminated abnormally. It does not block, and may be called from Deliver or Lost.
func (h *Host) Abort() {
	if h.epoll < 0 {
		return
	}
	h.watch.stop()
	h.guard.end()
	h.closeAll()
}

// Departed implements transport.Departer: the process's host has said FINI.
func (h *Host) Departed(peer int32) bool {
	l := h.links[h.job.Procs[peer].Host]
	return l != nil && l.fini
}

func (h *Host) sayFini(l *link) {
	l.finiOut = true
	if l.broken != nil {
		return
	}
	fini := transport.Header{Kind: transport.Fini}
	l.put(l.reserve(l.headSize(&fini)), &fini, &wire.ProcID{}, &wire.ProcID{}, false)
	if !l.blocked {
		h.flush(l)
	}
}

// halve half-closes the links on which both FINIs are through, and counts those on which they are not.
func (h *Host) halve() (waiting int) {
	for _, l := range h.links {
		if l == nil {
			continue
		}
		if h.tell(l); l.ended || l.halved {
			continue
		}
		if !l.fini || l.off < len(l.out) || l.many != nil && l.many.Pending() {
			waiting++
			continue
		}
		h.closeWrite(l)
	}
	return waiting
}

// closeWrite ends the direction of a link in which nothing more goes.
func (h *Host) closeWrite(l *link) {
	l.halved = true
	switch {
	case l.pipe != nil:
		l.pipe.CloseWrite()
	case l.many == nil:
		unix.Shutdown(l.fd, unix.SHUT_WR)
	default:
		l.many.CloseWrite()
		h.noteFull(l)
	}
}

// errLeft is why nothing more is written to a host that has finished.
var errLeft = errors.New("the host has finished")

// answerFini parts from a host of libimpi that has said FINI, while we go on. Hosts that part one by one (part.go) are
// parted from when the engine says so.
func (h *Host) answerFini(l *link) {
	if h.finishing || h.finished != nil || !h.job.Hosts[l.host].SameImpl || h.farewell(l) {
		return
	}
	h.leaving = append(h.leaving, l)
	h.guard.due.Store(true)
}

// answerFinis goes on with the answers for which there was no room.
func (h *Host) answerFinis() {
	h.leaving = slices.DeleteFunc(h.leaving, h.farewell)
	if len(h.leaving) > 0 {
		h.guard.due.Store(true)
	}
}

// farewell says FINI and half-closes a link whose peer has said it. It returns false if it has to be called again.
func (h *Host) farewell(l *link) bool {
	if l.closed() {
		return true
	}
	if !l.finiOut {
		if l.blocked || l.owed > 0 {
			return false
		}
		h.sayFini(l)
	}
	if l.off < len(l.out) || l.many != nil && l.many.Pending() {
		return false
	}
	if l.broken == nil {
		h.closeWrite(l)
		l.broken = errLeft
	}
	return true
}

// await serves the sockets once when something happens. False: the time is over.
func (h *Host) await(until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return false
	}
	wait := int(min(left, time.Hour)/time.Millisecond) + 1
	if h.doze() {
		wait = 0
	}
	n, err := unix.EpollWait(h.epoll, h.events[:], wait)
	if err != nil {
		return err == unix.EINTR
	}
	h.sweep(n)
	for _, l := range h.pipes {
		h.serve(l)
	}
	for _, l := range h.links {
		if l != nil && len(l.replies) > 0 {
			h.reply(l)
		}
	}
	h.settle(true)
	return true
}

// discard throws away a packet that nobody will ask for, and sees that its sender does not wait.
func (h *Host) discard(l *link, hd *transport.Header) {
	answer := transport.Header{Src: hd.Dst, Dst: hd.Src, SrqID: hd.SrqID}
	switch hd.Kind {
	case transport.DataSync:
		answer.Kind = transport.SyncAck
	case transport.Cancel:
		answer.Kind = transport.CancelNo
	default:
		return
	}
	if len(l.replies) == maxReplies {
		h.end(l, fmt.Errorf("protocol error: %d answers not acknowledged", maxReplies))
		return
	}
	l.replies = append(l.replies, answer)
	h.reply(l)
}

// reply sends the answers that windows and socket have room for. Who has finished needs none.
func (h *Host) reply(l *link) {
	k := 0
	for k < len(l.replies) && (l.fini || h.Send(&l.replies[k], nil)) {
		k++
	}
	if k > 0 {
		l.replies = l.replies[:copy(l.replies, l.replies[k:])]
	}
}

func (h *Host) closeAll() {
	for _, l := range h.links {
		if l != nil {
			h.close(l)
			l.ended = true
		}
	}
	h.nopen, h.nblocked, h.hot = 0, 0, nil
	unix.Close(h.epoll)
	h.epoll = -1
}
