package web

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

// scriptPage is where scripts are read, edited and run.
type scriptPage struct {
	base
	Names   []string // of all scripts
	File    string
	Text    string
	Only    string // which of its cases
	Edited  bool   // the text is the session's
	Faults  []script.Error
	Said    string
	Results []line // of the newest run of a script
}

func (s *Server) script(r *request) error {
	p := &scriptPage{base: base{Title: "Script"}, File: r.FormValue("file"), Only: r.FormValue("case")}
	if p.File == "" && len(s.Files) > 0 {
		p.File = s.Files[0].Name
	}
	text, ok := s.fileOf(p.File)
	if r.session != nil {
		if draft, edited := r.session.Draft(p.File); edited {
			text, ok = draft, true
			p.Edited = true
		}
	}
	if !ok {
		return fail(http.StatusNotFound, "there is no script %q", events.Clean(p.File, 100))
	}
	p.Text = text
	if p.Only != "" {
		p.Only = "^" + regexp.QuoteMeta(p.Only) + "$"
	}
	s.showScript(r, http.StatusOK, p)
	return nil
}

func (s *Server) showScript(r *request, code int, p *scriptPage) {
	for _, f := range s.Files {
		p.Names = append(p.Names, f.Name)
	}
	if !slices.Contains(p.Names, p.File) {
		p.Names = append(p.Names, p.File)
	}
	if r.session != nil {
		for _, run := range r.session.Runs() {
			if run.Kind != "script" {
				continue
			}
			for _, c := range run.Snapshot(0).Cases {
				p.Results = append(p.Results, line{Name: c.Name, About: c.About, Rule: s.rule(c.Rule), State: c.State,
					Seconds: c.Seconds, Run: run.ID, Events: c.Events})
			}
			break
		}
	}
	s.render(r, code, "script.html", p)
}

func (s *Server) fileOf(name string) (text string, ok bool) {
	i := slices.IndexFunc(s.Files, func(f cases.File) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return s.Files[i].Text, true
}

// runScript checks a script, and runs its cases.
func (s *Server) runScript(r *request) error {
	p := &scriptPage{base: base{Title: "Script", Here: "/script"}, File: r.PostFormValue("file"), Edited: true}
	p.Text, p.Only = strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"), r.PostFormValue("only")
	if len(p.Text) > maxScript {
		return fail(http.StatusRequestEntityTooLarge, "a script has at most %d bytes", maxScript)
	}
	_, draft := r.session.Draft(p.File)
	if _, ok := s.fileOf(p.File); !ok && !draft {
		return fail(http.StatusNotFound, "there is no script %q", events.Clean(p.File, 100))
	}
	if text, ok := s.fileOf(p.File); ok && r.PostFormValue("do") == "revert" {
		p.Text = text
	}
	if err := r.session.SetDraft(p.File, p.Text); err != nil {
		return err
	}
	list, faults := s.choose(p)
	if p.Faults = faults; len(faults) > 0 {
		s.showScript(r, http.StatusUnprocessableEntity, p)
		return nil
	}
	if r.PostFormValue("do") != "run" {
		p.Said = fmt.Sprintf("No error is found; %d cases are chosen.", len(list))
		s.showScript(r, http.StatusOK, p)
		return nil
	}
	if err := s.order(r, session.Order{Kind: "script", Title: p.File, Text: p.Text, Cases: list}); err != nil {
		return err
	}
	p.Said = "The script runs."
	s.showScript(r, http.StatusOK, p)
	return nil
}

// choose makes cases of the text of a page, those that Only matches.
func (s *Server) choose(p *scriptPage) (list []conform.Case, faults []script.Error) {
	wrong := func(format string, args ...any) (list []conform.Case, faults []script.Error) {
		return nil, []script.Error{{File: p.File, Text: fmt.Sprintf(format, args...)}}
	}
	only, err := regexp.Compile(p.Only)
	if err != nil {
		return wrong("the expression that chooses cases: %v", err)
	}
	all, err := script.Parse(p.File, p.Text)
	var fault *script.Error
	switch {
	case errors.As(err, &fault):
		return nil, []script.Error{*fault}
	case err != nil:
		return wrong("%v", err)
	}
	if list = conform.Select(all, only); len(list) == 0 {
		return wrong("none of its %d cases matches %q", len(all), p.Only)
	}
	return list, nil
}
