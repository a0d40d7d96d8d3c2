package agent

import (
	"errors"
	"fmt"
	"io"

	"github.com/libimpi/libimpi/transport/wire"
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

// read passes on what comes from l, until the end of its stream.
func (a *Agent) read(l *link) {
	defer a.readers.Done()
	longest := a.table.longest(l.kind, l.peer)
	in := &inbound{agent: a, link: l, longest: longest, buf: make([]byte, bufferFor(longest))}
	for {
		n, err := l.conn.Read(in.buf[in.w:])
		in.w += n
		if n > 0 {
			if err := in.pass(); err != nil {
				a.ended(l, err)
				return
			}
		}
		if err != nil {
			a.ended(l, in.end(l.reason(err)))
			l.out.wait()
			l.conn.Close()
			return
		}
	}
}

// inbound holds what has come and is not passed on: never more than one buffer, whatever a header says.
type inbound struct {
	agent   *Agent
	link    *link
	longest uint32 // continuation, bytes
	buf     []byte
	w       int // buf[:w] has come
}

// pass passes on every whole packet that is there. Packets in a row for the same outlet go in one piece.
func (in *inbound) pass() error {
	from, at := 0, 0 // buf[from:at] is for to
	var to *outlet
	flush := func() {
		if at > from && to != nil {
			to.put(in.buf[from:at], true)
		}
		from = at
	}
	for in.w-at >= wire.PacketSize {
		p := wire.Packet(in.buf[at : at+wire.PacketSize])
		n, err := in.agent.table.length(p, in.longest)
		if err == nil && n > in.w-at {
			break
		}
		if err == nil && p.Type() == wire.PkFini {
			flush()
			if !in.link.fini {
				in.agent.finis(in.link)
			}
			at += n
			from = at
			continue
		}
		var out *outlet
		if err == nil {
			out, err = in.outlet(p)
		}
		if err != nil {
			flush()
			return err
		}
		if out != to {
			flush()
			to = out
		}
		at += n
	}
	flush()
	in.w = copy(in.buf, in.buf[at:in.w])
	return nil
}

func (in *inbound) outlet(p wire.Packet) (*outlet, error) {
	src, dst, err := in.agent.table.route(p, in.link.kind, in.link.peer, in.link.fini)
	if err != nil {
		return nil, err
	}
	out := in.agent.outletTo(src, dst)
	if out == nil {
		return nil, violated("packet for process %d, to whose host there is no connection", dst)
	}
	return out, nil
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
