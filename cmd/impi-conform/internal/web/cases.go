package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

// casesPage lists all cases.
type casesPage struct {
	base
	By     string // "group", "chapter"
	Groups []group
	Failed int
}

type group struct {
	Name  string
	Cases []line
}

// line is a case in a list.
type line struct {
	Name    string
	Rule    []spec.Part
	About   string
	State   session.State // "": not run
	Seconds float64
	Run     int
	Events  int
}

func (s *Server) list(r *request) error {
	p := &casesPage{base: base{Title: "Cases"}, By: "group"}
	if r.FormValue("by") == "chapter" {
		p.By = "chapter"
	}
	states := latest(r.session)
	for _, c := range s.Cases {
		name, _, _ := strings.Cut(c.Name, "/")
		if p.By == "chapter" {
			name = s.chapter(c.Rule)
		}
		i := slices.IndexFunc(p.Groups, func(g group) bool { return g.Name == name })
		if i < 0 {
			i = len(p.Groups)
			p.Groups = append(p.Groups, group{Name: name})
		}
		x := states[c.Name]
		x.Name, x.About, x.Rule = c.Name, c.About, s.rule(c.Rule)
		if x.State == session.State(record.Fail) || x.State == session.State(record.Indeterminate) {
			p.Failed++
		}
		p.Groups[i].Cases = append(p.Groups[i].Cases, x)
	}
	if p.By == "chapter" {
		slices.SortStableFunc(p.Groups, func(a, b group) int { return compareNumbers(a.Name, b.Name) })
	}
	s.render(r, http.StatusOK, "cases.html", p)
	return nil
}

// compareNumbers orders chapters; what has no number comes last.
func compareNumbers(a, b string) int {
	number := func(text string) []int {
		first, _, _ := strings.Cut(text, " ")
		var list []int
		for _, word := range strings.Split(first, ".") {
			n, err := strconv.Atoi(word)
			if err != nil {
				return []int{1 << 30}
			}
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(number(a), number(b))
}

// latest is how each case stands in the newest run that had it.
func latest(x *session.Session) map[string]line {
	m := map[string]line{}
	if x == nil {
		return m
	}
	for _, run := range x.Runs() {
		if run.Kind != "cases" {
			continue
		}
		for _, c := range run.Snapshot(0).Cases {
			if old, ok := m[c.Name]; !ok || old.State == session.NotRun {
				m[c.Name] = line{State: c.State, Seconds: c.Seconds, Run: run.ID, Events: c.Events}
			}
		}
	}
	return m
}

// casePage is a case, and what became of it.
type casePage struct {
	base
	line
	Run      *session.Run
	Trace    *trace
	Known    bool // one of the tester's own
	Problems []problem
	Output   string
	Quotes   []spec.Section // the sections that the rule names
	File     string
	Script   []scriptLine
	Runs     []*session.Run // that have the case
}

type problem struct {
	Text  string
	Event int // 0: none
	Row   int // its place in the trace, -1: it was not kept
}

// scriptLine is a line of a script; Here: it is one of the case's.
type scriptLine struct {
	N    int
	Text string
	Here bool
}

func (s *Server) one(r *request) error {
	name := r.PathValue("name")
	c, known := s.byName[name]
	p := &casePage{base: base{Title: name, Here: "/cases"}, Known: known}
	if r.session != nil {
		wanted, _ := strconv.Atoi(r.FormValue("run"))
		for _, run := range r.session.Runs() {
			x, _, ok := run.Result(name)
			if !ok {
				continue
			}
			p.Runs = append(p.Runs, run)
			if run.ID == wanted || wanted == 0 && p.Run == nil {
				p.Run, c, known = run, x.Case, true
			}
		}
	}
	if !known {
		return fail(http.StatusNotFound, "there is no case %q", events.Clean(name, 100))
	}
	p.line = line{Name: name, About: c.About, Rule: s.rule(c.Rule)}
	s.outcome(p)
	for _, part := range p.Rule {
		if x := s.sectionOf(part.Section); x != nil {
			p.Quotes = append(p.Quotes, *x)
		}
	}
	s.source(p, c)
	s.render(r, http.StatusOK, "case.html", p)
	return nil
}

// outcome fills in what became of the case.
func (s *Server) outcome(p *casePage) {
	if p.Run == nil {
		return
	}
	x, result, _ := p.Run.Result(p.Name)
	p.State, p.Seconds, p.Events = x.State, x.Seconds, x.Events
	_, total := p.Run.Trace(p.Name, 0, 0)
	if total > 0 || x.State == session.Going || x.State == session.Queued {
		p.Trace = &trace{p.Run.ID, p.Name, x.State == session.Going || x.State == session.Queued}
	}
	if result == nil {
		return
	}
	p.Output = events.Clean(result.Output, 64<<10)
	for i, m := range marks(p.Run, p.Name, result.Problems) {
		p.Problems = append(p.Problems, problem{events.Clean(result.Problems[i].Text, 8<<10), m.N, m.Row})
	}
}

// source fills in the script of the case: the one that was run, if it was edited.
func (s *Server) source(p *casePage, c conform.Case) {
	text, ok := s.fileOf(c.File)
	all := s.Cases
	if p.Run != nil && p.Run.Text != "" {
		text, ok, all = p.Run.Text, true, p.Run.List()
	}
	if p.File = c.File; !ok {
		return
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	next := len(lines) + 1 // where the next case begins
	for _, other := range all {
		if other.File == c.File && other.Line > c.Line {
			next = min(next, other.Line)
		}
	}
	for n, text := range lines {
		p.Script = append(p.Script, scriptLine{n + 1, text, n+1 >= c.Line && n+1 < next})
	}
}
