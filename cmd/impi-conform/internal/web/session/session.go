// Package session keeps what each of several testers does with the page: runs, texts, prompts; all of it bounded.
//
//	session.go  the sessions: made, found, ended when idle
//	run.go      a run of cases, watched while it goes on
//	keep.go     how much is kept of runs that are over
//	prompt.go   what a person is asked to do
//
// Locks are taken in this order: a Run's, a recorder's, a Session's; or a Set's, a Session's. Who holds a Session's
// takes no other and does not wait.
package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits bound sessions.
type Limits struct {
	Sessions int           // at a time
	Idle     time.Duration // after which a session ends
	Running  int           // runs at a time, of all sessions; others wait
	Runs     int           // that a session keeps
	Events   int           // that a session keeps, of all its runs
	Keep     int           // events of a case, while it runs
	Streams  int           // of a session at a time
	Drafts   int           // texts that a session keeps
	Prompts  int           // of a session at a time
}

// Defaults are the limits of the page.
var Defaults = Limits{Sessions: 8, Idle: time.Hour, Running: 2, Runs: 8, Events: 200_000, Keep: 100_000, Streams: 6,
	Drafts: 32, Prompts: 64}

// Errors say what is full.
var (
	ErrSessions = errors.New("no more sessions are possible now")
	ErrStreams  = errors.New("no more streams of a session are possible")
	ErrRunning  = errors.New("a run of this session goes on: stop it first, or wait")
	ErrDrafts   = errors.New("no more texts are kept: clear the session")
)

// Set is all sessions.
type Set struct {
	limits Limits
	now    func() time.Time
	slots  chan struct{} // a run that goes on holds one

	mu   sync.Mutex
	byID map[string]*Session
}

// NewSet returns a set without sessions.
func NewSet(l Limits) *Set {
	return &Set{limits: l, now: time.Now, slots: make(chan struct{}, l.Running), byID: map[string]*Session{}}
}

// Session is a tester's.
type Session struct {
	ID string

	set *Set
	mu  sync.Mutex // guards what follows

	used      time.Time
	streams   int
	runs      []*Run // the oldest first
	lastRun   int    // number of the newest
	values    map[string]string
	drafts    map[string]string
	prompts   []*Prompt
	prompted  int // prompts so far
	listeners map[chan struct{}]bool
	over      bool
}

// New makes a session.
func (s *Set) New() (*Session, error) {
	s.Expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= s.limits.Sessions {
		return nil, fmt.Errorf("%w: there are %d; one ends after %v without use", ErrSessions, len(s.byID), s.limits.Idle)
	}
	x := &Session{ID: rand.Text(), set: s, used: s.now(), values: map[string]string{}, drafts: map[string]string{},
		listeners: map[chan struct{}]bool{}}
	s.byID[x.ID] = x
	return x, nil
}

// Find returns the session of an ID, nil if there is none. It counts as used.
func (s *Set) Find(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.byID[id]
	if x != nil {
		x.mu.Lock()
		x.used = s.now()
		x.mu.Unlock()
	}
	return x
}

// Expire ends sessions that are idle: nobody uses them, no page is open, no run goes on.
func (s *Set) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, x := range s.byID {
		if x.idle(s.now()) {
			delete(s.byID, id)
			x.end()
		}
	}
}

// End ends all sessions, and waits until their runs are over.
func (s *Set) End() {
	s.mu.Lock()
	var all []*Run
	for id, x := range s.byID {
		delete(s.byID, id)
		all = append(all, x.end()...)
	}
	s.mu.Unlock()
	for _, r := range all {
		<-r.over
	}
}

func (x *Session) idle(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.streams == 0 && x.active() == nil && now.Sub(x.used) >= x.set.limits.Idle
}

// end ends a session and returns its runs.
func (x *Session) end() []*Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	for _, r := range x.runs {
		r.cancel()
	}
	x.tell()
	return x.runs
}

// Listen returns a channel that gets something when anything of the session has changed, and what ends that.
func (x *Session) Listen() (changed <-chan struct{}, stop func(), err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.streams >= x.set.limits.Streams || x.over {
		return nil, nil, ErrStreams
	}
	x.streams++
	c := make(chan struct{}, 1)
	x.listeners[c] = true
	return c, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.streams--
		x.used = x.set.now()
		delete(x.listeners, c)
	}, nil
}

// tell wakes who listens. The lock is held.
func (x *Session) tell() {
	for c := range x.listeners {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// changed is tell by who does not hold the lock.
func (x *Session) changed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tell()
}

// Over reports whether the session has ended.
func (x *Session) Over() bool { x.mu.Lock(); defer x.mu.Unlock(); return x.over }

// Value and SetValue keep what was typed into a form.
func (x *Session) Value(name string) string { x.mu.Lock(); defer x.mu.Unlock(); return x.values[name] }
func (x *Session) SetValue(name, value string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.values[name] = value
}

// Draft returns the text that a session has of a script.
func (x *Session) Draft(file string) (text string, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	text, ok = x.drafts[file]
	return text, ok
}

// SetDraft keeps it.
func (x *Session) SetDraft(file, text string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, old := x.drafts[file]; !old && len(x.drafts) >= x.set.limits.Drafts {
		return ErrDrafts
	}
	x.drafts[file] = text
	return nil
}

// Clear forgets runs that are over, and texts.
func (x *Session) Clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.active(); r != nil {
		x.runs = []*Run{r}
	} else {
		x.runs = nil
	}
	clear(x.drafts)
	x.tell()
}

// All returns all sessions.
func (s *Set) All() (list []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.byID {
		list = append(list, x)
	}
	return list
}
