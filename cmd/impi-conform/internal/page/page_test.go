package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
)

var rewrite = flag.Bool("rewrite", false, "write the page in testdata anew")

const golden = "testdata/small.html"

func small(t *testing.T) *record.Record {
	file, err := os.Open("../record/testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := record.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, r *record.Record) string {
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAPageIsTheFileItAlwaysWas(t *testing.T) {
	got := written(t, small(t))
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (%v): go test ./cmd/impi-conform/internal/page -rewrite", golden, err)
	}
}

// The page says all that the record says, and where.
func TestAPageHasVerdictsProblemsAndFields(t *testing.T) {
	got := written(t, small(t))
	for _, want := range []string{"other: conformance to IMPI 0.0", "&lt;x&gt; &amp; &#34;y&#34;",
		`<section class="case fail" id="case-1">`, `<a href="#case-1-17">event 17</a>`, `<details id="case-1-17">`,
		`aria-label="4.000 ms, process 0 to process 1: DATA, tag 5, 3 bytes [1/20]; this is wrong"`,
		"12 events were not recorded", "7 of 12 bytes", "000000<mark>05</mark>  5, must be 00000006  6",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "prefers-color-scheme:dark",
		`<a href="#only-indeterminate">? indeterminate</a>`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestAPageIsAllowedItsStyleAlone(t *testing.T) {
	got := written(t, small(t))
	_, css, _ := strings.Cut(got, "<style>")
	css, _, _ = strings.Cut(css, "</style>")
	sum := sha256.Sum256([]byte(css))
	// The attribute is escaped as HTML.
	want := "style-src &#39;sha256-" + strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;") +
		"&#39;"
	if !strings.Contains(got, want) || !strings.Contains(got, "default-src &#39;none&#39;") {
		t.Errorf("the policy does not allow the style: %s", want)
	}
	harmless(t, got)
}

// harmless wants no script, no other style, nothing from elsewhere, and elements that are closed as they were opened.
func harmless(t *testing.T, page string) {
	t.Helper()
	tag := regexp.MustCompile(`<(/?)([a-zA-Z][a-z0-9]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>`)
	attribute := regexp.MustCompile(`([a-zA-Z:-]+)="([^"]*)"`)
	alone := map[string]bool{"meta": true}
	var open []string
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		name := m[2]
		if name == "script" || name == "iframe" || name == "img" || name == "b" {
			t.Errorf("there is a %s", m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
			if strings.HasPrefix(a[1], "on") || a[1] == "style" || a[1] == "src" ||
				a[1] == "href" && !strings.HasPrefix(a[2], "#") {
				t.Errorf("there is a %s", m[0])
			}
		}
		switch {
		case alone[name] || strings.HasSuffix(m[3], "/"):
		case m[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Fatalf("%s is closed, open are %v", name, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed are %v", open)
	}
	for i, r := range page {
		if r < ' ' && r != '\n' && r != '\t' || r == '\u202e' {
			t.Fatalf("there is a character %x at %d", r, i)
		}
	}
}

func TestHostileTextIsEscapedAndBounded(t *testing.T) {
	evil := "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\x1b\u202e{{.}}"
	long := events.Clean(strings.Repeat(evil, 1<<20/len(evil)), 256)
	r := &record.Record{Implementation: events.Clean(evil, 200), Version: long, Machine: long, Tester: long,
		Configuration: []record.Setting{{Name: long, Value: long}}}
	trace := &events.Trace{Columns: []events.Column{{Name: long}, {Name: "process 0"}}}
	for i, kind := range []codec.Kind{events.Line, events.Started, events.Ended, events.Problem, codec.Packets,
		codec.Stray, codec.ToServer, "x\"y"} {
		trace.Events = append(trace.Events, events.Event{N: i + 1, From: long, To: "process 0", Kind: kind, Name: long,
			Text: long, Bytes: []byte(long)})
	}
	r.Cases = append(r.Cases, record.Case{Name: long + "/" + long, Rule: long, Sentence: long, Verdict: record.Fail,
		Problems: []record.Problem{{Text: long, Event: 5, Must: []codec.Field{{Name: long, Raw: []byte(evil), Value: long}}}},
		Output:   long, Trace: trace})
	got := written(t, r)
	harmless(t, got)
	if len(got) > 200<<10 {
		t.Errorf("the page has %d bytes", len(got))
	}
}

func TestALongTraceIsCutInTheMiddleAndSaysSo(t *testing.T) {
	r := small(t)
	c := &r.Cases[0]
	c.Trace.Events, c.Trace.Left = nil, 0
	for i := range 10000 {
		c.Trace.Events = append(c.Trace.Events, events.Event{N: i + 1, At: time.Duration(i), From: "process 0",
			Kind: events.Line, Text: fmt.Sprintf("line %d.", i+1)})
	}
	c.Problems[0].Event = 5000
	got := written(t, r)
	for _, want := range []string{"line 1.", "line 300.", "line 5000.", "line 9701.", "line 10000.", "10000 events",
		"4699 events are not shown here", "4700 events are not shown here", `id="case-1-5000"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(got, "line 301.") || strings.Contains(got, "line 9700.") {
		t.Error("the page has the middle")
	}
}
