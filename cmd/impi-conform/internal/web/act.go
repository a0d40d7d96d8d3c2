package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/startup"
)

// order runs cases.
func (s *Server) order(r *request, o session.Order) (err error) {
	o.Options = s.Options
	if s.ByHand != nil {
		if o.Options, o.Done, err = s.ByHand(s.templatesOf(r.session), r.session.Ask); err != nil {
			return err
		}
	}
	if _, err = r.session.Begin(o); err != nil && o.Done != nil {
		o.Done()
	}
	return err
}

// startUp runs a start-up alone.
func (s *Server) startUp(r *request) error {
	f, job, negotiated, ok := startup.Read(r.PostFormValue)
	for _, x := range append(job, negotiated...) {
		r.session.SetValue("start-up "+x.Name, first(r.PostFormValue(x.Name), 20))
	}
	r.session.SetValue("start-up server", f.Server)
	r.session.SetValue("start-up auth", f.Auth)
	if !ok {
		s.showConfiguration(r, http.StatusUnprocessableEntity, r.PostFormValue)
		return nil
	}
	text := f.Script()
	list, err := script.Parse(startup.File, text)
	if err != nil {
		return err
	}
	if err := r.session.SetDraft(startup.File, text); err != nil { // to be edited
		return err
	}
	if err := s.order(r, session.Order{Kind: "start-up", Title: "start-up only", Text: text, Cases: list}); err != nil {
		return err
	}
	return seeOther(r, "/#trace")
}

// first is at most the first n bytes of a text.
func first(text string, n int) string { return text[:min(len(text), n)] }

// run runs cases: those that were picked, a group's, all, or those that failed.
func (s *Server) run(r *request) error {
	var names []string
	title := ""
	switch what := r.PostFormValue("what"); what {
	case "all":
		title = "all cases"
		for _, c := range s.Cases {
			names = append(names, c.Name)
		}
	case "failed":
		title = "failed again"
		for name, x := range latest(r.session) {
			if x.State == "fail" || x.State == "indeterminate" {
				names = append(names, name)
			}
		}
	default:
		names = r.PostForm["case"]
		title = strconv.Itoa(len(names)) + " cases"
		if len(names) == 1 {
			title = names[0]
		}
	}
	var list []conform.Case
	for _, c := range s.Cases { // in their order, each once
		if slices.Contains(names, c.Name) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return fail(http.StatusUnprocessableEntity, "no case is picked")
	}
	if err := s.order(r, session.Order{Kind: "cases", Title: first(title, 100), Cases: list}); err != nil {
		return err
	}
	if back := r.PostFormValue("back"); back == "case" && len(list) == 1 {
		return seeOther(r, casePath(list[0].Name)+"#trace")
	}
	by := ""
	if r.PostFormValue("by") == "chapter" {
		by = "?by=chapter"
	}
	return seeOther(r, "/cases"+by)
}

func casePath(name string) string { return (&url.URL{Path: "/case/" + name}).EscapedPath() }

// back sends the browser to the page of a form.
func back(r *request) error {
	switch path := r.PostFormValue("back"); path {
	case "/", "/cases", "/cases?by=chapter", "/script", "/hand", "/records":
		return seeOther(r, path)
	}
	return seeOther(r, "/cases")
}

func (s *Server) stop(r *request) error {
	r.session.Stop()
	return back(r)
}

func (s *Server) clear(r *request) error {
	r.session.Clear()
	return back(r)
}

// answer answers a prompt.
func (s *Server) answer(r *request) error {
	id, _ := strconv.Atoi(r.PostFormValue("id"))
	err := r.session.Answer(id, r.PostFormValue("answer"), r.PostFormValue("do") == "give-up")
	if err != nil {
		return err
	}
	return seeOther(r, "/hand")
}

// maxTemplate bounds a template in bytes.
const maxTemplate = 2000

// templates keeps the templates of command lines, which are shown and never carried out.
func (s *Server) templates(r *request) error {
	t := Templates{Server: r.PostFormValue("server"), Client: r.PostFormValue("client")}
	for _, x := range s.Ready {
		if r.PostFormValue("ready") == x.Name {
			t = x
		}
	}
	for name, text := range map[string]string{"server": t.Server, "client": t.Client} {
		if len(text) > maxTemplate || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return fail(http.StatusUnprocessableEntity, "a template is one line of at most %d bytes", maxTemplate)
		}
		r.session.SetValue("template "+name, text)
	}
	return seeOther(r, "/hand")
}

// templatesOf are a session's templates; without any, the first ready ones.
func (s *Server) templatesOf(x *session.Session) (t Templates) {
	if len(s.Ready) > 0 {
		t = s.Ready[0]
	}
	if x == nil {
		return t
	}
	for name, into := range map[string]*string{"server": &t.Server, "client": &t.Client} {
		if text := x.Value("template " + name); text != "" {
			*into = text
		}
	}
	return t
}
