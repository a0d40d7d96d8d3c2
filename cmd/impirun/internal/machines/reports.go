package machines

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/inquire"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// What the ranks of a client on several machines wait for (package inquire): the launcher asks each node, which asks
// its ranks. A node says by itself when all processes of its machine have come to rest, and when they have not any
// more, so that the launcher asks nobody while a job computes.

// nodeTime is what a node may take longer than its ranks.
const nodeTime = 500 * time.Millisecond

// inquests are the questions of the launcher to its nodes.
type inquests struct {
	mu      sync.Mutex // guards what follows
	number  uint32
	answers map[int][]stat.Rank // by node, to the last question
	all     chan struct{}       // closed when as many have answered as there are
	nodes   int
	rest    map[int]bool // nodes at rest
}

// begin makes a question to n nodes.
func (q *inquests) begin(n int) (number uint32, all <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number++
	q.answers, q.all, q.nodes = map[int][]stat.Rank{}, make(chan struct{}), n
	return q.number, q.all
}

// take takes the answer of a node. One to another question is of no interest.
func (q *inquests) take(node int, f *tree.ReportFrame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, again := q.answers[node]; again || q.answers == nil || f.Number != q.number {
		return
	}
	q.answers[node] = f.Ranks
	if len(q.answers) == q.nodes {
		close(q.all)
	}
}

func (q *inquests) end() map[int][]stat.Rank {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer func() { q.answers = nil }()
	return q.answers
}

// rests notes whether a node is at rest.
func (q *inquests) rests(node int, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.rest == nil {
		q.rest = map[int]bool{}
	}
	q.rest[node] = all
}

// atRest reports whether all of n nodes are.
func (q *inquests) atRest(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range n {
		if !q.rest[i] {
			return false
		}
	}
	return n > 0
}

// inquiry is how the ranks of all machines are asked.
func (h *head) inquiry() inquire.Config {
	c := inquire.Config{
		Name:   fmt.Sprintf("job of %s, launcher %d", filepath.Base(h.plan.Programs[0].Argv[0]), os.Getpid()),
		Signal: h.plan.ReportOn, Deadlock: h.plan.Deadlock, Objects: h.plan.JSON, After: h.plan.DeadlockAfter,
		States: func(limit time.Duration) (ranks []stat.Rank, whole bool) {
			elsewhere := make(chan []stat.Rank, 1)
			go func() { elsewhere <- StatesElsewhere(h.spawner, limit) }()
			ranks, whole = h.states(limit)
			return append(ranks, <-elsewhere...), whole
		},
		Rest:   func() bool { return h.inquests.atRest(len(h.nodes)) },
		Say:    func(text string) { h.print(tree.Frame{Errors: []byte(text)}) },
		Abort:  func(why string) { h.doom(supervise.Cause{Code: 1, Text: why}) },
		Second: h.plan.Mode == options.Client && h.plan.Rank != 0,
	}
	if h.plan.Mode == options.Client {
		c.Others = &h.joinPlan.Peers
	}
	return c
}

// doom ends the job, unless it is ending.
func (h *head) doom(c supervise.Cause) {
	select {
	case h.dooms <- c:
	case <-h.served:
	}
}

// timedOut ends the job because its time is over.
func (h *head) timedOut() {
	if h.asks != nil {
		h.asks.Report(inquire.AtTimeout)
	}
	h.doom(supervise.TimedOut(h.plan.Timeout))
}

// StatesElsewhere asks the ranks of jobs that were spawned on other machines.
func StatesElsewhere(s *spawn.Spawner, limit time.Duration) []stat.Rank {
	var mu sync.Mutex
	var ranks []stat.Rank
	var asked sync.WaitGroup
	for _, r := range s.Remotes() {
		if j, ok := r.(*spawned); ok {
			asked.Go(func() {
				list := j.told(limit)
				mu.Lock()
				defer mu.Unlock()
				ranks = append(ranks, list...)
			})
		}
	}
	asked.Wait()
	return ranks
}

// told asks the ranks of a spawned job, if it has begun.
func (j *spawned) told(limit time.Duration) []stat.Rank {
	select {
	case <-j.settled:
	default:
		return nil
	}
	if j.refused != nil {
		return nil
	}
	ranks, _ := j.states(limit)
	return ranks
}

// states asks all nodes. What a node says of ranks that are not its own is of no interest.
func (h *head) states(limit time.Duration) (ranks []stat.Rank, whole bool) {
	h.asker.Lock()
	defer h.asker.Unlock()
	number, all := h.inquests.begin(len(h.nodes))
	for _, r := range h.nodes {
		r.send(tree.Frame{Report: &tree.ReportFrame{Number: number, Limit: limit}})
	}
	timer := time.NewTimer(limit + nodeTime)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	case <-h.served:
	}
	answers := h.inquests.end()
	whole = true
	for i, r := range h.nodes {
		list, answered := answers[i]
		ranks = append(ranks, ranksOf(r, list, answered, h.job)...)
	}
	if _, away := h.spawner.Parts(); away {
		whole = false
	}
	return ranks, whole
}

// ranksOf are the ranks of a node of a job, as it has told of them.
func ranksOf(r *nodeLink, told []stat.Rank, answered bool, job int) (list []stat.Rank) {
	first := 0
	if i := slices.IndexFunc(told, func(s stat.Rank) bool { return s.Job == job }); i >= 0 {
		first = max(0, told[i].Rank-r.Ranks[0]) // of a client, whose ranks begin somewhere
	}
	at := map[int]*stat.Rank{}
	for i := range told {
		if told[i].Job != job {
			list = append(list, told[i])
		} else {
			at[told[i].Rank] = &told[i]
		}
	}
	for _, rank := range r.Ranks {
		s := at[first+rank]
		switch {
		case s != nil:
			list = append(list, *s)
		case answered:
			list = append(list, stat.Rank{Job: job, Rank: first + rank, State: stat.Outside})
		default:
			list = append(list, stat.Rank{Job: job, Rank: first + rank, State: stat.Mute,
				Detail: "as is machine " + r.Name})
		}
	}
	return list
}

// tellReport answers the launcher.
func (n *node) tellReport(f *tree.ReportFrame) {
	n.mu.Lock()
	part, spawner := n.part, n.spawner
	n.mu.Unlock()
	answer := tree.ReportFrame{Number: f.Number}
	if part != nil {
		parts, _ := spawner.Parts()
		parts[part] = n.start.Job
		answer.Ranks = job.StatesOf(parts, f.Limit)
	}
	if n.frames.Send(tree.Frame{Report: &answer}) == nil {
		return
	}
	for i := range answer.Ranks { // it is too long
		if r := &answer.Ranks[i]; r.Process != nil {
			r.Process, r.State, r.Detail = nil, stat.Mute, "its report is too long"
		}
	}
	n.frames.Send(tree.Frame{Report: &answer}) // a launcher that has gone ends us elsewhere
}

// watchRest tells the launcher when the processes of this machine come to rest, and when they go on.
func (n *node) watchRest(p *job.Part) {
	var rest job.Rest
	told := false
	t := time.NewTicker(inquire.LookTime(n.start.Plan.DeadlockAfter))
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-n.alone:
			return
		}
		if now := rest.All(p); now != told {
			told = now
			if n.frames.Send(tree.Frame{Rest: &tree.RestFrame{All: now}}) != nil {
				return
			}
		}
	}
}
