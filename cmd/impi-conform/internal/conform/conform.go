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
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
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
)

// Case is one rule, or one way to break it.
type Case struct {
	Name  string // group/what, unique
	Rule  string // where it stands
	About string // one sentence
	Needs Needs
	Run   func(t *T)
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

func runOne(ctx context.Context, c Case, o Options) Result {
	if o.Skip != nil {
		if why := o.Skip(c); why != "" {
			return Result{Case: c, Outcome: Skip, Problems: []Problem{{Text: why}}}
		}
	}
	if ctx.Err() != nil {
		return Result{Case: c, Outcome: Indeterminate, Problems: []Problem{{Text: "interrupted"}}}
	}
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	t := &T{ctx: within, target: o.Target, events: events.New()}
	over := make(chan struct{})
	go func() {
		defer close(over)
		t.run(c.Run)
	}()
	select {
	case <-over:
	case <-time.After(o.Timeout + grace):
		t.Errorf("the case did not end at its deadline")
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

// T is what a running case sees.
type T struct {
	ctx    context.Context
	target any
	events *events.Recorder

	mu        sync.Mutex // guards what follows
	problems  []Problem
	disturbed error // why the tester could not do its part
	output    []string
	cleanups  []func()
}

// stopped is what Fatalf unwinds a case with.
type stopped struct{}

func (t *T) run(f func(*T)) {
	defer t.cleanup()
	defer t.events.Freeze()
	defer func() {
		if x := recover(); x != nil && x != (stopped{}) {
			t.Disturbed(fmt.Errorf("it is at fault itself: %v", x))
			t.Errorf("the tester itself is at fault: %v\n%s", x, debug.Stack())
		}
	}()
	f(t)
}

// cleanup undoes in reverse order.
func (t *T) cleanup() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		f()
	}
}

func (t *T) result(c Case, took time.Duration) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Result{Case: c, Problems: append([]Problem(nil), t.problems...), Took: took}
	for _, o := range t.output {
		r.Output += o
	}
	if len(r.Problems) > 0 {
		r.Outcome = Fail
	}
	return r
}

// Context ends at the case's deadline.
func (t *T) Context() context.Context { return t.ctx }

// Deadline is when it does.
func (t *T) Deadline() time.Time { d, _ := t.ctx.Deadline(); return d }

// Target is the implementation under test.
func (t *T) Target() any { return t.target }

// Events records what happens in the case.
func (t *T) Events() *events.Recorder { return t.events }

// Recorded is what an event shows: if it is an argument of Errorf, the problem is that event's.
type Recorded interface{ Event() int }

// Errorf notes that a rule was broken. Any goroutine may call it.
func (t *T) Errorf(format string, args ...any) {
	p := Problem{Text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if r, ok := a.(Recorded); ok && p.Event == 0 {
			p.Event = r.Event()
		}
		if err, ok := a.(error); ok && disturbs(err) {
			t.Disturbed(err)
		}
	}
	t.add(p)
}

// Disturbed notes that the tester cannot do its part: what fails in this case says nothing of the implementation.
func (t *T) Disturbed(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.disturbed = why
}

// Wrong is Errorf of a packet, some of whose fields must be something else.
func (t *T) Wrong(at Recorded, must []codec.Field, format string, args ...any) {
	t.add(Problem{Text: fmt.Sprintf(format, args...), Event: at.Event(), Must: must})
}

// Must is Wrong unless a packet's header is what it must be.
func (t *T) Must(at Recorded, got, want codec.Header) {
	differ := codec.Differ(got, want)
	if len(differ) == 0 {
		return
	}
	var words []string
	for _, f := range differ {
		words = append(words, f.Name+" "+f.Value)
	}
	t.Wrong(at, differ, "%v must have %s", at, strings.Join(words, ", "))
}

func (t *T) add(p Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const enough = 20
	if len(t.problems) < enough {
		t.problems = append(t.problems, p)
		t.events.Problem(p.Text)
	}
}

// disturbs reports whether an error says that the tester's machine lacks something.
func disturbs(err error) bool {
	for _, lack := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ENOSPC} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// Fatalf is Errorf, and ends the case. Only the case's own goroutine may call it.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stopped{})
}

// Stop ends the case if a rule was broken already.
func (t *T) Stop() {
	if t.Failed() {
		panic(stopped{})
	}
}

// Failed reports whether a rule was broken.
func (t *T) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.problems) > 0
}

// Check is Errorf unless ok.
func (t *T) Check(ok bool, format string, args ...any) {
	if !ok {
		t.Errorf(format, args...)
	}
}

// Output keeps what the implementation wrote, for the report of a failure.
func (t *T) Output(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, text)
}

// Cleanup calls f when the case has ended; the last one first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}
