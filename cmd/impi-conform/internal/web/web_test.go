package web

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// evil is text as somebody hostile writes it.
const evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}"

// passes, fails and says are cases that need no implementation.
var toys = []conform.Case{
	{Name: "toy/passes", Rule: "2.3.5, erratum D-4", About: "it passes", Run: func(t *conform.T) { speak(t, "fine") }},
	{Name: "toy/fails", Rule: "3.5", About: "it fails", Run: func(t *conform.T) {
		speak(t, evil)
		t.Output(evil)
		t.Errorf("%s", evil)
	}},
	{Name: "other/says", Rule: "notes B.2", About: "it says much", Run: func(t *conform.T) {
		for i := range 1000 {
			speak(t, fmt.Sprintf("line %d", i+1))
		}
	}},
	{Name: "other/packet", Rule: "3.5", About: "a packet is wrong", Run: wrongPacket},
}

func speak(t *conform.T, text string) {
	t.Events().Line(t.Events().Party("server", true), "stdout", text, len(text))
}

// recorded is an event as a case's packet.
type recorded int

func (r recorded) Event() int { return int(r) }

// wrongPacket sends a packet over a connection, and says that its tag must be another.
func wrongPacket(t *conform.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer l.Close()
	theirs, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer theirs.Close()
	ours, err := l.Accept()
	if err != nil {
		t.Fatalf("%v", err)
	}
	c := t.Events().FromHost(ours.(*net.TCPConn), "host 0.0", func(int) string { return "host 1.0" })
	defer c.Close()
	got := codec.Header{Tag: 0x0102}
	theirs.Write(append(codec.U32(1), codec.Packet{Header: got}.Bytes()...))
	io.ReadFull(c, make([]byte, 4+codec.HeaderSize))
	want := got
	want.Tag = 0x0103
	t.Must(recorded(c.LastIn()), got, want)
}

// site is a page that is served.
type site struct {
	*Server
	t   *testing.T
	url string
	log *safe
}

// safe is a buffer for several.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.b.Write(b) }
func (s *safe) String() string              { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

func newSite(t *testing.T, change ...func(*Config)) *site {
	t.Helper()
	return guardedSite(t, func(*webguard.Config) {}, change...)
}

// guardedSite is a site whose guard has other bounds.
func guardedSite(t *testing.T, bounds func(*webguard.Config), change ...func(*Config)) *site {
	t.Helper()
	s := &site{t: t, log: new(safe)}
	c := Config{Cases: toys, Options: conform.Options{Timeout: time.Minute, Jobs: 2}, Limits: session.Defaults, Log: s.log,
		Head: record.Record{Implementation: "toy", Specification: "IMPI 0.0"}}
	for _, f := range change {
		f(&c)
	}
	g := guarding(c)
	bounds(&g)
	var err error
	if s.Server, err = open(c, g); err != nil {
		t.Fatal(err)
	}
	s.url = strings.TrimSuffix(s.URL(), "/")
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a browser: it has cookies, and says where its forms come from.
type client struct {
	*http.Client
	s *site
}

func (s *site) client() *client {
	jar, _ := cookiejar.New(nil) // there is no error without options
	c := &client{&http.Client{Jar: jar, Timeout: time.Minute}, s}
	s.t.Cleanup(c.CloseIdleConnections)
	return c
}

func (c *client) do(r *http.Request) (*http.Response, string) {
	c.s.t.Helper()
	a, err := c.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return a, string(b)
}

// get fetches a page, which must have a code.
func (c *client) get(path string, code int) string {
	c.s.t.Helper()
	r, err := http.NewRequest("GET", c.s.url+path, nil)
	if err != nil {
		c.s.t.Fatal(err)
	}
	a, body := c.do(r)
	if a.StatusCode != code {
		c.s.t.Fatalf("%s: %d, must be %d: %.300s", path, a.StatusCode, code, body)
	}
	return body
}

// post sends a form, given as names and values; the page to which it leads must have a code.
func (c *client) post(path string, code int, form ...string) string {
	c.s.t.Helper()
	v := url.Values{}
	for i := 0; i < len(form); i += 2 {
		v.Add(form[i], form[i+1])
	}
	r, err := http.NewRequest("POST", c.s.url+path, strings.NewReader(v.Encode()))
	if err != nil {
		c.s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", c.s.url)
	a, body := c.do(r)
	if a.StatusCode != code {
		c.s.t.Fatalf("%s: %d, must be %d: %.300s", path, a.StatusCode, code, body)
	}
	return body
}

// ran waits until the newest run of the only session is over.
func (s *site) ran() *session.Run {
	s.t.Helper()
	r := newest(s.only())
	if r == nil {
		s.t.Fatal("there is no run")
	}
	r.Wait()
	return r
}

// only is the only session.
func (s *site) only() *session.Session {
	s.t.Helper()
	list := s.sessions.All()
	if len(list) != 1 {
		s.t.Fatalf("there are %d sessions", len(list))
	}
	return list[0]
}

// has fails unless a page has all texts.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("there is no %q in %.3000s", text, page)
		}
	}
}

func hasNot(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("there is %q in %.3000s", text, page)
		}
	}
}
