package conform

import (
	"context"
	"sync"
)

// Queue plays several cases in one job, for implementations that are started by hand: it takes a person to start one.
//
//	Open -> (Begin -> Case.Within -> End), for each case -> Close -> Abandon
//
// A case that does not pass ends the job: the next begins with Open.
type Queue interface {
	Open(t *T, c Case) (job any) // starts a job of c's configuration
	Begin(t *T, job any, c Case) // lets the players take c's steps
	End(t *T, job any)           // wants that they have taken them, and nothing is left over
	Close(t *T, job any)         // ends the job in order
	Abandon(job any)             // tidies up, whatever has happened to the job
}

// inOrder puts cases of the same Job behind the first of them. Others stay where they are.
func inOrder(cases []Case) (list []Case) {
	done := map[string]bool{}
	for i, c := range cases {
		if c.Job == "" {
			list = append(list, c)
		} else if !done[c.Job] {
			done[c.Job] = true
			for _, d := range cases[i:] {
				if d.Job == c.Job {
					list = append(list, d)
				}
			}
		}
	}
	return list
}

// running is the job in which the next case can be played, if there is one.
type running struct {
	queue Queue
	mu    sync.Mutex // guards what follows: a case that is given up may still start one
	job   any
	gone  bool
}

func (r *running) get() any { r.mu.Lock(); defer r.mu.Unlock(); return r.job }

func (r *running) set(job any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		r.queue.Abandon(job)
		return
	}
	r.job = job
}

func (r *running) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone = true; r.job != nil {
		r.queue.Abandon(r.job)
	}
}

// runQueue is Run, one case at a time. A job goes from case to case until the configuration changes or a case fails.
func runQueue(ctx context.Context, cases []Case, o Options, ended func(Result)) (count Count) {
	cases = inOrder(cases)
	now := &running{queue: o.Queue}
	skipped := func(c Case) bool { return o.Skip != nil && o.Skip(c) != "" }
	for i, c := range cases {
		run, last := c.Run, true // of its job
		if c.Job != "" && c.Within != nil {
			for _, d := range cases[i+1:] {
				last = last && (d.Job != c.Job || skipped(d))
			}
			at := now
			run = func(t *T) { within(t, at, c, last) }
		}
		r := play(ctx, c, o, run)
		if !skipped(c) && (last || r.Outcome != Pass) {
			now.abandon()
			now = &running{queue: o.Queue}
		}
		count[r.Outcome]++
		ended(r)
	}
	return count
}

// within plays a case in the running job, or in a new one. The last one ends the job.
func within(t *T, at *running, c Case, last bool) {
	job := at.get()
	if job == nil {
		job = at.queue.Open(t, c)
		at.set(job)
	}
	at.queue.Begin(t, job, c)
	c.Within(t, job)
	at.queue.End(t, job)
	if last && !t.Failed() {
		at.queue.Close(t, job)
	}
}
