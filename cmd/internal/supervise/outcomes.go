package supervise

import (
	"slices"
	"syscall"
	"time"
)

// Here wait ends and aborts until it is clear which came first. A rank that dies closes its sockets a
// moment before it can be waited for; in that moment a peer may notice, give up, and be heard before the rank
// that it lost. So while another rank is dying, what may be an answer to its death waits for it.

// outcome is one fact that may become the job's cause.
type outcome struct {
	rank    int  // -1: no rank's
	aborted bool // said so on its link; else it has ended with status
	answer  bool // and that it did so because it had lost another rank
	code    int
	text    string
	blamed  *int32 // whose client is this one; nil: not said
	status  syscall.WaitStatus
}

type outcomes struct {
	pending []outcome
	since   time.Time        // when waiting began
	limit   <-chan time.Time // ticks when it ends; nil: nothing waits
}

// patience is how long a dying rank is waited for: one that hangs in the kernel must not hold up the others.
const patience = time.Second

// add notes an outcome, under the job's lock. Who has lost another before does all that follows because of that.
func (j *Job) add(v outcome) {
	if v.rank >= 0 {
		e := &j.table.entries[v.rank]
		e.answered = e.answered || v.answer
		v.answer = e.answered
	}
	j.outcomes.pending = append(j.outcomes.pending, v)
}

// weight orders outcomes: death by a signal can be nobody's answer; SIGTERM may be somebody's, and so may
// giving up, and exiting with a code. Who says that it answers comes last.
func (v *outcome) weight() int {
	switch {
	case v.answer:
		return 5
	case v.aborted:
		return 1
	case v.status.Signaled() && v.status.Signal() != syscall.SIGTERM:
		return 0
	case v.status.Signaled():
		return 2
	case v.status.ExitStatus() != 0:
		return 3
	}
	return 4
}

// mayBeAnswer says whether the death of another rank can be the reason for this.
func (v *outcome) mayBeAnswer() bool { w := v.weight(); return w > 0 && w != 4 }

// judge moves outcomes into the job table, unless it has to wait for a rank that is dying.
func (j *Job) judge(atOnce bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := &j.outcomes
	if len(d.pending) == 0 {
		return
	}
	if !atOnce && !j.table.doomed && j.mustWait() {
		if d.limit == nil {
			d.since, d.limit = time.Now(), time.After(patience)
		}
		if time.Since(d.since) < patience {
			return
		}
	}
	slices.SortStableFunc(d.pending, func(a, b outcome) int { return a.weight() - b.weight() })
	for _, v := range d.pending {
		switch {
		case v.rank < 0:
			j.table.failed(Cause{Code: v.code, Text: v.text, Blamed: v.blamed, Answer: v.answer})
		case v.aborted:
			j.table.aborted(v.rank, v.code, v.text, v.answer, v.blamed)
		default:
			j.table.ended(v.rank, v.status)
		}
	}
	*d = outcomes{}
}

// mustWait says whether a rank is dying that may be what an outcome answers to.
func (j *Job) mustWait() bool {
	if !slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return v.mayBeAnswer() }) {
		return false
	}
	if !slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return !v.answer }) {
		return true // the rank that was lost is not here yet; it may be another client's, and never come
	}
	for pid, rank := range j.living {
		spoke := slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return v.rank == rank })
		if s, ok := readStat(pid); ok && !spoke && s.dying() {
			return true
		}
	}
	return false
}
