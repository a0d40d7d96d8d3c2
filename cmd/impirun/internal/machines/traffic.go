package machines

import (
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/transport/wire"
)

// Traffic of a client on several machines, for whoever watches the job at the server (job/traffic.go): the launcher
// asks each node, which asks its ranks or its agent.

// nodesTime is how long the launcher waits for nodes.
const nodesTime = 500 * time.Millisecond

// traffic asks the nodes, and returns what is known.
func (h *head) traffic() []wire.Traffic {
	return h.reports.Ask(len(h.nodes), nodesTime, func(i int) bool {
		h.nodes[i].send(tree.Frame{Traffic: &tree.TrafficFrame{}})
		return true
	})
}

// takeTraffic takes the answer of a node. One that makes no sense says nothing.
func (h *head) takeTraffic(r *nodeLink, f *tree.TrafficFrame) {
	rows, _ := wire.ParseRows(f.Rows)
	h.reports.Take(r.Number, rows)
}

// reportTraffic answers the launcher, unless the answer before has not left yet.
func (n *node) reportTraffic() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reporting {
		return
	}
	n.reporting = true
	part := n.part
	go func() {
		f := tree.TrafficFrame{}
		if part != nil {
			rows := part.Traffic()
			f.Rows = wire.AppendRows(nil, rows[:min(len(rows), wire.TrafficMax)])
		}
		n.frames.Send(tree.Frame{Traffic: &f}) // a launcher that has gone ends us elsewhere
		n.mu.Lock()
		defer n.mu.Unlock()
		n.reporting = false
	}()
}

// hasPart notes whom to ask.
func (n *node) hasPart(p *job.Part, s *spawn.Spawner) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.part, n.spawner = p, s
}
