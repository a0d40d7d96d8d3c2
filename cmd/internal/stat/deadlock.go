package stat

import (
	"math"
	"slices"
	"time"
)

// A Deadlock is a job of which no call of MPI can ever return.
type Deadlock struct {
	Ranks  string `json:"ranks"`
	Count  int    `json:"count"`
	Circle string `json:"circle,omitempty"`
}

// Blocked reports whether all ranks have answered that all their threads wait, or have ended: only then Prove is worth
// a second round. A rank that has called MPI_Finalize may still begin a session. since is how long the last of them has
// waited.
func Blocked(ranks []Rank) (since time.Duration, all bool) {
	since = math.MaxInt64
	for i := range ranks {
		r := &ranks[i]
		if r.State == Ended {
			continue
		}
		p := r.Process
		if p == nil || p.Computing || len(p.Threads) == 0 || len(p.Threads) < p.ThreadCount {
			return 0, false
		}
		for k := range p.Threads {
			if !p.Threads[k].Settled {
				return 0, false
			}
			since = min(since, time.Duration(p.Threads[k].Since))
		}
	}
	return since, since < math.MaxInt64
}

// Prove compares two rounds of reports of all ranks of a job. It returns nil unless both say that all threads are
// blocked, nothing has happened in any process between them, and nothing is under way (as Mattern's four counters do
// it, Algorithms for distributed termination detection, 1987, 4: what all had sent in the second round is what all had
// received in the first). The answers of the second round must have been asked for after all those of the first had
// come.
//
// Ranks that may be woken from outside (Process.Open) can act, and so can those that wait for them.
func Prove(first, second []Rank) *Deadlock {
	_, blocked := Blocked(first)
	_, still := Blocked(second)
	if len(first) != len(second) || !blocked || !still {
		return nil
	}
	before := map[[2]int]*Rank{}
	var sent, received uint64
	open := false
	for i := range first {
		r := &first[i]
		before[[2]int{r.Job, r.Rank}] = r
		if r.Process != nil {
			received += r.Process.Received
			open = open || r.Process.Open != ""
		}
	}
	if len(before) != len(first) {
		return nil
	}
	for i := range second {
		r := &second[i]
		was := before[[2]int{r.Job, r.Rank}]
		if was == nil || !unchanged(was, r) {
			return nil
		}
		delete(before, [2]int{r.Job, r.Rank}) // nobody answers twice
		if r.Process != nil {
			sent += r.Process.Sent
			open = open || r.Process.Open != ""
		}
	}
	if sent != received {
		return nil
	}
	return verdict(second, open)
}

// unchanged reports whether nothing has happened in a process between two answers.
func unchanged(was, is *Rank) bool {
	a, b := was.Process, is.Process
	if a == nil || b == nil {
		return a == nil && b == nil && was.State == is.State
	}
	if a.PID != b.PID || a.Moves != b.Moves || a.Sent != b.Sent || a.Received != b.Received ||
		len(a.Threads) != len(b.Threads) {
		return false
	}
	for i := range a.Threads {
		if a.Threads[i].Call != b.Threads[i].Call || a.Threads[i].Since >= b.Threads[i].Since {
			return false
		}
	}
	return true
}

// verdict names those that cannot go on. If nobody can be woken from outside, these are all.
func verdict(ranks []Rank, open bool) *Deadlock {
	var stuck []int
	d := &Deadlock{}
	jobs := split(ranks)
	for _, j := range jobs {
		h := j.search(j.operations())
		for rank := range h.stuck {
			stuck = append(stuck, rank)
		}
		if d.Circle == "" {
			d.Circle = h.text()
		}
		if !open {
			continue
		}
		if len(h.stuck) > 0 {
			d.add(j, stuck)
		}
		stuck = nil
	}
	if !open {
		for _, j := range jobs {
			stuck = nil
			for _, r := range j.ranks {
				if r.Process != nil {
					stuck = append(stuck, r.Rank)
				}
			}
			d.add(j, stuck)
		}
	}
	if d.Count == 0 {
		return nil
	}
	return d
}

func (d *Deadlock) add(j *job, ranks []int) {
	if len(ranks) == 0 {
		return
	}
	slices.Sort(ranks)
	if d.Ranks != "" {
		d.Ranks += ", "
	}
	d.Ranks += j.names(ranks)
	d.Count += len(ranks)
}

// Text is what the launcher says of a deadlock, without a newline.
func (d *Deadlock) Text() string {
	text := "deadlock: no call of " + d.Ranks + " can return, since nothing is under way"
	if d.Circle != "" {
		text += "; " + d.Circle
	}
	return text
}
