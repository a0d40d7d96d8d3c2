// Package report says what became of conformance cases: as lines, and as JUnit's XML.
package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
)

// Text writes one line a case, and under a failure what was wrong.
type Text struct {
	W       io.Writer
	Verbose bool // what the implementation wrote in failed cases, too
}

// Ended writes of a case.
func (t *Text) Ended(r conform.Result) {
	fmt.Fprintf(t.W, "%-4s %-40s %6.2f s  %s\n", r.Outcome, r.Case.Name, r.Took.Seconds(), r.Case.Rule)
	for _, p := range r.Problems {
		fmt.Fprintf(t.W, "       %s\n", strings.ReplaceAll(strings.TrimRight(p.Text, "\n"), "\n", "\n       "))
	}
	if (r.Outcome == conform.Fail || r.Outcome == conform.Indeterminate) && t.Verbose {
		fmt.Fprintf(t.W, "%s", r.Output)
	}
}

// Summary is the last line.
func Summary(count conform.Count) string {
	return fmt.Sprintf("%d passed, %d failed, %d indeterminate, %d skipped", count[conform.Pass], count[conform.Fail],
		count[conform.Indeterminate], count[conform.Skip])
}

// JUnit gathers results for one file.
type JUnit struct {
	Properties []Property // of the whole run
	results    []conform.Result
}

// Property says something about a run.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Ended takes the result of a case.
func (j *JUnit) Ended(r conform.Result) { j.results = append(j.results, r) }

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []*suite `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"` // indeterminate cases
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []Property `xml:"properties>property"`
	Cases      []test     `xml:"testcase"`
	seconds    float64
}

type test struct {
	Name    string `xml:"name,attr"`
	Class   string `xml:"classname,attr"`
	Time    string `xml:"time,attr"`
	Failure *note  `xml:"failure,omitempty"`
	Error   *note  `xml:"error,omitempty"`
	Skipped *note  `xml:"skipped,omitempty"`
	Output  string `xml:"system-out,omitempty"`
}

type note struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Write writes the file: a suite for each group of cases, in the order of their first case.
func (j *JUnit) Write(w io.Writer) error {
	var all suites
	byName := map[string]*suite{}
	for _, r := range j.results {
		group, name, _ := strings.Cut(r.Case.Name, "/")
		s := byName[group]
		if s == nil {
			s = &suite{Name: group, Properties: j.Properties}
			byName[group] = s
			all.Suites = append(all.Suites, s)
		}
		c := test{Name: name, Class: "impi." + group, Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
		s.Tests++
		s.seconds += r.Took.Seconds()
		s.Time = fmt.Sprintf("%.3f", s.seconds)
		switch r.Outcome {
		case conform.Fail:
			s.Failures++
			c.Failure = &note{r.Problems[0].Text, r.Case.Rule + "\n" + texts(r, "\n")}
			c.Output = strings.Map(printable, r.Output)
		case conform.Indeterminate:
			s.Errors++
			c.Error = &note{r.Problems[0].Text, r.Case.Rule + "\n" + texts(r, "\n")}
			c.Output = strings.Map(printable, r.Output)
		case conform.Skip:
			s.Skipped++
			c.Skipped = &note{texts(r, "; "), ""}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// texts joins the problems of a result.
func texts(r conform.Result, between string) string {
	var list []string
	for _, p := range r.Problems {
		list = append(list, p.Text)
	}
	return strings.Join(list, between)
}

// printable drops what XML cannot hold.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
