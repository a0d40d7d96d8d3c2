package machines

import (
	"slices"

	"github.com/libimpi/libimpi/cmd/impirun/internal/debugger"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// joinResult is what join comes to.
type joinResult struct {
	tables  *transport.Job
	first   int // our first rank in MPI_COMM_WORLD
	session *client.Session
	err     error
}

// join makes the tables: with the other clients at the server, or of this one alone.
func (h *head) join() {
	var o joinResult
	hosts := inRankOrder(h.nodes)
	if m := h.joinPlan; m != nil {
		o.tables, o.session, o.err = m.Connect(hosts)
		if o.err == nil {
			o.first = join.FirstRank(o.tables, m.Rank)
		}
	} else {
		o.tables, o.err = client.Alone(hosts...)
	}
	h.joined <- o
}

// inRankOrder are the hosts of all nodes in the order of their ranks. A node has a host for each of its ranks, or one
// for all, which then follow one another.
func inRankOrder(nodes []*nodeLink) (hosts []client.Host) {
	type numbered struct {
		first int
		host  client.Host
	}
	var list []numbered
	for _, r := range nodes {
		k := 0
		for _, host := range r.hosts {
			list = append(list, numbered{r.Ranks[k], host})
			k += len(host.Procs)
		}
	}
	slices.SortFunc(list, func(x, y numbered) int { return x.first - y.first })
	for _, x := range list {
		hosts = append(hosts, x.host)
	}
	return hosts
}

// tell gives the tables to all nodes.
func (h *head) tell(o joinResult) {
	if o.err != nil {
		h.fail(&supervise.Cause{Code: 1, Text: o.err.Error()})
		return
	}
	if h.session = o.session; o.session != nil {
		o.session.Report(h.traffic)
		h.joinPlan.Peers.Joined(o.session, int(o.tables.Clients))
		o.session.Watch(func(err error) {
			select {
			case h.lost <- err:
			case <-h.served:
			}
		})
	}
	h.first = o.first
	if h.job != 0 && h.cause == nil {
		h.begun = true
		close(h.settled)
	}
	h.publish()
	told := tree.JobFrame{Tables: startup.EncodeJob(o.tables), First: o.first}
	if err := h.broadcast(tree.Frame{Job: &told}); err != nil {
		h.fail(&supervise.Cause{Code: 1, Text: err.Error()})
		return
	}
	h.tables = o.tables
}

// publish shows all processes to a parallel debugger that has started us, if one has. They are in MPI_Init, and wait
// for the tables.
func (h *head) publish() {
	if h.job != 0 || !debugger.BeingDebugged() {
		return
	}
	ranks := make([]debugger.Rank, h.plan.Size())
	for _, r := range h.nodes {
		k := 0
		for _, host := range r.hosts {
			for _, p := range host.Procs {
				rank := r.Ranks[k]
				ranks[rank] = debugger.Rank{Host: r.Name, Program: layout.ProgramOf(h.plan, rank).Argv[0], PID: int(p.PID)}
				k++
			}
		}
	}
	debugger.Publish(ranks)
}
