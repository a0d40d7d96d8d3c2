// Package analysis finds out of a job's trace where its time went: which send each receive got, who waited for whom and
// why, which chain of events the job's length consists of, and sums of all that.
//
// Flow: a job (package job) -> match: the halves of messages become messages -> operations: the parts of collective
// operations become operations -> waits -> the critical path -> sums. Each step reads what is before it and changes
// nothing. Ranks are worked on at once, by as many goroutines as there are processors. A wait is what one process loses
// because another comes late (Wolf and Mohr, Automatic performance analysis of hybrid MPI/OpenMP applications, 2003).
package analysis

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Result is all that is found.
type Result struct {
	Job      *job.Job
	Messages []Message // by receiver, and there in the order in which they were posted
	Unsent   int       // receives without a send in the trace
	Unread   int       // sends without a receive in the trace
	Backward int       // messages that arrived before they were sent: clocks differ
	Skew     int64     // by how much, at most
	Ops      Operations
	Waits    [][]Wait // by rank, in the order of the calls; at most one a call
	Path     []Segment
	Length   int64 // of the path: from its first to its last event
	Table    []Row
	Ranks    []RankSum
	Pairs    []Pair
	Sizes    []Size
}

// Analyze analyzes a job.
func Analyze(j *job.Job) *Result {
	r := &Result{Job: j}
	r.Messages, r.Unsent, r.Unread = match(j)
	r.clocks()
	r.Ops = operations(j)
	r.Waits = waits(j, r.Messages, &r.Ops)
	r.Path = criticalPath(j, r.Waits)
	if n := len(r.Path); n > 0 {
		r.Length = r.Path[n-1].To - r.Path[0].From
	}
	r.Table = table(j, r.Waits, r.Path)
	r.Ranks = rankSums(j, r.Waits, r.Path)
	r.Pairs, r.Sizes = traffic(j)
	return r
}

// clocks looks for messages that arrived before they were sent.
func (r *Result) clocks() {
	for i := range r.Messages {
		m := &r.Messages[i]
		from, to := &r.Job.Ranks[m.From], &r.Job.Ranks[m.To]
		done := to.Receives[m.Receive].Done
		if done < 0 {
			continue
		}
		if early := from.Calls[from.Sends[m.Send].Call].Start - to.Calls[done].End; early > 0 {
			r.Backward++
			r.Skew = max(r.Skew, early)
		}
	}
}

// each calls a function for all numbers below n, of several goroutines.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}
