package machines

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
)

// A fault-tolerant job goes on without ranks that are lost: a node tells its own ranks, and the launcher, which tells
// the user and all other nodes. The loss of a machine, as soon as its ranks have the job's tables, and that of another
// client are those of their ranks. These functions run on the goroutine of head.serve, except for those of nodes.

// graves are the ranks of a client that are lost.
type graves struct {
	ranks map[int32]bool
	first *supervise.Cause // the loss of the first, as a cause
}

// mourn acts on ranks that a node says are lost. Without ranks it is for the user alone: they are of a spawned job.
func (h *head) mourn(r *nodeLink, m *tree.DeadFrame) {
	for _, rank := range m.Ranks {
		if !slices.Contains(r.Ranks, int(rank)-h.first) {
			h.fail(&supervise.Cause{Code: 1, Text: fmt.Sprintf("machine %s: it says that rank %d is lost, which is not there",
				r.Name, rank)})
			return
		}
	}
	if len(m.Ranks) > 0 && !slices.ContainsFunc(m.Ranks, func(rank int32) bool { return !h.graves.ranks[rank] }) {
		return // they have been given up before, and ended for that
	}
	if h.plan.Recovery && m.Loss.Text != "" {
		m.Loss.Failure = m.Loss.Failure.Checked()
		h.bury(r, m.Lost, &m.Loss)
	}
}

// bury tells the user and the nodes, except for one, of ranks that are lost.
func (h *head) bury(except *nodeLink, n startup.Lost, l *outcome.Loss) {
	if h.cause != nil {
		return // the job is ending
	}
	if h.graves.ranks == nil {
		h.graves.ranks = map[int32]bool{}
		h.graves.first = &supervise.Cause{Code: max(1, l.Code&0xff), Text: l.Text, Failure: l.Failure}
	}
	for _, r := range n.Ranks {
		h.graves.ranks[r] = true
	}
	if !h.plan.Quiet {
		h.print(tree.Frame{Errors: l.Bytes(h.plan.JSON, h.machineOf)})
	}
	if mine := h.own(n.Ranks); h.session != nil && len(mine) > 0 {
		h.session.Gone(mine, n.Text)
	}
	for _, r := range h.nodes {
		if r != except && !r.ended && len(n.Ranks) > 0 {
			r.send(tree.Frame{Dead: &tree.DeadFrame{Lost: n}})
		}
	}
	h.visit()
}

// own are those ranks that are of our client, counted within it.
func (h *head) own(ranks []int32) (mine []int32) {
	for _, r := range ranks {
		if i := int(r) - h.first; i >= 0 && i < h.plan.Size() {
			mine = append(mine, int32(i))
		}
	}
	return mine
}

// loseMachines goes on without machines that say no more, if the job can. Each has the ranks that it had.
func (h *head) loseMachines(gone []*nodeLink, text string) bool {
	if !h.plan.Recovery || h.tables == nil || h.cause != nil {
		return false
	}
	n := startup.Lost{Text: text}
	var names []string
	for _, r := range gone {
		names = append(names, r.Name)
		for _, rank := range r.Ranks {
			if world := int32(h.first + rank); !h.graves.ranks[world] {
				n.Ranks = append(n.Ranks, world)
			}
		}
	}
	if len(n.Ranks) == 0 {
		return true // they have been given up before
	}
	slices.Sort(n.Ranks)
	l := job.LossOf(n, names...)
	h.bury(nil, n, &l)
	return true
}

// loseOthers ends the job with another client, or with ranks of one, or goes on without them. The end of the server
// ends nothing.
func (h *head) loseOthers(err error) {
	var lost *client.LostError
	var gone *client.RanksError
	n := startup.Lost{Text: err.Error()}
	blamed := int32(0)
	switch {
	case errors.As(err, &lost):
		n.Ranks, blamed = job.RanksOf(h.tables, lost.Client), lost.Client
	case errors.As(err, &gone):
		n, blamed = job.LostRanks(h.tables, gone), gone.Client
	default:
		h.obey(h.others.Part(h.tables, h.joinPlan.Rank, h.joinPlan.Silence, err))
		return
	}
	if !h.plan.Recovery {
		h.fail(&supervise.Cause{Code: 1, Text: n.Text, Blamed: &blamed, Answer: true})
		return
	}
	h.others.Hear(n.Ranks)
	n.Ranks = slices.DeleteFunc(n.Ranks, func(r int32) bool { return h.graves.ranks[r] })
	if len(n.Ranks) > 0 {
		l := job.LossOf(n)
		h.bury(nil, n, &l)
	}
}

// noSurvivor is the loss of the first rank, as a cause, if all of ours were lost; else nil.
func (h *head) noSurvivor() *supervise.Cause {
	for rank := range h.plan.Size() {
		if !h.graves.ranks[int32(h.first+rank)] {
			return nil
		}
	}
	return h.graves.first
}

// tellDead tells the launcher of ranks of this node that are lost. If that fails, the launcher has gone, which ends us.
func (n *node) tellDead(lost startup.Lost, l outcome.Loss) {
	n.frames.Send(tree.Frame{Dead: &tree.DeadFrame{Lost: lost, Loss: l}})
}

// tellSpawnedDead does so of ranks of a job that they have spawned.
func (n *node) tellSpawnedDead(_ startup.Lost, l outcome.Loss) { n.tellDead(startup.Lost{}, l) }

// tolerate makes our ranks, and those that they spawn, go on without others.
func (n *node) tolerate() {
	if n.plan.Recovery {
		n.part.Tolerate(n.tellDead)
		n.part.Sue(n.sue)
		n.spawner.Tolerate(n.tellSpawnedDead)
	}
}

// hearDead tells our ranks of others, and ends those that are given up elsewhere.
func (n *node) hearDead(lost startup.Lost) {
	n.mu.Lock()
	p := n.part
	n.mu.Unlock()
	if p != nil {
		p.Condemn(lost)
		go p.TellLost(lost) // a rank that is stopped may keep it
	}
}
