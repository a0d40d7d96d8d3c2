package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// told collects what a handler is told.
type told struct{ said, wrong, undelivered chan string }

func newTold() *told {
	return &told{make(chan string, 100), make(chan string, 100), make(chan string, 100)}
}

func (x *told) handler() Handler {
	return Handler{Said: func(rank int, text string) { x.said <- fmt.Sprint(rank, " ", text) },
		Wrong: func(text string) { x.wrong <- text }, Undelivered: func(text string) { x.undelivered <- text }}
}

// begin makes a job of n processes.
func begin(t *testing.T, n int) (*Job, *told) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := New(l)
	t.Cleanup(c.Close)
	x := newTold()
	return c.Job(n, x.handler()), x
}

// peer is the other end of a connection.
type peer struct {
	*testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, j *Job, lines ...string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", j.Arguments()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	p := &peer{t, c, bufio.NewReader(c)}
	p.say(lines...)
	return p
}

// welcomed is dial, the first line, and the test of delivery.
func welcomed(t *testing.T, j *Job, rank, size int) *peer {
	t.Helper()
	p := dial(t, j, fmt.Sprintf("impi-conform 1 %s %d %d", j.Arguments()[1], rank, size))
	text := p.hear()
	if text != delivery() {
		t.Fatalf("the first line is %q", text)
	}
	p.say(text)
	return p
}

func (p *peer) say(lines ...string) {
	for _, l := range lines {
		io.WriteString(p, l+"\n") // that it has hung up shows when it is heard
	}
}

func (p *peer) hear() string {
	p.Helper()
	line, err := p.r.ReadString('\n')
	if err != nil {
		p.Fatalf("no line comes: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// gone wants the tester to hang up.
func (p *peer) gone() {
	p.Helper()
	if _, err := io.Copy(io.Discard, p.r); errors.Is(err, context.DeadlineExceeded) {
		p.Fatal("it does not hang up")
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		p.Fatal("it does not hang up")
	}
}

func TestEveryPlayerGetsTheStepsOfACaseAndTheNext(t *testing.T) {
	j, x := begin(t, 2)
	early := welcomed(t, j, 3, 5)
	j.Begin("a/one")
	j.Do("barrier", "@3 send 1 2 3")
	j.End()
	late := welcomed(t, j, 4, 5)
	j.Expect([]int{3, 4}, 5)
	for _, p := range []*peer{early, late} {
		for _, want := range []string{"begin a/one", "do barrier", "do @3 send 1 2 3", "end"} {
			if got := p.hear(); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
	early.say("say there", "say there", "done 0")
	late.say("done 1")
	level, err := j.Done(t.Context())
	if level != 1 || err != nil {
		t.Errorf("level %d, %v", level, err)
	}
	if got := <-x.said; got != "3 there" || j.Count(3, "there") != 2 || j.Count(4, "there") != 0 {
		t.Errorf("said %q, %d times", got, j.Count(3, "there"))
	}
	j.Begin("a/two")
	if j.Count(3, "there") != 0 {
		t.Error("what was said in the first case counts in the second")
	}
	late.say("say here")
	if err := j.Await(t.Context(), 4, "here"); err != nil {
		t.Error(err)
	}
	j.Exit()
	if early.hear() != "begin a/two" || early.hear() != "exit" {
		t.Error("the second case does not reach the player")
	}
	early.Close()
	late.Close()
	if err := j.Over(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := j.Done(t.Context()); err != ErrEnded {
		t.Errorf("waiting for players that have hung up: %v", err)
	}
}

func TestAPlayerThatComputesGetsNothingBeforeGo(t *testing.T) {
	j, _ := begin(t, 1)
	j.Do("compute", "barrier")
	p := welcomed(t, j, 0, 1)
	if got := p.hear(); got != "do compute" {
		t.Fatalf("got %q", got)
	}
	j.Do("say more") // wakes the writer, which must not pass the gate
	ready := make(chan string, 1)
	go func() {
		line, _ := p.r.ReadString('\n')
		ready <- line
	}()
	select {
	case line := <-ready:
		t.Fatalf("got %q before Go", line)
	case <-time.After(20 * time.Millisecond):
	}
	j.Go()
	if got := <-ready; got != "go\n" || p.hear() != "do barrier" || p.hear() != "do say more" {
		t.Errorf("after Go comes %q", got)
	}
}

// Each breaks the rules, which is a problem, ends all waiting, and costs the connection.
func TestAPlayerThatBreaksTheRulesIsAProblem(t *testing.T) {
	for name, x := range map[string]struct {
		breaks func(t *testing.T, j *Job) *peer
		want   string
	}{
		"rank above the size": {func(t *testing.T, j *Job) *peer {
			return dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 5 5")
		}, "rank 5 of 5"},
		"another client's rank": {func(t *testing.T, j *Job) *peer {
			j.Expect([]int{1, 2}, 3)
			return dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 0 3")
		}, "rank 0 of 3"},
		"another client's rank, known later": {func(t *testing.T, j *Job) *peer {
			p := welcomed(t, j, 0, 3)
			j.Expect([]int{1, 2}, 3)
			return p
		}, "rank 0 of 3"},
		"another size": {func(t *testing.T, j *Job) *peer {
			j.Expect([]int{0, 1}, 3)
			return dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 0 4")
		}, "rank 0 of 4"},
		"twice": {func(t *testing.T, j *Job) *peer {
			welcomed(t, j, 0, 3)
			return dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 0 3")
		}, "a second player"},
		"too many": {func(t *testing.T, j *Job) *peer {
			welcomed(t, j, 0, 3)
			welcomed(t, j, 1, 3)
			return dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 2 3")
		}, "more than 2"},
		"nonsense": {func(t *testing.T, j *Job) *peer {
			p := welcomed(t, j, 0, 3)
			p.say("GET / HTTP/1.1")
			return p
		}, `it says "GET / HTTP/1.1"`},
		"no level": {func(t *testing.T, j *Job) *peer {
			p := welcomed(t, j, 0, 3)
			p.say("done well")
			return p
		}, `it says "done well"`},
		"a level that is none": {func(t *testing.T, j *Job) *peer {
			p := welcomed(t, j, 0, 3)
			p.say("done 4")
			return p
		}, `it says "done 4"`},
		"a long line": {func(t *testing.T, j *Job) *peer {
			p := welcomed(t, j, 0, 3)
			p.say("say " + strings.Repeat("x", MaxLine))
			return p
		}, "more than 1024 bytes"},
		"a flood": {func(t *testing.T, j *Job) *peer {
			j.Watch(Handler{Said: func(int, string) {}, Wrong: j.to.Wrong})
			p := welcomed(t, j, 0, 3)
			p.say(strings.Repeat("say\n", MaxLines))
			return p
		}, "more than 100000 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			j, to := begin(t, 2)
			p := x.breaks(t, j)
			if got := <-to.wrong; !strings.Contains(got, x.want) {
				t.Errorf("the problem is %q, must have %q", got, x.want)
			}
			p.gone()
			if err := j.Await(t.Context(), 0, "never"); err == nil {
				t.Error("waiting goes on")
			}
		})
	}
}

func TestAWrongValueIsReported(t *testing.T) {
	j, to := begin(t, 1)
	welcomed(t, j, 0, 1).say("wrong 2 bcast: element 1 is 5, must be 1")
	if got := <-to.wrong; got != "process 0: bcast: element 1 is 5, must be 1" {
		t.Errorf("got %q", got)
	}
}

func TestIfTheTestOfDeliveryFailsNoStepIsSent(t *testing.T) {
	j, to := begin(t, 1)
	j.Do("barrier")
	p := dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 0 1")
	p.say(strings.Replace(p.hear(), "~", "?", 1))
	if got := <-to.undelivered; !strings.Contains(got, "no case is tried") {
		t.Errorf("got %q", got)
	}
	if rest, _ := io.ReadAll(p.r); len(rest) > 0 {
		t.Errorf("it goes on with %q", rest)
	}
}

func TestStrangersAreNoProblem(t *testing.T) {
	j, to := begin(t, 1)
	silent := dial(t, j)
	for range 2 * maxStrangers {
		dial(t, j)
	}
	silent.gone() // the oldest
	dial(t, j, "impi-conform 1 00000000000000000000000000000000 0 1").gone()
	dial(t, j, "hello").gone()
	dial(t, j, strings.Repeat("x", 2*MaxLine)).gone()
	welcomed(t, j, 0, 1).say("say there")
	if err := j.Await(t.Context(), 0, "there"); err != nil {
		t.Error(err)
	}
	if len(to.wrong) > 0 {
		t.Error(<-to.wrong)
	}
}

func TestAClosedJobHangsUp(t *testing.T) {
	j, to := begin(t, 2)
	p := welcomed(t, j, 0, 2)
	p.say("say there")
	if err := j.Await(t.Context(), 0, "there"); err != nil {
		t.Fatal(err)
	}
	j.Close()
	p.gone()
	dial(t, j, "impi-conform 1 "+j.Arguments()[1]+" 1 2").gone()
	if len(to.wrong) > 0 {
		t.Error(<-to.wrong)
	}
}

func FuzzPlayer(f *testing.F) {
	f.Add("text 95 x\n")
	f.Add(delivery() + "\nsay there\nwrong 2 x\ndone 0\n")
	f.Add(delivery() + "\ndone 99\n")
	f.Add(delivery() + "\nwrong\n\n\x00\xff\n")
	f.Add(strings.Repeat("x", MaxLine+1))
	f.Fuzz(func(t *testing.T, text string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		c := New(l)
		defer c.Close()
		wrong := 0
		j := c.Job(1, Handler{Said: func(int, string) {}, Wrong: func(string) { wrong++ }, Undelivered: func(string) {}})
		us, them := net.Pipe()
		go io.Copy(io.Discard, them)
		j.join(us, bufio.NewReaderSize(us, MaxLine), 0, 1)
		io.WriteString(them, text)
		them.Close()
		j.mu.Lock()
		p := j.players[0]
		j.mu.Unlock()
		for over := false; !over; {
			j.mu.Lock()
			over = p.over
			news := j.news
			j.mu.Unlock()
			if !over {
				<-news
			}
		}
		if len(p.said) > strings.Count(text, "\n") || p.level > MaxLevel {
			t.Errorf("%d things said, level %d", len(p.said), p.level)
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add("impi-conform 1 0123 0 1\n")
	f.Add("impi-conform 1 0123 -1 99999999999999999999\n")
	f.Fuzz(func(t *testing.T, line string) {
		token, rank, size, ok := hello(line)
		if ok && !strings.Contains(line, token) {
			t.Errorf("%q: token %q, rank %d, size %d", line, token, rank, size)
		}
	})
}
