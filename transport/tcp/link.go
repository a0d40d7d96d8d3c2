package tcp

import (
	"fmt"
	"io"
	"math"
	"syscall"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bundle"
	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/pipe"
	"golang.org/x/sys/unix"
)

// link is the socket to the host of another client, or several that are one stream (transport/bundle).
//
// Outward, a packet goes from the caller's memory to the kernel in one call; short ones of a batch (Hold, Poll) gather
// in out and leave together. If the kernel takes a part, the rest is copied to out and the link is blocked: nothing but
// PROTOACKs is accepted until epoll says that there is room. So out holds at most one batch, the rest of one packet,
// and PROTOACKs. The queues are the engine's, one a pair.
type link struct {
	inbound
	host    int32
	fd      int            // -1: closed
	many    *bundle.Bundle // the link has several sockets, and fd is the first; nil: one
	pipe    *pipe.End      // the link is a pipe, and fd its socket; nil: it is not
	full    bool           // one of them takes no more: counted in Host.nblocked
	blocked bool
	ended   bool   // nothing more can come: the connection is lost, or the peer closed it after its FINI
	out     []byte // out[off:] waits for the kernel; unless blocked, only while Poll handles a batch
	off     int
	maxOut  int    // no peer that keeps to the rules lets more than this wait in out
	owed    int    // bytes of a continuation in the sender's memory: they follow out, and late follows them
	owes    int32  // to which process
	late    []byte // PROTOACKs that became due meanwhile
	narrow  bool   // a continuation is to come: read its header, and not much more
	acks    int    // PROTOACKs in out, if there is nothing else in it
	idle    int    // polls that brought nothing since the first of them
	dirty   bool   // stands in Host.dirty
	burst   burst
	broken  error // why writing failed: what is sent from then on is dropped, and reading goes on
	head    [headMax + inlineMax]byte
	vec     kernel.Vector

	forgotten int32 // processes of the host that are lost (Forget)

	finiOut bool               // our FINI is in out, or gone
	halved  bool               // and after the peer's FINI, we have closed our direction
	told    bool               // Options.Finished has been called
	replies []transport.Header // of Finish, waiting for the window
}

// inlineMax is the longest payload, in bytes, that is copied behind its header, which is cheaper than a
// second iovec.
const inlineMax = 512

// closed says that sending on l leads nowhere.
func (l *link) closed() bool { return l.fd < 0 || l.ended || l.broken != nil }

// write sends the packet whose header, of so many bytes, stands in l.head. False: not a byte of it went, nothing has
// changed.
func (h *Host) write(l *link, size int, payload []byte) bool {
	head := l.head[:size]
	if len(payload) <= inlineMax {
		head = l.head[:size+copy(l.head[size:], payload)]
		payload = nil
	}
	waiting := len(l.out) - l.off
	var n int
	var errno syscall.Errno
	if waiting == 0 && len(payload) == 0 && l.many == nil && l.pipe == nil {
		n, errno = kernel.Send(l.fd, head)
	} else {
		n, errno = h.sendParts(l, l.out[l.off:], head, payload)
	}
	if errno != 0 {
		return h.refused(l, errno)
	}
	if n < waiting {
		l.off += n
		h.block(l)
		return false
	}
	n -= waiting
	l.out, l.off, l.acks = l.out[:0], 0, 0
	switch {
	case n == len(head)+len(payload):
		return true
	case n == 0:
		h.block(l)
		return false
	case n < len(head):
		l.out = append(append(l.out, head[n:]...), payload...)
	default:
		l.out = append(l.out, payload[n-len(head):]...)
	}
	h.block(l)
	return true
}

// sendParts writes a prefix of a, b and c, any of which may be empty, but not all.
func (h *Host) sendParts(l *link, a, b, c []byte) (int, syscall.Errno) {
	if l.pipe != nil {
		return l.pipe.Write(a, b, c)
	}
	if l.many == nil {
		return l.vec.Send(l.fd, a, b, c)
	}
	n, errno := l.many.Send(a, b, c)
	h.noteFull(l)
	return n, errno
}

// noteFull sees that epoll is asked as long as a socket of several has something left.
func (h *Host) noteFull(l *link) {
	if full := l.many.Full(); full != l.full {
		l.full = full
		if full {
			h.nblocked++
		} else {
			h.nblocked--
		}
	}
}

// room takes epoll's word that socket k of several has room.
func (h *Host) room(l *link, k int32) {
	if l.closed() && l.broken != errLeft { // the end of several takes room, too
		return
	}
	if errno := l.many.Writable(int(k)); errno != 0 {
		h.refused(l, errno)
	}
	h.noteFull(l)
}

// refused handles a write that failed. It reports whether the packet counts as sent.
func (h *Host) refused(l *link, errno syscall.Errno) bool {
	switch errno {
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
		h.block(l)
		return false
	}
	h.breakOff(l, errno)
	return true
}

// breakOff gives up writing. What the peer has sent before is still read, its FINI perhaps; how the stream
// ends decides what becomes of the connection.
func (h *Host) breakOff(l *link, err error) {
	l.broken = err
	l.out, l.late, l.off, l.acks, l.owed = nil, nil, 0, 0, 0
	if l.many != nil {
		l.many.GiveUp()
		h.noteFull(l)
	}
	h.unblock(l)
}

// flush sends what waits in out. It reports whether the link is open for packets.
func (h *Host) flush(l *link) bool {
	for l.off < len(l.out) {
		var n int
		var errno syscall.Errno
		if l.many == nil && l.pipe == nil {
			n, errno = kernel.Send(l.fd, l.out[l.off:])
		} else {
			n, errno = h.sendParts(l, l.out[l.off:], nil, nil)
		}
		if errno != 0 {
			return h.refused(l, errno)
		}
		l.off += n
	}
	l.out, l.off, l.acks = l.out[:0], 0, 0
	h.unblock(l)
	return true
}

// reserve makes n bytes of room at the end of out and returns them.
func (l *link) reserve(n int) []byte {
	if l.off > 0 {
		l.out = l.out[:copy(l.out, l.out[l.off:])]
		l.off = 0
	}
	end := len(l.out) + n
	if end > cap(l.out) {
		l.out = append(make([]byte, 0, end+end/4), l.out...)
	}
	l.out = l.out[:end]
	return l.out[end-n:]
}

// block asks epoll for news of room.
func (h *Host) block(l *link) {
	if !l.blocked {
		l.blocked = true
		h.nblocked++
		h.interest(l, unix.EPOLLIN|unix.EPOLLOUT)
	}
}

func (h *Host) unblock(l *link) {
	if l.blocked {
		l.blocked = false
		h.nblocked--
		if !l.ended {
			h.interest(l, unix.EPOLLIN)
		}
	}
}

func (h *Host) interest(l *link, events uint32) {
	if l.many != nil || l.pipe != nil {
		return // it looks for room itself
	}
	h.watch.putBack()
	unix.EpollCtl(h.epoll, unix.EPOLL_CTL_MOD, l.fd, &unix.EpollEvent{Events: events, Fd: l.host})
}

// narrowMin is how much is read at a time while a continuation is expected, in bytes: its header, and a short packet
// that may come before; and what is missing of a packet that has begun. What is read beyond the header has to be
// copied.
const narrowMin = 1 << 10

// read takes in what has arrived on l, a buffer full of it at most. It reports whether there was anything.
func (h *Host) read(l *link) bool {
	into, space := l.into(), l.space()
	if l.narrow || into != nil {
		space = space[:min(len(space), l.missing+narrowMin)]
	}
	var n int
	var errno syscall.Errno
	if l.many != nil {
		var err error
		if n, err = l.many.Receive(into, space); err == unix.EAGAIN {
			return false
		} else if err != nil {
			h.end(l, l.inbound.end(err))
			return true
		}
	} else if l.pipe != nil {
		n, errno = l.pipe.Read(into, space)
	} else if into == nil {
		n, errno = kernel.Recv(l.fd, space)
	} else {
		n, errno = l.vec.Receive(l.fd, into, space)
	}
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return false
	case errno != 0:
		h.end(l, l.inbound.end(errno))
	case n == 0:
		h.end(l, l.inbound.end(io.EOF))
	default:
		placed := min(n, len(into))
		l.left -= placed
		l.filled(n - placed)
		h.receive(l)
	}
	return true
}

// receive hands on every whole packet that is there. What it acknowledges, and what the engine answers, leaves
// together at the end of the poll.
func (h *Host) receive(l *link) {
	if l.acks > 0 {
		l.acks++ // one that waited for company: no longer
	}
	for l.fd >= 0 {
		payload, v, err := l.next(&h.in)
		if err == nil && v == deliverAck {
			err = h.acknowledge(l, h.in.Dst, h.in.Src)
		}
		if err != nil {
			h.end(l, fmt.Errorf("protocol error: %w", err))
			return
		}
		switch v {
		case incomplete:
			return
		case settled:
		case begun:
			l.narrow = false
			h.begin(l)
		case farewell:
			h.answerFini(l)
		default:
			if h.in.Kind == transport.Data && uint64(h.in.Len) < h.in.MsgLen {
				l.narrow = false
			}
			h.take(l, &h.in, payload)
		}
	}
}

// begin finds the place of a continuation that has begun.
func (h *Host) begin(l *link) {
	if h.placer == nil || l.finiOut {
		return
	}
	if memory := h.placer.Place(&h.in); len(memory) == h.in.Len {
		l.place(memory)
	}
}

// acknowledge puts a PROTOACK from our process ours to theirs behind what waits in out. One that cannot leave
// because the peer does not read is for packets that the peer may not have sent: see maxOut.
//
// One that is alone may wait for a packet to go with, if the peer's window lets at least one more packet come: when
// that has come, the acknowledgement leaves in any case. So the peer never waits for it.
func (h *Host) acknowledge(l *link, ours, theirs int32) error {
	if l.broken != nil || l.halved {
		return nil
	}
	if len(l.out)-l.off+len(l.late) > l.maxOut {
		return fmt.Errorf("%w (%d)", errOverrun, h.flow.hiWater)
	}
	l.tally.acksOut++
	if l.owed > 0 {
		l.late = h.appendAck(l, l.late, ours, theirs)
		return nil
	}
	alone := l.off == len(l.out) && h.flow.ackMark < h.flow.hiWater
	l.reserve(0)
	l.out = h.appendAck(l, l.out, ours, theirs)
	if alone {
		l.acks, l.idle = 1, 0
	} else if l.acks > 0 {
		l.acks++
	}
	h.gather(l)
	return nil
}

// maxOut is the rest of one packet, and all acknowledgements that can be due at a time: a pair has no more
// than hiWater packets unacknowledged, one PROTOACK for each ackMark of them.
func maxOut(job *transport.Job, pairs int) int {
	acks := min(uint64(pairs)*uint64(job.HiWater/job.AckMark+1), math.MaxInt32)
	return 2*headMax + batchMax + gatherMax + int(min(uint64(job.MaxDataLen), math.MaxInt32)) + int(acks)*headMax
}

// end handles the end of the stream. err nil: the peer had said FINI. Otherwise its processes are lost.
func (h *Host) end(l *link, err error) {
	if l.many == nil {
		h.watch.forget(l.fd)
		unix.EpollCtl(h.epoll, unix.EPOLL_CTL_DEL, l.fd, nil)
	} else {
		l.many.Unregister()
	}
	l.ended = true
	h.nopen--
	h.unblock(l)
	if h.hot == l {
		h.hot = nil
	}
	if l.finiOut && l.fini {
		err = nil
	}
	if err == nil {
		return
	}
	if l.broken != nil && l.broken != err {
		err = fmt.Errorf("%w (sending failed before: %w)", err, l.broken)
	}
	h.close(l)
	h.lose(l.host, err)
}

// close gives the socket back. Its far end learns of it even if a forked child has a copy.
func (h *Host) close(l *link) {
	if l.fd < 0 {
		return
	}
	h.ended += l.retransmitted()
	switch {
	case l.pipe != nil:
		l.pipe.Close()
	case l.many == nil:
		h.watch.forget(l.fd)
		unix.Shutdown(l.fd, unix.SHUT_RDWR)
		unix.Close(l.fd)
	default:
		l.many.Close()
		l.many.GiveUp()
		h.noteFull(l)
	}
	l.fd = -1
	l.buf, l.out, l.late, l.replies, l.whole = nil, nil, nil, nil, nil
	l.r, l.w, l.off, l.acks, l.owed, l.left, l.after = 0, 0, 0, 0, 0, 0, incomplete
}
