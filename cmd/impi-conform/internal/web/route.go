package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/diagram"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

//go:embed static/page.js static/diagram.js static/style.css
var static embed.FS

//go:embed views/*.html
var views embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"sign": sign, "asset": asset, "dict": dict,
}).ParseFS(views, "views/*.html"))

// assets are the files besides pages, and under which name: it changes with what is in them, so that browsers may keep
// them.
var assets, assetNames = func() (map[string][]byte, map[string]string) {
	files, names := map[string][]byte{}, map[string]string{}
	for _, name := range []string{"page.js", "diagram.js", "style.css"} {
		b, err := static.ReadFile("static/" + name)
		if err != nil {
			panic(err)
		}
		if name == "style.css" {
			b = append(b, diagram.CSS...)
		}
		sum := sha256.Sum256(b)
		stem, ending, _ := strings.Cut(name, ".")
		names[name] = fmt.Sprintf("%s-%s.%s", stem, hex.EncodeToString(sum[:6]), ending)
		files[names[name]] = b
	}
	return files, names
}()

// dict makes one argument of a template of several: a name, a value, and so on.
func dict(list ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i].(string)] = list[i+1]
	}
	return m
}

func asset(name string) string { return "/static/" + assetNames[name] }

func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	b, ok := assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	kind := "text/javascript; charset=utf-8"
	if strings.HasSuffix(name, ".css") {
		kind = "text/css; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Write(b)
}

// player sends the program that clients run.
func (s *Server) player(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="player.c"`)
	w.Write(s.Player)
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /static/{file}", s.asset)
	for path, page := range map[string]func(*request) error{
		"/{$}": s.configure, "/cases": s.list, "/case/{name...}": s.one, "/script": s.script, "/hand": s.hand,
		"/records": s.records, "/compare": s.compare, "/spec/{$}": s.contents, "/spec/{section}": s.section,
		"/run/{run}/rows/{name...}": s.rows, "/run/{run}/event/{name...}": s.event,
		"/run/{run}/record/{file}": s.download,
	} {
		m.Handle("GET "+path, s.handler(page))
	}
	m.HandleFunc("GET /events", s.stream)
	m.HandleFunc("GET /player.c", s.player)
	for path, act := range map[string]func(*request) error{
		"/start-up": s.startUp, "/run": s.run, "/stop": s.stop, "/clear": s.clear, "/script": s.runScript,
		"/answer": s.answer, "/templates": s.templates,
	} {
		m.Handle("POST "+path, s.form(act))
	}
	m.Handle("POST /compare", s.handler(s.upload))
	return m
}

// request is a request with its session.
type request struct {
	w http.ResponseWriter
	*http.Request
	session *session.Session // nil: none yet
}

// failure is an error with its code.
type failure struct {
	code int
	text string
}

func (f failure) Error() string { return f.text }

func fail(code int, format string, args ...any) error {
	return failure{code, fmt.Sprintf(format, args...)}
}

// sessionCookie is the name of the cookie that finds a session.
const sessionCookie = "session"

// find finds the session of a request, nil if it has none.
func (s *Server) find(r *http.Request) *session.Session {
	if id := s.guard.Cookie(r, sessionCookie); id != "" {
		return s.sessions.Find(id)
	}
	return nil
}

func (s *Server) handler(f func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &request{w: w, Request: r, session: s.find(r)}
		if err := f(x); err != nil {
			s.failed(x, err)
		}
	})
}

// form is handler of a form, which may begin a session.
func (s *Server) form(f func(*request) error) http.Handler {
	return s.handler(func(r *request) error {
		if err := r.ParseForm(); err != nil {
			return tooLong(err)
		}
		if err := s.begin(r); err != nil {
			return err
		}
		return f(r)
	})
}

// tooLong is the error of a form that cannot be read: that is too long, if its length was not said.
func tooLong(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return fail(http.StatusRequestEntityTooLarge, "it is too long: at most %d bytes are taken", big.Limit)
	}
	return fail(http.StatusBadRequest, "the form cannot be read")
}

// begin gives a request a session if it has none.
func (s *Server) begin(r *request) (err error) {
	if r.session != nil {
		return nil
	}
	if r.session, err = s.sessions.New(); err != nil {
		return err
	}
	s.guard.SetCookie(r.w, sessionCookie, r.session.ID)
	return nil
}

// failed shows an error.
func (s *Server) failed(r *request, err error) {
	var f failure
	switch {
	case errors.As(err, &f):
	case errors.Is(err, session.ErrSessions), errors.Is(err, session.ErrStreams), errors.Is(err, session.ErrDrafts):
		f = failure{http.StatusServiceUnavailable, err.Error()}
	default:
		f = failure{http.StatusConflict, err.Error()}
	}
	if f.code != http.StatusNotFound {
		s.guard.Note("%s %s from %s: %s", r.Method, r.URL.Path, r.RemoteAddr, f.text)
	}
	s.render(r, f.code, "error.html", &base{Title: "Error", Message: f.text})
}

// render answers with a page.
func (s *Server) render(r *request, code int, name string, page shown) {
	s.fill(r, page.common())
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, page); err != nil {
		s.guard.Note("%s: %v", name, err)
		http.Error(r.w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	r.w.WriteHeader(code)
	r.w.Write(b.Bytes())
}

// seeOther sends the browser to a page after a form.
func seeOther(r *request, path string) error {
	http.Redirect(r.w, r.Request, path, http.StatusSeeOther)
	return nil
}

// runOf is the run that a path names.
func (s *Server) runOf(r *request, id string) (*session.Run, error) {
	n, err := strconv.Atoi(id)
	if err == nil && r.session != nil {
		if run := r.session.Run(n); run != nil {
			return run, nil
		}
	}
	return nil, fail(http.StatusNotFound, "this session has no such run any more")
}
