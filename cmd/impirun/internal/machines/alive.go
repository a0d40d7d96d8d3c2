package machines

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// A network that is cut takes the stream between the first launcher and a node along, and says nothing of it: the
// remote shell goes on, and its connection is silent. Nobody cares, until ranks cannot reach each other. Then each end
// asks the other whether it is there.
//
// A node asks when its ranks suspect others. If the launcher does not answer in time, others go on without this
// machine, and it ends. The launcher asks machines that suspect others, or are suspected: those that do not answer lose
// (suspects.go). It also asks those of whose ranks nobody is left, since it would otherwise wait for their ends.

// waiting is what a node has asked the launcher, and for how long it waits. It is guarded by the node's mu.
type waiting struct {
	limit time.Duration // for an answer; 0: no limit
	open  int           // without an answer
	late  *time.Timer
	cut   bool // there was none
}

// The time within which the launcher has to answer is that of the silence, within these bounds.
const (
	leastAnswer = 5 * time.Second
	mostAnswer  = 20 * time.Second
)

// answerTime is how long a node waits for the launcher. A silence of 0 is never too long.
func answerTime(silence time.Duration) time.Duration {
	if silence <= 0 {
		return 0
	}
	return min(max(silence, leastAnswer), mostAnswer)
}

// ask asks the launcher whether it is there, since our ranks cannot reach others.
func (n *node) ask(why string) {
	n.mu.Lock()
	w := &n.waiting
	if w.open++; w.open == 1 && w.limit > 0 {
		w.late = time.AfterFunc(w.limit, func() { n.isCutOff(why) })
	}
	n.mu.Unlock()
	n.frames.Send(tree.Frame{Alive: &tree.AliveFrame{}})
}

// hearsAlive takes a question of the launcher, or its answer.
func (n *node) hearsAlive(m *tree.AliveFrame) {
	if !m.Answer {
		go n.frames.Send(tree.Frame{Alive: &tree.AliveFrame{Answer: true}})
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	w := &n.waiting
	if w.open == 0 {
		return
	}
	if w.open--; w.late == nil {
		return
	}
	if w.late.Stop(); w.open > 0 {
		w.late.Reset(w.limit)
	}
}

// isCutOff ends this machine's ranks.
func (n *node) isCutOff(why string) {
	n.mu.Lock()
	n.waiting.cut = true
	limit := n.waiting.limit
	n.mu.Unlock()
	c := &supervise.Cause{Code: 1, Text: fmt.Sprintf("the first launcher has not answered for %v, so the others may go "+
		"on without this machine: %s", limit, why)}
	outcome.Complain("%s", c.Text) // it may still be seen here
	n.end(c)
}

// wasCutOff reports whether nobody hears what this node has to say.
func (n *node) wasCutOff() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waiting.cut
}

// asks asks a node whether it is there, unless an answer is still open.
func (r *nodeLink) asks() {
	if !r.ended && r.asked.IsZero() {
		r.asked = time.Now()
		r.send(tree.Frame{Alive: &tree.AliveFrame{}})
	}
}

// hearsAlive takes a question of a node, or its answer.
func (r *nodeLink) hearsAlive(m *tree.AliveFrame) {
	if m.Answer {
		r.asked = time.Time{}
	} else if !r.ended {
		r.send(tree.Frame{Alive: &tree.AliveFrame{Answer: true}})
	}
}

// silent reports whether a node has not answered within the time for which a decision about it is put off.
func (r *nodeLink) silent() bool {
	return !r.asked.IsZero() && time.Since(r.asked) >= job.SuspectTime*3/4
}

// visit looks after machines of whose ranks nobody is left: their nodes end, if they can, when what those have spawned
// has ended. The shells of those that do not answer are killed.
func (h *head) visit() {
	if h.visiting {
		return
	}
	for _, r := range h.nodes {
		if !r.ended && h.emptied(r) {
			r.asks()
			h.visiting = true
		}
	}
	if !h.visiting {
		return
	}
	time.AfterFunc(h.plan.Grace+tree.EndTime, func() {
		select {
		case h.turns <- func() {
			h.visiting = false
			h.forsake()
			h.visit()
		}:
		case <-h.served:
		}
	})
}

// emptied reports whether all ranks of a node are lost.
func (h *head) emptied(r *nodeLink) bool {
	for _, rank := range r.Ranks {
		if !h.graves.ranks[int32(h.first+rank)] {
			return false
		}
	}
	return true
}

// forsake kills the shells through which nobody is reached any more.
func (h *head) forsake() {
	for _, b := range h.branches {
		gone := false
		for _, m := range b.Members {
			r := h.nodes[m.Number]
			if !r.ended && !(h.emptied(r) && r.silent()) {
				gone = false
				break
			}
			gone = gone || !r.ended
		}
		if gone {
			b.Kill()
		}
	}
}
