package tcp

import (
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// fake is a peer made of a plain socket: it does what a test tells it, good or bad, and sees every byte.
type fake struct {
	t   testing.TB
	c   *net.TCPConn
	job *transport.Job
}

// against connects a real host, rank 0 with two processes (0 and 1), to a fake one, rank 1 (2 and 3).
func against(t testing.TB, tune func(*transport.Job), opts Options) (*engine, *fake) {
	t.Helper()
	lay := layout{{2}, {2}}
	ls, at := listen(t, lay)
	job := makeJob(lay, at, tune)
	e := newEngine()
	done := make(chan error)
	go func() {
		var err error
		e.host, err = Connect(deadline(t), job, 0, ls[0], e, e.wake, opts)
		done <- err
	}()
	c, err := net.Dial("tcp", at[0].String())
	if err != nil {
		t.Fatal(err)
	}
	c.Write(rank(1))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		e.mu.Lock()
		e.host.Abort()
		e.mu.Unlock()
		<-e.host.watch.done
	})
	return e, &fake{t, c.(*net.TCPConn), job}
}

func idOf(job *transport.Job, p int32) wire.ProcID {
	return wire.ProcID{HostID: job.Procs[p].HostID, PID: job.Procs[p].PID}
}

// packet is h with payload, as the wire carries it.
func packet(job *transport.Job, h transport.Header, payload string) []byte {
	b := make([]byte, wire.PacketSize)
	h.Len = len(payload)
	if h.MsgLen == 0 {
		h.MsgLen = uint64(len(payload))
	}
	src, dst := idOf(job, h.Src), idOf(job, h.Dst)
	if !wire.Packet(b).Encode(&h, &src, &dst) {
		panic("no packet")
	}
	return append(b, payload...)
}

func (f *fake) say(b []byte) {
	f.t.Helper()
	f.c.SetWriteDeadline(time.Now().Add(patience))
	if _, err := f.c.Write(b); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) send(h transport.Header, payload string) {
	f.t.Helper()
	f.say(packet(f.job, h, payload))
}

// hear reads one packet.
func (f *fake) hear() (wire.Packet, string) {
	f.t.Helper()
	f.c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, wire.PacketSize)
	if _, err := io.ReadFull(f.c, b); err != nil {
		f.t.Fatal(err)
	}
	payload := make([]byte, wire.Packet(b).PayloadLen())
	if _, err := io.ReadFull(f.c, payload); err != nil {
		f.t.Fatal(err)
	}
	return b, string(payload)
}

// want reads one packet, which has to be of that type.
func (f *fake) want(pk uint32) wire.Packet {
	f.t.Helper()
	p, _ := f.hear()
	if p.Type() != pk {
		f.t.Fatalf("got a packet of type %d, want %d", p.Type(), pk)
	}
	return p
}

// silent checks that nothing more comes. It cannot fail because of a slow machine.
func (f *fake) silent(what string) {
	f.t.Helper()
	f.c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	b := make([]byte, wire.PacketSize)
	if n, err := f.c.Read(b); err == nil {
		f.t.Fatalf("%s: got %d bytes more, type %d", what, n, wire.Packet(b).Type())
	}
}

func unhex(s string) string {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// plain is a payload for SendFrom.
type plain string

func (p *plain) Pack(dst []byte) { *p = (*p)[copy(dst, *p):] }

func TestPacketsLookOnTheWireAsIMPISays(t *testing.T) {
	e, f := against(t, nil, Options{})
	ids := "0000000000000000000000007f000001 0000000100000001" + "0000000000000000000000007f000002 0000000200000002"
	zero := "0000000000000000"
	qos := zero + zero + zero + zero
	for _, tt := range []struct {
		name    string
		h       transport.Header
		payload string
		want    string
	}{
		{"short", transport.Header{Kind: transport.Data, MsgLen: 3, SrqID: 7, LSRank: 1, Tag: -2, CID: 1<<63 + 4}, "abc",
			"00000000 00000003" + ids + "0000000000000007" + zero + "0000000000000003 00000001 fffffffe 8000000000000004" +
				qos + "616263"},
		{"empty", transport.Header{Kind: transport.Data, Tag: 1}, "",
			"00000000 00000000" + ids + zero + zero + zero + "00000000 00000001" + zero + qos},
		{"first of a long one", transport.Header{Kind: transport.DataSync, MsgLen: 1 << 40, SrqID: 8, DrqID: 5}, "ab",
			"00000001 00000002" + ids + "0000000000000008" + zero + "0000010000000000" + zero + zero + qos + "6162"},
		{"continuation", transport.Header{Kind: transport.Data, MsgLen: 1 << 40, SrqID: 8, DrqID: 1<<64 - 1}, "ab",
			"00000000 00000002" + ids + "0000000000000008 ffffffffffffffff 0000010000000000" + zero + zero + qos + "6162"},
		{"sync ack", transport.Header{Kind: transport.SyncAck, SrqID: 9, DrqID: 10, Tag: 3, MsgLen: 4}, "",
			"00000003 00000000" + ids + "0000000000000009 000000000000000a" + zero + zero + zero + qos},
		{"cancel", transport.Header{Kind: transport.Cancel, SrqID: 9, DrqID: 10}, "",
			"00000004 00000000" + ids + "0000000000000009" + zero + zero + zero + zero + qos},
		{"yes", transport.Header{Kind: transport.CancelYes, SrqID: 9}, "",
			"00000005 00000000" + ids + "0000000000000009" + zero + zero + zero + zero + qos},
		{"no", transport.Header{Kind: transport.CancelNo, SrqID: 9}, "",
			"00000006 00000000" + ids + "0000000000000009" + zero + zero + zero + zero + qos},
	} {
		tt.h.Src, tt.h.Dst, tt.h.Len = 1, 2, len(tt.payload)
		from := plain(tt.payload)
		e.mu.Lock()
		ok := e.host.Send(&tt.h, []byte(tt.payload)) && e.host.SendFrom(&tt.h, &from)
		e.mu.Unlock()
		if !ok {
			t.Fatalf("%s: not sent", tt.name)
		}
		for _, way := range []string{"Send", "SendFrom"} {
			b, payload := f.hear()
			if got := string(b) + payload; got != unhex(tt.want) {
				t.Errorf("%s by %s:\n got %x\nwant %x", tt.name, way, got, unhex(tt.want))
			}
		}
	}
}

func TestControlPacketsMayCarryJunkAndNoPayload(t *testing.T) {
	e, f := against(t, nil, Options{})
	junk := packet(f.job, transport.Header{Kind: transport.SyncAck, Src: 3, Dst: 0, SrqID: 11, DrqID: 12}, "")
	p := wire.Packet(junk)
	p.SetLen(128)
	p.SetMsgLen(128)
	p.SetTag(-1)
	p.SetLSRank(-1)
	p.SetCID(77)
	p.SetReserved(88)
	f.say(junk)
	f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 0, Tag: 5}, "x")
	e.await(t, 2)
	want := transport.Header{Kind: transport.SyncAck, Src: 3, Dst: 0, SrqID: 11, DrqID: 12}
	if e.got[0].h != want || e.got[1].payload != "x" {
		t.Errorf("got %+v", e.got)
	}
}

func TestMessagesInPiecesAndMessagesInOnePiece(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { j.AckMark, j.HiWater = 1000, 1000 }, Options{})
	var all []byte
	for i := range 5 {
		all = append(all, packet(f.job, transport.Header{Kind: transport.Data, Src: 2, Dst: int32(i % 2), Tag: int32(i)},
			strings.Repeat("z", i*i))...)
	}
	for _, b := range all {
		f.say([]byte{b})
		e.mu.Lock()
		e.host.Poll()
		e.mu.Unlock()
	}
	f.say(all)
	e.await(t, 10)
	for i, g := range e.got {
		if k := i % 5; g.h.Tag != int32(k) || len(g.payload) != k*k || g.h.Dst != int32(k%2) {
			t.Errorf("packet %d: %+v", i, g)
		}
	}
}
