package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

type list []Result

func (l *list) Ended(r Result) { *l = append(*l, r) }

// seen makes the implementation write a line.
func seen(t *T) { t.Events().Line(t.Events().Party("client 0", true), "stdout", "hello", 5) }

func texts(r Result) (list []string) {
	for _, p := range r.Problems {
		list = append(list, p.Text)
	}
	return list
}

func TestResultsComeInOrderWithTheirOutcomes(t *testing.T) {
	var undone []string
	first := make(chan bool)
	cases := []Case{
		{Name: "a/waits", Run: func(t *T) { <-first }}, // ends after the next one
		{Name: "a/fails", Run: func(t *T) {
			seen(t)
			t.Errorf("one %d", 1)
			t.Check(false, "two")
			t.Check(true, "not")
			close(first)
		}},
		{Name: "b/fatal", Run: func(t *T) {
			t.Cleanup(func() { undone = append(undone, "outer") })
			t.Cleanup(func() { undone = append(undone, "inner") })
			seen(t)
			t.Output("said")
			t.Fatalf("end")
			t.Errorf("not reached")
		}},
		{Name: "b/skipped", Run: func(t *T) { t.Errorf("ran") }},
		//lint:ignore SA5000 the panic is the case
		{Name: "b/panics", Run: func(t *T) { var m map[int]int; m[1] = 1 }},
	}
	var got list
	count := Run(context.Background(), cases, Options{Timeout: time.Minute, Jobs: 2, Skip: func(c Case) string {
		if c.Name == "b/skipped" {
			return "no reason"
		}
		return ""
	}}, got.Ended)
	var short []string
	for _, r := range got {
		short = append(short, r.Case.Name+" "+r.Outcome.String())
	}
	want := []string{"a/waits pass", "a/fails FAIL", "b/fatal FAIL", "b/skipped skip", "b/panics ????"}
	if !slices.Equal(short, want) || count != (Count{1, 2, 1, 1}) {
		t.Errorf("got %v, %v", short, count)
	}
	if !slices.Equal(texts(got[1]), []string{"one 1", "two"}) || !slices.Equal(texts(got[2]), []string{"end"}) ||
		got[2].Output != "said" {
		t.Errorf("got %+v", got[1:3])
	}
	if !slices.Equal(undone, []string{"inner", "outer"}) {
		t.Errorf("undone %v", undone)
	}
	if !strings.Contains(got[4].Problems[1].Text, "tester itself") {
		t.Errorf("got %v", got[4].Problems)
	}
}

func TestACaseSeesItsDeadline(t *testing.T) {
	var got list
	Run(context.Background(), []Case{{Name: "x", Run: func(t *T) {
		seen(t)
		<-t.Context().Done()
		t.Fatalf("deadline")
	}}}, Options{Timeout: time.Millisecond}, got.Ended)
	if got[0].Outcome != Fail {
		t.Error(got)
	}
}

func TestCasesAreSelectedByName(t *testing.T) {
	cases := []Case{{Name: "a/x"}, {Name: "b/x"}}
	if got := Select(cases, regexp.MustCompile("^b/")); len(got) != 1 || got[0].Name != "b/x" {
		t.Error(got)
	}
	if len(Select(cases, nil)) != 2 {
		t.Error("no expression selects not all")
	}
}

// one runs one case.
func one(ctx context.Context, run func(*T)) Result {
	var got list
	Run(ctx, []Case{{Name: "x", Run: run}}, Options{Timeout: time.Minute, Trace: true}, got.Ended)
	return got[0]
}

func TestAFailureMeansNothingIfNothingWasSeenOrTheTesterWasDisturbed(t *testing.T) {
	interrupted, interrupt := context.WithCancel(context.Background())
	for name, x := range map[string]struct {
		ctx  context.Context
		run  func(*T)
		want Outcome
		why  string
	}{
		"silent":         {run: func(t *T) { t.Fatalf("no line") }, want: Indeterminate, why: "nothing was seen"},
		"silent, passed": {run: func(*T) {}, want: Pass},
		"seen":           {run: func(t *T) { seen(t); t.Fatalf("another line") }, want: Fail},
		"no ports": {run: func(t *T) { seen(t); t.Disturbed(syscall.EADDRINUSE); t.Fatalf("cannot listen") },
			want: Indeterminate, why: "disturbed"},
		"no files": {run: func(t *T) { seen(t); t.Fatalf("accept: %v", fmt.Errorf("x: %w", syscall.EMFILE)) },
			want: Indeterminate, why: "disturbed"},
		"refused": {run: func(t *T) { seen(t); t.Fatalf("dial: %v", syscall.ECONNREFUSED) }, want: Fail},
		"interrupted": {ctx: interrupted, run: func(t *T) { seen(t); interrupt(); t.Fatalf("x") },
			want: Indeterminate, why: "interrupted"},
	} {
		if x.ctx == nil {
			x.ctx = context.Background()
		}
		r := one(x.ctx, x.run)
		if r.Outcome != x.want || x.why != "" && !strings.Contains(r.Problems[0].Text, x.why) {
			t.Errorf("%s: got %v %v", name, r.Outcome, r.Problems)
		}
	}
}

type packet struct{ codec.Header }

func (packet) Event() int { return 7 }

func TestAProblemKnowsItsEventAndFields(t *testing.T) {
	r := one(context.Background(), func(t *T) {
		t.Errorf("%v is wrong", packet{})
		t.Must(packet{}, codec.Header{Type: 1, Tag: 5}, codec.Header{Type: 1, Tag: 6})
		t.Must(packet{}, codec.Header{Type: 1}, codec.Header{Type: 1})
	})
	if p := r.Problems; len(p) != 3 || p[1].Event != 7 || p[2].Event != 7 || len(p[2].Must) != 1 ||
		p[2].Must[0].Name != "pk_tag" || !strings.Contains(p[2].Text, "must have pk_tag 6") {
		t.Errorf("got %+v", p)
	}
	if r.Trace == nil || len(r.Trace.Events) != 2 || r.Trace.Events[0].Kind != events.Problem {
		t.Errorf("the trace is %+v", r.Trace)
	}
}

func TestWhoWatchesSeesCasesBeginAndEndAtOnce(t *testing.T) {
	told := make(chan string, 8)
	cases := []Case{{Name: "waits", Run: func(t *T) {
		for x := range told { // the other one is over before the first in the list is
			if x == "over short FAIL" {
				return
			}
		}
	}}, {Name: "short", Run: func(t *T) {
		for range 30 {
			seen(t)
		}
		t.Errorf("no")
	}}}
	var list list
	Run(context.Background(), cases, Options{Timeout: time.Minute, Jobs: 2, Trace: true, Keep: 10,
		Began: func(c Case, e *events.Recorder) {
			if e.Seen() {
				t.Error("it had begun before")
			}
		},
		Over: func(r Result) { told <- "over " + r.Case.Name + " " + r.Outcome.String() },
	}, list.Ended)
	if n := len(list[1].Trace.Events); n != 10 {
		t.Errorf("%d events are kept", n)
	}
}

func TestADeadlineDoesNotPassWhileTheClockStands(t *testing.T) {
	const limit = 20 * time.Millisecond
	var got list
	Run(context.Background(), []Case{{Name: "x", Run: func(t *T) {
		t.StopClock()
		t.Check(t.Deadline().IsZero(), "there is a deadline, %v", t.Deadline())
		<-time.After(2 * limit)
		t.Check(t.Context().Err() == nil, "it has passed")
		t.StartClock()
		t.Check(!t.Deadline().IsZero(), "there is none")
		<-t.Context().Done()
		t.StopClock()
		t.StartClock()
	}}}, Options{Timeout: limit}, got.Ended)
	if got[0].Outcome != Pass {
		t.Error(got)
	}
}

func TestACaseThatIsSkippedWhileItRunsHasItsReason(t *testing.T) {
	r := one(context.Background(), func(t *T) { t.Skip("not %s", "here"); t.Errorf("not reached") })
	if r.Outcome != Skip || r.Problems[0].Text != "not here" {
		t.Errorf("got %+v", r)
	}
	r = one(context.Background(), func(t *T) { seen(t); t.Errorf("wrong"); t.Skip("not here") })
	if r.Outcome != Fail {
		t.Errorf("a problem is skipped: %+v", r)
	}
}

func TestWhatTheNetworkSaysIsPutInWords(t *testing.T) {
	op := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	other := errors.New("another")
	r := one(context.Background(), func(t *T) {
		seen(t)
		for _, err := range []error{op(os.ErrDeadlineExceeded), context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF,
			op(syscall.ECONNRESET), op(syscall.EPIPE), fmt.Errorf("a packet: %w", io.EOF), other} {
			t.Errorf("%d: %v", 1, err)
		}
	})
	const late, reset = "1: nothing has happened until the deadline", "1: the connection was reset"
	want := []string{late, late, "1: the connection has ended", "1: the connection has ended within it", reset, reset,
		"1: a packet: EOF", "1: another"}
	if !slices.Equal(texts(r), want) {
		t.Errorf("got %q", texts(r))
	}
}
