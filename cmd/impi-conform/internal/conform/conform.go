// Package conform runs conformance cases: each has a name, the rule it tests, a function and a deadline. What
// is done with the results is the caller's affair (package report).
//
// Flow: Select -> Run, some cases at a time -> Case.Run(T) -> ended(Result) in the order of the list.
//
// A case talks through T: Errorf notes a failure, Fatalf ends the case, Cleanup undoes. All that a case waits
// for ends at the deadline of T.Context, so that no case hangs.
package conform

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

// Needs is what a case must have of the implementation under test.
type Needs int

const (
	Server Needs = iota // its server; the tester plays all clients
	Client              // a client; the tester plays the server and all other clients
	Values              // a client that can be told values to contribute
	IPv6                // a client, and this machine must have IPv6
	Both                // its server and a client
)

// Case is one rule, or one way to break it.
type Case struct {
	Name  string // group/what, unique
	Rule  string // where it stands
	About string // one sentence
	Needs Needs
	Run   func(t *T)

	File string // where its definition stands, "": in Go
	Line int

	// Job is the configuration of a case that is one job from an orderly start-up to an orderly end: cases with the same
	// text may follow each other in one job. "": it needs a job of its own.
	Job    string
	Within func(t *T, job any) // plays the case in a job that runs, a *peer.Job; nil without Job
	Steps  []string            // what the client's processes do in it
}

// Outcome is how a case ended.
type Outcome int

const (
	Pass Outcome = iota
	Fail
	Skip
	Indeterminate // nothing was seen of the implementation, or the tester was disturbed
)

func (o Outcome) String() string { return [...]string{"pass", "FAIL", "skip", "????"}[o] }

// Count is how many cases ended in each outcome.
type Count [4]int

// Problem is what was wrong.
type Problem struct {
	Text  string
	Event int           // the number of the event that shows it, 0: none does
	Must  []codec.Field // what fields of its packet must be, of those that are something else
}

// Result is what became of a case.
type Result struct {
	Case     Case
	Outcome  Outcome
	Problems []Problem // of a failure, in order; or why it was skipped, or nothing is known
	Output   string    // what the implementation wrote
	Took     time.Duration
	Trace    *events.Trace // nil: not asked for, or the case did not run
}

// Options say how to run.
type Options struct {
	Timeout time.Duration     // of one case
	Jobs    int               // cases at a time
	Target  any               // what T.Target answers
	Skip    func(Case) string // why a case cannot be run, "" if it can
	Trace   bool              // results have traces
	Keep    int               // of a trace: how many events; 0: as many as a recorder keeps by itself
	Queue   Queue             // if not nil, cases of one Job are played in one job, and one case runs at a time

	// Began, if set, is called when a case begins, with what records it, and Over as soon as it is over; by any goroutine.
	Began func(Case, *events.Recorder)
	Over  func(Result)
}

// Select returns the cases whose name matches.
func Select(cases []Case, name *regexp.Regexp) (out []Case) {
	for _, c := range cases {
		if name == nil || name.MatchString(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// grace is how long a case may go on after its deadline before it is given up.
const grace = 10 * time.Second

// Run runs the cases, and calls ended for each, in the order of the list. It returns how many ended in each outcome.
func Run(ctx context.Context, cases []Case, o Options, ended func(Result)) (count Count) {
	if o.Queue != nil {
		return runQueue(ctx, cases, o, ended)
	}
	results := make([]chan Result, len(cases))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(o.Jobs, 1) {
		workers.Go(func() {
			for i := range next {
				results[i] <- runOne(ctx, cases[i], o)
			}
		})
	}
	go func() {
		for i := range cases {
			next <- i
		}
		close(next)
	}()
	for _, c := range results {
		r := <-c
		count[r.Outcome]++
		ended(r)
	}
	workers.Wait()
	return count
}

func runOne(ctx context.Context, c Case, o Options) Result { return play(ctx, c, o, c.Run) }

// play runs a case by a function, and tells.
func play(ctx context.Context, c Case, o Options, run func(*T)) Result {
	r := played(ctx, c, o, run)
	if o.Over != nil {
		o.Over(r)
	}
	return r
}

func played(ctx context.Context, c Case, o Options, run func(*T)) Result {
	if o.Skip != nil {
		if why := o.Skip(c); why != "" {
			return Result{Case: c, Outcome: Skip, Problems: []Problem{{Text: why}}}
		}
	}
	if ctx.Err() != nil {
		return Result{Case: c, Outcome: Indeterminate, Problems: []Problem{{Text: "interrupted"}}}
	}
	began := time.Now()
	within, clock := newClock(ctx, o.Timeout)
	defer clock.end()
	t := &T{name: c.Name, ctx: within, clock: clock, target: o.Target, events: events.New()}
	if o.Keep > 0 {
		t.events.Keep(o.Keep)
	}
	if o.Began != nil {
		o.Began(c, t.events)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.run(run)
	}()
	select {
	case <-over:
	case <-within.Done():
		select {
		case <-over:
		case <-time.After(grace):
			t.Errorf("the case did not end at its deadline")
		}
	}
	r := t.result(c, time.Since(began))
	if why := t.indeterminate(ctx); r.Outcome == Fail && why != "" {
		r.Outcome = Indeterminate
		r.Problems = append([]Problem{{Text: why}}, r.Problems...)
	}
	if o.Trace {
		r.Trace = t.events.Trace()
	}
	return r
}

// indeterminate says why a failure means nothing, "" if it is the implementation's. The case has ended.
func (t *T) indeterminate(ctx context.Context) string {
	t.mu.Lock()
	disturbed := t.disturbed
	t.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return "the tester was interrupted"
	case disturbed != nil:
		return fmt.Sprintf("the tester was disturbed: %v", disturbed)
	case !t.events.Seen():
		return "nothing was seen of the implementation"
	}
	return ""
}
