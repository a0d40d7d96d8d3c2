package supervise

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAFaultTolerantJobGoesOnWithoutARank(t *testing.T) {
	for name, c := range map[string]struct {
		facts     func(l *jobTable)
		lost      string // what is told of, in order; "": nothing
		code      int    // of the cause; 0: there is none
		text      string
		doomed    bool
		survivors int
	}{
		"a signal": {facts: func(l *jobTable) { end(l, 1, killed(syscall.SIGKILL)); l.finalized(0); end(l, 0, exited(0)) },
			lost: "rank 1 on here (pid 101) was killed by signal 9 (SIGKILL, killed)", survivors: 1},
		"a code": {facts: func(l *jobTable) { end(l, 1, exited(3)) }, lost: "rank 1 on here (pid 101) exited with code 3"},
		"no MPI_Finalize": {facts: func(l *jobTable) { end(l, 0, exited(0)) },
			lost: "rank 0 on here (pid 100) exited without calling MPI_Finalize"},
		"two": {facts: func(l *jobTable) { end(l, 1, exited(3)); end(l, 0, exited(4)) },
			lost: "rank 1 on here (pid 101) exited with code 3; rank 0 on here (pid 100) exited with code 4"},
		"a code after MPI_Finalize": {facts: func(l *jobTable) { l.finalized(1); end(l, 1, exited(3)) },
			code: 3, text: "rank 1 on here (pid 101) exited with code 3", survivors: 1},
		"a loss, and a survivor that ends badly": {facts: func(l *jobTable) {
			end(l, 1, killed(syscall.SIGKILL))
			l.finalized(0)
			end(l, 0, exited(5))
		}, lost: "rank 1 on here (pid 101) was killed by signal 9 (SIGKILL, killed)", code: 5, text: "rank 0", survivors: 1},
		"MPI_Abort ends all": {facts: func(l *jobTable) { l.aborted(1, 7, "", false, nil, nil); end(l, 1, exited(7)) },
			code: 7, text: "rank 1 on here (pid 101) called MPI_Abort(7)", doomed: true, survivors: 1},
		"nor one by a signal to the launcher": {facts: func(l *jobTable) {
			l.signalled = true
			end(l, 1, killed(syscall.SIGINT))
		}, code: 130, text: "rank 1 on here (pid 101) was killed by signal 2", doomed: true, survivors: 1},
		"an end that we cause is no loss": {facts: func(l *jobTable) {
			l.timedOut(1)
			end(l, 1, killed(syscall.SIGTERM))
		}, code: 124, text: "timeout", doomed: true, survivors: 1},
		"a program that a rank has started": {facts: func(l *jobTable) {
			if !l.abandoned(1, 77) {
				t.Error("that is no loss")
			}
			end(l, 1, exited(3))
		}, lost: "rank 1 on here (pid 101) process 77, which was in MPI as this rank, has ended without MPI_Finalize"},
		"another program of the others waits for it": {facts: func(l *jobTable) {
			end(l, 1, killed(syscall.SIGKILL))
			l.finalized(0)
			l.initialized(0)
		}, lost: "rank 1 on here (pid 101) was killed by signal 9 (SIGKILL, killed)", code: 1,
			text: "rank 1 on here (pid 101) ended after one MPI program, while rank 0 has begun another", doomed: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newJobTable("here", 2, true)
			var lost []string
			l.lost = func(_ int, n Loss) { lost = append(lost, n.Origin.String()+" "+n.Did) }
			for r := range 2 {
				l.started(r, 100+r)
				l.initialized(r)
				l.entries[r].formed = true
			}
			c.facts(l)
			for _, tell := range l.news {
				tell()
			}
			code, text := 0, ""
			if l.cause != nil {
				code, text = l.cause.Code, l.cause.Text
			}
			if got := strings.Join(lost, "; "); got != c.lost {
				t.Errorf("lost %q, want %q", got, c.lost)
			}
			if code != c.code || !strings.Contains(text, c.text) || l.doomed != c.doomed || l.survivors != c.survivors {
				t.Errorf("code %d, doomed %v, %q, %d survivors; want %d, %v, %q, %d", code, l.doomed, text, l.survivors, c.code,
					c.doomed, c.text, c.survivors)
			}
		})
	}
}

// Until all know of each other they wait in MPI_Init for every rank.
func TestAFaultTolerantJobThatHasNotFormedEndsWithARank(t *testing.T) {
	for name, tt := range map[string]struct {
		facts  func(l *jobTable)
		doomed bool
	}{
		"in MPI_Init":                    {func(l *jobTable) { l.initialized(0); end(l, 0, killed(syscall.SIGKILL)) }, true},
		"before it, another waits":       {func(l *jobTable) { l.initialized(0); end(l, 1, killed(syscall.SIGKILL)) }, true},
		"before it, another comes later": {func(l *jobTable) { end(l, 1, killed(syscall.SIGKILL)); l.initialized(0) }, true},
		"nobody calls it": {func(l *jobTable) {
			end(l, 1, killed(syscall.SIGKILL))
			end(l, 0, exited(0))
		}, false},
	} {
		l := newJobTable("here", 2, true)
		tt.facts(l)
		if l.firstLost != nil || l.doomed != tt.doomed || l.cause == nil || l.cause.Code != 137 {
			t.Errorf("%s: lost %+v, doomed %v, cause %+v", name, l.firstLost, l.doomed, l.cause)
		}
	}
}

// Who ends the job because of a loss does not keep others waiting for a better reason: the loss is known.
func TestAnAnswerToALossIsNoRiddle(t *testing.T) {
	j := &Job{table: newJobTable("here", 2, true), living: map[int]member{}}
	j.initial = &Set{job: j, table: j.table}
	j.sets = []*Set{j.initial}
	for r := range 2 {
		j.table.initialized(r)
		j.table.entries[r].formed = true
	}
	told := 0
	j.table.lost = func(rank int, _ Loss) { told += 1 + rank }
	j.add(outcome{set: j.initial, rank: 1, status: killed(unix.SIGKILL)})
	j.judge(false)
	if j.judge(false); told != 2 || j.table.cause != nil {
		t.Fatalf("told %d, cause %+v", told, j.table.cause)
	}
	j.add(outcome{set: j.initial, rank: 0, aborted: true, answer: true, code: 9, text: "rank 1 is lost"})
	if j.judge(false); j.table.cause == nil || j.table.cause.Code != 9 || !j.table.doomed {
		t.Errorf("cause %+v", j.table.cause)
	}
}

func TestAJobWithoutSurvivorsHasTheCodeOfItsFirstLoss(t *testing.T) {
	for _, last := range []bool{true, false} {
		j := &Job{table: newJobTable("here", 2, true)}
		for r := range 2 {
			j.table.initialized(r)
			j.table.entries[r].formed = true
		}
		end(j.table, 1, killed(syscall.SIGSEGV))
		if !last {
			j.table.finalized(0)
		}
		end(j.table, 0, exited(0))
		if c := j.NoSurvivor(); (c != nil) != last || c != nil && c.Code != 139 {
			t.Errorf("%+v", c)
		}
	}
}

// A rank that is given up is ended, and says why; one that had ended for a reason of its own keeps that.
func TestARankThatIsGivenUpSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		status syscall.WaitStatus
		want   string
	}{
		{killed(syscall.SIGKILL), "rank 1 on here (pid 101) was ended: rank 0 says: reset"},
		{killed(syscall.SIGSEGV), "rank 1 on here (pid 101) was killed by signal 11 (SIGSEGV, segmentation fault)"},
		{exited(3), "rank 1 on here (pid 101) exited with code 3"},
	} {
		l := newJobTable("here", 2, true)
		for i := range l.entries {
			l.started(i, 100+i)
			l.entries[i].formed = true
			l.initialized(i)
		}
		var text string
		l.lost = func(_ int, n Loss) { text = n.Origin.String() + " " + n.Did }
		l.entries[1].condemned = "rank 0 says: reset"
		l.ended(1, tt.status)
		for _, tell := range l.news {
			tell()
		}
		if text != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
}

// A client all of whose ranks are lost ends badly, though a process that they had spawned has ended well.
func TestSpawnedProcessesAreNoSurvivors(t *testing.T) {
	l := newJobTable("here", 1, true)
	spawned := &jobTable{jobState: l.jobState, host: "here", name: " of spawned job 1", entries: make([]entry, 1)}
	for i, table := range []*jobTable{l, spawned} {
		table.started(0, 100+i)
		table.initialized(0)
		table.entries[0].formed = true
	}
	spawned.finalized(0)
	end(spawned, 0, exited(0))
	end(l, 0, killed(syscall.SIGKILL))
	if l.survivors != 0 || l.firstLost == nil || l.cause != nil {
		t.Errorf("%d survivors, and the first loss is %+v (%+v)", l.survivors, l.firstLost, l.cause)
	}
}
