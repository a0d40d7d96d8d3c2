package diagram

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/transport/wire"
)

// trace has these events between two parties, of which another says nothing.
func trace(list ...events.Event) *events.Trace {
	for i := range list {
		if list[i].N == 0 {
			list[i].N = i + 1
		}
	}
	return &events.Trace{Columns: []events.Column{{Name: "server"}, {Name: "client 0"}, {Name: "client 1"}}, Events: list,
		HiWater: 20}
}

func TestPartiesThatSayNothingHaveNoColumn(t *testing.T) {
	d := New("x", trace(events.Event{From: "client 1", To: "server", Kind: codec.ToServer, Name: "DONE"}), nil, 10)
	if len(d.Columns) != 2 || d.Columns[0].Name != "server" || d.Columns[1].Name != "client 1" {
		t.Fatalf("the columns are %v", d.Columns)
	}
	r := d.Rows[0]
	if r.X1 != d.Columns[1].X || r.X2 != d.Columns[0].X || r.Head == "" || r.ID != "x-1" {
		t.Errorf("the row is %+v", r)
	}
}

func TestLabelsSayWhatMatters(t *testing.T) {
	three := 3
	packet := codec.Packet{Header: codec.Header{Type: wire.PkDataSync, Len: 100, Tag: 7}}.Bytes()
	for want, e := range map[string]events.Event{
		"DATASYNC, tag 7, 100 bytes [3/20]": {Kind: codec.Packets, Name: "DATASYNC", Bytes: packet, Total: 228,
			Window: &three},
		"DATASYNC, 50 of 228 bytes": {Kind: codec.Packets, Name: "DATASYNC", Bytes: packet[:50], Total: 50,
			Whole: 228},
		"COLL C_DATALEN: 100": {Kind: codec.ToServer, Name: "COLL C_DATALEN", Total: 16,
			Bytes: codec.Coll(uint32(wire.CDataLen), codec.U32(100))},
		"IMPI rank 5":                     {Kind: codec.ToServer, Name: "IMPI", Bytes: codec.Impi(5)},
		"IMPI size 5":                     {Kind: codec.FromServer, Name: "IMPI", Bytes: codec.Impi(5)},
		"AUTH IMPI_AUTH_NONE":             {Kind: codec.ToServer, Name: "AUTH", Bytes: codec.Auth(1)},
		"choice IMPI_AUTH_KEY":            {Kind: codec.Choice, Name: "choice", Bytes: codec.I32(1, 0)},
		"closes (reset)":                  {Kind: events.Closed, Text: "reset"},
		"stderr: a b":                     {Kind: events.Line, Name: "stderr", Text: "a\nb"},
		strings.Repeat("ü", most) + "...": {Kind: codec.Stray, Name: strings.Repeat("ü", most+1)},
	} {
		if got := label(e, 20); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnEventOfOnePartyIsInsideThePicture(t *testing.T) {
	d := New("x", trace(events.Event{From: "server", Kind: events.Line},
		events.Event{To: "client 1", Kind: events.Started},
		events.Event{Kind: events.Problem, Text: "bad", At: 1234567 * time.Nanosecond}), nil, 10)
	if a := d.Rows[0]; a.X1 != a.X2 || a.Anchor != "start" || a.Kind != "mark" {
		t.Errorf("%+v", a)
	}
	if b := d.Rows[2]; b.X1 != 0 || b.At != left || b.Label != "✗ bad" || b.Time != "1.234 ms" || b.Kind != "problem" {
		t.Errorf("%+v", b)
	}
}

func TestGapsSayWhatIsNotShownAndWhatWasNotRecorded(t *testing.T) {
	var list []events.Event
	for i := range 20 {
		n := i + 1
		if i >= 10 {
			n += 100
		}
		list = append(list, events.Event{N: n, From: "server", Kind: events.Line})
	}
	list[6].Kind = events.Problem
	d := New("x", trace(list...), []record.Problem{{Event: 9}, {Event: 50}}, 4)
	var got []string
	for _, r := range d.Rows {
		got = append(got, strings.TrimPrefix(r.ID, "x-")+r.Gap)
	}
	hidden := func(n int) string {
		return fmt.Sprintf("%d events are not shown here; the record as JSON has them", n)
	}
	want := []string{"1", "2", hidden(4), "7", hidden(1), "9", hidden(9) + "; 100 events were not recorded", "119", "120"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if !d.Rows[5].Wrong || d.Rows[3].Wrong {
		t.Error("the event that shows the problem is not marked")
	}
}

func TestFieldsMarkTheBytesThatDiffer(t *testing.T) {
	got := codec.Header{Tag: 0x01020304, CID: 5}
	must := got
	must.Tag = 0x01ff03ff
	var wrong []string
	text := ""
	u := codec.Unit{Kind: codec.Packets, Bytes: codec.Packet{Header: got, Data: make([]byte, 40)}.Bytes(), Total: 5000}
	for _, s := range fields(u.Fields(), codec.Differ(got, must)) {
		text += s.Text
		if s.Wrong {
			wrong = append(wrong, s.Text)
		}
	}
	if !reflect.DeepEqual(wrong, []string{"02", "04"}) {
		t.Errorf("marked are %q", wrong)
	}
	for _, want := range []string{"\n✗   84      4 pk_tag          01020304  16909060, must be 01ff03ff  33489919\n",
		"\n    88      8 pk_cid          0000000000000005  5\n", "0000 ... (4872 bytes in all)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
