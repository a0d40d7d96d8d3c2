// Package webguard stands before the web pages of our commands. They are for the user who has started the command, and
// for nobody else: not for other users of other machines, not for pages of other sites in the same browser.
//
// Flow: what the user says of the address -> Open listens: at a loopback address, or with a token at any -> Serve hands
// on requests that pass: connections within bounds (limits.go), a Host that no other site can have, an Origin that is
// ours, a method and a body that the page wants, the token (token.go) -> every answer has headers by which the browser
// runs and loads what is ours only. What does not pass is told (refusals.go).
//
//	g, err := webguard.Open(webguard.Config{Address: address, Token: token})
//	fmt.Fprintln(os.Stderr, g.URL())
//	go g.Serve(handler)
//	defer g.Close(time.Second)
package webguard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/address"
)

// Config is what a page needs. Zero values are the defaults.
type Config struct {
	Address string            // PORT, HOST or HOST:PORT; "": the loopback address, and a free port
	Token   string            // what a browser has to show; "": nothing, and then the address must be a loopback one
	Methods []string          // nil: GET and HEAD
	MaxBody int64             // bytes of a request that is no GET or HEAD, which have none; 0: none
	Bodies  map[string]int64  // paths that have another bound
	Conns   int               // connections at a time; 0: 64
	Streams int               // streams at a time (Guard.Stream); 0: 16
	Read    time.Duration     // to read a request; 0: 10 s
	Answer  time.Duration     // to write an answer, from the end of its request's head; 0: 10 s
	Log     func(line string) // told what was refused, at most 20 lines a minute; nil: nobody is
}

// Guard is a page's listener and what protects it.
type Guard struct {
	config   Config
	listener *limited
	addr     netip.AddrPort
	name     string        // this machine's, in lower case
	streams  chan struct{} // holds a token for each stream
	ending   chan struct{} // closed when streams are to end
	end      sync.Once
	pass     string // the value of the token's cookie: what follows from the token
	log      *refusals
}

// ErrToken is the error of an address that is not a loopback one, without a token.
var ErrToken = errors.New("other machines reach it, so it needs a token")

// Open listens. It fails if the address is not a loopback one and there is no token, or if it is taken.
func Open(c Config) (*Guard, error) {
	at, err := addressOf(c.Address)
	if err != nil {
		return nil, err
	}
	if !at.Addr().IsLoopback() && c.Token == "" {
		return nil, fmt.Errorf("%v: %w", at.Addr(), ErrToken)
	}
	c.Conns, c.Streams, c.Answer = cmp.Or(c.Conns, 64), cmp.Or(c.Streams, 16), cmp.Or(c.Answer, 10*time.Second)
	c.Read = cmp.Or(c.Read, 10*time.Second)
	if c.Methods == nil {
		c.Methods = []string{http.MethodGet, http.MethodHead}
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, err
	}
	log := &refusals{to: c.Log}
	g := &Guard{config: c, listener: limit(l, c.Conns, log), streams: make(chan struct{}, c.Streams),
		ending: make(chan struct{}), log: log}
	g.addr = netip.AddrPortFrom(at.Addr(), uint16(l.Addr().(*net.TCPAddr).Port))
	if name, err := os.Hostname(); err == nil {
		g.name = strings.ToLower(name)
	}
	if c.Token != "" {
		g.pass = passOf(c.Token, rand.Text())
	}
	return g, nil
}

// addressOf is where to listen.
func addressOf(text string) (netip.AddrPort, error) {
	host, port := text, "0"
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		host, port = "", text
	} else if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not PORT, HOST or HOST:PORT", text)
	}
	if host = strings.Trim(host, "[]"); host == "" || host == "localhost" {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n)), nil
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		ip, err := net.ResolveIPAddr("ip", host)
		if err != nil {
			return netip.AddrPort{}, err
		}
		a, _ = netip.AddrFromSlice(ip.IP)
		a = a.WithZone(ip.Zone)
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), nil
}

// Addr is where the page is.
func (g *Guard) Addr() netip.AddrPort { return g.addr }

// URL is what a user types, without the token. For a page that listens at all addresses it has one that others reach.
func (g *Guard) URL() string {
	at := g.addr
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(address.Usable(), at.Port())
	}
	return "http://" + at.String() + "/"
}

// Serve serves the page until Close. It can be called once.
func (g *Guard) Serve(h http.Handler) error {
	server := &http.Server{
		Handler: g.Handler(h), ReadHeaderTimeout: min(headTime, g.config.Read), ReadTimeout: g.config.Read,
		WriteTimeout: g.config.Answer, IdleTimeout: time.Minute, MaxHeaderBytes: maxHead, ErrorLog: g.log.logger(),
	}
	g.listener.closing(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastTime)
		defer cancel()
		server.Shutdown(ctx)
		server.Close()
	})
	if err := server.Serve(g.listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Of the head of a request: how long it may take, and its bytes.
const (
	headTime = 5 * time.Second
	maxHead  = 16 << 10
)

// lastTime is how long answers may take that are being written when all ends, apart from streams.
const lastTime = 200 * time.Millisecond

// Close ends all: streams are told to end (Stream.Ending), and have the time d for it. The second call does nothing.
func (g *Guard) Close(d time.Duration) {
	g.end.Do(func() {
		close(g.ending)
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		g.listener.Close()
		g.wait(ctx)
		g.listener.end()
	})
}

// headers are on every answer: the page's scripts, styles and data are from here and from nowhere else, and it stands
// in no frame. There are no images, so none of data: URLs either.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
}

// referrer is the Referrer-Policy. A page with forms has the weaker one: with no-referrer browsers say Origin: null of
// its own forms too. Other sites are told nothing by either.
func (g *Guard) referrer() string {
	if slices.Contains(g.config.Methods, http.MethodPost) {
		return "same-origin"
	}
	return "no-referrer"
}

// Handler is h behind the guard, for tests and for other servers.
func (g *Guard) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		for name, value := range headers {
			head.Set(name, value)
		}
		head.Set("Referrer-Policy", g.referrer())
		longest := g.longest(r)
		switch {
		case !g.ours(r.Host):
			g.refuse(w, r, http.StatusMisdirectedRequest, "this page is not of the site that you called for")
		case !slices.Contains(g.config.Methods, r.Method):
			head.Set("Allow", strings.Join(g.config.Methods, ", "))
			g.refuse(w, r, http.StatusMethodNotAllowed, "the page does not take this method")
		case !sameSite(r):
			g.refuse(w, r, http.StatusForbidden, "the request does not come from this page")
		case r.ContentLength > longest || r.ContentLength < 0 && longest == 0:
			g.refuse(w, r, http.StatusRequestEntityTooLarge,
				fmt.Sprintf("the request is too long: at most %d bytes are taken", longest))
		case g.config.Token == "" || g.admit(w, r):
			r.Body = http.MaxBytesReader(w, r.Body, longest)
			h.ServeHTTP(w, r)
		}
	})
}

// reads reports whether a request is of a method that changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// longest is how many bytes the body of a request may have.
func (g *Guard) longest(r *http.Request) int64 {
	if reads(r) {
		return 0
	}
	if n, ok := g.config.Bodies[r.URL.Path]; ok {
		return n
	}
	return g.config.MaxBody
}

// ours reports whether the host that a browser calls for can be us. Another site that lets its name lead to our address
// (DNS rebinding) calls for its name. So names are localhost, and this machine's if others reach the page; addresses,
// which are nobody's name, are those by which the page can be reached. The port may be another, as behind a tunnel of
// ssh: it tells nothing, since browsers say the one that they have connected to.
func (g *Guard) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" || host != "" && host == g.name && !g.addr.Addr().IsLoopback()
	}
	a, at := a.Unmap().WithZone(""), g.addr.Addr().WithZone("")
	return a.IsLoopback() || !a.IsUnspecified() && (a == at || at.IsUnspecified())
}

// sameSite reports whether a request is our page's, or the user's. Whatever may change something must say that it is of
// our origin: all browsers say it of forms too, and no page of another origin can, so that a token in each form would
// add nothing. Of other requests it is checked if it is said: other programs do not say it. Links of other sites may
// lead to the page.
func sameSite(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if (origin != "" || !reads(r)) && origin != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}
