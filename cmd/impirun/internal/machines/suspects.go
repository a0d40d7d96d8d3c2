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
// break the protocol (package job, suspects.go): of two machines of its client, as the server does of two clients. That
// one is given up from which the launcher does not hear either, or else which more machines cannot reach.

// suspects takes what ranks of a node say of others.
func (h *head) suspects(r *nodeLink, m *tree.SuspectFrame) {
	if !h.plan.Recovery || len(m.By) == 0 {
		return
	}
	if m.Breach {
		h.decide(r, m)
		return
	}
	h.suspicions = append(h.suspicions, suspicion{r, m})
	r.asks()
	for _, rank := range m.Ranks {
		if q := h.nodeOf(rank); q != nil {
			q.asks()
		}
	}
	time.AfterFunc(job.SuspectTime, func() {
		select {
		case h.turns <- func() { h.decideFirst() }:
		case <-h.served:
		}
	})
}

// suspicion is what ranks of a node have said of others.
type suspicion struct {
	of *nodeLink
	*tree.SuspectFrame
}

// decideFirst decides about the suspicion that has waited longest.
func (h *head) decideFirst() {
	h.decide(h.suspicions[0].of, h.suspicions[0].SuspectFrame)
	h.suspicions = h.suspicions[1:]
}

// cut is how many machines cannot reach one, or cannot be reached from there, for all that is known.
func (h *head) cut(r *nodeLink) int {
	others := map[*nodeLink]bool{}
	for _, s := range h.suspicions {
		if len(h.living(s.of, s.By)) == 0 {
			continue
		}
		for _, rank := range s.Ranks {
			q := h.nodeOf(rank)
			switch {
			case q == nil || h.graves.ranks[rank]:
			case q == r:
				others[s.of] = true
			case s.of == r:
				others[q] = true
			}
		}
	}
	return len(others)
}

// yields reports whether r is given up if it cannot reach q, and not q.
func (h *head) yields(r, q *nodeLink) bool {
	if r.silent() != q.silent() {
		return r.silent()
	}
	return h.cut(r) > h.cut(q)
}

// living are those of ranks that are a node's, and not lost.
func (h *head) living(r *nodeLink, ranks []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ranks), func(b int32) bool {
		return h.graves.ranks[b] || !slices.Contains(r.Ranks, int(b)-h.first)
	})
}

// decide goes on without ranks of which it is not known that they are lost, or without those that say so of them.
func (h *head) decide(r *nodeLink, m *tree.SuspectFrame) {
	by := h.living(r, m.By)
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
	for _, q := range append(slices.Clone(h.nodes), nil) {
		ranks := of[q]
		switch {
		case len(ranks) == 0 || h.graves.ranks[by[0]]:
		case q == nil && h.session == nil:
		case q == nil:
			s := startup.Suspects{Lost: startup.Lost{Ranks: ranks, Text: m.Text}, Breach: m.Breach}
			h.obey(h.others.Suspect(h.session, h.tables, by, s, h.joinPlan.Silence))
		case m.Breach || h.sides.Wins(r.Number, q.Number, h.yields(r, q)):
			h.giveUp(startup.Lost{Ranks: ranks, Text: says})
		default:
			h.giveUp(startup.Lost{Ranks: by, Text: fmt.Sprintf("machine %s cannot reach machine %s, which goes on: %s",
				r.Name, q.Name, m.Text)})
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
	go n.ask(s.Text)
	n.frames.Send(tree.Frame{Suspect: &tree.SuspectFrame{By: by, Suspects: s}})
}
