package session

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
)

var few = Limits{Sessions: 2, Idle: time.Hour, Running: 1, Runs: 3, Events: 100, Keep: 1000, Streams: 2, Drafts: 2,
	Prompts: 1}

// set is a set whose clock stands still until it is moved.
func set(t *testing.T, l Limits) (s *Set, move func(time.Duration)) {
	s = NewSet(l)
	now := time.Unix(0, 0)
	s.now = func() time.Time { return now }
	t.Cleanup(s.End)
	return s, func(d time.Duration) { now = now.Add(d) }
}

func session(t *testing.T, s *Set) *Session {
	t.Helper()
	x, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// says makes the implementation say n lines, and then pass or fail.
func says(name string, n int, fails bool) conform.Case {
	return conform.Case{Name: name, Run: func(t *conform.T) {
		p := t.Events().Party("server", true)
		for i := range n {
			t.Events().Line(p, "stdout", fmt.Sprint(i), 1)
		}
		t.Check(!fails, "it fails")
	}}
}

// waits is a case that goes on until it is told or stopped.
func waits(name string) (c conform.Case, began, goOn chan struct{}) {
	began, goOn = make(chan struct{}), make(chan struct{})
	return conform.Case{Name: name, Run: func(t *conform.T) {
		close(began)
		select {
		case <-goOn:
		case <-t.Context().Done():
			t.Errorf("stopped")
		}
	}}, began, goOn
}

var quick = conform.Options{Timeout: time.Minute, Jobs: 2}

func begin(t *testing.T, x *Session, cases ...conform.Case) *Run {
	t.Helper()
	r, err := x.Begin(Order{Kind: "cases", Title: "some", Cases: cases, Options: quick})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSessionsAreFewAndEndWhenIdle(t *testing.T) {
	s, move := set(t, few)
	a, b := session(t, s), session(t, s)
	if a.ID == b.ID || len(a.ID) < 20 {
		t.Errorf("the IDs are %q and %q", a.ID, b.ID)
	}
	if _, err := s.New(); !errors.Is(err, ErrSessions) {
		t.Errorf("a third one: %v", err)
	}
	move(59 * time.Minute)
	if s.Find(a.ID) != a {
		t.Error("a session is gone before its time")
	}
	_, stop, err := b.Listen()
	if err != nil {
		t.Fatal(err)
	}
	move(30 * time.Minute)
	s.Expire()
	if s.Find(b.ID) != b {
		t.Error("a session ends while a page is open")
	}
	stop()
	move(time.Hour)
	c, err := s.New()
	if err != nil {
		t.Fatalf("both are idle: %v", err)
	}
	if s.Find(a.ID) != nil || s.Find(b.ID) != nil || !a.Over() || s.Find(c.ID) != c {
		t.Error("idle sessions are there")
	}
	if _, err := a.Begin(Order{Kind: "cases", Options: quick}); err == nil {
		t.Error("a session that is over begins a run")
	}
	if _, _, err := a.Listen(); err == nil {
		t.Error("a session that is over tells")
	}
}

func TestASessionDoesNotEndWhileARunGoesOn(t *testing.T) {
	s, move := set(t, few)
	x := session(t, s)
	c, began, goOn := waits("a/waits")
	r := begin(t, x, c)
	<-began
	move(10 * time.Hour)
	s.Expire()
	if s.Find(x.ID) == nil {
		t.Fatal("it has ended")
	}
	close(goOn)
	r.Wait()
}

func TestStreamsAreFew(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	changed, stop, _ := x.Listen()
	x.Listen()
	if _, _, err := x.Listen(); !errors.Is(err, ErrStreams) {
		t.Errorf("a third one: %v", err)
	}
	stop()
	if _, _, err := x.Listen(); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	select {
	case <-changed:
		t.Error("nothing has changed")
	default:
	}
}

func TestARunIsSeenCaseByCase(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	changed, _, err := x.Listen()
	if err != nil {
		t.Fatal(err)
	}
	c, began, goOn := waits("b/waits")
	r := begin(t, x, says("a/fails", 3, true), c)
	<-began
	for r.Snapshot(0).Count["fail"] == 0 {
		<-changed
	}
	snap := r.Snapshot(0)
	if len(snap.Cases) != 2 || snap.Cases[0].State != "fail" || snap.Cases[1].State != Going || snap.Phase != Running ||
		snap.Cases[0].Events != 4 {
		t.Errorf("got %+v", snap)
	}
	if later := r.Snapshot(snap.Seq); len(later.Cases) != 1 || later.Cases[0].Name != "b/waits" {
		t.Errorf("what runs is always told, what is over is not: %+v", later)
	}
	close(goOn)
	r.Wait()
	if later := r.Snapshot(snap.Seq); later.Phase != Ended || len(later.Cases) != 1 || later.Cases[0].State != "pass" {
		t.Errorf("got %+v", later)
	}
	trace, kept := r.Trace("a/fails", 1, 2)
	if kept != 4 || len(trace.Events) != 2 || trace.Events[0].N != 2 {
		t.Errorf("%d events, %+v", kept, trace)
	}
	if trace, _ := r.Trace("none", 0, 1); trace != nil {
		t.Errorf("a case that is none has a trace")
	}
	if got := r.Failed(); len(got) != 1 || got[0] != "a/fails" {
		t.Errorf("failed: %v", got)
	}
	whole, junit := r.Record(record.Record{Implementation: "x"})
	if len(whole.Cases) != 2 || whole.Implementation != "x" || whole.Cases[0].Trace == nil || junit == nil {
		t.Errorf("the record is %+v", whole)
	}
}

func TestATraceIsReadWhileItsCaseRuns(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	said, goOn := make(chan bool), make(chan bool)
	r := begin(t, x, conform.Case{Name: "a/says", Run: func(t *conform.T) {
		t.Events().Line(t.Events().Party("server", true), "stdout", "hello", 5)
		close(said)
		<-goOn
	}})
	<-said
	trace, kept := r.Trace("a/says", 0, 10)
	close(goOn)
	if kept != 1 || trace.Events[0].Text != "hello" {
		t.Errorf("%d events, %+v", kept, trace)
	}
}

func TestWhatWasNotBegunWhenARunIsStoppedHasNoVerdict(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	c, began, _ := waits("a/waits")
	d, began2, _ := waits("a/waits-too")
	r := begin(t, x, c, d, says("b/next", 1, false))
	<-began
	<-began2
	if _, err := x.Begin(Order{Kind: "cases", Options: quick}); !errors.Is(err, ErrRunning) {
		t.Errorf("two runs at a time: %v", err)
	}
	x.Stop()
	r.Wait()
	snap := r.Snapshot(0)
	if snap.Phase != Stopped || snap.Count["indeterminate"] != 2 || snap.Count[NotRun] != 1 {
		t.Errorf("got %+v", snap)
	}
	if whole, _ := r.Record(record.Record{}); len(whole.Cases) != 2 {
		t.Errorf("the record has %d cases", len(whole.Cases))
	}
}

func TestRunsOfOtherSessionsWait(t *testing.T) {
	s, _ := set(t, few)
	a, b := session(t, s), session(t, s)
	c, began, goOn := waits("a/waits")
	first := begin(t, a, c)
	<-began
	second, third := begin(t, b, says("b/x", 1, false)), (*Run)(nil)
	if snap := second.Snapshot(0); snap.Phase != Waiting || snap.Cases[0].State != Queued {
		t.Errorf("got %+v", snap)
	}
	b.Stop() // who waits can be stopped
	second.Wait()
	if snap := second.Snapshot(0); snap.Phase != Stopped || snap.Cases[0].State != NotRun {
		t.Errorf("stopped while it waited: %+v", snap)
	}
	third = begin(t, b, says("b/x", 1, false))
	close(goOn)
	first.Wait()
	third.Wait()
	if snap := third.Snapshot(0); snap.Phase != Ended || snap.Count["pass"] != 1 {
		t.Errorf("got %+v", snap)
	}
}

func TestOldRunsAreDropped(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	for range 5 {
		begin(t, x, says("a/x", 1, false)).Wait()
	}
	x.AddRecord("old.json", &record.Record{Cases: []record.Case{{Name: "a/x", Verdict: record.Fail}}})
	runs := x.Runs()
	if len(runs) != 3 || runs[0].ID != 6 || runs[0].Kind != "record" || runs[2].ID != 4 || x.Run(1) != nil ||
		x.Run(5) != runs[1] {
		t.Errorf("got %d runs", len(runs))
	}
	if snap := runs[0].Snapshot(0); snap.Count["fail"] != 1 || snap.Phase != Ended {
		t.Errorf("the record: %+v", snap)
	}
	x.Clear()
	if len(x.Runs()) != 0 {
		t.Error("runs are left")
	}
}

func TestASessionKeepsFewEvents(t *testing.T) {
	s, _ := set(t, Limits{Sessions: 1, Running: 1, Runs: 10, Events: 5000, Keep: 4000, Streams: 1})
	x := session(t, s)
	begin(t, x, says("a/pass", 3000, false)).Wait()
	failed := begin(t, x, says("a/fail", 3000, true))
	failed.Wait()
	_, passed := x.Run(1).Trace("a/pass", 0, 0)
	if _, n := failed.Trace("a/fail", 0, 0); n != 3001 || passed != 200 {
		t.Errorf("%d and %d events are kept; who passed goes first", passed, n)
	}
	for range 8 {
		begin(t, x, says("a/more", 6000, true)).Wait()
	}
	sum := 0
	for _, r := range x.Runs() {
		sum += r.events()
	}
	newest := x.Runs()[0]
	if trace, n := newest.Trace("a/more", 0, 1); sum > 5000 || n < 2000 || trace.Left == 0 {
		t.Errorf("%d events are kept in all, %d of the newest, %d left out", sum, n, trace.Left)
	}
}

func TestTextsAreFew(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	for i, want := range []error{nil, nil, ErrDrafts} {
		if err := x.SetDraft(fmt.Sprint(i), "text"); !errors.Is(err, want) {
			t.Errorf("text %d: %v", i, err)
		}
	}
	if err := x.SetDraft("1", "other"); err != nil {
		t.Error(err)
	}
	if text, ok := x.Draft("1"); text != "other" || !ok {
		t.Errorf("got %q", text)
	}
	x.SetValue("clients", "3")
	if x.Value("clients") != "3" || x.Value("none") != "" {
		t.Error("what was typed is forgotten")
	}
}

func TestAPersonAnswersAPrompt(t *testing.T) {
	s, _ := set(t, few)
	x := session(t, s)
	changed, _, err := x.Listen()
	if err != nil {
		t.Fatal(err)
	}
	type reply struct {
		text string
		err  error
	}
	ask := func(ctx context.Context, p Prompt) chan reply {
		c := make(chan reply, 1)
		go func() { text, err := x.Ask(ctx, p); c <- reply{text, err} }()
		<-changed
		return c
	}
	asked := ask(t.Context(), Prompt{What: "server", Command: "run it", Answer: "address:port"})
	list := x.Prompts()
	if len(list) != 1 || list[0].Command != "run it" {
		t.Fatalf("got %+v", list)
	}
	if _, err := x.Ask(t.Context(), Prompt{}); !errors.Is(err, ErrPrompts) {
		t.Errorf("a second one: %v", err)
	}
	for text, want := range map[string]error{"": ErrAnswer, "a\nb": ErrAnswer, fmt.Sprintf("%02000d", 1): ErrAnswer} {
		if err := x.Answer(list[0].ID, text, false); !errors.Is(err, want) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if err := x.Answer(list[0].ID, " 10.0.0.1:5 ", false); err != nil {
		t.Error(err)
	}
	if got := <-asked; got.text != "10.0.0.1:5" || got.err != nil {
		t.Errorf("got %+v", got)
	}
	if err := x.Answer(list[0].ID, "again", false); !errors.Is(err, ErrNone) {
		t.Errorf("a second answer: %v", err)
	}
	<-changed
	asked = ask(t.Context(), Prompt{What: "client 0"})
	if err := x.Answer(x.Prompts()[0].ID, "", true); err != nil {
		t.Error(err)
	}
	if got := <-asked; !errors.Is(got.err, ErrGivenUp) {
		t.Errorf("got %+v", got)
	}
	<-changed
	ctx, cancel := context.WithCancel(t.Context())
	asked = ask(ctx, Prompt{What: "client 0"})
	cancel() // it is not needed any more
	if got := <-asked; !errors.Is(got.err, context.Canceled) || len(x.Prompts()) != 0 {
		t.Errorf("got %+v", got)
	}
}
