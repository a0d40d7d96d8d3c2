package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// raw sends bytes as they are, and returns the first line of the answer, "" if there is none.
func (s *site) raw(text string) string {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, text)
	answer, _ := bufio.NewReader(c).ReadString('\n') // no line: hung up
	return strings.TrimSpace(answer)
}

func TestAHostThatIsNotOursIsRefused(t *testing.T) {
	s := newSite(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	for host, want := range map[string]string{
		"127.0.0.1:" + port: "200", "localhost:" + port: "200", "LOCALHOST:" + port: "200",
		"evil.example": "421", "evil.example:" + port: "421",
		"127.0.0.1.evil.example:" + port: "421", "": "421", "a b": "400", "192.168.1.1:" + port: "421",
	} {
		got := s.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("Host %q is answered by %q, must be %s", host, got, want)
		}
	}
	if got := s.raw("GET / HTTP/1.0\r\n\r\n"); !strings.Contains(got, "421") {
		t.Errorf("no host is answered by %q", got)
	}
	has(t, s.log.String(), "evil.example", "this page is not of the site that you called for")
}

func TestAFormFromElsewhereIsRefused(t *testing.T) {
	s := newSite(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	for _, origin := range []string{"", "null", "http://evil.example", "http://localhost:" + port,
		"https://127.0.0.1:" + port,
		"http://127.0.0.1", "http://127.0.0.1:1", s.url + ".evil.example", s.url + "/"} {
		header := "Origin: " + origin + "\r\n"
		if origin == "" {
			header = ""
		}
		for _, path := range []string{"/run", "/start-up", "/stop", "/clear", "/script", "/answer", "/templates",
			"/compare"} {
			got := s.raw("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n" + header +
				"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\nwhat=all")
			if !strings.Contains(got, "403") {
				t.Errorf("Origin %q of %s is answered by %q", origin, path, got)
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"} {
		got := s.raw(method + " / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n")
		if !strings.Contains(got, "405") && !strings.Contains(got, "400") {
			t.Errorf("%s is answered by %q", method, got)
		}
	}
	if len(s.sessions.All()) != 0 {
		t.Error("somebody got a session")
	}
	for _, path := range []string{"/run", "/stop", "/answer"} {
		s.client().get(path, http.StatusMethodNotAllowed) // what changes something is no GET
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/", "/cases", "/nothing", "/events", "/spec/1", asset("page.js"), asset("style.css")} {
		a, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
				"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestThePageIsItsOwn(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.post("/run", http.StatusOK, "what", "all")
	s.ran()
	for _, path := range []string{"/", "/cases", "/case/toy/fails", "/records", "/hand"} {
		page := c.get(path, http.StatusOK)
		hasNot(t, page, "http:", "https:", " style=", " onclick", "<style", "javascript:")
	}
	for name, b := range assets {
		for _, no := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(",
			"https:",
			"@import", "url("} {
			if bytes.Contains(b, []byte(no)) {
				t.Errorf("%s has %s", name, no)
			}
		}
	}
}

func TestACookieIsForThisPageAlone(t *testing.T) {
	s := newSite(t)
	r, _ := http.NewRequest("POST", s.url+"/stop", nil)
	r.Header.Set("Origin", s.url)
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	list := a.Cookies()
	if len(list) != 1 || !list[0].HttpOnly || list[0].SameSite != http.SameSiteStrictMode || list[0].Path != "/" ||
		!strings.HasSuffix(list[0].Name, s.url[strings.LastIndex(s.url, ":")+1:]) || len(list[0].Value) < 20 {
		t.Errorf("got %+v", list)
	}
	has(t, s.client().get("/records", http.StatusOK), "no runs yet")
}

func TestATokenIsNeeded(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Token = "0123456789abcdef" })
	c := s.client()
	for _, path := range []string{"/", "/cases", "/events", asset("page.js"), "/?token=", "/?token=0123456789abcdeF"} {
		c.get(path, http.StatusUnauthorized)
	}
	c.post("/run", http.StatusUnauthorized, "what", "all", "token", s.Token)
	page := c.get("/?token="+s.Token, http.StatusOK)
	hasNot(t, page, s.Token)
	c.get("/cases", http.StatusOK)
	c.post("/run", http.StatusOK, "what", "all")
	s.ran()
	s.client().get("/", http.StatusUnauthorized)
	hasNot(t, s.log.String(), "0123456789")
}

func TestPathsLeadNowhereElse(t *testing.T) {
	s := newSite(t)
	host := strings.TrimPrefix(s.url, "http://")
	for _, path := range []string{"/static/../web.go", "/static/..%2fweb.go", "/static/%2e%2e/%2e%2e/etc/passwd",
		"/static/",
		"/../../../etc/passwd", "//etc/passwd", "/case/../../etc/passwd", "/spec/..%2f..%2f..%2fetc%2fpasswd",
		"/views/case.html",
		"/static/style.css%00", "/run/..%2f1/rows/x", "/%00", "http://evil.example/"} {
		got := s.raw("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if strings.Contains(got, " 200") || strings.Contains(got, " 500") {
			t.Errorf("%s is answered by %q", path, got)
		}
	}
}

func TestWhatIsTooLongIsRefused(t *testing.T) {
	s := newSite(t)
	host := strings.TrimPrefix(s.url, "http://")
	c := s.client()
	c.post("/run", http.StatusRequestEntityTooLarge, "case", strings.Repeat("x", maxForm))
	chunk := fmt.Sprintf("%x\r\n%s\r\n", maxForm, strings.Repeat("x", maxForm)) // of a length that is not said
	got := s.raw("POST /run HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + s.url + "\r\nContent-Type: " +
		"application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk)
	if !strings.Contains(got, "413") {
		t.Errorf("a form of chunks is answered by %q", got)
	}
	got = s.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n")
	if !strings.Contains(got, "431") {
		t.Errorf("a long header is answered by %q", got)
	}
	got = s.raw("POST /run HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + s.url +
		"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99999999999\r\n\r\n")
	if !strings.Contains(got, "413") {
		t.Errorf("a length of 10^11 is answered by %q", got)
	}
	got = s.raw(fmt.Sprintf("POST /compare HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\n"+
		"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n", host, s.url, maxUpload+1))
	if !strings.Contains(got, "413") {
		t.Errorf("a record that is too long is answered by %q", got)
	}
	many := `{"format":1,"cases":[` + strings.TrimSuffix(strings.Repeat("{},", maxCases+1), ",") + "]}"
	has(t, c.sendRecord("many.json", many, "", http.StatusUnprocessableEntity), "more than 10000 cases")
	if n := len(s.only().Runs()); n != 0 {
		t.Errorf("%d records are kept", n)
	}
}

func TestWhoIsSlowIsHungUpOn(t *testing.T) {
	s := guardedSite(t, func(g *webguard.Config) { g.Read = 100 * time.Millisecond })
	host := strings.TrimPrefix(s.url, "http://")
	if got := s.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\nX-Slow: "); strings.Contains(got, "200") {
		t.Errorf("a header that does not end is answered by %q", got)
	}
	got := s.raw("POST /stop HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + s.url +
		"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nwhat=")
	if strings.Contains(got, "200") || strings.Contains(got, "303") {
		t.Errorf("a form that does not end is answered by %q", got)
	}
	s.client().get("/", http.StatusOK)
}

func TestConnectionsAreFew(t *testing.T) {
	s := guardedSite(t, func(g *webguard.Config) { g.Conns = 3 })
	host := strings.TrimPrefix(s.url, "http://")
	var held []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if got := s.raw("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"); got != "" {
		t.Errorf("a fourth one is answered by %q", got)
	}
	has(t, s.log.String(), "there are 3")
	held[0].Close()
	for s.raw("GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n") == "" {
		// until the server has noticed
	}
}

func TestSessionsAreRefusedWhenThereAreTooMany(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Limits.Sessions = 2 })
	for range 2 {
		s.client().post("/stop", http.StatusOK)
	}
	third := s.client()
	has(t, third.post("/stop", http.StatusServiceUnavailable), "no more sessions are possible")
	third.get("/cases", http.StatusOK) // it can read
	has(t, s.log.String(), "no more sessions")
}
