// Package page makes one page of HTML of a record. The page needs no script and no other file, and is allowed none; it
// prints, and follows the reader's wish for light or dark.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/diagram"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
)

//go:embed page.html
var text string

// pageStyle has no comments: html/template would drop them, and the policy has the sum of what is here.
//
//go:embed style.css
var pageStyle string

var style = "\n" + pageStyle + diagram.CSS

// How many events of a case are shown.
const (
	ofPassed = 60
	ofOthers = 600
)

// Write writes the page.
func Write(w io.Writer, r *record.Record) error { return page.Execute(w, newView(r)) }

// view is what the page shows.
type view struct {
	*record.Record
	Policy   string
	Verdicts []record.Verdict // from the worst to the best
	Groups   []group
	Total    group
	Cases    []shown
}

type group struct {
	Name   string
	Counts []int // by view.Verdicts
	Sum    int
}

type shown struct {
	record.Case
	ID      string
	First   bool // of its group
	Open    bool
	Events  int
	Diagram *diagram.Diagram
}

func newView(r *record.Record) view {
	v := view{Record: r, Policy: policy()}
	v.Verdicts = slices.Clone(record.Verdicts)
	slices.Reverse(v.Verdicts)
	for i, c := range r.Cases {
		s := shown{Case: c, ID: fmt.Sprintf("case-%d", i+1)}
		if !slices.ContainsFunc(v.Groups, func(g group) bool { return g.Name == c.Group() }) {
			s.First = true
			v.Groups = append(v.Groups, v.count(c.Group()))
		}
		limit := ofOthers
		if c.Verdict == record.Pass {
			limit = ofPassed
		}
		s.Open = c.Verdict == record.Fail
		if c.Trace != nil {
			s.Events = len(c.Trace.Events) + c.Trace.Left
			s.Diagram = diagram.New(s.ID, c.Trace, c.Problems, limit)
		}
		v.Cases = append(v.Cases, s)
	}
	v.Total = v.count("")
	return v
}

func (v view) count(name string) group {
	g := group{Name: name}
	for _, verdict := range v.Verdicts {
		n := v.Record.Count(name, verdict)
		g.Counts = append(g.Counts, n)
		g.Sum += n
	}
	return g
}

// policy allows the page its own style and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{"sign": sign}).Parse(text + diagram.Text +
	`{{define "style"}}` + style + `{{end}}`))

// sign tells a verdict without colour.
func sign(v record.Verdict) string {
	switch v {
	case record.Pass:
		return "✓"
	case record.Fail:
		return "✗"
	case record.Indeterminate:
		return "?"
	}
	return "–"
}
