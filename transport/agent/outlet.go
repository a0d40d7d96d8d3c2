package agent

import (
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// outlet is the outgoing direction of one link. What the kernel does not take at once is copied to the queue, and waits
// until epoll says that there is room. While more than the limit waits, links that bring more for this outlet are
// stalled: they are not read.
type outlet struct {
	queue   []byte // queue[off:] waits
	off     int
	last    bool // no more will come: close our direction when all is written
	ended   bool // nothing more can be written, or will: what comes is dropped
	stalled []*link

	debtor *link // the rest of a packet, which comes before the queue, stands in the ring of this process (unbuffered.go)
	writer *link // a packet of this host's is coming into the process's ring
}

func (o *outlet) waits() int {
	n := len(o.queue) - o.off
	if o.debtor != nil {
		n += o.debtor.in.owed
	}
	return n
}

// offer sends whole packets that link from has brought, behind all earlier ones. b is not kept. It returns false if too
// much waits already; then nothing was sent, and from is stalled.
func (a *Agent) offer(to *link, b []byte, from *link) bool {
	if len(b) == 0 || to == nil {
		return true
	}
	if to.out.waits() > a.config.Limit {
		from.stalled = true
		to.out.stalled = append(to.out.stalled, from)
		return false
	}
	countAll(from, to, b)
	a.put(to, b)
	return true
}

// put sends whole packets behind all earlier ones, without regard to the limit. b is not kept.
func (a *Agent) put(l *link, b []byte) {
	o := &l.out
	if o.ended || o.last {
		return
	}
	if o.writer != nil {
		o.writer.in.evict()
	}
	if o.waits() == 0 {
		n, ok := a.write(l, b)
		if !ok || n == len(b) {
			return
		}
		b = b[n:]
		a.interest(l, true)
	}
	o.queue = append(o.queue, b...)
}

// write writes a prefix of b and returns its length. It returns false if the link is broken; then the outlet has ended.
func (a *Agent) write(l *link, b []byte) (n int, ok bool) {
	for n < len(b) {
		var k int
		var errno syscall.Errno
		switch {
		case l.pipe != nil:
			k, errno = l.pipe.Write(b[n:], nil, nil)
		case l.many != nil:
			k, errno = l.many.Send(b[n:], nil, nil)
		default:
			k, errno = kernel.Send(l.fd, b[n:])
		}
		switch errno {
		case 0:
			n += k
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
			return n, true
		default:
			a.breakOff(l)
			return n, false
		}
	}
	return n, true
}

// flush writes what waits.
func (a *Agent) flush(l *link) {
	o := &l.out
	if o.ended || o.waits() == 0 || !a.pay(l) {
		return
	}
	n, ok := a.write(l, o.queue[o.off:])
	if !ok {
		return
	}
	o.off += n
	switch {
	case o.off == len(o.queue):
		o.queue, o.off = o.queue[:0], 0
		if cap(o.queue) > bufferMin {
			o.queue = nil
		}
		a.interest(l, false)
		if o.last {
			a.halve(l)
		}
	case o.off > len(o.queue)/2:
		o.queue = o.queue[:copy(o.queue, o.queue[o.off:])]
		o.off = 0
	}
	if o.waits() <= a.config.Limit {
		a.resume(o)
	}
}

// resume lets the links that were stalled by an outlet go on.
func (a *Agent) resume(o *outlet) {
	for _, l := range o.stalled {
		l.stalled = false
		a.activate(l)
	}
	clear(o.stalled)
	o.stalled = o.stalled[:0]
}

// finish closes our direction when all is written.
func (a *Agent) finish(l *link) {
	if l.out.last || l.out.ended {
		return
	}
	l.out.last = true
	if l.out.writer != nil {
		l.out.writer.in.evict()
	}
	if l.out.waits() == 0 {
		a.halve(l)
	}
}

func (a *Agent) halve(l *link) {
	switch {
	case l.many != nil:
		l.many.CloseWrite()
	case l.pipe != nil:
		l.pipe.CloseWrite()
	default:
		unix.Shutdown(l.fd, unix.SHUT_WR)
	}
	l.out.ended = true
	a.settle(l)
}

// breakOff gives up writing to a link. What the peer has sent is still read to its end, which decides whether it is
// lost.
func (a *Agent) breakOff(l *link) {
	l.out.ended = true
	l.out.queue, l.out.off = nil, 0
	if l.out.debtor != nil {
		a.paid(&l.out, l.out.debtor.in.owed)
	}
	if l.out.writer != nil {
		l.out.writer.in.evict()
	}
	if l.many != nil {
		l.many.GiveUp()
	}
	a.resume(&l.out)
	a.settle(l)
}
