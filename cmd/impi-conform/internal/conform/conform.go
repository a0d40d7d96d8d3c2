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
	"runtime/debug"
	"sync"
	"time"
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
)

func (o Outcome) String() string { return [...]string{"pass", "FAIL", "skip"}[o] }

// Result is what became of a case.
type Result struct {
	Case     Case
	Outcome  Outcome
	Problems []string // of a failure, in order; or why it was skipped
	Output   string   // what the implementation wrote
	Took     time.Duration
}

// Options say how to run.
type Options struct {
	Timeout time.Duration     // of one case
	Jobs    int               // cases at a time
	Target  any               // what T.Target answers
	Skip    func(Case) string // why a case cannot be run, "" if it can
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
func Run(ctx context.Context, cases []Case, o Options, ended func(Result)) (count [3]int) {
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
			return Result{Case: c, Outcome: Skip, Problems: []string{why}}
		}
	}
	if ctx.Err() != nil {
		return Result{Case: c, Outcome: Skip, Problems: []string{"interrupted"}}
	}
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	t := &T{ctx: within, target: o.Target}
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
	return t.result(c, time.Since(began))
}

// T is what a running case sees.
type T struct {
	ctx    context.Context
	target any

	mu       sync.Mutex // guards what follows
	problems []string
	output   []string
	cleanups []func()
}

// stopped is what Fatalf unwinds a case with.
type stopped struct{}

func (t *T) run(f func(*T)) {
	defer t.cleanup()
	defer func() {
		if x := recover(); x != nil && x != (stopped{}) {
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
	r := Result{Case: c, Problems: append([]string(nil), t.problems...), Took: took}
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

// Errorf notes that a rule was broken. Any goroutine may call it.
func (t *T) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const enough = 20
	if len(t.problems) < enough {
		t.problems = append(t.problems, fmt.Sprintf(format, args...))
	}
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
