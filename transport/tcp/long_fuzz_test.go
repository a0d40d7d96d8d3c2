package tcp

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// reader takes a stream as a Host does, where continuations may be longer than the buffer, and notes what it means.
type reader struct {
	in     *inbound
	place  func() bool // whether the next continuation is placed
	log    []string    // one line for each packet
	broken error

	begun transport.Header // the continuation that has begun
	due   int              // bytes of it that were not delivered
	got   []byte
}

// fuzzStream is the longest continuation that a fuzzed inbound takes, in bytes.
const fuzzStream = 20_000

func newReader(t testing.TB, place func() bool) *reader {
	return &reader{in: pureLong(t), place: place}
}

// pureLong is pure with continuations that are longer than its buffer.
func pureLong(t testing.TB) *inbound {
	in, _ := pure(t, 100)
	in.stream = fuzzStream
	return in
}

// feed is one read of what has arrived.
func (r *reader) feed(b []byte) {
	for len(b) > 0 && r.broken == nil {
		into, space := r.in.into(), r.in.space()
		if len(space) == 0 {
			r.broken = fmt.Errorf("no space")
			return
		}
		placed := copy(into, b)
		n := copy(space, b[placed:])
		r.in.left -= placed
		r.in.filled(n)
		b = b[placed+n:]
		r.take()
	}
}

func (r *reader) take() {
	var h transport.Header
	for {
		payload, v, err := r.in.next(&h)
		switch {
		case err != nil:
			r.broken = err
			return
		case v == incomplete:
			return
		case v == settled || v == farewell:
			r.note("settled %v %v", h.Kind, r.in.fini)
		case v == begun:
			r.begun, r.due, r.got = h, h.Len, nil
			if r.place() {
				r.in.place(make([]byte, h.Len))
			}
		default:
			r.deliver(v, h, payload)
		}
		if r.broken != nil {
			return
		}
	}
}

// deliver checks what the engine would get. Pieces of a continuation are put together.
func (r *reader) deliver(v outcome, h transport.Header, payload []byte) {
	if len(payload) != h.Len || h.Kind < transport.ProtoAck && uint64(h.Len) > h.MsgLen || h.Src <= h.Dst ||
		h.Len > fuzzStream {
		r.broken = fmt.Errorf("delivered what should not be: %d %+v", v, h)
		return
	}
	if r.due > 0 {
		r.got = append(r.got, payload...)
		if r.due -= len(payload); r.due > 0 {
			if v != deliver {
				r.broken = fmt.Errorf("delivered what should not be: outcome %d for a piece", v)
			}
			return
		}
		if r.due < 0 {
			r.broken = fmt.Errorf("delivered what should not be: %d bytes too many", -r.due)
			return
		}
		h.Len, payload = r.begun.Len, r.got
		if h != r.begun {
			r.broken = fmt.Errorf("delivered what should not be: began as %+v, ended as %+v", r.begun, h)
			return
		}
	}
	r.note("%d %+v %x", v, h, payload)
}

func (r *reader) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// end is what the end of the stream means.
func (r *reader) end() error {
	if r.broken != nil {
		return r.broken
	}
	return r.in.end(io.EOF)
}

// The buffer is full of a continuation that it cannot hold, and of which little is missing.
func TestAContinuationThatJustExceedsTheBufferIsTaken(t *testing.T) {
	_, job := pure(t, 100)
	for _, places := range []bool{false, true} {
		for n := 4096 - 2*wire.PacketSize; n < 4096+2*wire.PacketSize; n++ {
			r := newReader(t, func() bool { return places })
			b := packet(job, transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, strings.Repeat("x", n))
			wire.Packet(b).SetMsgLen(1 << 20)
			r.feed(b)
			if r.broken != nil || len(r.log) != 1 {
				t.Fatalf("%d bytes: %v, %d packets", n, r.broken, len(r.log))
			}
		}
	}
}

// However a stream is cut into pieces, and wherever continuations are put, it means the same, and what is delivered is
// what was sent. A stream that ends inside a packet may be found wrong before that, or not.
func FuzzLongInbound(f *testing.F) {
	_, job := pure(f, 100)
	long := func(dst int32, n int, msglen uint64) []byte {
		b := packet(job, transport.Header{Kind: transport.Data, Src: 2, Dst: dst}, strings.Repeat("0123456789", n/10))
		wire.Packet(b).SetMsgLen(msglen)
		wire.Packet(b).SetDrqID(9)
		return b
	}
	short := packet(job, transport.Header{Kind: transport.DataSync, Src: 3, Dst: 1, SrqID: 3}, "short")
	f.Add(long(0, 9000, 10_000), uint16(700), uint8(0))
	f.Add(long(1, fuzzStream, 1<<40), uint16(4200), uint8(0xff))
	f.Add(append(append(long(0, 8000, 9000), short...), long(1, 12_000, 13_000)...), uint16(31), uint8(0x55))
	f.Add(append(bytes.Repeat(long(0, 5000, 6000), 5), short...), uint16(5500), uint8(0xf0))
	f.Add(long(0, 9000, 9000), uint16(100), uint8(1))
	f.Add(long(0, fuzzStream+10, 1<<20), uint16(100), uint8(1))
	f.Add(long(3, 9000, 10_000), uint16(1), uint8(1))
	f.Add(append(finiPacket(), long(0, 9000, 10_000)...), uint16(1000), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16, places uint8) {
		if len(stream) > 8*fuzzStream || int(piece)*2000 < len(stream) {
			t.Skip()
		}
		meansTheSame(t, func() *inbound { return pureLong(t) }, stream, int(piece), places)
	})
}

// meansTheSame reads a stream as a whole, and in pieces of so many bytes, with continuations placed as the bits of
// places say.
func meansTheSame(t *testing.T, fresh func() *inbound, stream []byte, piece int, places uint8) {
	whole := &reader{in: fresh(), place: func() bool { return false }}
	whole.feed(stream)
	turn := 0
	parts := &reader{in: fresh(), place: func() bool { turn++; return places>>(turn%8)&1 != 0 }}
	for rest := stream; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
		parts.feed(rest[:min(piece, len(rest))])
	}
	a, b := strings.Join(whole.log, "\n"), strings.Join(parts.log, "\n")
	ea, eb := whole.end(), parts.end()
	if a != b || (ea == nil) != (eb == nil) {
		t.Fatalf("in one piece: %.2000s\n%v\nin pieces: %.2000s\n%v", a, ea, b, eb)
	}
	for _, err := range []error{ea, eb} {
		if err != nil && (strings.HasPrefix(err.Error(), "no space") || strings.HasPrefix(err.Error(), "delivered")) {
			t.Fatal(err)
		}
	}
}
