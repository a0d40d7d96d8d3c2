package webguard

import (
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// refusals tells what was refused, few lines a minute.
type refusals struct {
	to   func(line string) // nil: nobody is told
	mu   sync.Mutex        // guards what follows
	from time.Time         // the minute
	n    int
}

// Of what is told: lines a minute, and bytes of one, before what cannot be shown becomes escapes.
const (
	perMinute = 20
	lineBytes = 300
)

func (l *refusals) note(format string, args ...any) {
	if l.to == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.from) > time.Minute {
		if l.n > perMinute {
			l.to(fmt.Sprintf("%d more were refused", l.n-perMinute))
		}
		l.from, l.n = now, 0
	}
	if l.n++; l.n <= perMinute {
		l.to("refused: " + clean(fmt.Sprintf(format, args...)))
	}
}

// clean makes a line of text that others have sent: what a terminal would carry out becomes escapes.
func clean(text string) string {
	if len(text) > lineBytes {
		text = text[:lineBytes] + "..."
	}
	text = strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
}

// Write takes what net/http says of broken connections.
func (l *refusals) Write(b []byte) (int, error) {
	l.note("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

func (l *refusals) logger() *log.Logger { return log.New(l, "", 0) }

// Note tells what the page has refused or could not do, among what the guard refuses and as seldom.
func (g *Guard) Note(format string, args ...any) { g.log.note(format, args...) }

// refuse answers a request that does not pass, and hangs up: whatever else it has is not read.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, code int, why string) {
	g.noteRequest(r, why)
	w.Header().Set("Connection", "close")
	http.Error(w, why, code)
}

// noteRequest tells why a request does not pass: without its query, which may have a token.
func (g *Guard) noteRequest(r *http.Request, why string) {
	g.log.note("%s %s from %s, Host %s, Origin %s: %s", r.Method, r.URL.Path, r.RemoteAddr, r.Host, r.Header.Get("Origin"),
		why)
}
