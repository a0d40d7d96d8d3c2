package wire

import (
	"bytes"
	"math"
	"net/netip"
	"slices"
	"testing"
)

// The conversation of IMPI 0.0, 2.3.3 - 2.3.5 (notes A.2), byte for byte.
func TestEveryStartUpMessageHasItsGoldenBytes(t *testing.T) {
	u32 := func(b []byte, v ...uint32) []byte {
		for _, x := range v {
			b = be.AppendUint32(b, x)
		}
		return b
	}
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"client: AUTH, mask {KEY}", AppendAuth(nil, AuthKeyMask), "41555448 00000004 00000002"},
		{"server: KEY", ServerAuth{AuthKey, 0}.Append(nil), "00000001 00000000"},
		{"server: NONE", ServerAuth{AuthNone, 0}.Append(nil), "00000000 00000000"},
		{"client: key", AppendAuthKey(nil, 5678), "00000000 0000162E"},
		{"client: IMPI, rank 0", AppendImpi(nil, 0), "494D5049 00000004 00000000"},
		{"server: IMPI, size 3", AppendImpi(nil, 3), "494D5049 00000004 00000003"},
		{"client: COLL", u32(AppendColl(nil, CNHosts, 4), 3), "434F4C4C 00000008 00001100 00000003"},
		{"server: COLL", u32(AppendChdr(nil, CNHosts, 7, 12), 3, 2, 2),
			"434F4C4C 00000014 00001100 00000007 00000003 00000002 00000002"},
		{"server: COLL, all 32 clients", AppendChdr(nil, PPID, math.MaxUint32, 0), "434F4C4C 00000008 00003100 ffffffff"},
		{"client: COLL, versions", Version{0, 1}.Append(Version{}.Append(AppendColl(nil, CVersion, 16))),
			"434F4C4C 00000014 00001000 00000000 00000000 00000000 00000001"},
		{"DONE", Cmd{CmdDone, 0}.Append(nil), "444F4E45 00000000"},
		{"FINI", Cmd{CmdFini, 0}.Append(nil), "46494E49 00000000"},
	}
	for _, tt := range tests {
		wantBytes(t, tt.name, tt.got, unhex(t, tt.want))
	}
}

func TestEveryStartUpMessageIsReadBack(t *testing.T) {
	if c, ok := ParseCmd(unhex(t, "434F4C4C ffffffff")); !ok || c != (Cmd{CmdColl, -1}) {
		t.Error("command", c, ok)
	}
	if m, ok := ParseClientAuth(unhex(t, "80000002 00000001")); !ok || m != 0x80000002 {
		t.Error("two masks", m, ok)
	}
	if s, ok := ParseServerAuth(unhex(t, "00000001 00000005")); !ok || s != (ServerAuth{1, 5}) {
		t.Error("server's choice", s, ok)
	}
	if k, ok := ParseAuthKey(unhex(t, "ffffffffffffffff")); !ok || k != math.MaxUint64 {
		t.Error("key", k, ok)
	}
	if n, ok := ParseImpi(unhex(t, "ffffffff")); !ok || n != -1 {
		t.Error("rank", n, ok)
	}
	if l, d, ok := ParseColl(unhex(t, "00003100 0102")); !ok || l != PPID || !bytes.Equal(d, []byte{1, 2}) {
		t.Error("COLL", l, d, ok)
	}
	if l, m, d, ok := ParseChdr(unhex(t, "00001000 80000000 05")); !ok || l != CVersion || m != 1<<31 ||
		!bytes.Equal(d, []byte{5}) {
		t.Error("broadcast", l, m, d, ok)
	}
	if v, ok := ParseVersion(unhex(t, "00000001 00000002")); !ok || v != (Version{1, 2}) {
		t.Error("version", v, ok)
	}
	if h, ok := Handshake(unhex(t, "00000102")); !ok || h != 258 {
		t.Error("handshake", h, ok)
	}
	var b [HandshakeSize]byte
	PutHandshake(b[:], 258)
	wantBytes(t, "handshake", b[:], unhex(t, "00000102"))
}

func TestMessagesCutShortAreRefused(t *testing.T) {
	long := make([]byte, 64)
	tests := []struct {
		name  string
		good  []int
		parse func(b []byte) bool
	}{
		{"Cmd", []int{8, 9, 64}, func(b []byte) bool { _, ok := ParseCmd(b); return ok }},
		{"ClientAuth", []int{4, 8, 12, 16, 64}, func(b []byte) bool { _, ok := ParseClientAuth(b); return ok }},
		{"ServerAuth", []int{8, 9, 64}, func(b []byte) bool { _, ok := ParseServerAuth(b); return ok }},
		{"AuthKey", []int{8, 9, 64}, func(b []byte) bool { _, ok := ParseAuthKey(b); return ok }},
		{"Impi", []int{4}, func(b []byte) bool { _, ok := ParseImpi(b); return ok }},
		{"Coll", []int{4, 5, 7, 8, 9, 64}, func(b []byte) bool { _, _, ok := ParseColl(b); return ok }},
		{"Chdr", []int{8, 9, 64}, func(b []byte) bool { _, _, _, ok := ParseChdr(b); return ok }},
		{"Version", []int{8, 9, 64}, func(b []byte) bool { _, ok := ParseVersion(b); return ok }},
		{"Handshake", []int{4, 5, 7, 8, 9, 64}, func(b []byte) bool { _, ok := Handshake(b); return ok }},
	}
	for _, tt := range tests {
		for _, n := range []int{0, 1, 3, 4, 5, 7, 8, 9, 64} {
			want := slices.Contains(tt.good, n)
			if got := tt.parse(long[:n]); got != want {
				t.Errorf("%s of %d bytes: %v, want %v", tt.name, n, got, want)
			}
		}
	}
	if _, ok := Handshake(unhex(t, "ffffffff")); ok {
		t.Error("host rank -1 accepted")
	}
}

func TestLabelsAscendAndHaveShapes(t *testing.T) {
	if !slices.IsSorted(Labels[:]) {
		t.Error("labels do not ascend")
	}
	for i, l := range Labels {
		if _, size, ok := l.Shape(); !ok || size < 4 || l.Index() != i {
			t.Errorf("%v: shape %d %v, index %d", l, size, ok, l.Index())
		}
	}
	for _, l := range []Label{NoLabel, -1, 0x1001, 0x4000} {
		if _, _, ok := l.Shape(); ok || l.Index() >= 0 {
			t.Errorf("%v is taken for a mandatory label", l)
		}
	}
	if CNHosts.String() != "C_NHOSTS" || PPID.String() != "P_PID" || Label(0x4000).String() != "label 0x4000" {
		t.Error(CNHosts, PPID, Label(0x4000))
	}
}

func TestCommandsSpellTheirNames(t *testing.T) {
	for c, want := range map[Command]string{CmdAuth: "AUTH", CmdImpi: "IMPI", CmdColl: "COLL", CmdDone: "DONE",
		CmdFini: "FINI"} {
		if got := string(be.AppendUint32(nil, uint32(c))); got != want || c.String() != want {
			t.Errorf("%q is called %q, want %q", got, c, want)
		}
	}
}

func TestAddressesInBothFormsAreUnderstood(t *testing.T) {
	tests := []struct{ hex, want string }{
		{"00000000000000000000ffff0a000001", "10.0.0.1"},
		{"0000000000000000000000000a000001", "10.0.0.1"},
		{"00000000000000000000000000000000", "::"},
		{"00000000000000000000000000000001", "::1"},
		{"00000000000000000000000000000002", "0.0.0.2"},
		{"00000000000000000000fffe0a000001", "::fffe:a00:1"},
		{"20010db8000000000000000000000001", "2001:db8::1"},
	}
	for _, tt := range tests {
		if got := DecodeAddr([16]byte(unhex(t, tt.hex))); got != netip.MustParseAddr(tt.want) {
			t.Errorf("%s is %v, want %s", tt.hex, got, tt.want)
		}
	}
	for _, s := range []string{"10.0.0.1", "::1", "2001:db8::1", "255.255.255.255"} {
		if a := netip.MustParseAddr(s); DecodeAddr(EncodeAddr(a)) != a {
			t.Errorf("%s is not read back", s)
		}
	}
}

func TestProcessNamesOfTwoClientsNeverCollide(t *testing.T) {
	if got := ProcPID(0, 4711); got != 1<<32+4711 {
		t.Error(got)
	}
	if got := ProcPID(31, math.MaxUint32); got != 32<<32+math.MaxUint32 {
		t.Error(got)
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	for i, v := range []Version{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		for j, w := range []Version{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			if v.Less(w) != (i < j) {
				t.Errorf("%v < %v: %v", v, w, v.Less(w))
			}
		}
	}
}

func TestMessagesDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 256)
	var sum int32
	if n := testing.AllocsPerRun(100, func() {
		b := AppendImpi(AppendAuth(buf[:0], 3), 1)
		b = AppendChdr(AppendColl(b, PPID, 8), PPID, 1, 8)
		b = Version{}.Append(AppendAuthKey(ServerAuth{}.Append(b), 1))
		c, _ := ParseCmd(b)
		l, _, _, _ := ParseChdr(b)
		per, size, _ := l.Shape()
		sum += c.Len + int32(size) + int32(per) + int32(DecodeAddr([16]byte{15: 1}).BitLen())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(AppendAuth(nil, 3))
	f.Add(ServerAuth{1, 0}.Append(nil))
	f.Add(AppendAuthKey(nil, 5678))
	f.Add(AppendImpi(nil, 3))
	f.Add(append(AppendColl(nil, CNHosts, 4), 0, 0, 0, 3))
	f.Add(append(AppendChdr(nil, CNHosts, 1, 4), 0, 0, 0, 3))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, ok := ParseCmd(b); ok && !bytes.Equal(c.Append(nil), b[:CmdSize]) {
			t.Error("command changed")
		}
		if s, ok := ParseServerAuth(b); ok && !bytes.Equal(s.Append(nil), b[:ServerAuthSize]) {
			t.Error("server's choice changed")
		}
		if k, ok := ParseAuthKey(b); ok && !bytes.Equal(AppendAuthKey(nil, k), b[:AuthKeySize]) {
			t.Error("key changed")
		}
		if v, ok := ParseVersion(b); ok && !bytes.Equal(v.Append(nil), b[:VersionSize]) {
			t.Error("version changed")
		}
		if m, ok := ParseClientAuth(b); ok && len(b) == ClientAuthSize && !bytes.Equal(AppendAuth(nil, m)[CmdSize:], b) {
			t.Error("mask changed")
		}
		if n, ok := ParseImpi(b); ok && !bytes.Equal(AppendImpi(nil, n)[CmdSize:], b) {
			t.Error("rank changed")
		}
		if l, d, ok := ParseColl(b); ok && !bytes.Equal(append(AppendColl(nil, l, len(d)), d...)[CmdSize:], b) {
			t.Error("COLL changed")
		}
		if l, m, d, ok := ParseChdr(b); ok && !bytes.Equal(append(AppendChdr(nil, l, m, len(d)), d...)[CmdSize:], b) {
			t.Error("broadcast changed")
		}
		Handshake(b)
		if len(b) >= 16 {
			if a := DecodeAddr([16]byte(b)); a.Is4() && DecodeAddr(EncodeAddr(a)) != a {
				t.Error("address changed")
			}
		}
	})
}
