package web

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

// guard refuses requests.
//
//   - Host must be one of ours: a page of somebody else's, whose name was made to lead here, cannot read anything.
//   - Whatever changes something must be a POST whose Origin is this page. All browsers say it, also of forms, and no
//     page of another origin can: a token in each form would add nothing. Who says no Origin is refused.
//   - If there is a token, the first request must have it (?token=); from then on a cookie has it.
type guard struct {
	hosts  map[string]bool // as the header Host has them
	any    string          // the port, if every address of this machine is ours
	token  string
	cookie string // suffix of cookies' names: cookies do not know ports
	log    *refusals
}

func newGuard(at net.Addr, token string, to io.Writer) *guard {
	g := &guard{hosts: map[string]bool{at.String(): true}, token: token, log: &refusals{to: to}}
	a, ok := at.(*net.TCPAddr)
	if !ok {
		return g
	}
	port := fmt.Sprint(a.Port)
	g.cookie = "_" + port
	if a.IP.IsLoopback() || a.IP.IsUnspecified() {
		g.hosts["localhost:"+port] = true
	}
	if a.IP.IsUnspecified() {
		g.any = port
		g.hosts[net.JoinHostPort(thisHost(), port)] = true
	}
	return g
}

// thisHost is the name of this machine, an address if it has none.
func thisHost() string {
	if name, err := os.Hostname(); err == nil {
		return strings.ToLower(name)
	}
	return "127.0.0.1"
}

// ours reports whether a Host header names us. Where we listen at all addresses, any address will do: only names can be
// made to lead elsewhere.
func (g *guard) ours(host string) bool {
	host = strings.ToLower(host)
	if g.hosts[host] {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	return err == nil && g.any != "" && port == g.any && net.ParseIP(name) != nil
}

// headers are on every answer.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin", // with no-referrer a form of our own would have no Origin
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		switch {
		case !g.ours(r.Host):
			g.refuse(w, r, http.StatusMisdirectedRequest, "the host is not one of this page")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			g.refuse(w, r, http.StatusMethodNotAllowed, "only GET and POST are understood")
		case r.Method == http.MethodPost && r.Header.Get("Origin") != "http://"+r.Host:
			g.refuse(w, r, http.StatusForbidden, "the request does not come from this page")
		case !g.knows(w, r):
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether a request has the token; it has answered otherwise.
func (g *guard) knows(w http.ResponseWriter, r *http.Request) bool {
	if g.token == "" {
		return true
	}
	same := func(x string) bool { return subtle.ConstantTimeCompare([]byte(x), []byte(g.token)) == 1 }
	if c, err := r.Cookie("impi_token" + g.cookie); err == nil && same(c.Value) {
		return true
	}
	if r.Method == http.MethodGet && same(r.URL.Query().Get("token")) {
		http.SetCookie(w, g.newCookie("impi_token", g.token))
		http.Redirect(w, r, "/", http.StatusSeeOther) // the token does not stay in the address
		return false
	}
	g.refuse(w, r, http.StatusUnauthorized, "the token is missing: use the address that impi-conform has printed")
	return false
}

// newCookie makes a cookie for this page alone. Lax: a link from elsewhere finds the session, a form from elsewhere
// does not have it.
func (g *guard) newCookie(name, value string) *http.Cookie {
	return &http.Cookie{Name: name + g.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

func (g *guard) refuse(w http.ResponseWriter, r *http.Request, code int, why string) {
	g.log.note("%s %s from %s, Host %s, Origin %q: %s", r.Method, r.URL.Path, r.RemoteAddr, r.Host, r.Header.Get("Origin"),
		why)
	w.Header().Set("Connection", "close")
	http.Error(w, why, code)
}

// refusals writes what was refused, few lines a minute.
type refusals struct {
	to   io.Writer
	mu   sync.Mutex // guards what follows
	from time.Time  // the minute
	n    int
}

// perMinute is how many lines are written.
const perMinute = 20

func (l *refusals) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.from) > time.Minute {
		if l.n > perMinute {
			fmt.Fprintf(l.to, "impi-conform: %d more were refused\n", l.n-perMinute)
		}
		l.from, l.n = now, 0
	}
	if l.n++; l.n <= perMinute {
		text := events.Clean(fmt.Sprintf(format, args...), 300)
		fmt.Fprintf(l.to, "impi-conform: refused: %s\n", strings.ReplaceAll(text, "\n", " "))
	}
}

// Write takes what net/http says of broken connections.
func (l *refusals) Write(b []byte) (int, error) {
	l.note("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

func (l *refusals) logger() *log.Logger { return log.New(l, "", 0) }
