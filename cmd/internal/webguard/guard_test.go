package webguard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// token is one that is good.
const token = "0123456789abcdef"

// page says that it was reached, and how much of the body.
var page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "the page, %d bytes, %v", len(b), err)
})

func open(t *testing.T, c Config) *Guard {
	t.Helper()
	g, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(time.Minute) })
	return g
}

// ask asks a guard and returns its answer.
func ask(g *Guard, method, target string, tune func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+g.Addr().String()+target, nil)
	if tune != nil {
		tune(r)
	}
	w := httptest.NewRecorder()
	g.Handler(page).ServeHTTP(w, r)
	return w
}

func TestAnAddressOfOthersNeedsAToken(t *testing.T) {
	for address, where := range map[string]string{"": "127.0.0.1", "0": "127.0.0.1", "localhost:0": "127.0.0.1",
		"127.0.0.2": "127.0.0.2", "127.0.0.3:0": "127.0.0.3", ":0": "127.0.0.1"} {
		g, err := Open(Config{Address: address})
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if g.Addr().Addr().String() != where || g.Addr().Port() == 0 || !strings.HasPrefix(g.URL(), "http://"+where+":") {
			t.Errorf("%q: %v, %s", address, g.Addr(), g.URL())
		}
		g.Close(0)
	}
	for _, address := range []string{"0.0.0.0", "[::]:0", "10.0.0.1:0", "::"} {
		if _, err := Open(Config{Address: address}); !errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if g := open(t, Config{Address: "0.0.0.0:0", Token: token}); strings.Contains(g.URL(), "0.0.0.0") {
		t.Errorf("nobody can call for %s", g.URL())
	}
	for _, address := range []string{"127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-1"} {
		if _, err := Open(Config{Address: address}); err == nil || errors.Is(err, ErrToken) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestOnlyOurOwnPageAndItsUserPass(t *testing.T) {
	g := open(t, Config{})
	head := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	tests := []struct {
		method string
		tune   func(*http.Request)
		code   int
	}{
		{"GET", nil, 200}, {"HEAD", nil, 200}, {"POST", nil, 405}, {"PUT", nil, 405}, {"OPTIONS", nil, 405}, {"X", nil, 405},
		{"GET", host("localhost:8080"), 200}, {"GET", host("LOCALHOST"), 200}, {"GET", host("[::1]:5"), 200},
		{"GET", host("127.0.0.1"), 200}, {"GET", host("192.168.1.1:80"), 421}, {"GET", host("0.0.0.0"), 421},
		{"GET", host("evil.example"), 421}, {"GET", host("evil.example:80"), 421},
		{"GET", host(""), 421}, {"GET", host("localhost.evil.example"), 421}, {"GET", host("127.0.0.1.evil"), 421},
		{"GET", head("Origin", "http://"+g.Addr().String()), 200}, {"GET", head("Origin", "http://evil.example"), 403},
		{"GET", head("Origin", "http://"+g.Addr().String()+"/"), 403},
		{"GET", head("Origin", "http://"+g.Addr().String()+".evil.example"), 403},
		{"GET", head("Origin", "null"), 403}, {"GET", head("Origin", "https://"+g.Addr().String()), 403},
		{"GET", head("Origin", "http://127.0.0.1:1"), 403},
		{"GET", head("Sec-Fetch-Site", "same-origin"), 200}, {"GET", head("Sec-Fetch-Site", "none"), 200},
		{"GET", head("Sec-Fetch-Site", "cross-site"), 403}, {"GET", head("Sec-Fetch-Site", "same-site"), 403},
		{"GET", func(r *http.Request) {
			r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"},
				"Sec-Fetch-Dest": {"document"}}
		}, 200},
		{"GET", func(r *http.Request) {
			r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"},
				"Sec-Fetch-Dest": {"iframe"}}
		}, 403},
		{"GET", func(r *http.Request) { r.ContentLength = 1 }, 413},
		{"GET", func(r *http.Request) { r.ContentLength = -1 }, 413},
	}
	for i, tt := range tests {
		w := ask(g, tt.method, "/", tt.tune)
		if w.Code != tt.code || strings.Contains(w.Body.String(), "the page, ") != (tt.code == 200) {
			t.Errorf("%d, %s: %d %q, want %d", i, tt.method, w.Code, w.Body, tt.code)
		}
		for name, part := range map[string]string{"Content-Security-Policy": "default-src 'none'",
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
			if !strings.Contains(w.Header().Get(name), part) {
				t.Errorf("%d: %s is %q", i, name, w.Header().Get(name))
			}
		}
	}
}

func TestThePageOfOthersHasThisMachinesNameAndAnyAddress(t *testing.T) {
	g := open(t, Config{Address: "0.0.0.0:0", Token: token})
	g.name = "node7"
	one := open(t, Config{})
	one.name = "node7"
	for host, want := range map[string][2]bool{"10.1.2.3:80": {true, false}, "[fd00::1]:80": {true, false},
		"localhost:80": {true, true}, "node7:80": {true, false}, "NODE7": {true, false}, "evil.example:80": {},
		"node7.evil.example:80": {}, "10.1.2.3.evil": {}, "0.0.0.0:80": {}, "": {}, "127.0.0.1:1": {true, true},
		"[::ffff:127.0.0.1]": {true, true}} {
		if g.ours(host) != want[0] || one.ours(host) != want[1] {
			t.Errorf("%q: %v at all addresses, %v at the loopback one", host, g.ours(host), one.ours(host))
		}
	}
}

// TestAFormMustSayThatItIsOurs has forms of a page that takes them.
func TestAFormMustSayThatItIsOurs(t *testing.T) {
	g := open(t, Config{Methods: []string{"GET", "POST"}, MaxBody: 10})
	site := "http://" + g.Addr().String()
	for origin, code := range map[string]int{site: 200, "": 403, "null": 403, "http://evil.example": 403, site + "/": 403,
		site + ".evil.example": 403, "http://127.0.0.1:1": 403, "http://127.0.0.1": 403,
		strings.Replace(site, "http:", "https:", 1): 403, strings.Replace(site, "127.0.0.1", "localhost", 1): 403} {
		w := ask(g, "POST", "/", func(r *http.Request) {
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
		})
		if w.Code != code || code != 200 && w.Header().Get("Connection") != "close" {
			t.Errorf("Origin %q: %d, want %d", origin, w.Code, code)
		}
	}
	w := ask(g, "POST", "/", func(r *http.Request) {
		r.Header = http.Header{"Origin": {site}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"},
			"Sec-Fetch-Dest": {"document"}}
	})
	if w.Code != 403 {
		t.Errorf("a form that the browser says is of another site: %d", w.Code)
	}
	if got := w.Header().Get("Referrer-Policy"); got != "same-origin" {
		t.Errorf("our forms would have no Origin with %s", got)
	}
	if got := ask(open(t, Config{}), "GET", "/", nil).Header().Get("Referrer-Policy"); got != "no-referrer" {
		t.Errorf("a page without forms has %s", got)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	g := open(t, Config{Methods: []string{"GET", "POST"}, MaxBody: 5, Bodies: map[string]int64{"/long": 10}})
	if w := ask(g, "GET", "/long", func(r *http.Request) { r.ContentLength = 1 }); w.Code != 413 {
		t.Errorf("a body of a GET: %d", w.Code)
	}
	if w := ask(g, "POST", "/long/", func(r *http.Request) {
		r.Header.Set("Origin", "http://"+r.Host)
		r.ContentLength = 6
	}); w.Code != 413 {
		t.Errorf("6 bytes for another path: %d", w.Code)
	}
	for body, wants := range map[string][2]string{
		"0123456789": {"the page, 10 bytes, <nil>", "the page, 10 bytes, <nil>"},
		"0123456789a": {"the request is too long: at most 10 bytes are taken",
			"the page, 10 bytes, http: request body too large"},
	} {
		for i, length := range []int{len(body), -1} {
			w := ask(g, "POST", "/long", func(r *http.Request) {
				r.Header.Set("Origin", "http://"+r.Host)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(length)
			})
			if got := strings.TrimSpace(w.Body.String()); got != wants[i] {
				t.Errorf("%d bytes, announced %d: %q", len(body), length, got)
			}
		}
	}
}

func TestATokenIsShownOnce(t *testing.T) {
	g := open(t, Config{Token: token})
	if w := ask(g, "GET", "/x", nil); w.Code != 401 || !strings.Contains(w.Body.String(), "<form") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(g, "GET", "/?token=0123456789abcdeg", nil); w.Code != 401 || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong one: %d %s", w.Code, w.Body)
	}
	w := ask(g, "GET", "/?token="+token, nil)
	cookies := w.Result().Cookies()
	if w.Code != 200 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode ||
		strings.Contains(cookies[0].Value, token) || strings.Contains(w.Body.String(), "the page, ") {
		t.Fatalf("%d %v %s", w.Code, cookies, w.Body)
	}
	if w = ask(g, "GET", "/", func(r *http.Request) { r.AddCookie(cookies[0]) }); w.Code != 200 {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
	other := open(t, Config{Token: token})
	if cookies[0].Name != g.cookie("token") || cookies[0].Name == other.cookie("token") {
		t.Errorf("the cookie is called %s", cookies[0].Name)
	}
	cookies[0].Name = other.cookie("token")
	if w = ask(other, "GET", "/", func(r *http.Request) { r.AddCookie(cookies[0]) }); w.Code != 401 {
		t.Errorf("the cookie of another page: %d", w.Code)
	}
	for word, code := range map[string]int{"Bearer " + token: 200, "Bearer " + token + "x": 401, token: 401} {
		if w = ask(g, "GET", "/", func(r *http.Request) { r.Header.Set("Authorization", word) }); w.Code != code {
			t.Errorf("%q: %d", word, w.Code)
		}
	}
}

func TestTokensInFiles(t *testing.T) {
	dir := t.TempDir()
	for text, well := range map[string]bool{token + "\n": true, "short": false, "": false, token + " " + token: false,
		token + "/<&": false, strings.Repeat("a-._~", 9): true} {
		file := filepath.Join(dir, "token")
		os.WriteFile(file, []byte(text), 0o600)
		got, err := ReadToken(file)
		if (err == nil) != well || well && got != strings.TrimSpace(text) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	open := filepath.Join(dir, "open")
	os.WriteFile(open, []byte(token), 0o644)
	if _, err := ReadToken(open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if _, err := ReadToken(filepath.Join(dir, "none")); err == nil {
		t.Error("there is no such file")
	}
}

// dial opens a connection and sends a request for a path.
func dial(t *testing.T, g *Guard, path string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", g.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	return c, bufio.NewReader(c)
}

func TestConnectionsAndStreamsAreBounded(t *testing.T) {
	g := open(t, Config{Conns: 4, Streams: 2})
	served := make(chan error, 1)
	left := make(chan bool, 4)
	go func() {
		served <- g.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.Stream(w, r, func(s *Stream) {
				s.Send("first", []byte("a\nb"))
				select {
				case <-s.Ending():
					s.Send("last", []byte("end"))
				case <-s.Left():
				}
				left <- true
			})
		}))
	}()
	status := func(in *bufio.Reader) int {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return 0
		}
		return r.StatusCode
	}
	first, one := dial(t, g, "/")
	_, two := dial(t, g, "/")
	if a, b := status(one), status(two); a != 200 || b != 200 {
		t.Fatal(a, b)
	}
	third, three := dial(t, g, "/")
	if code := status(three); code != 503 {
		t.Errorf("a third stream: %d", code)
	}
	_, four := dial(t, g, "/")
	if code := status(four); code != 503 {
		t.Errorf("a fourth: %d", code)
	}
	if _, five := dial(t, g, "/"); status(five) != 0 {
		t.Error("there are five connections")
	}
	first.Close()
	<-left
	fmt.Fprintf(third, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	io.ReadFull(three, make([]byte, len("too many look at this page\n")))
	if code := status(three); code != 200 {
		t.Errorf("when one has left: %d", code)
	}
	go g.Close(time.Minute)
	b, _ := io.ReadAll(three)
	if text := string(b); !strings.Contains(text, "event: first\ndata: a\ndata: b\n\n") ||
		!strings.Contains(text, "event: last\ndata: end\n\n") || !strings.HasSuffix(text, "\r\n0\r\n\r\n") {
		t.Errorf("%q", text)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestAHeadThatIsTooLongIsRefused(t *testing.T) {
	g := open(t, Config{Conns: 1})
	go g.Serve(page)
	c, in := dial(t, g, "/"+strings.Repeat("x", 64<<10))
	defer c.Close()
	r, err := http.ReadResponse(in, nil)
	if err != nil || r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%v, %v", r, err)
	}
}

func TestRefusalsAreToldButNotAll(t *testing.T) {
	var lines []string
	r := &refusals{to: func(line string) { lines = append(lines, line) }}
	for i := range 1000 {
		r.note("number %d\nfrom \x1b[31m\u202e%s", i, strings.Repeat("x", 10000))
	}
	text := strings.Join(lines, "")
	if len(lines) != perMinute || len(text) > perMinute*400 || strings.ContainsAny(text, "\x1b\n\u202e") {
		t.Errorf("%d lines, %d bytes: %.300q", len(lines), len(text), text)
	}
	r.from = r.from.Add(-2 * time.Minute)
	r.note("later")
	if len(lines) != perMinute+2 || lines[perMinute] != "980 more were refused" || lines[perMinute+1] != "refused: later" {
		t.Errorf("%q", lines[perMinute:])
	}
}

func TestWhatIsRefusedIsToldWithoutTheToken(t *testing.T) {
	var lines []string
	g := open(t, Config{Token: token, Log: func(line string) { lines = append(lines, line) }})
	ask(g, "GET", "/?token="+token+"x", nil)
	ask(g, "GET", "/", func(r *http.Request) { r.Host = "evil.example" })
	ask(g, "POST", "/", nil)
	if len(lines) != 3 || strings.Contains(strings.Join(lines, ""), token) || !strings.Contains(lines[1], "evil.example") {
		t.Errorf("%q", lines)
	}
}
