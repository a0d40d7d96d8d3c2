package tcp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestPacketsAgainstTheRulesEndTheConnection(t *testing.T) {
	good := transport.Header{Kind: transport.Data, Src: 2, Dst: 0, Tag: 1}
	for _, tt := range []struct {
		name  string
		spoil func(job *transport.Job, p wire.Packet)
		want  error
	}{
		{"type 8", func(_ *transport.Job, p wire.Packet) { p.SetType(8) }, wire.ErrType},
		{"type 2^32-1", func(_ *transport.Job, p wire.Packet) { p.SetType(math.MaxUint32) }, wire.ErrType},
		{"pk_len > pk_msglen", func(_ *transport.Job, p wire.Packet) { p.SetMsgLen(3) }, wire.ErrLength},
		{"pk_len over the limit", func(_ *transport.Job, p wire.Packet) { p.SetLen(1025); p.SetMsgLen(2000) }, errTooLong},
		{"pk_len 2^32-1", func(_ *transport.Job, p wire.Packet) { p.SetLen(math.MaxUint32); p.SetMsgLen(math.MaxUint64) },
			errTooLong},
		{"unknown source", func(_ *transport.Job, p wire.Packet) { p.SetSrc(wire.ProcID{PID: 77}) }, errStranger},
		{"source on another host", func(j *transport.Job, p wire.Packet) { p.SetSrc(idOf(j, 1)) }, errStranger},
		{"another form of the address", func(j *transport.Job, p wire.Packet) {
			id := idOf(j, 2)
			id.HostID[10], id.HostID[11] = 0xff, 0xff
			p.SetSrc(id)
		}, errStranger},
		{"unknown destination", func(_ *transport.Job, p wire.Packet) { p.SetDst(wire.ProcID{}) }, errMisrouted},
		{"destination on another host", func(j *transport.Job, p wire.Packet) { p.SetDst(idOf(j, 3)) }, errMisrouted},
		{"acknowledgement of nothing", func(_ *transport.Job, p wire.Packet) { p.SetType(wire.PkProtoAck); p.SetLen(0) },
			errAckTooMuch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, f := against(t, func(j *transport.Job) { j.MaxDataLen = 512 }, Options{MaxDataLen: 1024})
			f.send(good, "fine")
			b := packet(f.job, good, "fine")
			tt.spoil(f.job, wire.Packet(b))
			f.say(b)
			e.until(t, "loss", func() bool { return len(e.lost) == 2 })
			for _, p := range []int32{2, 3} {
				if err := e.lost[p]; !errors.Is(err, tt.want) {
					t.Errorf("process %d: %v, want %v", p, err, tt.want)
				}
			}
			if len(e.got) != 1 {
				t.Errorf("%d packets delivered, want the good one", len(e.got))
			}
		})
	}
}

func TestWhatIsUnusualButRightIsDelivered(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { j.MaxDataLen = 512 }, Options{MaxDataLen: 1024})
	f.send(transport.Header{Kind: transport.DataSync, Src: 2, Dst: 0, MsgLen: math.MaxUint64}, strings.Repeat("x", 1024))
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0, MsgLen: math.MaxUint64, DrqID: math.MaxUint64}, "y")
	e.await(t, 2)
	if e.got[0].h.MsgLen != math.MaxUint64 || e.got[0].h.Len != 1024 || e.got[1].h.DrqID != math.MaxUint64 ||
		len(e.lost) != 0 {
		t.Errorf("%+v, lost %v", e.got, e.lost)
	}
	if l := e.host.links[1]; len(l.buf) > 2*bufferMin {
		t.Errorf("a buffer of %d bytes", len(l.buf))
	}
}

func TestDataAfterFiniEndsTheConnection(t *testing.T) {
	e, f := against(t, nil, Options{})
	f.say(finiPacket())
	f.send(transport.Header{Kind: transport.CancelNo, Src: 2, Dst: 0}, "")
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "")
	e.until(t, "loss", func() bool { return len(e.lost) == 2 })
	if !errors.Is(e.lost[2], errAfterFini) || len(e.got) != 1 {
		t.Errorf("%v, %d delivered", e.lost[2], len(e.got))
	}
}

func TestAConnectionThatEndsAfterAnyByteIsReported(t *testing.T) {
	es, f := against(t, nil, Options{})
	one := packet(f.job, transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "0123456789")
	es.host.Abort()
	for cut := 0; cut <= len(one); cut++ {
		e, f := against(t, nil, Options{})
		f.say(one[:cut])
		if cut%2 == 0 {
			f.c.Close()
		} else {
			f.c.CloseWrite()
		}
		e.until(t, "loss", func() bool { return len(e.lost) == 2 })
		want := "closed without FINI"
		if 0 < cut && cut < len(one) {
			want = fmt.Sprintf("lost %d bytes into a packet: EOF", cut)
		}
		if err := e.lost[3]; !strings.Contains(err.Error(), want) {
			t.Fatalf("after %d bytes: %v, want %q", cut, err, want)
		}
	}
}

func TestALostHostDoesNotDisturbTheOthers(t *testing.T) {
	es := connect(t, layout{{1}, {1}, {1}, {1}}, nil, Options{})
	es[3].host.Abort()
	for i := range 30 {
		es[0].put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Tag: int32(i)}, "a")
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 2, Tag: int32(i)}, "b")
		es[1].await(t, i+1)
		es[2].await(t, i+1)
	}
	es[0].until(t, "loss", func() bool { return es[0].lost[3] != nil })
}

// pure is an inbound of host 0 in a job of two hosts, with nothing around it.
func pure(t testing.TB, maxLen uint32) (*inbound, *transport.Job) {
	at := make([]netip.AddrPort, 2)
	job := makeJob(layout{{2}, {2}}, at, marked(2, 4))
	dir, err := NewDirectory(job)
	if err != nil {
		t.Fatal(err)
	}
	return &inbound{dir: dir, flow: newFlow(job, 0), procs: job.Procs, from: 1, to: 0,
		maxLen: maxLen, buf: make([]byte, 4096)}, job
}

// result is all that an inbound says about a stream.
func result(in *inbound, stream []byte, chunk func() int) string {
	var log strings.Builder
	var h transport.Header
	for {
		space := in.space()
		if len(space) == 0 {
			return "no space"
		}
		n := copy(space[:min(len(space), chunk())], stream)
		stream = stream[n:]
		in.filled(n)
		for {
			payload, v, err := in.next(&h)
			if err != nil {
				fmt.Fprintf(&log, "error %v\n", err)
				return log.String()
			}
			if v == incomplete {
				break
			}
			if v == settled || v == farewell {
				fmt.Fprintln(&log, "settled", h.Kind, in.fini)
				continue
			}
			if len(payload) != h.Len || uint64(h.Len) > h.MsgLen && h.Kind < transport.ProtoAck || h.Src < 2 || h.Dst > 1 {
				return "delivered what should not be"
			}
			fmt.Fprintf(&log, "%d %+v %x\n", v, h, payload)
		}
		if len(stream) == 0 {
			fmt.Fprintln(&log, "end", in.end(io.EOF))
			return log.String()
		}
	}
}

func FuzzInbound(f *testing.F) {
	_, job := pure(f, 100)
	var seed []byte
	for _, k := range []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Cancel,
		transport.CancelNo, transport.Fini} {
		seed = append(seed, packet(job, transport.Header{Kind: k, Src: 2, Dst: int32(k % 2), SrqID: 3},
			strings.Repeat("p", 50*max(0, 1-int(k))))...)
		f.Add(seed, uint8(k))
	}
	f.Add(packet(job, transport.Header{Kind: transport.ProtoAck, Src: 3, Dst: 1}, ""), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, pieces uint8) {
		whole, _ := pure(t, 100)
		parts, _ := pure(t, 100)
		a := result(whole, stream, func() int { return len(whole.buf) })
		k := 0
		b := result(parts, stream, func() int { k++; return 1 + k*int(pieces)%97 })
		if a != b {
			t.Fatalf("in one piece:\n%s\nin pieces:\n%s", a, b)
		}
		if strings.HasPrefix(a, "no") || strings.HasPrefix(a, "delivered") {
			t.Fatal(a)
		}
	})
}
