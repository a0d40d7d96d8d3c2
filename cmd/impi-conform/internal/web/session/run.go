package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/report"
)

// Phase is how far a run is.
type Phase string

const (
	Waiting Phase = "waiting" // for other sessions' runs
	Running Phase = "running"
	Ended   Phase = "ended"
	Stopped Phase = "stopped" // by its tester
)

// State is how far a case of a run is: one of these, or its verdict.
type State string

const (
	Queued State = "queued"
	Going  State = "running"
	NotRun State = "not run" // the run was stopped before
)

// Run is some cases that are run, or were; or a record that was sent.
type Run struct {
	ID    int
	Title string
	Kind  string // "cases", "start-up", "script", "record"
	Began time.Time
	Text  string // the script that is run, "": those of the tester

	session *Session
	cancel  context.CancelFunc
	over    chan struct{} // closed when it is

	mu    sync.Mutex // guards what follows
	phase Phase
	cases []*play
	index map[string]*play
	seq   int // of the last change
	took  time.Duration
	sent  *record.Record // of kind "record"
}

// play is a case of a run.
type play struct {
	conform.Case
	state  State
	seq    int
	result *conform.Result
	live   *events.Recorder
}

// Order is what is to be run.
type Order struct {
	Kind, Title, Text string // as of a Run
	Cases             []conform.Case
	Options           conform.Options // but Trace, Keep, Began and Over, which are the session's affair
	Done              func()          // called when the run is over, nil: nothing
}

// Begin runs cases in the session.
func (x *Session) Begin(order Order) (*Run, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return nil, ErrSessions
	}
	if x.active() != nil {
		return nil, ErrRunning
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := x.add(order.Kind, order.Title)
	r.cancel, r.phase, r.Text = cancel, Waiting, order.Text
	for _, c := range order.Cases {
		p := &play{Case: c, state: Queued}
		r.cases, r.index[c.Name] = append(r.cases, p), p
	}
	o := order.Options
	o.Trace, o.Keep, o.Began, o.Over = true, x.set.limits.Keep, r.began, r.ended
	go r.run(ctx, o, order.Done)
	x.tell()
	return r, nil
}

// AddRecord keeps a record that was sent, to be compared.
func (x *Session) AddRecord(title string, sent *record.Record) *Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.add("record", title)
	r.cancel, r.phase, r.sent = func() {}, Ended, sent
	close(r.over)
	return r
}

// add adds a run, and drops the oldest that is over if there are too many. The lock is held.
func (x *Session) add(kind, title string) *Run {
	x.lastRun++
	r := &Run{ID: x.lastRun, Title: title, Kind: kind, Began: x.set.now(), session: x, over: make(chan struct{}),
		index: map[string]*play{}}
	x.runs = append(x.runs, r)
	for i := 0; len(x.runs) > x.set.limits.Runs && i < len(x.runs)-1; {
		if x.runs[i].Over() {
			x.runs = slices.Delete(x.runs, i, i+1)
		} else {
			i++
		}
	}
	return r
}

// active is the run that goes on, nil if none does. The lock is held.
func (x *Session) active() *Run {
	for _, r := range x.runs {
		if !r.Over() {
			return r
		}
	}
	return nil
}

// Stop ends the run that goes on.
func (x *Session) Stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.active(); r != nil {
		r.cancel()
	}
}

// Runs returns all runs, the newest first.
func (x *Session) Runs() []*Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := slices.Clone(x.runs)
	slices.Reverse(list)
	return list
}

// Run returns a run by its number, nil if there is none.
func (x *Session) Run(id int) *Run {
	for _, r := range x.Runs() {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Over reports whether the run is.
func (r *Run) Over() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// Wait waits until it is.
func (r *Run) Wait() { <-r.over }

func (r *Run) run(ctx context.Context, o conform.Options, done func()) {
	defer r.session.changed()
	defer close(r.over)
	defer r.cancel()
	if done != nil {
		defer done()
	}
	select {
	case r.session.set.slots <- struct{}{}:
		defer func() { <-r.session.set.slots }()
	case <-ctx.Done():
	}
	began := r.session.set.now()
	r.set(func() { r.phase = Running })
	var list []conform.Case
	for _, p := range r.cases {
		list = append(list, p.Case)
	}
	conform.Run(ctx, list, o, func(conform.Result) {})
	r.set(func() {
		r.phase, r.took = Ended, r.session.set.now().Sub(began)
		if ctx.Err() != nil {
			r.phase = Stopped
		}
	})
}

// set changes the run, and tells.
func (r *Run) set(change func()) {
	r.mu.Lock()
	r.seq++
	change()
	r.mu.Unlock()
	r.session.changed()
}

func (r *Run) began(c conform.Case, e *events.Recorder) {
	e.Notify(r.session.changed)
	r.set(func() {
		p := r.index[c.Name]
		p.state, p.live, p.seq = Going, e, r.seq
	})
}

func (r *Run) ended(x conform.Result) {
	r.set(func() {
		p := r.index[x.Case.Name]
		begun := p.live != nil
		if begun {
			p.live.Notify(nil)
		}
		p.live, p.seq = nil, r.seq
		if x.Outcome == conform.Indeterminate && !begun {
			p.state = NotRun
			return
		}
		p.state, p.result = State(record.VerdictOf(x.Outcome)), &x
	})
	r.session.forget()
}

// Case is what the page shows of a case in a list.
type Case struct {
	conform.Case
	State   State
	Seconds float64
	Events  int // of its trace so far
	Seq     int
}

// Snapshot is a run as it is now.
type Snapshot struct {
	Phase   Phase
	Seq     int
	Cases   []Case
	Count   map[State]int
	Seconds float64
}

// Snapshot returns the run, of its cases those that have changed since a snapshot; 0: all. Cases that run are always
// there.
func (r *Run) Snapshot(since int) Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{Phase: r.phase, Seq: r.seq, Count: map[State]int{}, Seconds: r.took.Seconds()}
	for _, p := range r.cases {
		s.Count[p.state]++
		if p.seq > since || since == 0 || p.live != nil {
			s.Cases = append(s.Cases, p.show())
		}
	}
	if r.sent != nil {
		for _, c := range r.sent.Cases {
			s.Count[State(c.Verdict)]++
		}
	}
	return s
}

func (p *play) show() Case {
	c := Case{Case: p.Case, State: p.state, Seq: p.seq}
	switch {
	case p.live != nil:
		_, c.Events = p.live.Piece(0, 0)
	case p.result != nil:
		c.Seconds = p.result.Took.Seconds()
		if p.result.Trace != nil {
			c.Events = len(p.result.Trace.Events)
		}
	}
	return c
}

// Result returns what is known of a case.
func (r *Run) Result(name string) (c Case, x *conform.Result, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.index[name]
	if p == nil {
		return c, nil, false
	}
	return p.show(), p.result, true
}

// Trace returns a piece of a case's trace, and how many events there are; nil if there is no trace.
func (r *Run) Trace(name string, from, count int) (t *events.Trace, kept int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.index[name]
	switch {
	case p == nil:
	case p.live != nil:
		return p.live.Piece(from, count)
	case p.result != nil && p.result.Trace != nil:
		whole := p.result.Trace
		piece := *whole
		kept = len(whole.Events)
		from = min(max(from, 0), kept)
		piece.Events = whole.Events[from : from+min(max(count, 0), kept-from)]
		return &piece, kept
	}
	return nil, 0
}

// maxEvents bounds the events of a case in a record that is sent: as many as the command line's have.
const maxEvents = 10_000

// Record is the run's record, and for JUnit; head is what there is to say of all runs.
func (r *Run) Record(head record.Record) (*record.Record, *report.JUnit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent != nil {
		return r.sent, new(report.JUnit)
	}
	head.Date, head.Seconds, head.Cases = r.Began.Round(time.Second), r.took.Round(time.Millisecond).Seconds(), nil
	var junit report.JUnit
	for _, p := range r.cases {
		if p.result == nil {
			continue
		}
		x := *p.result
		if x.Trace != nil {
			x.Trace = x.Trace.Shorten(maxEvents)
		}
		head.Add(x)
		junit.Ended(x)
	}
	return &head, &junit
}

// Failed are the names of the cases that failed, or of which nothing is known.
func (r *Run) Failed() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.cases {
		if p.state == State(record.Fail) || p.state == State(record.Indeterminate) {
			names = append(names, p.Name)
		}
	}
	return names
}

// List returns the cases of the run.
func (r *Run) List() (list []conform.Case) {
	for _, p := range r.cases { // which do not change
		list = append(list, p.Case)
	}
	return list
}
