package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/startup"
)

// base is what all pages have.
type base struct {
	Title   string
	Here    string // the page's path
	Message string // an error
	Head    record.Record
	Now     news
	ByHand  bool // programs are started by hand
}

// shown is a page.
type shown interface{ common() *base }

func (b *base) common() *base { return b }

func (s *Server) fill(r *request, b *base) {
	b.Head, b.ByHand = s.Head, s.ByHand != nil
	if b.Here == "" {
		b.Here = r.URL.Path
	}
	if r.session != nil {
		var run, seq int
		b.Now = look(r.session, &run, &seq)
		b.Now.Cases = nil
	}
}

// Line is the state of the session in words.
func (n news) Line() string {
	switch {
	case n.Run == 0:
		return "no run yet"
	case n.Phase == session.Waiting:
		return "waits for other sessions' runs"
	}
	return string(n.Phase)
}

// Going reports whether a run goes on.
func (n news) Going() bool { return n.Phase == session.Waiting || n.Phase == session.Running }

// Of is how many cases of the newest run have a state.
func (n news) Of(state string) int { return n.Count[session.State(state)] }

// sign tells a state without colour.
func sign(state any) string {
	switch session.State(fmt.Sprint(state)) {
	case session.State(record.Pass):
		return "✓"
	case session.State(record.Fail):
		return "✗"
	case session.State(record.Indeterminate):
		return "?"
	case session.State(record.Skip):
		return "–"
	case session.Going:
		return "▶"
	case session.Queued:
		return "·"
	}
	return "○"
}

// configuration is the first page.
type configuration struct {
	base
	Form            startup.Form
	Job, Negotiated []startup.Field
	Trace           *trace
	Templates       Templates
}

// trace is where a page has a sequence diagram.
type trace struct {
	Run  int
	Name string
	Live bool
}

func (s *Server) configure(r *request) error {
	s.showConfiguration(r, http.StatusOK, func(name string) string {
		if r.session == nil {
			return ""
		}
		return r.session.Value("start-up " + name)
	})
	return nil
}

func (s *Server) showConfiguration(r *request, code int, value func(string) string) {
	p := &configuration{base: base{Title: "Configure", Here: "/"}}
	p.Form, p.Job, p.Negotiated, _ = startup.Read(value)
	if r.session != nil {
		for _, run := range r.session.Runs() {
			if run.Kind == "start-up" {
				p.Trace = &trace{run.ID, startup.Name, !run.Over()}
				break
			}
		}
	}
	s.render(r, code, "configure.html", p)
}

// handPage shows what a person has to do.
type handPage struct {
	base
	Prompts   []session.Prompt
	Templates Templates
	Ready     []Templates
}

func (s *Server) hand(r *request) error {
	p := &handPage{base: base{Title: "By hand"}, Ready: s.Ready, Templates: s.templatesOf(r.session)}
	if r.session != nil {
		p.Prompts = r.session.Prompts()
	}
	s.render(r, http.StatusOK, "hand.html", p)
	return nil
}

// specPage is a section of the specification, or its contents.
type specPage struct {
	base
	Section  *spec.Section
	Sections []spec.Section
	Before   *spec.Section
	After    *spec.Section
	Cases    []string // that test it
}

func (s *Server) contents(r *request) error {
	s.render(r, http.StatusOK, "spec.html", &specPage{base: base{Title: "Specification"}, Sections: s.Sections})
	return nil
}

func (s *Server) section(r *request) error {
	for i := range s.Sections {
		x := &s.Sections[i]
		if x.Number != r.PathValue("section") {
			continue
		}
		p := &specPage{base: base{Title: x.Number + " " + x.Title}, Section: x}
		if i > 0 {
			p.Before = &s.Sections[i-1]
		}
		if i+1 < len(s.Sections) {
			p.After = &s.Sections[i+1]
		}
		for _, c := range s.Cases {
			for _, part := range s.rule(c.Rule) {
				if part.Section == x.Number {
					p.Cases = append(p.Cases, c.Name)
					break
				}
			}
		}
		s.render(r, http.StatusOK, "section.html", p)
		return nil
	}
	return fail(http.StatusNotFound, "the specification has no section %q", r.PathValue("section"))
}

// rule takes a rule apart.
func (s *Server) rule(rule string) []spec.Part {
	if s.Rule == nil {
		return []spec.Part{{Text: rule}}
	}
	return s.Rule(rule)
}

// sectionOf is the section of a number, nil if there is none.
func (s *Server) sectionOf(number string) *spec.Section {
	for i := range s.Sections {
		if s.Sections[i].Number == number {
			return &s.Sections[i]
		}
	}
	return nil
}

// chapter is the part of a rule by which cases are put together: "2.3" of "2.3.5, erratum D-4".
func (s *Server) chapter(rule string) string {
	for _, p := range s.rule(rule) {
		number := p.Section
		if number == "" {
			number, _, _ = strings.Cut(p.Text, " ")
			number = strings.TrimRight(number, ",;")
		}
		if number == "" || number[0] < '0' || number[0] > '9' {
			continue
		}
		parts := strings.SplitN(number, ".", 3)
		if len(parts) > 2 {
			parts = parts[:2]
		}
		number = strings.Join(parts, ".")
		if x := s.sectionOf(number); x != nil {
			return number + " " + x.Title
		}
		return number
	}
	return "other rules"
}
