// Package record is what remains of a run: who tested what, where and how, and what became of every case. It is
// written as JSON, which Read reads back; package page makes a page of it.
package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

// Format is the version of the layout: a reader refuses others.
const Format = 1

// Record is a run.
type Record struct {
	Format         int       `json:"format"`
	Date           time.Time `json:"date"` // when it began
	Tester         string    `json:"tester"`
	Specification  string    `json:"specification"`
	Implementation string    `json:"implementation"` // its name
	Version        string    `json:"version"`        // the implementation's
	Machine        string    `json:"machine"`
	Configuration  []Setting `json:"configuration"` // commands, and options of the tester
	Seconds        float64   `json:"seconds"`
	Cases          []Case    `json:"cases"`
}

// Setting is something that was chosen.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Verdict is how a case ended.
type Verdict string

const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	Indeterminate Verdict = "indeterminate" // nothing was seen of the implementation, or the tester was disturbed
	Skip          Verdict = "skip"
)

// Verdicts are all, from the best to the worst.
var Verdicts = []Verdict{Pass, Skip, Indeterminate, Fail}

// Case is what became of a case.
type Case struct {
	Name     string        `json:"name"`
	Rule     string        `json:"rule"`
	Sentence string        `json:"sentence"`
	Verdict  Verdict       `json:"verdict"`
	Problems []Problem     `json:"problems,omitempty"` // or why it was skipped, or nothing is known
	Seconds  float64       `json:"seconds"`
	Output   string        `json:"output,omitempty"` // what the implementation wrote, unless the case passed
	Trace    *events.Trace `json:"trace,omitempty"`
}

// Problem is what was wrong.
type Problem struct {
	Text  string        `json:"text"`
	Event int           `json:"event,omitempty"` // the n of the event of the trace that shows it
	Must  []codec.Field `json:"must,omitempty"`  // fields of it that are something else, as they must be
}

// Bounds of text in a record, in bytes.
const (
	maxName    = 200
	maxProblem = 8 << 10
	maxOutput  = 64 << 10
)

// maxPassed bounds the events of a case that has passed: nobody will look for the one that was wrong.
const maxPassed = 2000

// Group is the part of a case's name before the slash.
func (c Case) Group() string { g, _, _ := strings.Cut(c.Name, "/"); return g }

// Add adds the result of a case.
func (r *Record) Add(x conform.Result) {
	c := Case{Name: x.Case.Name, Rule: x.Case.Rule, Sentence: x.Case.About, Verdict: VerdictOf(x.Outcome),
		Seconds: x.Took.Round(time.Millisecond).Seconds(), Trace: x.Trace}
	for _, p := range x.Problems {
		c.Problems = append(c.Problems, Problem{events.Clean(p.Text, maxProblem), p.Event, p.Must})
	}
	if c.Verdict != Pass {
		c.Output = events.Clean(x.Output, maxOutput)
	} else if c.Trace != nil {
		c.Trace = c.Trace.Shorten(maxPassed)
	}
	r.Cases = append(r.Cases, c)
}

// VerdictOf is the word for an outcome.
func VerdictOf(o conform.Outcome) Verdict {
	list := [...]Verdict{conform.Pass: Pass, conform.Fail: Fail, conform.Skip: Skip, conform.Indeterminate: Indeterminate}
	return list[o]
}

// Properties are what JUnit's files say of a run.
func (r *Record) Properties() []Setting {
	list := []Setting{{"specification", r.Specification}, {"tester", r.Tester}, {"implementation", r.Implementation},
		{"version", r.Version}, {"date", r.Date.Format(time.RFC3339)}, {"machine", r.Machine}}
	return append(list, r.Configuration...)
}

// Count is how many cases of a group, "" for all, have a verdict.
func (r *Record) Count(group string, v Verdict) (n int) {
	for _, c := range r.Cases {
		if (group == "" || c.Group() == group) && c.Verdict == v {
			n++
		}
	}
	return n
}

// Write writes a record as JSON, a case a line.
func (r *Record) Write(w io.Writer) error {
	head := *r
	head.Format, head.Cases = Format, []Case{}
	b, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	text, _ := strings.CutSuffix(string(b), "]\n}")
	out.WriteString(text)
	for i, c := range r.Cases {
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(b)
	}
	out.WriteString("\n]\n}\n")
	return out.Flush() // which returns the error of any write
}

// Read reads a record.
func Read(from io.Reader) (*Record, error) {
	r := new(Record)
	if err := json.NewDecoder(bufio.NewReader(from)).Decode(r); err != nil {
		return nil, err
	}
	return r, r.valid()
}

func (r *Record) valid() error {
	if r.Format != Format {
		return fmt.Errorf("its format is %d, must be %d", r.Format, Format)
	}
	for _, c := range r.Cases {
		if !slices.Contains(Verdicts, c.Verdict) || c.Name != events.Clean(c.Name, maxName) {
			return fmt.Errorf("case %q has the verdict %q", events.Clean(c.Name, maxName),
				events.Clean(string(c.Verdict), maxName))
		}
	}
	return nil
}

// ReadVerdicts reads of a record no more than comparing needs: who was tested when, and each case's name and verdict.
// A hostile record takes no more memory than its own length and maxCases cases.
func ReadVerdicts(from io.Reader, maxCases int) (*Record, error) {
	r := new(Record)
	d := json.NewDecoder(from)
	if err := delim(d, '{'); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var into any = new(json.RawMessage)
		switch key {
		case "format":
			into = &r.Format
		case "date":
			into = &r.Date
		case "implementation":
			into = &r.Implementation
		case "version":
			into = &r.Version
		case "cases":
			if err := r.readCases(d, maxCases); err != nil {
				return nil, err
			}
			continue
		}
		if err := d.Decode(into); err != nil {
			return nil, err
		}
	}
	if err := delim(d, '}'); err != nil {
		return nil, err
	}
	r.Implementation, r.Version = events.Clean(r.Implementation, maxName), events.Clean(r.Version, maxName)
	return r, r.valid()
}

func (r *Record) readCases(d *json.Decoder, most int) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	for d.More() {
		var c struct {
			Name    string  `json:"name"`
			Verdict Verdict `json:"verdict"`
		}
		if err := d.Decode(&c); err != nil {
			return err
		}
		if len(r.Cases) == most {
			return fmt.Errorf("it has more than %d cases", most)
		}
		r.Cases = append(r.Cases, Case{Name: c.Name, Verdict: c.Verdict})
	}
	return delim(d, ']')
}

func delim(d *json.Decoder, want json.Delim) error {
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t != want:
		return fmt.Errorf("it is no record: %q where %q must be", events.Clean(fmt.Sprint(t), maxName), want)
	}
	return nil
}
