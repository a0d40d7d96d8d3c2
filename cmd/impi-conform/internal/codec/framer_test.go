package codec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// units feeds a framer in pieces of n bytes, 0: of random sizes, and ends the stream.
func units(f *Framer, n int, b []byte) (list []Unit) {
	emit := func(u Unit) { list = append(list, u) }
	r := rand.New(rand.NewPCG(1, 2))
	for len(b) > 0 {
		k := n
		if n == 0 {
			k = 1 + r.IntN(300)
		}
		k = min(k, len(b))
		f.Feed(b[:k], emit)
		b = b[k:]
	}
	f.Flush(emit)
	return list
}

func names(list []Unit) string {
	var s []string
	for _, u := range list {
		s = append(s, fmt.Sprintf("%s %d/%d", u.Name(), u.Total, u.Whole))
	}
	return strings.Join(s, ", ")
}

func TestAStreamIsCutIntoTheSameUnitsInWhateverPiecesItComes(t *testing.T) {
	data := Packet{Header{Type: wire.PkData, Len: 1000, MsgLen: 1000}, make([]byte, 1000)}.Bytes()
	client := func() *Framer { c, _ := NewStartUp(); return c }
	server := func() *Framer { _, s := NewStartUp(); return s }
	host := func() *Framer { h, _ := NewMesh(); return h }
	for _, x := range []struct {
		name   string
		framer func() *Framer
		stream [][]byte
		want   string
	}{
		{"client", client, [][]byte{Auth(2), U64(5678), Impi(1), Coll(0x1000, U32(3)), Command(wire.CmdDone)},
			"AUTH 12/12, key 8/8, IMPI 12/12, COLL C_VERSION 16/16, DONE 8/8"},
		{"client that passes the key over", client, [][]byte{Auth(2), Impi(1)}, "AUTH 12/12, IMPI 12/12"},
		{"client cut short", client, [][]byte{Auth(2), U64(5678), Impi(1)[:7]}, "AUTH 12/12, key 8/8, IMPI 7/8"},
		{"server", server, [][]byte{I32(1, 0), Impi(2), Broadcast(0x1200, 3, U32(1, 1))},
			"choice 8/8, IMPI 12/12, COLL " + wire.Label(0x1200).String() + " 24/24"},
		{"negative length", client, [][]byte{Auth(2), U64(1), U32(7), I32(-1), {1, 2, 3}},
			"AUTH 12/12, key 8/8, command 0x00000007 8/8, "},
		{"hosts", host, [][]byte{U32(1), data, Packet{Header: Header{Type: wire.PkFini}}.Bytes()},
			"host 1 4/4, DATA 1128/1128, FINI 128/128"},
		{"unknown type", host, [][]byte{U32(1), Packet{Header: Header{Type: 99}}.Bytes(), {1}},
			"host 1 4/4, pk_type 99 128/128, "},
		{"data that never come", host, [][]byte{U32(1), data[:500]}, "host 1 4/4, DATA 500/1128"},
	} {
		for _, n := range []int{1 << 20, 1, 3, 0} {
			got := names(units(x.framer(), n, bytes.Join(x.stream, nil)))
			if whole, stray := strings.CutSuffix(x.want, ", "); stray && !strings.HasPrefix(got, whole+", bytes ") ||
				!stray && got != x.want {
				t.Errorf("%s in pieces of %d: got %s, want %s", x.name, n, got, x.want)
			}
		}
	}
}

func TestAMethodWithoutAKeyIsFollowedByACommand(t *testing.T) {
	client, server := NewStartUp()
	var list []Unit
	emit := func(u Unit) { list = append(list, u) }
	client.Feed(Auth(1), emit)
	server.Feed(I32(0, 0), emit)
	client.Feed(Cmd{Cmd: 7, Data: []byte{1}}.Bytes(), emit)
	if got := names(list); got != "AUTH 12/12, choice 8/8, command 0x00000007 9/9" {
		t.Errorf("got %s", got)
	}
}

func TestAUnitKeepsTheFirstBytesAlone(t *testing.T) {
	b := Coll(0x1000, make([]byte, 1<<20))
	client := &Framer{next: ToServer}
	u := units(client, 1000, b)
	if len(u) != 1 || len(u[0].Bytes) != 8+KeptData || u[0].Total != len(b) {
		t.Errorf("got %d units, %s", len(u), names(u))
	}
	f := u[0].Fields()
	if last := f[len(f)-1]; last.Name != "data" || last.Length != len(b)-12 || len(last.Raw) != KeptData-4 {
		t.Errorf("its data are %+v", last)
	}
}

func TestFieldsStandWhereTheTextSays(t *testing.T) {
	h := Header{Type: 1, Len: 2, Src: ID{[16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}, 3},
		LSRank: -8, Tag: 9, Reserved: 14}
	u := Unit{Packets, Packet{h, []byte{0xee, 0xff}}.Bytes(), 130, 130}
	want := map[string]string{"pk_type": "0 4 00000001 DATASYNC", "pk_len": "4 4 00000002 2",
		"pk_src.hostid": "8 16 00000000000000000000ffff7f000001 127.0.0.1", "pk_src.pid": "24 8 0000000000000003 3",
		"pk_lsrank": "80 4 fffffff8 -8", "pk_tag": "84 4 00000009 9", "pk_reserved": "120 8 000000000000000e 14",
		"data": "128 2 eeff "}
	at := 0
	for _, f := range u.Fields() {
		got := fmt.Sprintf("%d %d %x %s", f.Offset, f.Length, []byte(f.Raw), f.Value)
		if w, ok := want[f.Name]; ok && got != w {
			t.Errorf("%s is %q, must be %q", f.Name, got, w)
		}
		delete(want, f.Name)
		if f.Offset != at {
			t.Errorf("%s begins at %d, after %d", f.Name, f.Offset, at)
		}
		at += f.Length
	}
	if len(want) > 0 || at != 130 {
		t.Errorf("missing are %v; the fields end at %d", want, at)
	}
	c := Unit{FromServer, Broadcast(0x1000, 5, U32(0, 0, 0, 0)), 32, 32}
	var said []string
	for _, f := range c.Fields() {
		said = append(said, f.Name+" "+f.Value)
	}
	if got := strings.Join(said, "; "); got != "command COLL; length 24; label C_VERSION; mask clients 0 2; data 0.0 0.0" {
		t.Errorf("got %s", got)
	}
}

func TestDifferNamesTheFields(t *testing.T) {
	got := Differ(Header{Type: 1, Tag: 5}, Header{Type: 1, Tag: 6, CID: 1})
	if len(got) != 2 || got[0].Name != "pk_tag" || got[0].Value != "6" || got[1].Name != "pk_cid" {
		t.Errorf("got %+v", got)
	}
}

// Whatever comes, in whatever pieces, a framer ends with as many bytes as came, and each unit can be taken apart.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("AUTH\x00\x00\x00\x04\x00\x00\x00\x02"), uint8(3))
	packet, _ := hex.DecodeString("00000001" + "00000000")
	f.Add(packet, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		client, server := NewStartUp()
		dialer, listener := NewMesh()
		for _, x := range []*Framer{client, server, dialer, listener} {
			total := 0
			for _, u := range units(x, int(n), b) {
				total += u.Total
				if len(u.Bytes) > u.Total || len(u.Bytes) > HeaderSize+KeptData {
					t.Errorf("%d bytes kept of %d", len(u.Bytes), u.Total)
				}
				at := 0
				for _, f := range u.Fields() {
					if f.Offset < at || len(f.Raw) > f.Length {
						t.Errorf("%+v begins before %d", f, at)
					}
					at = f.Offset + f.Length
				}
				u.Name()
			}
			if total != len(b) {
				t.Errorf("%d bytes of %d", total, len(b))
			}
		}
	})
}

func TestHexIsReadBack(t *testing.T) {
	var back Hex
	text, _ := Hex{1, 0xff}.MarshalText()
	if err := back.UnmarshalText(text); err != nil || !reflect.DeepEqual(back, Hex{1, 0xff}) || string(text) != "01ff" {
		t.Error(back, err)
	}
}
