package tree

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFramesAreReadBackAndNonsenseIsNot(t *testing.T) {
	var wire bytes.Buffer
	f := &Frames{in: &wire, out: &wire, machine: 7}
	sent := Frame{Hosts: []HostFrame{{Addr: netip.MustParseAddrPort("10.0.0.1:5"),
		Procs: []ProcFrame{{HostID: make([]byte, 16), PID: 7}}}}}
	if err := f.Send(sent); err != nil {
		t.Fatal(err)
	}
	if text := wire.String(); text[len(text)-1] != '\n' {
		t.Errorf("%q could be held back by who hands on lines", text)
	}
	x, err := f.letter()
	if err != nil || x.Machine != 7 {
		t.Fatal(x, err)
	}
	got, err := x.Frame()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sent, got, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
		t.Error(d)
	}
	frame := func(n uint32, text string) string {
		return string(binary.BigEndian.AppendUint32(nil, n)) + "\x00\x00\x00\x07" + text
	}
	for _, bad := range []string{"", "ab", "Welcome to this machine\n", frame(0, ""), frame(1, "1"),
		frame(maxFrame+1, "{}"), frame(maxFrame, "{}"),
		frame(2, "xy"), frame(4, "{}")} {
		f := &Frames{in: strings.NewReader(bad)}
		if m, err := f.Receive(); err == nil {
			t.Errorf("%q: %+v", bad, m)
		}
	}
}
