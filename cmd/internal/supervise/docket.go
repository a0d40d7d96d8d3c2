package supervise

import (
	"slices"
	"syscall"
	"time"
)

// The docket holds ends and aborts until it is clear which came first. A rank that dies closes its sockets a
// moment before it can be waited for; in that moment a peer may notice, give up, and be heard before the rank
// that it lost. So while another rank is dying, what may be an answer to its death waits for it.

// verdict is one fact that may become the job's cause.
type verdict struct {
	rank    int  // -1: no rank's
	aborted bool // said so on its link; else it has ended with status
	answer  bool // and that it did so because it had lost another rank
	code    int
	text    string
	blamed  *int32 // whose client is this one; nil: not said
	status  syscall.WaitStatus
}

type docket struct {
	pending []verdict
	since   time.Time        // when waiting began
	limit   <-chan time.Time // ticks when it ends; nil: nothing waits
}

// patience is how long a dying rank is waited for: one that hangs in the kernel must not hold up the others.
const patience = time.Second

func (d *docket) add(v verdict) { d.pending = append(d.pending, v) }

// weight orders verdicts: death by a signal can be nobody's answer; SIGTERM may be somebody's, and so may
// giving up, and exiting with a code. Who says that it answers comes last.
func (v *verdict) weight() int {
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
func (v *verdict) mayBeAnswer() bool { w := v.weight(); return w > 0 && w != 4 }

// judge moves what is on the docket into the ledger, unless it has to wait for a rank that is dying.
func (j *Job) judge(atOnce bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := &j.docket
	if len(d.pending) == 0 {
		return
	}
	if !atOnce && !j.ledger.doomed && j.mustWait() {
		if d.limit == nil {
			d.since, d.limit = time.Now(), time.After(patience)
		}
		if time.Since(d.since) < patience {
			return
		}
	}
	slices.SortStableFunc(d.pending, func(a, b verdict) int { return a.weight() - b.weight() })
	for _, v := range d.pending {
		switch {
		case v.rank < 0:
			j.ledger.failed(Cause{Code: v.code, Text: v.text, Blamed: v.blamed})
		case v.aborted:
			j.ledger.aborted(v.rank, v.code, v.text, v.blamed)
		default:
			j.ledger.ended(v.rank, v.status)
		}
	}
	*d = docket{}
}

// mustWait says whether a rank is dying that may be what a verdict answers to.
func (j *Job) mustWait() bool {
	if !slices.ContainsFunc(j.docket.pending, func(v verdict) bool { return v.mayBeAnswer() }) {
		return false
	}
	if !slices.ContainsFunc(j.docket.pending, func(v verdict) bool { return !v.answer }) {
		return true // the rank that was lost is not here yet; it may be another client's, and never come
	}
	for pid, rank := range j.living {
		spoke := slices.ContainsFunc(j.docket.pending, func(v verdict) bool { return v.rank == rank })
		if s, ok := readStat(pid); ok && !spoke && s.dying() {
			return true
		}
	}
	return false
}
