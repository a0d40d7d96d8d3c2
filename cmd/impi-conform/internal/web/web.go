// Package web is the tester as a page: a person configures, runs cases and reads what happened, in any number of
// browsers, each with a session of its own. Everything is embedded; nothing comes from a network.
//
//	web.go      what a page is made of; listening, behind cmd/internal/webguard
//	route.go    which request goes where; finding the session
//	show.go     pages
//	cases.go    what the pages say of cases
//	act.go      what forms do
//	script.go   the page of scripts
//	stream.go   what changes while a page is open
//	rows.go     traces, in pieces
//	records.go  records, and comparing them
//
// Flow: a request passes the guard (hosts, origins, the token, headers, bounds of requests and connections), finds its
// session by a cookie, and shows what the session has. Only forms (POST) change anything. Pages are whole without
// JavaScript but for what is live: static/page.js, and static/diagram.js for traces.
package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// Config is what the page offers.
type Config struct {
	Head    record.Record   // what records say of all runs
	Cases   []conform.Case  // all there are
	Options conform.Options // of every run: deadline, cases at a time, target, what is skipped
	Limits  session.Limits
	Address string    // where it is: PORT, HOST or HOST:PORT
	Token   string    // who comes first must know it, "": anybody may come, of this machine only
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
	guard    *webguard.Guard
	byName   map[string]conform.Case
}

// Bounds of the server besides those of sessions and of the guard.
const (
	maxConns   = 128
	maxStreams = 32
	maxForm    = 512 << 10 // bytes of a form
	maxScript  = 256 << 10 // bytes of a script
	maxUpload  = 64 << 20  // bytes of a record
	toRead     = 30 * time.Second
	toAnswer   = 60 * time.Second // with what is left of toRead: a record may be long
)

// guarding is how the page of c is guarded.
func guarding(c Config) webguard.Config {
	return webguard.Config{Address: c.Address, Token: c.Token,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		MaxBody: maxForm, Bodies: map[string]int64{"/compare": maxUpload},
		Conns: maxConns, Streams: maxStreams, Read: toRead, Answer: toAnswer,
		Log: func(line string) { fmt.Fprintf(c.Log, "impi-conform: %s\n", line) }}
}

// Open makes the page, and listens. As webguard.Open it fails with webguard.ErrToken if a token is needed.
func Open(c Config) (*Server, error) { return open(c, guarding(c)) }

func open(c Config, g webguard.Config) (*Server, error) {
	guard, err := webguard.Open(g)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, sessions: session.NewSet(c.Limits), guard: guard, byName: map[string]conform.Case{}}
	for _, x := range c.Cases {
		s.byName[x.Name] = x
	}
	return s, nil
}

// URL is where the page is, without the token.
func (s *Server) URL() string { return s.guard.URL() }

// Close ends the page, and all runs.
func (s *Server) Close() {
	s.guard.Close(0)
	s.sessions.End()
}

// Serve serves until ctx ends. Then all runs have ended.
func (s *Server) Serve(ctx context.Context) error {
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { s.guard.Close(0) })
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
	return s.guard.Serve(s.routes())
}
