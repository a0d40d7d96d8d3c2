package supervise

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/libimpi/report"
)

// The job table decides what a job's end means. It is a state machine without processes, clocks or locks:
// facts go in (a rank entered MPI_Init, ended, ...), and it answers whether the job is doomed and which
// cause the user is told.
//
// The rule: the first rank that ends abnormally is the cause. Abnormal is: killed by a signal; a code other than 0;
// MPI_Abort; an end between MPI_Init and MPI_Finalize; an end without MPI_Init while others have called it. A rank that
// ends abnormally dooms the job, unless it had finalized: then nobody can be waiting for it. lost.go has the rule of
// fault-tolerant jobs.
//
// A consequence is an end that another end has caused: the rank has told us that it lost another one, or it was alive
// and well when we sent it SIGTERM. A consequence is shown as the cause only until a real cause is known. The end of a
// rank that was dying before we told anybody to end replaces it, however late we hear of that.

// Cause is why a job ended badly.
type Cause struct {
	Code int    // the launcher's exit code, 1 to 255
	Text string // one line for the user

	Blamed *int32 // the other client whose loss was the reason; nil: none
	Answer bool   // it is a consequence of an end that we have not heard of
	Died   bool   // a rank has ended by itself, and others could have gone on
	Mild   bool   // the others need not end: the rank had finalized, or Config.Recovery spares them

	Failure *Failure // what Text says in parts, and more; nil: that is all
}

// Outranks reports whether c replaces the cause so far, old. old is nil if there was none.
func (c *Cause) Outranks(old *Cause) bool { return old == nil || old.Answer && !c.Answer }

// codeTimeout is the exit code of a job that was ended by --timeout.
const codeTimeout = 124

type phase int

const (
	outside   phase = iota // MPI_Init not called
	inside                 // MPI_Init called
	finalized              // MPI_Finalize done
)

type entry struct {
	pid    int
	number int    // its rank among those of the launcher, or of its set if that was added, as messages say it
	of     string // its program, in messages, such as " (worker)"
	phase  phase
	formed bool // its client, or set, has formed (lost.go)
	lives  int  // how often it has entered MPI_Init
	ended  bool
	status syscall.WaitStatus // if it has ended
	own    bool               // it leads a process group of its own
	talked bool               // Process.Talked

	aborted bool // it has said that it ends the job
	dropped bool // it is not a part of its set any more

	crash *report.Error // what it has told of its crash, before it has ended

	answered bool // has said that it has lost another
	told     bool // was well when it was sent SIGTERM or SIGKILL
	lost     bool // the job goes on without it (lost.go)

	condemned string // why it is being ended, alone; "": it is not
}

type jobTable struct {
	*jobState
	host  string
	first int    // world rank of the launcher's rank 0
	of    string // follows a rank in messages as long as we do not know first, such as " of client 1"
	name  string // follows a rank in messages, such as " of spawned job 2"
	trial bool   // nobody is connected with these ranks yet: their ends are nobody's business but the spawner's

	lost    func(rank int, l Loss) // SetConfig.Lost
	entries []entry
}

// jobState is what the tables of all sets of processes share: whether and why the job ends.
type jobState struct {
	cause  *Cause
	doomed bool
	fatal  bool // it is doomed for a reason, and not because it is over
	spare  bool // the job is fault tolerant: the loss of a rank does not doom the others (lost.go)

	signalled bool     // the launcher was told to end, and has told the ranks: none of them is lost any more
	firstLost *Cause   // the loss of a rank, as a cause; nil: none was lost
	survivors int      // ranks that have ended, were not spawned, and were not lost
	news      []func() // tell of losses of which nobody was told yet
}

func (s *jobState) doom() { s.doomed, s.fatal = true, true }

// finalCause is the cause when all have ended.
func (s *jobState) finalCause() *Cause {
	if s.cause != nil {
		s.cause.Mild = !s.fatal
	}
	return s.cause
}

func newJobTable(host string, ranks int, recovery bool) *jobTable {
	return tableUnder(&jobState{spare: recovery}, host, ranks)
}

func tableUnder(s *jobState, host string, ranks int) *jobTable {
	l := &jobTable{jobState: s, host: host, entries: make([]entry, ranks)}
	for i := range l.entries {
		l.entries[i].number = i
	}
	return l
}

// started and the next four note a fact about one rank.
func (l *jobTable) started(rank, pid int) { l.entries[rank].pid = pid }

func (l *jobTable) initialized(rank int) {
	e := &l.entries[rank]
	e.phase = inside
	e.lives++
	if l.trial {
		return
	}
	for i := range l.entries {
		if l.entries[i].ended && l.entries[i].lives < e.lives {
			l.blameMissing(i, rank, false)
		}
	}
}

// blameMissing blames a rank that has ended, and was less often in MPI than another is now, which waits for it.
func (l *jobTable) blameMissing(rank, other int, answer bool) {
	how := "ended without calling MPI_Init, which rank %d has called"
	if l.entries[rank].lives > 0 {
		how = "ended after one MPI program, while rank %d has begun another"
	}
	if l.entries[rank].lives > 1 {
		how = "ended after fewer MPI programs than rank %d has begun"
	}
	l.blame(rank, Cause{Code: 1, Answer: answer}, true, how, l.first+l.entries[other].number)
}

func (l *jobTable) finalized(rank int) { l.entries[rank].phase = finalized }

func (l *jobTable) aborted(rank, code int, text string, answer bool, blamed *int32, told *report.Error) {
	exit := code & 0xff
	if exit == 0 {
		exit = 1
	}
	c := Cause{Code: exit, Blamed: blamed, Answer: answer}
	l.entries[rank].aborted = true
	if strings.HasPrefix(text, "MPI_Abort(") || text == "" {
		l.blame(rank, c.with(told), true, "called MPI_Abort(%d)%s", code, told.Where())
	} else {
		first, _, _ := strings.Cut(text, "\n")
		l.blame(rank, c.with(told), true, "gave up: %s", first)
	}
	l.doom() // MPI_Abort means everybody, in a fault-tolerant job too
}

func (l *jobTable) ended(rank int, status syscall.WaitStatus) {
	e := &l.entries[rank]
	e.ended = true
	if e.lost {
		return
	}
	c, did := e.outcome(status)
	if did != "" && l.loses(e) {
		l.lose(rank, c, did)
		return
	}
	if l.name == "" {
		l.survivors++
	}
	if did != "" {
		l.blame(rank, c, l.dooms(e), "%s", did)
	} else if other := l.anyInside(e.lives); e.phase != inside && other >= 0 {
		l.blameMissing(rank, other, c.Answer)
	}
}

// outcome is how a rank has ended; did is empty if that was well.
func (e *entry) outcome(status syscall.WaitStatus) (c Cause, did string) {
	c.Answer, c.Died = e.answered || e.told, e.phase == inside
	switch {
	case e.condemned != "" && status.Signal() == syscall.SIGKILL:
		c.Code = 128 + int(syscall.SIGKILL)
		return c, "was ended: " + e.condemned
	case status.Signaled():
		s := status.Signal()
		core := ""
		if status.CoreDump() {
			core = ", core dumped"
		}
		c.Code = 128 + int(s)
		if e.crash != nil && e.crash.Signal == int(s) {
			c = c.with(e.crash)
		}
		return c, fmt.Sprintf("was killed by signal %d (%s, %v%s)%s", int(s), unix.SignalName(s), s, core,
			c.Failure.where())
	case status.ExitStatus() != 0:
		c.Code = status.ExitStatus()
		return c, fmt.Sprintf("exited with code %d%s", c.Code, meaning(e.phase, c.Code))
	case e.phase == inside:
		c.Code = 1
		return c, "exited without calling MPI_Finalize"
	}
	return c, ""
}

// meaning is what an exit code says, as shells and the loader have it, of a process that has not called MPI_Init.
func meaning(p phase, code int) string {
	if p == outside && code == CodeNotFound {
		return ": a program, or a library that it needs, was not found or could not be loaded"
	}
	return ""
}

// failed dooms the job for a reason that is no rank's: a timeout, or a start-up that went wrong.
func (l *jobTable) failed(c Cause) {
	if l.cause == nil {
		l.cause = &c
	}
	l.doom()
}

func (l *jobTable) timedOut(after time.Duration) { l.failed(TimedOut(after)) }

// TimedOut is the cause of the end of a job whose time is over.
func TimedOut(after time.Duration) Cause {
	return Cause{Code: codeTimeout, Text: fmt.Sprintf("the job has not ended within the timeout of %v", after)}
}

func (l *jobTable) interrupted(s syscall.Signal) {
	l.failed(Cause{Code: 128 + int(s), Text: fmt.Sprintf("ended by signal %d (%s)", int(s), unix.SignalName(s))})
}

// blame makes the end of a rank the cause, unless there is one already that c does not outrank. The text is made of the
// format. dooms: the other ranks must end. Ranks that have met the same error share a cause.
func (l *jobTable) blame(rank int, c Cause, dooms bool, format string, args ...any) {
	who := l.origin(&l.entries[rank])
	did := fmt.Sprintf(format, args...)
	if c.Failure != nil {
		c.Failure.Origins, c.Failure.Did = []Origin{who}, did
	}
	if c.Outranks(l.cause) {
		c.Text = who.String() + " " + did
		l.cause = &c
	} else {
		l.cause.Join(&c)
	}
	if dooms {
		l.doom()
	}
}

func (l *jobTable) origin(e *entry) Origin {
	return Origin{Rank: l.first + e.number, Of: l.of + l.name + e.of, Machine: l.host, PID: e.pid}
}

// anyInside is a rank that is in MPI, and was there more often than lives; -1: there is none.
func (l *jobTable) anyInside(lives int) int {
	return slices.IndexFunc(l.entries, func(e entry) bool { return e.phase == inside && e.lives > lives })
}

// over reports whether every rank has ended.
func (l *jobTable) over() bool {
	return !slices.ContainsFunc(l.entries, func(e entry) bool { return !e.ended })
}
