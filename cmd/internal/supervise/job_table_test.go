package supervise

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// exited and killed are what wait4 answers (bits as in wait(2)).
func exited(code int) syscall.WaitStatus              { return syscall.WaitStatus(code << 8) }
func killed(s syscall.Signal) syscall.WaitStatus      { return syscall.WaitStatus(s) }
func core(s syscall.Signal) syscall.WaitStatus        { return syscall.WaitStatus(s | 0x80) }
func end(l *jobTable, rank int, s syscall.WaitStatus) { l.ended(rank, s) }

func TestTheFirstAbnormalRankIsTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		recovery bool
		facts    func(l *jobTable)
		code     int // 0: no cause
		text     string
		doomed   bool
	}{
		"all plain programs end well": {facts: func(l *jobTable) { end(l, 0, exited(0)); end(l, 1, exited(0)) }},
		"all MPI programs end well": {facts: func(l *jobTable) {
			for r := range 2 {
				l.initialized(r)
				l.finalized(r)
			}
			end(l, 0, exited(0))
			end(l, 1, exited(0))
		}},
		"a code": {facts: func(l *jobTable) { end(l, 1, exited(3)) },
			code: 3, text: "rank 1 on here (pid 101) exited with code 3", doomed: true},
		"a signal": {facts: func(l *jobTable) { end(l, 0, killed(syscall.SIGSEGV)) },
			code: 139, text: "rank 0 on here (pid 100) was killed by signal 11 (SIGSEGV, segmentation fault)", doomed: true},
		"a core": {facts: func(l *jobTable) { end(l, 0, core(syscall.SIGABRT)) },
			code: 134, text: "rank 0 on here (pid 100) was killed by signal 6 (SIGABRT, aborted, core dumped)", doomed: true},
		"the second does not count": {facts: func(l *jobTable) { end(l, 1, exited(3)); end(l, 0, killed(syscall.SIGTERM)) },
			code: 3, text: "rank 1", doomed: true},
		"abort": {facts: func(l *jobTable) { l.initialized(1); l.aborted(1, 7, "", false, nil, nil); end(l, 1, exited(9)) },
			code: 7, text: "rank 1 on here (pid 101) called MPI_Abort(7)", doomed: true},
		"abort with 0": {facts: func(l *jobTable) {
			l.aborted(1, 0, "", false, nil, nil)
		}, code: 1, text: "MPI_Abort(0)", doomed: true},
		"abort with 256": {facts: func(l *jobTable) {
			l.aborted(1, 256, "", false, nil, nil)
		}, code: 1, text: "MPI_Abort(256)", doomed: true},
		"abort with -1": {facts: func(l *jobTable) {
			l.aborted(1, -1, "", false, nil, nil)
		}, code: 255, text: "MPI_Abort(-1)", doomed: true},
		"abort with 1000": {facts: func(l *jobTable) {
			l.aborted(1, 1000, "", false, nil, nil)
		}, code: 232, text: "MPI_Abort(1000)", doomed: true},
		"abort in spite of recovery": {recovery: true, facts: func(l *jobTable) { l.aborted(1, 5, "", false, nil, nil) },
			code: 5, text: "MPI_Abort(5)", doomed: true},
		"no finalize": {facts: func(l *jobTable) { l.initialized(0); end(l, 0, exited(0)) },
			code: 1, text: "rank 0 on here (pid 100) exited without calling MPI_Finalize", doomed: true},
		"no init, others did": {facts: func(l *jobTable) { l.initialized(0); end(l, 1, exited(0)) },
			code: 1, text: "rank 1 on here (pid 101) ended without calling MPI_Init, which rank 0 has called", doomed: true},
		"no init, others do later": {facts: func(l *jobTable) { end(l, 1, exited(0)); l.initialized(0) },
			code: 1, text: "rank 1 on here (pid 101) ended without calling MPI_Init, which rank 0 has called", doomed: true},
		"a code after finalize harms nobody": {facts: func(l *jobTable) {
			l.initialized(0)
			l.finalized(0)
			end(l, 0, exited(4))
		}, code: 4, text: "exited with code 4", doomed: false},
		"recovery spares the others": {recovery: true, facts: func(l *jobTable) { end(l, 0, exited(4)) },
			code: 4, text: "exited with code 4", doomed: false},
		"timeout": {facts: func(l *jobTable) { l.timedOut(3 * time.Second); end(l, 0, killed(syscall.SIGTERM)) },
			code: 124, text: "the job has not ended within the timeout of 3s", doomed: true},
		"interrupt": {facts: func(l *jobTable) { l.interrupted(syscall.SIGINT) }, code: 130, text: "SIGINT", doomed: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newJobTable("here", 2, c.recovery)
			l.started(0, 100)
			l.started(1, 101)
			c.facts(l)
			code, text := 0, ""
			if l.cause != nil {
				code, text = l.cause.Code, l.cause.Text
			}
			if code != c.code || !strings.Contains(text, c.text) || l.doomed != c.doomed {
				t.Errorf("code %d, doomed %v, %q; want %d, %v, %q", code, l.doomed, text, c.code, c.doomed, c.text)
			}
			if got := l.finalCause(); got != nil && got.Mild == c.doomed {
				t.Errorf("mild: %v", got.Mild)
			}
		})
	}
}

func TestAJobIsOverWhenEveryRankHasEnded(t *testing.T) {
	l := newJobTable("here", 3, false)
	for r := range 3 {
		if l.over() {
			t.Fatalf("over with %d of 3 ranks ended", r)
		}
		l.ended(r, exited(0))
	}
	if !l.over() {
		t.Fatal("not over")
	}
}

func TestWhatMayBeAnAnswerComesAfterWhatItAnswers(t *testing.T) {
	order := []outcome{{status: killed(syscall.SIGKILL)}, {aborted: true, code: 1}, {status: killed(syscall.SIGTERM)},
		{status: exited(1)}, {status: exited(0)}}
	for i := 1; i < len(order); i++ {
		if order[i-1].weight() >= order[i].weight() {
			t.Errorf("%+v does not come before %+v", order[i-1], order[i])
		}
	}
	for i, want := range []bool{false, true, true, true, false} {
		if got := order[i].mayBeAnswer(); got != want {
			t.Errorf("%+v may be an answer: %v", order[i], got)
		}
	}
}

func TestTheKilledRankIsBlamedAndNotTheOneThatNoticed(t *testing.T) {
	j, set := jobOf(2)
	j.add(outcome{set: set, rank: 0, aborted: true, code: 1, text: "rank 1 was lost"})
	j.add(outcome{set: set, rank: 1, status: killed(syscall.SIGKILL)})
	j.judge(false)
	if c := j.table.cause; c == nil || c.Code != 137 {
		t.Errorf("cause %+v, want that of rank 1", c)
	}
}

func TestWhatARankDoesAfterALossIsAConsequence(t *testing.T) {
	for name, last := range map[string]outcome{
		"exits":  {rank: 0, status: exited(3)},
		"aborts": {rank: 0, aborted: true, code: 9, text: "MPI_Abort(9)"},
		"dies":   {rank: 0, status: killed(syscall.SIGABRT)},
	} {
		j, set := jobOf(2)
		j.add(outcome{set: set, rank: 0, aborted: true, answer: true, code: 1, text: "rank 1 is lost"})
		last.set = set
		j.add(last)
		j.judge(true)
		j.add(outcome{set: set, rank: 1, status: exited(7)}) // heard late
		j.judge(false)
		if c := j.table.cause; c == nil || c.Code != 7 || c.Answer {
			t.Errorf("%s: cause %+v, want that of rank 1", name, c)
		}
	}
}

func TestAnEndThatWeCausedIsNoBetterCause(t *testing.T) {
	l := newJobTable("here", 2, false)
	l.failed(Cause{Code: 1, Text: "another machine's", Answer: true})
	l.entries[0].told = true
	l.ended(0, exited(50))
	if l.cause.Code != 1 {
		t.Errorf("%+v", l.cause)
	}
	l.ended(1, exited(7)) // was dying when the others were told
	if l.cause.Code != 7 || l.cause.Answer {
		t.Errorf("%+v", l.cause)
	}
	l.ended(0, killed(syscall.SIGSEGV))
	l.failed(Cause{Code: 3})
	if l.cause.Code != 7 {
		t.Errorf("%+v", l.cause)
	}
}

func TestARankThatGivesUpSaysWhy(t *testing.T) {
	l := newJobTable("here", 1, false)
	l.aborted(0, 3, "message of 8 bytes truncated\nat line 7", false, nil, nil)
	if want := "rank 0 on here (pid 0) gave up: message of 8 bytes truncated"; l.cause.Text != want || l.cause.Code != 3 {
		t.Errorf("%+v, want %q", l.cause, want)
	}
}

func jobOf(ranks int) (*Job, *Set) {
	j := &Job{table: newJobTable("here", ranks, false), living: map[int]member{}}
	j.initial = &Set{job: j, table: j.table}
	j.sets = []*Set{j.initial}
	return j, j.initial
}
