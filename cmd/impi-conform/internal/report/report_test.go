package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
)

var results = []conform.Result{
	{Case: conform.Case{Name: "server/key", Rule: "2.3.3"}, Took: time.Second},
	{Case: conform.Case{Name: "client/world", Rule: "2.3.5"}, Outcome: conform.Fail,
		Problems: []conform.Problem{{Text: "a < b"}, {Text: "two\nlines"}}, Output: "said \x00\"\n"},
	{Case: conform.Case{Name: "server/port"}, Outcome: conform.Skip, Problems: []conform.Problem{{Text: "no server"}}},
}

func TestTextHasALineForACase(t *testing.T) {
	var out bytes.Buffer
	for _, r := range results {
		(&Text{W: &out}).Ended(r)
		(&Text{W: &out, Verbose: true}).Ended(r)
	}
	if got := strings.Count(out.String(), "client/world"); got != 2 {
		t.Errorf("%d lines\n%s", got, &out)
	}
	if !strings.Contains(out.String(), "\n       two\n       lines\n") || strings.Count(out.String(), "said") != 1 {
		t.Errorf("got\n%s", &out)
	}
	if got := Summary(conform.Count{1, 2, 3, 4}); got != "1 passed, 2 failed, 4 indeterminate, 3 skipped" {
		t.Error(got)
	}
}

func TestJUnitCallsIndeterminateCasesErrors(t *testing.T) {
	j := JUnit{Properties: []Property{{"version", "2 < 3"}}}
	j.Ended(conform.Result{Case: conform.Case{Name: "a/b"}, Outcome: conform.Indeterminate,
		Problems: []conform.Problem{{Text: "nothing was seen"}, {Text: "no line"}}})
	var out bytes.Buffer
	if err := j.Write(&out); err != nil {
		t.Fatal(err)
	}
	var back suites
	if err := xml.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	s := back.Suites[0]
	if s.Errors != 1 || s.Failures != 0 || s.Cases[0].Error == nil || s.Cases[0].Error.Message != "nothing was seen" ||
		len(s.Properties) != 1 || s.Properties[0] != (Property{"version", "2 < 3"}) {
		t.Errorf("got %+v", s)
	}
}

func TestJUnitIsReadBack(t *testing.T) {
	j := JUnit{Properties: []Property{{"tester", "1"}}}
	for _, r := range results {
		j.Ended(r)
	}
	var out bytes.Buffer
	if err := j.Write(&out); err != nil {
		t.Fatal(err)
	}
	var back suites
	if err := xml.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if len(back.Suites) != 2 || back.Suites[0].Tests != 2 || back.Suites[0].Skipped != 1 || back.Suites[1].Failures != 1 {
		t.Errorf("got %+v", back)
	}
	if c := back.Suites[1].Cases[0]; c.Failure == nil || c.Failure.Message != "a < b" || c.Output != "said \"\n" {
		t.Errorf("got %+v", c)
	}
}
