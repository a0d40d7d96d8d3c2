package machines

import (
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/startup"
)

// The first launcher decides about ranks that ranks of another machine cannot reach, or of which they say that they
// break the protocol (package job, suspects.go): of two machines of its client, as the server does of two clients.

// suspects takes what ranks of a node say of others.
func (h *head) suspects(r *nodeLink, m *tree.SuspectFrame) {
	if !h.plan.Recovery || len(m.By) == 0 {
		return
	}
	if m.Breach {
		h.decide(r, m)
		return
	}
	time.AfterFunc(job.SuspectTime, func() {
		select {
		case h.turns <- func() { h.decide(r, m) }:
		case <-h.served:
		}
	})
}

// decide goes on without ranks of which it is not known that they are lost, or without those that say so of them.
func (h *head) decide(r *nodeLink, m *tree.SuspectFrame) {
	by := slices.DeleteFunc(slices.Clone(m.By), func(b int32) bool {
		return h.graves.ranks[b] || !slices.Contains(r.Ranks, int(b)-h.first)
	})
	if len(by) == 0 || h.cause != nil || h.tables == nil {
		return
	}
	says := fmt.Sprintf("rank %d says: %s", by[0], m.Text)
	of := map[*nodeLink][]int32{} // nil: of other clients
	for _, rank := range m.Ranks {
		if rank >= 0 && int(rank) < len(h.tables.Procs) && !h.graves.ranks[rank] {
			of[h.nodeOf(rank)] = append(of[h.nodeOf(rank)], rank)
		}
	}
	for q, ranks := range of {
		switch {
		case q == nil && h.session == nil:
		case q == nil:
			s := startup.Suspects{Lost: startup.Lost{Ranks: ranks, Text: m.Text}, Breach: m.Breach}
			h.obey(h.others.Suspect(h.session, h.tables, by, s, h.joinPlan.Silence))
		case m.Breach || h.sides.Wins(r.Number, q.Number):
			h.giveUp(startup.Lost{Ranks: ranks, Text: says})
		default:
			h.giveUp(startup.Lost{Ranks: by, Text: fmt.Sprintf("machine %s cannot reach machine %s, without which the job "+
				"does not go on", r.Name, q.Name)})
		}
	}
}

// obey does what the client makes of others without the server.
func (h *head) obey(r job.Ruling) {
	switch {
	case r.CutOff != nil:
		c := r.Cause()
		h.fail(&c)
	case len(r.Ranks) > 0:
		h.giveUp(r.Lost)
	}
}

// giveUp goes on without ranks. Those of ours are ended by their nodes, who hear of it.
func (h *head) giveUp(n startup.Lost) {
	l := job.LossOf(n)
	h.bury(nil, n, &l)
}

// nodeOf is the machine of a rank; nil: it is another client's.
func (h *head) nodeOf(rank int32) *nodeLink {
	for _, r := range h.nodes {
		if slices.Contains(r.Ranks, int(rank)-h.first) {
			return r
		}
	}
	return nil
}

// sue makes the launcher decide about ranks that ours cannot reach.
func (n *node) sue(by []int32, s startup.Suspects) {
	n.frames.Send(tree.Frame{Suspect: &tree.SuspectFrame{By: by, Suspects: s}})
}
