package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
)

// On which machines the members of a communicator are, for collective operations that go by machine
// (coll/machines.go), and for memory that those of one machine map.

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
	if !e.position.spread && !slices.ContainsFunc(worlds, e.isGuest) {
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
	if !e.position.spread {
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

// together are the members that share memory with this process, by their ranks; none if there is no such memory. All of
// them answer the same.
func (c *Comm) together() (ranks []int) {
	e := c.engine
	for r := 0; r < c.Size() && e.home.Memory != nil; r++ {
		if e.LocalRank(c.group.World(r)) >= 0 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// sharers are the members that share memory with this process. All of them answer the same.
func (c *Comm) sharers() *onesided.Sharers {
	e, ranks := c.engine, c.together()
	s := &onesided.Sharers{On: &c.ops, Ranks: ranks, World: make([]int32, len(ranks)), Memory: e.home.Memory,
		Spares: &e.spares}
	if len(ranks) == 0 {
		return s
	}
	for i, r := range ranks {
		s.World[i] = c.group.World(r)
	}
	if s.First = e.LocalRank(s.World[0]); len(ranks) < c.Size() {
		s.On = &subset{c: c, g: NewGroup(s.World), on: c.coll, first: subsetTags}
	}
	return s
}
