// Package web is the tester as a page: a person configures, runs cases and reads what happened, in any number of
// browsers, each with a session of its own. Everything is embedded; nothing comes from a network.
//
//	web.go      what a page is made of; listening
//	guard.go    who may ask for what: hosts, origins, the token, headers, bounds
//	conns.go    how many connections there are
//	route.go    which request goes where; finding the session
//	show.go     pages
//	cases.go    what the pages say of cases
//	act.go      what forms do
//	script.go   the page of scripts
//	stream.go   what changes while a page is open
//	rows.go     traces, in pieces
//	records.go  records, and comparing them
//
// Flow: a request passes the guard, finds its session by a cookie, and shows what the session has. Only forms (POST)
// change anything. Pages are whole without JavaScript but for what is live: static/page.js, and static/diagram.js for
// traces.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

// Config is what the page offers.
type Config struct {
	Head    record.Record   // what records say of all runs
	Cases   []conform.Case  // all there are
	Options conform.Options // of every run: deadline, cases at a time, target, what is skipped
	Limits  session.Limits
	Token   string    // who comes first must know it, "": anybody may come
	Log     io.Writer // refused requests

	Files []cases.File // scripts

	Sections []spec.Section                // of the specification
	Rule     func(rule string) []spec.Part // a rule, with the sections that it names

	// ByHand says how to run cases whose programs a person starts, who is asked by ask, and what to do when the run is
	// over; nil: they are started by Options.Target.
	ByHand func(templates Templates, ask Ask) (o conform.Options, done func(), err error)
	Player []byte      // the source of the program that clients run then
	Ready  []Templates // templates, the first of which is used if none is chosen
}

// Templates are the command lines that a person is shown.
type Templates struct{ Name, Server, Client string }

// Ask asks a person.
type Ask func(ctx context.Context, p session.Prompt) (answer string, err error)

// Server is the page.
type Server struct {
	Config
	sessions *session.Set
	guard    *guard
	streams  chan struct{} // an open stream holds one
	http     http.Server
	byName   map[string]conform.Case
}

// Bounds of the server besides those of sessions.
const (
	maxConns   = 128
	maxStreams = 32
	maxForm    = 512 << 10 // bytes of a form
	maxScript  = 256 << 10 // bytes of a script
	maxUpload  = 64 << 20  // bytes of a record
	maxHeader  = 16 << 10
	// How long a request may take to be read, and its answer to be written. A stream has its own.
	toReadHeader = 5 * time.Second
	toRead       = 30 * time.Second
	toWrite      = 60 * time.Second
	toIdle       = 2 * time.Minute
)

// New makes the page for an address where it listens.
func New(c Config, at net.Addr) *Server {
	s := &Server{Config: c, sessions: session.NewSet(c.Limits), streams: make(chan struct{}, maxStreams),
		byName: map[string]conform.Case{}}
	for _, x := range c.Cases {
		s.byName[x.Name] = x
	}
	s.guard = newGuard(at, c.Token, c.Log)
	s.http = http.Server{Handler: s.guard.wrap(s.routes()), ReadHeaderTimeout: toReadHeader, ReadTimeout: toRead,
		WriteTimeout: toWrite, IdleTimeout: toIdle, MaxHeaderBytes: maxHeader, ErrorLog: s.guard.log.logger()}
	return s
}

// Serve serves until ctx ends. Then all runs have ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	defer stop()
	clock := time.NewTicker(time.Minute)
	defer clock.Stop()
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-clock.C:
				s.sessions.Expire()
			case <-done:
				return
			}
		}
	}()
	err := s.http.Serve(limit(l, maxConns, s.guard.log))
	s.sessions.End()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// NewToken returns a token that nobody can guess.
func NewToken() string { return rand.Text() }

// Address is where a page that listens at l is found.
func Address(l net.Listener, token string) string {
	host := l.Addr().String()
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		host = fmt.Sprintf("%s:%d", thisHost(), a.Port)
	}
	url := "http://" + host + "/"
	if token != "" {
		url += "?token=" + token
	}
	return url
}

// Loopback reports whether an address is only this machine's.
func Loopback(at net.Addr) bool {
	a, ok := at.(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
