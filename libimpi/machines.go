package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/transport"
)

// On which machines the members of a communicator are, for collective operations that go by machine (coll/machines.go).

// severalMachines finds out whether a client has processes on several machines.
func severalMachines(job *transport.Job) bool {
	first := make([]int32, job.Clients) // process of each client, numbered from 1
	for w := range job.Procs {
		p := &job.Procs[w]
		if at := &first[p.Client]; *at == 0 {
			*at = int32(w) + 1
		} else if job.Procs[*at-1].HostID != p.HostID {
			return true
		}
	}
	return false
}

// machinesOf are those of some processes of one client by the job's tables, which are the same everywhere, and of
// guests by what these say, likewise; nil if it does not matter where they are. They are numbered in the order of the
// processes.
func (e *Engine) machinesOf(worlds []int32) *coll.Machines {
	if !e.spread && !slices.ContainsFunc(worlds, e.isGuest) {
		return nil
	}
	known, number := map[struct{ job, machine [16]byte }]int32{}, make([]int32, len(worlds))
	for i, w := range worlds {
		id := e.machineOf(w)
		n, is := known[id]
		if !is {
			n = int32(len(known))
			known[id] = n
		}
		number[i] = n
	}
	return coll.NewMachines(number)
}

// machinesWithin are those of each client.
func (e *Engine) machinesWithin(l *span.Layout, g *Group) []*coll.Machines {
	if !e.spread {
		return nil
	}
	members := make([][]int32, l.Clients())
	for r, w := range g.worlds() {
		members[l.Client(r)] = append(members[l.Client(r)], w)
	}
	list := make([]*coll.Machines, l.Clients())
	for i := range list {
		list[i] = e.machinesOf(members[i])
	}
	return list
}
