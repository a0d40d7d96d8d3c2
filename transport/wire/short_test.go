package wire

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libimpi/libimpi/transport"
)

// short is the short header of h.
func short(t testing.TB, h *transport.Header, hold bool) []byte {
	t.Helper()
	b := make([]byte, ShortSize(h))
	if !PutShort(b, h, hold) {
		t.Fatalf("%+v is not written", h)
	}
	return b
}

var shortHeaders = []struct {
	name string
	h    transport.Header
	want string
}{
	{"short data", transport.Header{Kind: transport.Data, Len: 5, MsgLen: 5, LSRank: 3, Tag: 42, CID: 6},
		"00 00 00000005 0000002a 00000003 00000006"},
	{"data of a large context that says its types", transport.Header{Kind: transport.Data, Len: 1, MsgLen: 1, Tag: -1,
		CID: 1<<63 + 7, DrqID: transport.SaysTypes + 9},
		"00 0c 00000001 ffffffff 00000000 00000007 80000000 8000000000000009"},
	{"first packet of a long message", transport.Header{Kind: transport.DataSync, Len: 1024, MsgLen: 1 << 33, SrqID: 8,
		LSRank: 1, Tag: 110, CID: 1},
		"01 03 00000400 0000006e 00000001 00000001 0000000200000000 0000000000000008"},
	{"continuation", transport.Header{Kind: transport.Data, Len: 1024, MsgLen: 4096, SrqID: 8, DrqID: math.MaxUint64,
		LSRank: -2, Tag: 110, CID: 1},
		"00 07 00000400 0000006e fffffffe 00000001 0000000000001000 0000000000000008 ffffffffffffffff"},
	{"acknowledgement", transport.Header{Kind: transport.ProtoAck}, "02 00"},
	{"answer", transport.Header{Kind: transport.SyncAck, SrqID: 8, DrqID: 17}, "03 06 0000000000000008 0000000000000011"},
	{"cancel", transport.Header{Kind: transport.Cancel, SrqID: 8}, "04 02 0000000000000008"},
	{"cancelled", transport.Header{Kind: transport.CancelYes, SrqID: 1}, "05 02 0000000000000001"},
	{"not cancelled", transport.Header{Kind: transport.CancelNo}, "06 00"},
	{"end", transport.Header{Kind: transport.Fini}, "07 00"},
}

func TestEveryKindOfShortHeaderHasItsGoldenBytes(t *testing.T) {
	for _, tt := range shortHeaders {
		b := short(t, &tt.h, false)
		wantBytes(t, tt.name, b, unhex(t, tt.want))
		for n := range b {
			var h transport.Header
			if size, _, err := ParseShort(b[:n], &h); size != 0 || err != nil {
				t.Errorf("%s, %d bytes of it: %d, %v", tt.name, n, size, err)
			}
		}
		got := transport.Header{Src: 3, Dst: 4}
		size, hold, err := ParseShort(append(b, 0xff), &got)
		tt.h.Src, tt.h.Dst = 3, 4
		if size != len(b) || hold || err != nil || got != tt.h {
			t.Errorf("%s: %d bytes, %v, %v: %s", tt.name, size, hold, err, cmp.Diff(tt.h, got))
		}
	}
}

func TestAShortHeaderLeavesOutWhatHasNoMeaning(t *testing.T) {
	junk := transport.Header{Len: 7, MsgLen: 7, SrqID: 1, DrqID: 2, Tag: 3, CID: 4, LSRank: 5, Seq: 6, Count: 7, Dtype: 8}
	for kind, want := range map[transport.Kind]transport.Header{
		transport.Data:     {Kind: transport.Data, Len: 7, MsgLen: 7, SrqID: 1, Tag: 3, CID: 4, LSRank: 5},
		transport.ProtoAck: {Kind: transport.ProtoAck},
		transport.SyncAck:  {Kind: transport.SyncAck, SrqID: 1, DrqID: 2},
		transport.Cancel:   {Kind: transport.Cancel, SrqID: 1},
		transport.Fini:     {Kind: transport.Fini},
	} {
		junk.Kind = kind
		var got transport.Header
		if _, _, err := ParseShort(short(t, &junk, false), &got); err != nil || got != want {
			t.Errorf("kind %d: %v, %s", kind, err, cmp.Diff(want, got))
		}
	}
}

func TestAnAcknowledgementMayHoldTheSender(t *testing.T) {
	var h transport.Header
	b := short(t, &transport.Header{Kind: transport.ProtoAck}, true)
	if n, hold, err := ParseShort(b, &h); n != 2 || !hold || err != nil {
		t.Error(n, hold, err)
	}
	b = short(t, &transport.Header{Kind: transport.CancelNo}, true)
	if _, hold, err := ParseShort(b, &h); hold || err != nil {
		t.Error("only an acknowledgement does:", hold, err)
	}
}

func TestWrongShortHeadersAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		hex  string
		want error
	}{
		"unknown kind":                 {"08 00", ErrType},
		"no kind of IMPI's":            {"ff ff", ErrType},
		"unknown field":                {"00 20", ErrType},
		"acknowledgement with an id":   {"02 02", ErrType},
		"data that holds":              {"00 10", ErrType},
		"more data than the message":   {"00 01 00000005 00000000 00000000 00000000 0000000000000004", ErrLength},
		"the end, with something more": {"07 01", ErrType},
	} {
		var h transport.Header
		if n, _, err := ParseShort(unhex(t, tt.hex), &h); n != 0 || !errors.Is(err, tt.want) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	for _, h := range []transport.Header{{Kind: transport.Taken}, {Kind: transport.Data, Len: -1},
		{Kind: transport.Data, Len: math.MaxUint32 + 1}} {
		if PutShort(make([]byte, ShortMax), &h, false) {
			t.Errorf("%+v is written", h)
		}
	}
}

func TestShortHeadersDoNotAllocate(t *testing.T) {
	h := transport.Header{Kind: transport.Data, Len: 1, MsgLen: 9, SrqID: 8, DrqID: 7, CID: 1 << 40}
	var b [ShortMax]byte
	if n := testing.AllocsPerRun(100, func() {
		PutShort(b[:ShortSize(&h)], &h, false)
		ParseShort(b[:], &h)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzShort(f *testing.F) {
	for _, tt := range shortHeaders {
		f.Add(short(f, &tt.h, true))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again transport.Header
		n, hold, err := ParseShort(b, &h)
		if err != nil || n == 0 {
			return
		}
		if n > len(b) || n > ShortMax || h.Kind > transport.DataSync && (h.Len != 0 || h.MsgLen != 0) || h.Len < 0 ||
			uint64(h.Len) > h.MsgLen {
			t.Fatalf("%d bytes make %+v", n, h)
		}
		c := short(t, &h, hold)
		if m, held, err := ParseShort(c, &again); m != len(c) || m > n || held != hold || err != nil || again != h {
			t.Errorf("%d of %d bytes, %v, %v: %s", m, n, held, err, cmp.Diff(h, again))
		}
	})
}
