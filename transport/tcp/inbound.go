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
//
// A continuation of a long message that is not whole yet does not wait for its end. As soon as its header is there and
// found good it is either placed (the engine says where its payload belongs, and that is read there, past the buffer)
// or delivered piece by piece, each piece as a continuation of its own. So it may be longer than the buffer.
type inbound struct {
	dir        *Directory
	flow       *flow
	procs      []transport.Proc
	from, to   int32  // the host at the other end; ours
	short      bool   // headers are short (wire.PutShort); srcR, dstR and pair stay what they are
	maxLen     uint32 // the largest pk_len we agreed to
	stream     uint32 // and of a continuation, if that is more
	buf        []byte // buf[r:w] has arrived and is not taken yet
	r, w       int
	missing    int  // bytes that the packet at buf[r:] lacks, if its header is there
	fini       bool // the peer has said FINI
	hold       bool // the last header says AckHold
	src, dst   wire.ProcID
	srcR, dstR int32   // the ranks of src and dst, the pair of the packet before
	pair       *window // and its window, nil before the first packet
	tally      tally

	// The continuation that has begun.
	long  transport.Header
	head  int     // bytes of its header
	after outcome // what becomes of it when it is over
	left  int     // bytes that have not come
	whole []byte  // where it belongs; nil: it is delivered in pieces
}

// outcome is what becomes of one packet.
type outcome uint8

const (
	incomplete outcome = iota // no whole packet is here
	settled                   // it was the transport's own, and is done with
	deliver                   // it is for a process of ours
	deliverAck                // so it is, and the sender gets a PROTOACK
	begun                     // a continuation has begun: its place may be given
	farewell                  // the peer has said FINI
)

// longMin is how many bytes of a continuation must be missing for it to be worth a beginning. One that the buffer
// cannot hold begins in any case.
const longMin = 4 << 10

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

// into is where the next bytes go before those that go into space: nil unless a continuation has been placed.
func (in *inbound) into() []byte {
	if in.whole == nil {
		return nil
	}
	return in.whole[len(in.whole)-in.left:]
}

// place says where the payload of the continuation that has begun belongs.
func (in *inbound) place(memory []byte) {
	in.whole = memory
	n := copy(memory, in.buf[in.r:in.w])
	in.r += n
	in.left -= n
}

// more takes what has come of the continuation that has begun.
func (in *inbound) more(h *transport.Header) (payload []byte, v outcome) {
	*h = in.long
	if in.whole != nil {
		if in.left > 0 {
			return nil, incomplete
		}
		payload, in.whole = in.whole, nil
		return payload, in.finishLong()
	}
	n := min(in.left, in.w-in.r)
	if n == 0 {
		return nil, incomplete
	}
	payload = in.buf[in.r : in.r+n : in.r+n]
	in.r += n
	in.left -= n
	h.Len = n
	if in.left > 0 {
		return payload, deliver
	}
	return payload, in.finishLong()
}

func (in *inbound) finishLong() outcome {
	v := in.after
	in.after = incomplete
	return v
}

// next takes one packet off the stream. h and payload, which stays in place until the next call of space,
// are set if the outcome is to deliver it. After an error the stream is of no use.
func (in *inbound) next(h *transport.Header) (payload []byte, v outcome, err error) {
	in.missing = 0
	if in.after != incomplete {
		payload, v = in.more(h)
		return payload, v, nil
	}
	head, err := in.header(h)
	if head == 0 || err != nil {
		return nil, incomplete, err
	}
	continues, most := h.Kind == transport.Data && uint64(h.Len) < h.MsgLen, in.maxLen
	if continues {
		most = max(in.maxLen, in.stream)
	}
	if uint64(h.Len) > uint64(most) {
		return nil, incomplete, fmt.Errorf("%w: pk_len %d, maximum %d", errTooLong, h.Len, most)
	}
	end := in.r + head + h.Len
	if end > in.w {
		if !continues || end-in.w < longMin && end-in.r <= len(in.buf) {
			in.missing = end - in.w
			return nil, incomplete, nil
		}
		if in.after, err = in.judge(h); err != nil {
			return nil, incomplete, err
		}
		in.long, in.head, in.left = *h, head, h.Len
		in.r += head
		return nil, begun, nil
	}
	payload = in.buf[in.r+head : end : end]
	v, err = in.judge(h)
	in.r = end
	return payload, v, err
}

// judge resolves the names of the packet at buf[r:], whose header is h, and applies flow control.
func (in *inbound) judge(h *transport.Header) (outcome, error) {
	if h.Kind == transport.Fini {
		in.fini = true
		return farewell, nil
	}
	if !in.short {
		if err := in.resolve(wire.Packet(in.buf[in.r:])); err != nil {
			return incomplete, err
		}
	}
	h.Src, h.Dst = in.srcR, in.dstR
	switch h.Kind {
	case transport.ProtoAck:
		if !in.flow.acked(in.pair) {
			return incomplete, fmt.Errorf("%w: by process %d to process %d", errAckTooMuch, h.Src, h.Dst)
		}
		in.tally.acksIn++
		in.pair.told = in.hold
		return settled, nil
	case transport.Data, transport.DataSync, transport.Cancel:
		if in.fini {
			return incomplete, fmt.Errorf("%w (pk_type %d)", errAfterFini, h.Kind)
		}
	}
	if in.took(h.Len) {
		return deliverAck, nil
	}
	if in.flow.overrun(in.pair) {
		return incomplete, fmt.Errorf("%w (%d), by process %d to process %d", errOverrun, in.flow.hiWater, h.Src, h.Dst)
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

// end returns what the end of the stream means, cause being how it ended. nil: the peer had finished.
func (in *inbound) end(cause error) error {
	if n := in.w - in.r; in.after != incomplete {
		return fmt.Errorf("connection lost %d bytes into a packet: %w", in.head+in.long.Len-in.left, cause)
	} else if n > 0 {
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
