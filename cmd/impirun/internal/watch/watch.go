// Package watch is the page about a running IMPI job (impirun -server -web): clients, hosts and ranks, the traffic
// between them, and how the job ends. It only shows: nothing that a browser sends changes anything.
//
// Flow: a server that keeps a view (startup/server/view.go) -> Open listens (cmd/internal/webguard) -> a browser gets
// the page as it is (page.html), and a script (page.js) that opens a stream of what changes -> while there is a stream,
// twice a second: the server asks the clients for their traffic, what it knows becomes texts (page.go) and a diagram
// (diagram.go), and each stream gets the parts that have changed -> the job ends, the streams get the last state and a
// last word (End), and the page that stands in the browser says so.
//
// If nobody looks, nothing of this runs.
package watch

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/webguard"
	"github.com/libimpi/libimpi/startup/server"
)

// Job is what is watched: a server.Server.
type Job interface {
	View() server.View
	Ask()
}

// Watch is the page.
type Watch struct {
	job    Job
	guard  *webguard.Guard
	served chan struct{}

	mu      sync.Mutex // guards what follows
	history history
	page    Page
	parts   []part
	taken   time.Time     // when the page was made; zero: never
	changed chan struct{} // closed when there is another page
	streams int
	follows bool // follow runs
}

// part is a part of the page as it is sent.
type part struct {
	name string
	text []byte
}

// Times between two pages: while there are streams, and at least.
const (
	tick    = 500 * time.Millisecond
	tickMin = tick / 2
)

// endTime is how long the end of the job waits for streams to take the last state.
const endTime = time.Second

//go:embed page.html page.css page.js
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page.html"))

// Open listens, and serves the page until End. token is "" or what a browser has to show. log is told what
// was refused, if it is not nil.
func Open(job Job, address, token string, log func(line string)) (*Watch, error) {
	g, err := webguard.Open(webguard.Config{Address: address, Token: token, Log: log})
	if err != nil {
		return nil, err
	}
	w := newWatch(job, g)
	go func() {
		defer close(w.served)
		g.Serve(w.Handler())
	}()
	return w, nil
}

func newWatch(job Job, g *webguard.Guard) *Watch {
	return &Watch{job: job, guard: g, served: make(chan struct{}), changed: make(chan struct{})}
}

// URL is where the page is.
func (w *Watch) URL() string { return w.guard.URL() }

// End shows how the job has ended to those who look, and closes the page.
func (w *Watch) End() {
	w.refresh(0)
	w.guard.Close(endTime)
	<-w.served
}

// Handler serves the page, without the guard.
func (w *Watch) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(out http.ResponseWriter, r *http.Request) {
		page, _, _ := w.refresh(tickMin)
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, page); err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(out, "text/html; charset=utf-8", b.Bytes())
	})
	mux.HandleFunc("/page.css", file("page.css", "text/css; charset=utf-8"))
	mux.HandleFunc("/page.js", file("page.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("/view.json", func(out http.ResponseWriter, r *http.Request) {
		w.refresh(tickMin)
		b, err := json.Marshal(w.job.View())
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(out, "application/json", b)
	})
	mux.HandleFunc("/events", func(out http.ResponseWriter, r *http.Request) {
		w.guard.Stream(out, r, w.stream)
	})
	return mux
}

func answer(out http.ResponseWriter, kind string, b []byte) {
	out.Header().Set("Content-Type", kind)
	out.Write(b)
}

func file(name, kind string) http.HandlerFunc {
	b, _ := files.ReadFile(name) // it is embedded
	return func(out http.ResponseWriter, _ *http.Request) { answer(out, kind, b) }
}

// refresh makes the page anew, unless that was done within a time, and returns it. changed is closed when there is
// another one.
func (w *Watch) refresh(within time.Duration) (page Page, parts []part, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken.IsZero() || time.Since(w.taken) >= within {
		w.job.Ask() // the answers are in the next page
		w.page = w.history.take(w.job.View())
		w.parts = partsOf(&w.page)
		w.taken = time.Now()
		close(w.changed)
		w.changed = make(chan struct{})
	}
	return w.page, w.parts, w.changed
}

// current returns the page that refresh has made.
func (w *Watch) current() (parts []part, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.parts, w.changed
}

func partsOf(p *Page) (list []part) {
	add := func(name string, what any) {
		text, err := json.Marshal(what)
		if err == nil {
			list = append(list, part{name, text})
		}
	}
	add("title", p.Title)
	add("status", p.Status)
	add("diagram", p.Diagram)
	for i := range p.Tables {
		add(p.Tables[i].ID, p.Tables[i])
	}
	return list
}

// stream sends a browser what changes, until the job ends or the browser leaves.
func (w *Watch) stream(s *webguard.Stream) {
	w.enter()
	defer w.leave()
	sent := map[string]string{}
	_, parts, changed := w.refresh(tickMin)
	for {
		if send(s, parts, sent) != nil {
			return
		}
		select {
		case <-changed:
			parts, changed = w.current()
		case <-s.Left():
			return
		case <-s.Ending():
			parts, _ = w.current()
			if send(s, parts, sent) == nil {
				s.Send("end", []byte("{}"))
			}
			return
		}
	}
}

// send sends the parts that differ from those that have been sent.
func send(s *webguard.Stream, parts []part, sent map[string]string) error {
	fresh := map[string]json.RawMessage{}
	for _, p := range parts {
		if text := string(p.text); sent[p.name] != text {
			sent[p.name], fresh[p.name] = text, p.text
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	b, err := json.Marshal(fresh)
	if err != nil {
		return err
	}
	return s.Send("page", b)
}

// enter counts a stream. While there are any, the page is made anew again and again.
func (w *Watch) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streams++; !w.follows {
		w.follows = true
		go w.follow()
	}
}

func (w *Watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams--
}

func (w *Watch) follow() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for range t.C {
		if !w.goesOn() {
			return
		}
		w.refresh(tickMin)
	}
}

// goesOn reports whether follow has anybody to work for.
func (w *Watch) goesOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follows = w.streams > 0
	return w.follows
}
