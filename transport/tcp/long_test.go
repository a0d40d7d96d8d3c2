package tcp

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// pattern is n bytes none of which looks like its neighbors.
func pattern(n int) []byte {
	b := make([]byte, n+8)
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(i)*0x9E3779B97F4A7C15)
	}
	return b[:n]
}

// placing is an engine that gives the memory of one message to the transport, or does not.
type placing struct {
	*engine
	memory []byte // nil: it has no place
	moved  int
	pieces int
	placed int // bytes that came in place
	other  int // packets of other messages
}

func (p *placing) Place(h *transport.Header) []byte {
	if p.memory == nil || h.DrqID != 5 {
		return nil
	}
	return p.memory[p.moved : p.moved+h.Len]
}

func (p *placing) Deliver(h *transport.Header, payload []byte) {
	if h.DrqID != 5 {
		p.other++
		return
	}
	p.pieces++
	if p.memory != nil && &payload[0] == &p.memory[p.moved] {
		p.placed += len(payload)
	} else if p.memory != nil {
		copy(p.memory[p.moved:], payload)
	}
	p.moved += len(payload)
}

func streams(n uint32) func(*transport.Job) {
	return func(j *transport.Job) {
		for i := range j.Hosts {
			j.Hosts[i].Stream = n
		}
	}
}

// take makes e's host deliver to a placing one.
func take(e *engine, memory []byte) *placing {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &placing{engine: e, memory: memory}
	e.host.recv, e.host.placer = p, p
	return p
}

func TestALongContinuationComesWholeInWhateverPieces(t *testing.T) {
	const size = 700_001
	data := pattern(size)
	for _, opts := range []Options{{}, {SendBuffer: 20000, ReceiveBuffer: 20000}} {
		for _, place := range []bool{true, false} {
			es := connect(t, layout{{1}, {1}}, streams(1<<20), opts)
			memory := make([]byte, size)
			var got []byte
			p := take(es[1], memory)
			if !place {
				p.memory = nil
				take := p
				es[1].host.recv, es[1].host.placer = piecewise{take, &got}, nil
			}
			short := transport.Header{Kind: transport.Data, Src: 0, Dst: 1}
			es[0].put(t, short, "before")
			es[0].sendLong(t, es[1], data)
			es[0].put(t, short, "behind")
			es[1].until(t, "the message", func() bool { return p.moved == size && p.other == 2 })
			if !place {
				memory = got
			}
			if !bytes.Equal(memory, data) {
				t.Errorf("place %v, %+v: the bytes are not those that were sent", place, opts)
			}
			if place && p.placed < size/2 {
				t.Errorf("%d of %d bytes came in place", p.placed, size)
			}
		}
	}
}

// piecewise notes what is delivered, in place of an engine that has a place for it.
type piecewise struct {
	*placing
	got *[]byte
}

func (p piecewise) Deliver(h *transport.Header, payload []byte) {
	if h.DrqID == 5 {
		*p.got = append(*p.got, payload...)
	}
	p.placing.Deliver(h, payload)
}

// sendLong sends data in continuations of any length up to Stream, as an engine does, while the other side reads.
func (e *engine) sendLong(t *testing.T, to *engine, data []byte) {
	t.Helper()
	moved, owed, length := 0, 0, 1
	e.until(t, "room", func() bool {
		for moved < len(data) {
			if owed > 0 {
				n := e.host.SendRest(1, data[moved:moved+owed])
				moved, owed = moved+n, owed-n
				if owed > 0 {
					break
				}
				continue
			}
			length = min(7*length, e.host.Stream(1), len(data)-moved)
			h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, DrqID: 5, Len: length, MsgLen: uint64(len(data))}
			taken, ok := e.host.SendLong(&h, data[moved:moved+length])
			if !ok {
				break
			}
			if moved, owed = moved+taken, length-taken; owed > 0 {
				if e.host.Send(&transport.Header{Kind: transport.Data, Src: 0, Dst: 1}, nil) {
					t.Error("a packet was taken in the middle of another")
				}
			}
		}
		to.mu.Lock()
		to.host.Poll()
		to.mu.Unlock()
		return moved == len(data)
	})
}

func TestAcknowledgementsDoNotCutAContinuationInTwo(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { streams(1 << 20)(j); marked(1, 1000)(j) }, Options{SendBuffer: 1})
	data := pattern(1 << 20)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, DrqID: 5, Len: len(data) - 1, MsgLen: uint64(len(data))}
	e.mu.Lock()
	moved, ok := e.host.SendLong(&h, data[:h.Len])
	e.mu.Unlock()
	if !ok || moved == h.Len {
		t.Fatalf("%v, %d bytes taken", ok, moved)
	}
	arriveAll(t, e, f, 3)
	done := make(chan error, 1)
	go func() {
		p, payload := f.hear()
		if p.Type() != wire.PkData || payload != string(data[:h.Len]) {
			t.Error("another packet than was sent")
		}
		for range 3 {
			if p, _ := f.hear(); p.Type() != wire.PkProtoAck {
				t.Errorf("packet of type %d, want an acknowledgement", p.Type())
			}
		}
		done <- nil
	}()
	e.until(t, "the rest", func() bool {
		moved += e.host.SendRest(2, data[moved:h.Len])
		return len(done) == 1
	})
}

func TestContinuationsLongerThanAgreedEndTheConnection(t *testing.T) {
	for _, tt := range []struct {
		h    transport.Header
		want string
	}{
		{transport.Header{Kind: transport.Data, Src: 2, MsgLen: 1 << 30, Len: 100001, DrqID: 5}, "maximum 100000"},
		{transport.Header{Kind: transport.Data, Src: 2, MsgLen: 100000, Len: 100000}, "maximum 65536"},
		{transport.Header{Kind: transport.DataSync, Src: 2, MsgLen: 1 << 30, Len: 100000}, "maximum 65536"},
	} {
		e, f := against(t, streams(100000), Options{})
		b := make([]byte, wire.PacketSize)
		src, dst := idOf(f.job, tt.h.Src), idOf(f.job, tt.h.Dst)
		wire.Packet(b).Encode(&tt.h, &src, &dst)
		f.say(b)
		e.until(t, "loss", func() bool { return len(e.lost) == 2 })
		if err := e.lost[2]; !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestAConnectionLostInAContinuationIsReported(t *testing.T) {
	for _, memory := range [][]byte{nil, make([]byte, 100000)} {
		e, f := against(t, streams(100000), Options{})
		take(e, memory)
		b := packet(f.job, transport.Header{Kind: transport.Data, Src: 2, MsgLen: 1 << 20, DrqID: 5},
			strings.Repeat("x", 90000))
		f.say(b[:50000])
		f.c.Close()
		e.until(t, "loss", func() bool { return len(e.lost) == 2 })
		if err := e.lost[2]; !strings.Contains(err.Error(), "lost 50000 bytes into a packet") {
			t.Error(err)
		}
	}
}

func TestALongContinuationDoesNotAllocate(t *testing.T) {
	a, b := couple(t)
	streams(1 << 20)(a.host.job)
	data, memory := pattern(300_000), make([]byte, 300_000)
	p := &keeper{memory: memory}
	b.host.recv, b.host.placer = p, p
	b.host.links[0].stream = 1 << 20
	trip := func() {
		h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, DrqID: 5, Len: len(data), MsgLen: 1 << 20}
		moved := 0
		for want := p.n + 1; p.n < want; b.host.Poll() {
			if moved == 0 {
				moved, _ = a.host.SendLong(&h, data)
			} else if moved < len(data) {
				moved += a.host.SendRest(1, data[moved:])
			}
			a.host.Poll()
		}
	}
	trip()
	if n := testing.AllocsPerRun(50, trip); n != 0 {
		t.Errorf("%v allocations a continuation", n)
	}
}

// keeper has one place, and counts what has filled it.
type keeper struct {
	memory []byte
	n      int
}

func (k *keeper) Place(h *transport.Header) []byte            { return k.memory[:h.Len] }
func (k *keeper) Deliver(h *transport.Header, payload []byte) { k.n++ }
func (k *keeper) Lost(peer int32, err error)                  { panic(err) }

// Reading in small bites is for the head of a continuation, and must not hold up anything else.
func TestReadingIsNarrowForTheHeadOfAContinuationOnly(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { streams(1 << 20)(j); marked(1000, 1000)(j) }, Options{})
	l := e.host.links[1]
	looks := func() (narrow bool, missing int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return l.narrow, l.missing
	}
	asked := transport.Header{Kind: transport.SyncAck, Src: 0, Dst: 2, SrqID: 1, DrqID: 5}
	e.put(t, asked, "")
	f.want(wire.PkSyncAck)
	if narrow, _ := looks(); !narrow {
		t.Error("a continuation is to come, and reading is wide")
	}
	// Another message begins first: it is read as soon as its header says how long it is.
	first := packet(f.job, transport.Header{Kind: transport.DataSync, Src: 2, Dst: 0, MsgLen: 70_000},
		string(pattern(60_000)))
	f.say(first[:wire.PacketSize+100])
	e.until(t, "knowing what is missing", func() bool { return l.missing == 60_000-100 })
	f.say(first[wire.PacketSize+100:])
	e.await(t, 1)
	// The continuation comes whole, as it is short.
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0, DrqID: 5, MsgLen: 9}, "x")
	e.await(t, 2)
	if narrow, missing := looks(); narrow || missing != 0 {
		t.Errorf("after the continuation: narrow %v, %d bytes missing", narrow, missing)
	}
}
