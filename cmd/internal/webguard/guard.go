// Package webguard stands before the web pages of our commands. They are for the user who has started the command, and
// for nobody else: not for other users of other machines, not for pages of other sites in the same browser.
//
// Flow: what the user says of the address -> Open listens: at a loopback address, or with a token at any -> Serve hands
// on requests that pass: connections within bounds (limits.go), a Host that no other site can have, an Origin that is
// ours, a method and a body that the page wants, the token (token.go) -> every answer has headers by which the browser
// runs and loads what is ours only.
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
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/address"
)

// Config is what a page needs. Zero values are the defaults.
type Config struct {
	Address string        // PORT, HOST or HOST:PORT; "": the loopback address, and a free port
	Token   string        // what a browser has to show; "": nothing, and then the address must be a loopback one
	Names   []string      // names by which a browser may call for the page, besides localhost and addresses
	Methods []string      // nil: GET and HEAD
	MaxBody int64         // bytes of a request; 0: none
	Conns   int           // connections at a time; 0: 64
	Streams int           // streams at a time (Guard.Stream); 0: 16
	Answer  time.Duration // to write an answer, and each batch of a stream; 0: 10 s
}

// Guard is a page's listener and what protects it.
type Guard struct {
	config   Config
	listener *limited
	addr     netip.AddrPort
	streams  chan struct{} // holds a token for each stream
	ending   chan struct{} // closed when streams are to end
	end      sync.Once
	cookie   string // its name
	pass     string // and its value: what follows from the token
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
	if c.Methods == nil {
		c.Methods = []string{http.MethodGet, http.MethodHead}
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, err
	}
	g := &Guard{config: c, listener: limit(l, c.Conns), streams: make(chan struct{}, c.Streams),
		ending: make(chan struct{})}
	g.addr = netip.AddrPortFrom(at.Addr(), uint16(l.Addr().(*net.TCPAddr).Port))
	g.cookie = fmt.Sprintf("impi-%d", g.addr.Port()) // browsers do not tell ports apart
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
		Handler: g.Handler(h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: g.config.Answer, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(nowhere{}, "", 0),
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

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

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

// policy lets a page load scripts, styles and data from here and nothing from elsewhere, and stand in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// Handler is h behind the guard, for tests and for other servers.
func (g *Guard) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			head.Set(name, value)
		}
		switch {
		case !g.ours(r.Host):
			http.Error(w, "this page is not of the site that you called for", http.StatusMisdirectedRequest)
		case !slices.Contains(g.config.Methods, r.Method):
			head.Set("Allow", strings.Join(g.config.Methods, ", "))
			http.Error(w, "the page does not take this method", http.StatusMethodNotAllowed)
		case !sameSite(r):
			http.Error(w, "the request comes from another site", http.StatusForbidden)
		case r.ContentLength > g.config.MaxBody || r.ContentLength < 0 && g.config.MaxBody == 0:
			http.Error(w, "the request is too long", http.StatusRequestEntityTooLarge)
		case g.config.Token == "" || g.admit(w, r):
			r.Body = http.MaxBytesReader(w, r.Body, g.config.MaxBody)
			h.ServeHTTP(w, r)
		}
	})
}

// ours reports whether the host that a browser calls for can be us. Another site that lets its name lead to our address
// (DNS rebinding) calls for its name. Addresses are nobody's name. The port may be another, as behind a tunnel of ssh.
func (g *Guard) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || slices.Contains(g.config.Names, host)
}

// sameSite reports whether a request is our page's, or the user's. What the browser says of it is checked if it says
// anything: other programs say nothing. Links of other sites may lead to the page.
func sameSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Scheme != "http" || u.Host != r.Host {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}
