package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libimpi/libimpi/transport"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantBytes(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n got %x\nwant %x", what, got, want)
	}
}

var (
	srcID = ProcID{HostID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 0, 14: 0, 15: 1}, PID: 0x1_00001234}
	dstID = ProcID{HostID: [16]byte{12: 10, 13: 0, 14: 0, 15: 2}, PID: -1}
)

const (
	srcHex  = "00000000000000000000ffff0a000001 0000000100001234"
	dstHex  = "0000000000000000000000000a000002 ffffffffffffffff"
	zero8   = "0000000000000000"
	zero32  = zero8 + zero8 + zero8 + zero8
	qosZero = zero32
	swapped = dstHex + srcHex
	hosts   = srcHex + dstHex
)

func TestEveryKindOfPacketHasItsGoldenBytes(t *testing.T) {
	tests := []struct {
		name string
		h    transport.Header
		want string
	}{
		{"short data",
			transport.Header{Kind: transport.Data, Len: 5, MsgLen: 5, SrqID: 7, DrqID: 99, LSRank: 3, Tag: 42, CID: 6},
			"00000000 00000005" + hosts + "0000000000000007" + zero8 +
				"0000000000000005 00000003 0000002a 0000000000000006" + qosZero},
		{"first packet of a long message",
			transport.Header{Kind: transport.DataSync, Len: 1024, MsgLen: 1 << 33, SrqID: 8, DrqID: 99,
				LSRank: 1, Tag: 110, CID: 1},
			"00000001 00000400" + hosts + "0000000000000008" + zero8 +
				"0000000200000000 00000001 0000006e 0000000000000001" + qosZero},
		{"continuation quotes the receiver's id",
			transport.Header{Kind: transport.Data, Len: 1024, MsgLen: 4096, SrqID: 8, DrqID: math.MaxUint64,
				LSRank: 1, Tag: 110, CID: 1},
			"00000000 00000400" + hosts +
				"0000000000000008 ffffffffffffffff 0000000000001000 00000001 0000006e 0000000000000001" + qosZero},
		{"data of a message that is numbered",
			transport.Header{Kind: transport.Data, LSRank: 1, Tag: 2, Seq: 1<<63 + 5, Count: 1 << 40, Dtype: 1<<63 + 6},
			"00000000 00000000" + hosts + zero8 + zero8 + zero8 + "00000001 00000002" + zero8 +
				"8000000000000005 0000010000000000 8000000000000006" + zero8},
		{"syncack copies the sender's id",
			transport.Header{Kind: transport.SyncAck, SrqID: 8, DrqID: 17, Tag: 5, CID: 6, MsgLen: 9, Len: 9,
				Seq: 3, Count: 4, Dtype: 5},
			"00000003 00000000" + hosts + "0000000000000008 0000000000000011" + zero8 + zero32 + zero8 + zero8},
		{"protoack has names only",
			transport.Header{Kind: transport.ProtoAck, SrqID: 8, DrqID: 17, Tag: 5},
			"00000002 00000000" + hosts + zero8 + zero8 + zero8 + zero32 + zero8 + zero8},
		{"cancel",
			transport.Header{Kind: transport.Cancel, SrqID: 8, DrqID: 17, Tag: 5},
			"00000004 00000000" + hosts + "0000000000000008" + zero8 + zero8 + zero32 + zero8 + zero8},
		{"cancelyes",
			transport.Header{Kind: transport.CancelYes, SrqID: 8},
			"00000005 00000000" + hosts + "0000000000000008" + zero8 + zero8 + zero32 + zero8 + zero8},
		{"cancelno",
			transport.Header{Kind: transport.CancelNo, SrqID: 8},
			"00000006 00000000" + hosts + "0000000000000008" + zero8 + zero8 + zero32 + zero8 + zero8},
		{"fini has nothing",
			transport.Header{Kind: transport.Fini, SrqID: 8, Tag: 3},
			"00000007 00000000" + zero32 + zero32 + zero32 + zero8 + zero8 + zero8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := unhex(t, tt.want)
			if len(want) != PacketSize {
				t.Fatalf("golden text has %d bytes", len(want))
			}
			p := Packet(bytes.Repeat([]byte{0xee}, PacketSize+8))
			if !p.Encode(&tt.h, &srcID, &dstID) {
				t.Fatal("not encoded")
			}
			wantBytes(t, "packet", p[:PacketSize], want)
			wantBytes(t, "bytes after the header", p[PacketSize:], bytes.Repeat([]byte{0xee}, 8))
		})
	}
}

func TestEveryAccessorReadsAndWritesItsOwnField(t *testing.T) {
	p := make(Packet, PacketSize)
	p.SetType(1)
	p.SetLen(2)
	p.SetSrc(srcID)
	p.SetDst(dstID)
	p.SetSrqID(3)
	p.SetDrqID(4)
	p.SetMsgLen(5)
	p.SetLSRank(-6)
	p.SetTag(-7)
	p.SetCID(8)
	p.setSeqNum(9)
	p.SetCount(-10)
	p.setDtype(11)
	p.SetReserved(12)
	wantBytes(t, "packet", p, unhex(t, "00000001 00000002"+hosts+
		"0000000000000003 0000000000000004 0000000000000005 fffffffa fffffff9 0000000000000008"+
		"0000000000000009 fffffffffffffff6 000000000000000b 000000000000000c"))
	got := []any{p.Type(), p.Len(), p.Src(), p.Dst(), p.SrqID(), p.DrqID(), p.MsgLen(), p.LSRank(), p.Tag(), p.CID(),
		p.SeqNum(), p.Count(), p.Dtype(), p.Reserved()}
	want := []any{uint32(1), uint32(2), srcID, dstID, uint64(3), uint64(4), uint64(5), int32(-6), int32(-7), uint64(8),
		uint64(9), int64(-10), uint64(11), uint64(12)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAHeaderThatCannotTravelIsRefused(t *testing.T) {
	for _, h := range []transport.Header{
		{Kind: transport.Taken}, {Kind: transport.Given}, {Kind: 255}, {Kind: transport.Data, Len: -1},
		{Kind: transport.Data, Len: 1 << 32, MsgLen: 1 << 32},
	} {
		p := Packet(bytes.Repeat([]byte{0xee}, PacketSize))
		if p.Encode(&h, &srcID, &dstID) {
			t.Errorf("%+v was encoded", h)
		}
		wantBytes(t, "refused packet", p, bytes.Repeat([]byte{0xee}, PacketSize))
	}
}

func TestDecodeFindsWhatIsWrong(t *testing.T) {
	mk := func(typ, n uint32, msg uint64) Packet {
		p := make(Packet, PacketSize)
		p.SetType(typ)
		p.SetLen(n)
		p.SetMsgLen(msg)
		return p
	}
	tests := []struct {
		name string
		p    Packet
		want error
	}{
		{"empty", nil, ErrShort},
		{"one byte missing", mk(0, 0, 0)[:PacketSize-1], ErrShort},
		{"type 8", mk(8, 0, 0), ErrType},
		{"type 2^32-1", mk(math.MaxUint32, 0, 0), ErrType},
		{"more payload than message", mk(PkData, 6, 5), ErrLength},
		{"much more payload than message", mk(PkDataSync, math.MaxUint32, 1), ErrLength},
		{"longest possible message", mk(PkDataSync, 4096, math.MaxUint64), nil},
		{"empty message", mk(PkData, 0, 0), nil},
	}
	for _, tt := range tests {
		var h transport.Header
		if err := tt.p.Decode(&h); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// LAM fills control packets with pk_len = pk_msglen = 128, tag and lsrank -1 and a constant cid.
func TestJunkInUnusedFieldsIsNotSeen(t *testing.T) {
	for typ := PkProtoAck; typ <= PkFini; typ++ {
		p := Packet(bytes.Repeat([]byte{0xff}, PacketSize))
		p.SetType(typ)
		p.SetLen(128)
		p.SetMsgLen(64)
		if p.PayloadLen() != 0 {
			t.Errorf("type %d: %d bytes of payload expected after it", typ, p.PayloadLen())
		}
		h := transport.Header{Src: 1, Dst: 2, Addr: 77, Tag: 3}
		if err := p.Decode(&h); err != nil {
			t.Errorf("type %d: %v", typ, err)
		}
		want := transport.Header{Kind: transport.Kind(typ), Src: 1, Dst: 2}
		if typ == PkSyncAck {
			want.SrqID, want.DrqID = math.MaxUint64, math.MaxUint64
		}
		if typ >= PkCancel && typ <= PkCancelNo {
			want.SrqID = math.MaxUint64
		}
		if d := cmp.Diff(want, h); d != "" {
			t.Errorf("type %d: %s", typ, d)
		}
	}
}

func TestPacketsDoNotAllocate(t *testing.T) {
	p := make(Packet, PacketSize)
	h := transport.Header{Kind: transport.DataSync, Len: 10, MsgLen: 20, SrqID: 1, Tag: 1}
	var back transport.Header
	var sum int64
	if n := testing.AllocsPerRun(100, func() {
		p.Encode(&h, &srcID, &dstID)
		if p.Decode(&back) == nil {
			sum += p.Src().PID + p.Dst().PID
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzPacket(f *testing.F) {
	for typ := uint32(0); typ <= 8; typ++ {
		p := make(Packet, PacketSize)
		p.SetType(typ)
		p.SetLen(typ * 3)
		p.SetMsgLen(uint64(typ) * 4)
		p.SetSrc(srcID)
		p.SetDst(dstID)
		f.Add([]byte(p))
	}
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte{0xff}, PacketSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again transport.Header
		p := Packet(b)
		if p.Decode(&h) != nil {
			return
		}
		if h.Len < 0 || uint64(h.Len) > h.MsgLen || h.Len != int(p.PayloadLen()) {
			t.Fatalf("accepted %+v", h)
		}
		src, dst := p.Src(), p.Dst()
		q := make(Packet, PacketSize)
		if !q.Encode(&h, &src, &dst) || q.Decode(&again) != nil || h != again {
			t.Fatalf("%+v became %+v", h, again)
		}
		if h.Kind != transport.Fini && (q.Src() != src || q.Dst() != dst) {
			t.Fatal("names changed")
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	p := make(Packet, PacketSize)
	h := transport.Header{Kind: transport.Data, Len: 8, MsgLen: 8}
	for b.Loop() {
		p.Encode(&h, &srcID, &dstID)
	}
}
