package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

// T is what a running case sees.
type T struct {
	name   string
	ctx    context.Context
	clock  *clock
	target any
	events *events.Recorder

	mu        sync.Mutex // guards what follows
	problems  []Problem
	disturbed error  // why the tester could not do its part
	skipped   string // why the rest cannot be tested, "" if it can
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
	switch {
	case len(r.Problems) > 0:
		r.Outcome = Fail
	case t.skipped != "":
		r.Outcome, r.Problems = Skip, []Problem{{Text: t.skipped}}
	}
	return r
}

// Name is the case's.
func (t *T) Name() string { return t.name }

// Context ends at the case's deadline.
func (t *T) Context() context.Context { return t.ctx }

// Deadline is when it does; the zero time while the clock is stopped.
func (t *T) Deadline() time.Time { return t.clock.deadline() }

// StopClock lets the case wait for a person: no deadline passes until StartClock.
func (t *T) StopClock() { t.clock.stop() }

// StartClock lets the rest of the case's time begin to pass.
func (t *T) StartClock() { t.clock.start() }

// Target is the implementation under test.
func (t *T) Target() any { return t.target }

// Events records what happens in the case.
func (t *T) Events() *events.Recorder { return t.events }

// Recorded is what an event shows: if it is an argument of Errorf, the problem is that event's.
type Recorded interface{ Event() int }

// Errorf notes that a rule was broken. Any goroutine may call it.
func (t *T) Errorf(format string, args ...any) {
	p := Problem{Text: text(format, args)}
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
	t.add(Problem{Text: text(format, args), Event: at.Event(), Must: must})
}

// text is a problem in words. What Go's network says of a connection, with its ports, says nothing to people.
func text(format string, args []any) string {
	args = slices.Clone(args)
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = inWords(err)
		}
	}
	return fmt.Sprintf(format, args...)
}

func inWords(err error) any {
	_, network := err.(*net.OpError)
	switch {
	case err == context.DeadlineExceeded, network && errors.Is(err, os.ErrDeadlineExceeded):
		return "nothing has happened until the deadline"
	case err == io.EOF:
		return "the connection has ended"
	case err == io.ErrUnexpectedEOF:
		return "the connection has ended within it"
	case network && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)):
		return "the connection was reset"
	}
	return err
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

// Skip ends the case, which cannot be tested here. Only the case's own goroutine may call it.
func (t *T) Skip(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
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
