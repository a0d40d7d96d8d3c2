package agent

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// A link's buffer holds some packets, and at least one, in bytes.
const (
	bufferMin = 64 << 10
	bufferMax = 1 << 20
)

func bufferFor(longest uint32) int {
	packet := wire.PacketSize + int(longest)
	return max(bufferMin, min(4*packet, bufferMax), packet+wire.PacketSize)
}

// inbound holds what has arrived on a link and is not passed on: never more than one buffer, whatever a header says.
type inbound struct {
	agent   *Agent
	link    *link
	longest uint32 // continuation, bytes
	buf     []byte
	w       int  // buf[:w] has come
	ended   bool // nothing more will
	narrow  bool // a long packet is expected: read its header, and not much more

	// Long packets (unbuffered.go).
	wants int   // bytes that the pipe is to hold before it is looked at; 0: any
	tries int   // rounds for which the packet that comes next has waited for room
	owed  int   // bytes of a packet, at the beginning of the ring, that its outlet has not taken yet
	to    *link // the packet that begins at buf[0] has its place in the ring of this process; nil: it has none
	got   int   // bytes of that packet that have come; those behind buf[:w] stand in the ring only
	whole int   // its length, in bytes
	aside bool  // the packet that begins at buf[0] is to have none
}

// read passes on what has come from l, a buffer full of it at most.
func (a *Agent) read(l *link) {
	if l.pipe != nil {
		if !a.forward(l) {
			n, errno := l.pipe.Read(l.in.buf[l.in.w:], nil)
			a.took(l, n, len(l.in.buf)-l.in.w, errno)
		}
		return
	}
	in := &l.in
	if in.w >= wire.PacketSize && in.to == nil && !in.aside && !a.aim(l) {
		return
	}
	x, y, buf := in.place()
	switch {
	case l.many != nil:
		a.readMany(l, x, y, buf)
	case in.to == nil:
		n, errno := kernel.Recv(l.fd, buf)
		a.took(l, n, len(buf), errno)
	default:
		n, errno := a.vec.Receive(l.fd, x, y, buf)
		a.took(l, n, len(x)+len(y)+len(buf), errno)
	}
}

// took acts on the answer n, errno of a read of want bytes.
func (a *Agent) took(l *link, n, want int, errno syscall.Errno) {
	switch {
	case errno == unix.EAGAIN:
		l.readable = false
	case errno == unix.EINTR:
	case errno != 0:
		a.ended(l, l.in.end(errno))
	case n == 0:
		a.ended(l, l.in.end(io.EOF))
	default:
		l.readable = l.hup || n == want // a stream that gave less has no more
		l.in.arrived(n)
		a.pass(l)
	}
}

// readMany reads from a link of several sockets. Bundle.Receive fills two runs of memory: x, and then y or, if that is
// empty, buf.
func (a *Agent) readMany(l *link, x, y, buf []byte) {
	if len(y) > 0 {
		buf = y
	}
	switch n, err := l.many.Receive(x, buf); {
	case err == unix.EAGAIN:
		l.readable = false
	case err != nil:
		a.ended(l, l.in.end(err))
	default:
		l.in.arrived(n)
		a.pass(l)
	}
}

// pass passes on what l has brought.
func (a *Agent) pass(l *link) {
	if err := l.in.pass(); err != nil {
		a.ended(l, err)
	}
}

// pass passes on every whole packet that is there, until one finds no room: then the link is stalled. Packets in a row
// for the same outlet go in one piece.
func (in *inbound) pass() error {
	from, at := 0, 0 // buf[from:at] is for to
	var to *link
	var err error
	for err == nil && in.w-at >= wire.PacketSize {
		p := wire.Packet(in.buf[at : at+wire.PacketSize])
		var n int
		if n, err = in.agent.table.length(p, in.longest); err != nil || n > in.w-at {
			break
		}
		var next *link // nil: the packet is ours
		fini := p.Type() == wire.PkFini
		if !fini {
			if next, err = in.next(p); err != nil {
				break
			}
		}
		if next != to {
			if !in.agent.offer(to, in.buf[from:at], in.link) {
				break
			}
			from, to = at, next
		}
		at += n
		in.aside = false
		in.narrow = n >= unbufferedMin || p.Type() <= wire.PkDataSync && uint64(p.Len()) < p.MsgLen()
		if fini {
			from = at
			if !in.link.fini {
				in.agent.finis(in.link)
			}
		}
	}
	if !in.link.stalled && in.agent.offer(to, in.buf[from:at], in.link) {
		from = at
	}
	in.w = copy(in.buf, in.buf[from:in.w])
	if in.link.stalled {
		return nil // the error is reported when the stalled packets have gone
	}
	return err
}

// next is where a packet leaves.
func (in *inbound) next(p wire.Packet) (*link, error) {
	src, dst, err := in.agent.table.route(p, in.link.kind, in.link.peer, in.link.fini)
	if err != nil {
		return nil, err
	}
	l := in.agent.linkTo(src, dst)
	if l == nil {
		return nil, violated("packet for process %d, to whose host there is no connection", dst)
	}
	return l, nil
}

// end returns what the end of the stream means: nil if the peer had finished, else the error by which it is lost.
func (in *inbound) end(cause error) error {
	if n := max(in.w, in.inRing()); n > 0 {
		return fmt.Errorf("connection lost %d bytes into a packet: %w", n, cause)
	}
	if in.link.fini {
		return nil
	}
	if cause == io.EOF {
		return errors.New("connection closed without FINI: the peer terminated abnormally")
	}
	return fmt.Errorf("connection lost: %w", cause)
}
