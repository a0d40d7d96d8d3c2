package supervise

import (
	"slices"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
)

// Outcomes (ends and aborts of ranks) wait here until it is clear which came first. The kernel closes the sockets of a
// dying rank a moment before its parent can reap it. In that moment a peer may notice, give up, and tell us before we
// know of the death. So while a rank is dying, outcomes that may be a consequence of its death wait for it.

// outcome is one fact that may become the job's cause.
type outcome struct {
	set     *Set // whose rank; nil: no rank's
	rank    int
	aborted bool // said so on its link; else it has ended with status
	answer  bool // it is a consequence: the rank has said that it had lost another
	code    int
	text    string
	blamed  *int32 // the client of that other rank; nil: not said
	told    *report.Error
	status  syscall.WaitStatus
}

type outcomes struct {
	pending []outcome
	since   time.Time        // when waiting began
	limit   <-chan time.Time // ticks when it ends; nil: nothing waits
}

// patience bounds how long a dying rank is waited for, since one that hangs in the kernel must not delay the job's end.
const patience = time.Second

// add notes an outcome; the caller holds the job's lock. Once a rank has said that it lost another, all its outcomes
// are consequences.
func (j *Job) add(v outcome) {
	if v.set != nil {
		e := &v.set.table.entries[v.rank]
		e.answered = e.answered || v.answer
		v.answer = e.answered
	}
	j.outcomes.pending = append(j.outcomes.pending, v)
}

// weight orders outcomes by how likely they are the cause, 0 first. Death by a signal other than SIGTERM is never a
// consequence. Giving up, SIGTERM, and an exit with a code may be. What is known to be a consequence comes last.
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

// mayBeAnswer reports whether the outcome may be a consequence of another rank's death.
func (v *outcome) mayBeAnswer() bool { w := v.weight(); return w > 0 && w != 4 }

// judge moves outcomes into the job table, in the order of their weights, unless a dying rank has to be waited for.
func (j *Job) judge(atOnce bool) {
	defer j.tellLosses()
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
		case v.set == nil:
			j.table.failed(Cause{Code: v.code, Text: v.text, Blamed: v.blamed, Answer: v.answer})
		case v.aborted:
			v.set.table.aborted(v.rank, v.code, v.text, v.answer, v.blamed, v.told)
		default:
			v.set.table.ended(v.rank, v.status)
		}
	}
	*d = outcomes{}
	j.dismiss()
}

// mustWait reports whether a rank is dying whose death may be the reason for an outcome that waits.
func (j *Job) mustWait() bool {
	if !slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return v.mayBeAnswer() }) {
		return false
	}
	if !slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return !v.answer }) {
		// We may not know yet which rank was lost; it may be another client's, and we never will.
		return j.table.firstLost == nil
	}
	for pid, m := range j.living {
		spoke := slices.ContainsFunc(j.outcomes.pending, func(v outcome) bool { return v.set == m.set && v.rank == m.rank })
		if s, ok := readStat(pid); ok && !spoke && s.dying() {
			return true
		}
	}
	return false
}
