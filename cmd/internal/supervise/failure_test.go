package supervise

import (
	"strings"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/libimpi/report"
)

func wrongRank(line int, dest string) *report.Error {
	return &report.Error{Call: "MPI_Send", Class: "MPI_ERR_RANK", Text: "argument dest is " + dest, File: "a.c",
		Line: line, Arguments: []report.Arg{{Name: "dest", Text: dest}}, Hint: "a hint"}
}

func TestTheSameErrorOfSeveralRanksIsOneCause(t *testing.T) {
	gaveUp := func(l *jobTable, rank, line int, dest string) {
		l.aborted(rank, 6, "MPI_Send at a.c: argument dest is "+dest, false, nil, wrongRank(line, dest))
	}
	crash := &report.Error{Signal: 11, Function: "f", File: "a.c", Line: 3}
	for name, c := range map[string]struct {
		facts func(l *jobTable)
		text  string
		lines string
	}{
		"of one": {func(l *jobTable) { gaveUp(l, 1, 7, "9") },
			"rank 1 on here (pid 101) gave up: MPI_Send at a.c: argument dest is 9", "MPI_Send(dest=9); hint: a hint"},
		"of three, the first of them late": {func(l *jobTable) {
			gaveUp(l, 2, 7, "11")
			l.ended(3, killed(syscall.SIGTERM))
			gaveUp(l, 3, 7, "12")
			gaveUp(l, 0, 7, "9")
			gaveUp(l, 0, 7, "9")
		}, "ranks 0,2-3 on here gave up: MPI_Send at a.c: argument dest is 9",
			"what follows is of rank 0 (pid 100); MPI_Send(dest=9); hint: a hint"},
		"another line is another error": {func(l *jobTable) { gaveUp(l, 2, 7, "9"); gaveUp(l, 0, 8, "9") },
			"rank 2 on here (pid 102) gave up: MPI_Send at a.c: argument dest is 9", "MPI_Send(dest=9); hint: a hint"},
		"crashes": {func(l *jobTable) {
			l.entries[0].crash, l.entries[1].crash, l.entries[2].crash = crash, crash, crash
			l.ended(1, killed(syscall.SIGSEGV))
			l.ended(0, killed(syscall.SIGSEGV))
			l.ended(2, killed(syscall.SIGTERM))
		}, "ranks 0-1 on here were killed by signal 11 (SIGSEGV, segmentation fault) in f at a.c:3", ""},
		"a loss that several do not survive": {func(l *jobTable) {
			for r := range 2 {
				l.aborted(r, 120, "MPI_Recv at a.c: rank 3 was killed by signal 9", false, nil, wrongRank(7, "3"))
			}
		}, "ranks 0-1 on here gave up: MPI_Recv at a.c: rank 3 was killed by signal 9",
			"what follows is of rank 0 (pid 100); MPI_Send(dest=3); hint: a hint"},
		"MPI_Abort": {func(l *jobTable) {
			told := &report.Error{Call: "MPI_Abort", File: "b.c", Line: 2}
			for r := range 2 {
				l.aborted(r, 3, "MPI_Abort(3) on MPI_COMM_WORLD", false, nil, told)
			}
		}, "ranks 0-1 on here called MPI_Abort(3) at b.c:2", ""},
		"without parts": {func(l *jobTable) {
			l.aborted(0, 3, "", false, nil, nil)
			l.aborted(1, 3, "", false, nil, nil)
		}, "rank 0 on here (pid 100) called MPI_Abort(3)", ""},
		"a consequence is no cause": {func(l *jobTable) {
			gaveUp(l, 1, 7, "9")
			l.aborted(0, 6, "MPI_Send at a.c: argument dest is 8", true, nil, wrongRank(7, "8"))
		}, "rank 1 on here (pid 101) gave up: MPI_Send at a.c: argument dest is 9", "MPI_Send(dest=9); hint: a hint"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newJobTable("here", 4, false)
			for r := range 4 {
				l.started(r, 100+r)
			}
			c.facts(l)
			lines := strings.Join(l.cause.Failure.Lines(func(int) string { return "" }), "; ")
			if l.cause.Text != c.text || lines != c.lines {
				t.Errorf("%q, %q", l.cause.Text, lines)
			}
		})
	}
}

func TestAnErrorOfSeveralMachinesNamesThem(t *testing.T) {
	cause := func(rank int, machine string) *Cause {
		return &Cause{Failure: &Failure{Error: *wrongRank(1, "9"), Did: "gave up", Origins: []Origin{{rank, "", machine, 7}}}}
	}
	c := cause(4, "e")
	before := c.Failure
	for i, m := range []string{"a", "b", "c", "d", "e"} {
		c.Join(cause(i+5, m))
	}
	if want := "ranks 4-9 on e, a, b, c, d gave up"; c.Text != want {
		t.Errorf("%q", c.Text)
	}
	if len(before.Origins) != 1 {
		t.Error("a failure has changed")
	}
	peer := 3
	c.Failure.Peer = &peer
	if got := strings.Join(c.Failure.Lines(func(int) string { return "q" }), ";"); !strings.Contains(got,
		"the peer is rank 3 of MPI_COMM_WORLD, on q") {
		t.Error(got)
	}
	if (&Failure{}).Checked() != nil || (*Failure)(nil).Checked() != nil || c.Failure.Checked().Line != 1 {
		t.Error("what another launcher has told is not checked")
	}
}
