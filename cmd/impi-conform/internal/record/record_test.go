package record

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/transport/wire"
)

var rewrite = flag.Bool("rewrite", false, "write the record in testdata anew")

const golden = "testdata/small.json"

// small is a record of one case of each verdict.
func small() *Record {
	r := &Record{Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Tester: "tester 1", Specification: "IMPI 0.0",
		Implementation: "other", Version: "2.1", Machine: "here", Seconds: 1.5,
		Configuration: []Setting{{"client command", "other -c {rank}"}, {"cases", "<x> & \"y\""}}}
	sent := codec.Header{Type: wire.PkData, Len: 3, MsgLen: 3, Src: codec.ID{PID: 1000}, Dst: codec.ID{PID: 2000}, Tag: 5}
	must := sent
	must.Tag = 6
	one, none := 1, 0
	ms := time.Millisecond
	trace := &events.Trace{AckMark: 10, HiWater: 20,
		Columns: []events.Column{{Name: "server"}, {Name: "client 0", Implementation: true},
			{Name: "process 0", Implementation: true}, {Name: "process 1"}},
		Events: []events.Event{
			{N: 1, At: ms, To: "client 0", Kind: events.Started, Text: "other -c 0"},
			{N: 2, At: 2 * ms, From: "client 0", To: "server", Kind: events.Opened},
			{N: 3, At: 3 * ms, From: "client 0", To: "server", Kind: codec.ToServer, Name: "AUTH",
				Bytes: codec.Auth(2), Total: 12},
			{N: 4, At: 3 * ms, From: "server", To: "client 0", Kind: codec.FromServer, Name: "IMPI", Bytes: codec.Impi(2)[:7],
				Total: 7, Whole: 12},
			{N: 17, At: 4 * ms, From: "process 0", To: "process 1", Kind: codec.Packets, Name: "DATA",
				Bytes: codec.Packet{Header: sent, Data: []byte("abc")}.Bytes(), Total: 131, Window: &one},
			{N: 18, At: 5 * ms, From: "process 1", To: "process 0", Kind: codec.Packets, Name: "PROTOACK",
				Bytes: codec.Packet{Header: codec.Header{Type: wire.PkProtoAck}}.Bytes(), Total: 128, Window: &none},
			{N: 19, At: 6 * ms, From: "process 0", Kind: events.Line, Name: "stdout", Text: "[0] <script>alert(1)</script>"},
			{N: 20, At: 7 * ms, Kind: events.Problem, Text: "pk_tag must be 6"},
		}, Left: 12}
	for _, x := range []conform.Result{
		{Case: conform.Case{Name: "packet/tag", Rule: "3.5", About: "the tag is 6"}, Outcome: conform.Fail,
			Problems: []conform.Problem{{Text: "DATA must have pk_tag 6", Event: 17, Must: codec.Differ(sent, must)},
				{Text: "\x1b[31m'>\"<b>&amp;"}},
			Output: "--- stdout\n<script>", Took: 1234567 * time.Microsecond, Trace: trace},
		{Case: conform.Case{Name: "packet/short", Rule: "3.7", About: "short"}, Outcome: conform.Pass, Output: "not kept"},
		{Case: conform.Case{Name: "server/port", Rule: "2.2.1", About: "the port"}, Outcome: conform.Skip,
			Problems: []conform.Problem{{Text: "no -server-cmd"}}},
		{Case: conform.Case{Name: "client/alone", Rule: "2.3", About: "alone"}, Outcome: conform.Indeterminate,
			Problems: []conform.Problem{{Text: "nothing was seen"}}},
	} {
		r.Add(x)
	}
	return r
}

func text(t *testing.T, r *Record) []byte {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestARecordIsTheFileItAlwaysWas(t *testing.T) {
	got := text(t, small())
	if *rewrite {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v): go test ./cmd/impi-conform/internal/record -rewrite\n%s", golden, err, got)
	}
}

func TestARecordIsReadBack(t *testing.T) {
	want := small()
	back, err := Read(bytes.NewReader(text(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	want.Format = Format
	if !reflect.DeepEqual(back, want) {
		t.Errorf("got\n%+v, want\n%+v", back, want)
	}
	empty, err := Read(bytes.NewReader(text(t, &Record{})))
	if err != nil || len(empty.Cases) != 0 {
		t.Errorf("an empty record is read as %+v, %v", empty, err)
	}
}

func TestARecordKeepsWhatIsHarmlessAndBounded(t *testing.T) {
	r := small()
	c := r.Cases[0]
	if p := c.Problems[1].Text; p != `\x1b[31m'>"<b>&amp;` {
		t.Errorf("the problem is %q", p)
	}
	if r.Cases[1].Output != "" {
		t.Error("a case that has passed keeps its output")
	}
	long := strings.Repeat("x", 1<<20)
	events := make([]events.Event, 3*maxPassed)
	r.Add(conform.Result{Outcome: conform.Fail, Problems: []conform.Problem{{Text: long}}, Output: long})
	trace := *c.Trace
	trace.Events = events
	r.Add(conform.Result{Trace: &trace})
	failed, passed := r.Cases[4], r.Cases[5]
	if len(failed.Problems[0].Text) > 2*maxProblem || len(failed.Output) > 2*maxOutput {
		t.Errorf("kept are %d and %d bytes", len(failed.Problems[0].Text), len(failed.Output))
	}
	if len(passed.Trace.Events) != maxPassed || passed.Trace.Left != trace.Left+2*maxPassed {
		t.Errorf("kept are %d events, %d left out", len(passed.Trace.Events), passed.Trace.Left)
	}
}

func TestOtherFilesAreNoRecords(t *testing.T) {
	for _, s := range []string{"", "{}", `{"format":2}`, "[1]", `{"format":1,"cases":[{"name":"x","verdict":"good"}]}`,
		`{"format":1,"cases":[{"name":"\u001b[2J","verdict":"pass"}]}`} {
		if _, err := Read(strings.NewReader(s)); err == nil {
			t.Errorf("%q is read as a record", s)
		}
	}
}

func TestComparingTellsWhatChangedAndWhetherItGotWorse(t *testing.T) {
	record := func(pairs ...string) *Record {
		r := new(Record)
		for i := 0; i < len(pairs); i += 2 {
			r.Cases = append(r.Cases, Case{Name: pairs[i], Verdict: Verdict(pairs[i+1])})
		}
		return r
	}
	a := record("same", "fail", "fixed", "fail", "broken", "pass", "silent", "pass", "gone", "pass", "skipped", "pass")
	b := record("new", "fail", "same", "fail", "fixed", "pass", "broken", "fail", "silent", "indeterminate",
		"skipped", "skip")
	var out bytes.Buffer
	worse := Print(&out, Compare(a, b))
	var words []string
	for line := range strings.Lines(out.String()) {
		words = append(words, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"appeared new fail", "better fixed fail -> pass", "worse broken pass -> fail",
		"worse silent pass -> indeterminate", "worse skipped pass -> skip", "vanished gone pass", "6 differ, 3 got worse"}
	if !reflect.DeepEqual(words, want) || worse != 3 {
		t.Errorf("got %q, %d", words, worse)
	}
	out.Reset()
	if Print(&out, Compare(a, a)) != 0 || out.String() != "0 differ, 0 got worse\n" {
		t.Errorf("a record compared with itself: %s", &out)
	}
}

func TestVerdictsAreReadWithoutTheRest(t *testing.T) {
	file, err := os.Open("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	short, err := ReadVerdicts(file, 10)
	if err != nil {
		t.Fatal(err)
	}
	file.Seek(0, 0)
	long, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(Compare(short, long)) != 0 || len(short.Cases) != len(long.Cases) || short.Cases[0].Trace != nil ||
		short.Implementation != long.Implementation || !short.Date.Equal(long.Date) {
		t.Errorf("got %+v", short)
	}
	for text, want := range map[string]string{
		``:                            "EOF",
		`[]`:                          "no record",
		`{"format":1,"cases":[`:       "EOF",
		`{"format":2,"cases":[]}`:     "format is 2",
		`{"format":1,"cases":[null]}`: "verdict",
		`{"format":1,"cases":[{"name":"a","verdict":"pass"},{"name":"b","verdict":"pass"},{"name":"c"}]}`: "more than 2",
		`{"format":1,"cases":[{"name":"a\u001b","verdict":"pass"}]}`:                                      "verdict",
	} {
		if _, err := ReadVerdicts(strings.NewReader(text), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
