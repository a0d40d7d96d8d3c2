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

// inbound holds what has come and is not passed on: never more than one buffer, whatever a header says.
type inbound struct {
	agent   *Agent
	link    *link
	longest uint32 // continuation, bytes
	buf     []byte
	w       int  // buf[:w] has come
	ended   bool // nothing more will
}

// read passes on what has come from l, a buffer full of it at most.
func (a *Agent) read(l *link) {
	in := &l.in
	if l.many != nil {
		a.readMany(l)
		return
	}
	var n int
	var errno syscall.Errno
	if l.pipe != nil {
		n, errno = l.pipe.Read(in.buf[in.w:], nil)
	} else {
		n, errno = kernel.Recv(l.fd, in.buf[in.w:])
	}
	switch {
	case errno == unix.EAGAIN:
		l.readable = false
	case errno == unix.EINTR:
	case errno != 0:
		a.ended(l, in.end(errno))
	case n == 0:
		a.ended(l, in.end(io.EOF))
	default:
		l.readable = l.hup || n == len(in.buf)-in.w // a stream that gave less has no more
		in.w += n
		a.pass(l)
	}
}

// readMany is read from several sockets.
func (a *Agent) readMany(l *link) {
	in := &l.in
	switch n, err := l.many.Receive(nil, in.buf[in.w:]); {
	case err == unix.EAGAIN:
		l.readable = false
	case err != nil:
		a.ended(l, in.end(err))
	default:
		in.w += n
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
		return nil // what is wrong behind it stays there
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

// end says what the end of the stream means. nil: the peer had finished.
func (in *inbound) end(cause error) error {
	if in.w > 0 {
		return fmt.Errorf("connection lost %d bytes into a packet: %w", in.w, cause)
	}
	if in.link.fini {
		return nil
	}
	if cause == io.EOF {
		return errors.New("connection closed without FINI: the peer terminated abnormally")
	}
	return fmt.Errorf("connection lost: %w", cause)
}
