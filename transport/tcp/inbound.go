package tcp

import (
	"errors"
	"fmt"
	"io"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// inbound makes checked packets out of the bytes of one socket. It does no I/O: whoever owns the socket
// writes what arrived into space(), says how much it was with filled(), and calls next() until there is no
// whole packet left. In pieces or all at once, the packets are the same.
//
//	bytes -> header complete -> type, pk_len in bounds -> payload complete -> names resolved -> flow control
//
// The first violation (IMPI 0.0, 3.5; and who sent what to whom, 3.2) ends the stream: nothing tells where
// the next packet begins. The buffer is allocated once; no number in a packet makes it grow.
type inbound struct {
	dir        *Directory
	flow       *flow
	procs      []transport.Proc
	from, to   int32  // the host at the other end; ours
	maxLen     uint32 // the largest pk_len we agreed to
	buf        []byte // buf[r:w] has arrived and is not taken yet
	r, w       int
	fini       bool // the peer has said FINI
	src, dst   wire.ProcID
	srcR, dstR int32   // the ranks of src and dst, the pair of the packet before
	pair       *window // and its window, nil before the first packet
}

// verdict is what becomes of one packet.
type verdict uint8

const (
	incomplete verdict = iota // no whole packet is here
	settled                   // it was the transport's own, and is done with
	deliver                   // it is for a process of ours
	deliverAck                // so it is, and the sender gets a PROTOACK
)

// Protocol errors. Each ends the connection it came from.
var (
	errTooLong    = errors.New("packet longer than the agreed maximum")
	errStranger   = errors.New("packet from a process that is not on that host")
	errMisrouted  = errors.New("packet for a process that is not on this host")
	errAckTooMuch = errors.New("more packets acknowledged than were sent")
	errAfterFini  = errors.New("message packet after FINI")
	errOverrun    = errors.New("more packets sent than the high-water mark allows")
)

// space is where the next bytes go. It is never empty.
func (in *inbound) space() []byte {
	if in.r > 0 {
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	}
	return in.buf[in.w:]
}

func (in *inbound) filled(n int) { in.w += n }

// next takes one packet off the stream. h and payload, which stays in place until the next call of space,
// are set if the verdict is to deliver it. After an error the stream is of no use.
func (in *inbound) next(h *transport.Header) (payload []byte, v verdict, err error) {
	if in.w-in.r < wire.PacketSize {
		return nil, incomplete, nil
	}
	p := wire.Packet(in.buf[in.r : in.r+wire.PacketSize : in.r+wire.PacketSize])
	if err := p.Decode(h); err != nil {
		return nil, incomplete, fmt.Errorf("%w (pk_type %d, pk_len %d, pk_msglen %d)", err, p.Type(), p.Len(), p.MsgLen())
	}
	if uint64(h.Len) > uint64(in.maxLen) {
		return nil, incomplete, fmt.Errorf("%w: pk_len %d, maximum %d", errTooLong, h.Len, in.maxLen)
	}
	end := in.r + wire.PacketSize + h.Len
	if end > in.w {
		return nil, incomplete, nil
	}
	payload = in.buf[in.r+wire.PacketSize : end : end]
	v, err = in.judge(p, h)
	in.r = end
	return payload, v, err
}

// judge resolves the names of a whole packet and applies flow control.
func (in *inbound) judge(p wire.Packet, h *transport.Header) (verdict, error) {
	if h.Kind == transport.Fini {
		in.fini = true
		return settled, nil
	}
	if err := in.resolve(p); err != nil {
		return incomplete, err
	}
	h.Src, h.Dst = in.srcR, in.dstR
	switch h.Kind {
	case transport.ProtoAck:
		if !in.flow.acked(in.pair) {
			return incomplete, fmt.Errorf("%w: by process %d to process %d", errAckTooMuch, h.Src, h.Dst)
		}
		return settled, nil
	case transport.Data, transport.DataSync, transport.Cancel:
		if in.fini {
			return incomplete, fmt.Errorf("%w (pk_type %d)", errAfterFini, h.Kind)
		}
	}
	if in.flow.took(in.pair) {
		return deliverAck, nil
	}
	return deliver, nil
}

// resolve finds the processes a packet is from and for; most often they are those of the packet before.
func (in *inbound) resolve(p wire.Packet) error {
	src, dst := p.Src(), p.Dst()
	if in.pair != nil && src == in.src && dst == in.dst {
		return nil
	}
	s, d := in.dir.Rank(&src), in.dir.Rank(&dst)
	if s < 0 || in.procs[s].Host != in.from {
		return fmt.Errorf("%w: host id %x, pid %d", errStranger, src.HostID, src.PID)
	}
	if d < 0 || in.procs[d].Host != in.to {
		return fmt.Errorf("%w: host id %x, pid %d", errMisrouted, dst.HostID, dst.PID)
	}
	in.src, in.dst, in.srcR, in.dstR = src, dst, s, d
	in.pair = in.flow.pair(d, s)
	return nil
}

// end says what the end of the stream means, cause being how it ended. nil: the peer had finished.
func (in *inbound) end(cause error) error {
	if n := in.w - in.r; n > 0 {
		return fmt.Errorf("connection lost %d bytes into a packet: %w", n, cause)
	}
	if in.fini {
		return nil
	}
	if cause == io.EOF {
		return errors.New("connection closed without FINI: the peer terminated abnormally")
	}
	return fmt.Errorf("connection lost: %w", cause)
}
