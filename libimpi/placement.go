package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/topology"
	"github.com/libimpi/libimpi/transport"
)

// Reordering (MPI 5.0, 8.5): which process becomes which rank of a topology. What separates two processes is, from the
// outermost: the IMPI client, the host, the machine, the memory they share, and the packages, caches and cores that
// they are bound to. The job's tables tell of clients, hosts and machines; for the rest processes are asked, when a
// topology is made, for a binding may change. Rank 0 hears where all are, lets room topology find a place for each
// rank, and tells the others. MPI_Cart_map and MPI_Graph_map are local and go by the tables alone.
//
// Processes that are bound to nothing are on no core: which one they run on is the system's choice, and changes.

// kept is the group of the first n processes, in their order.
func (c *Comm) kept(n int) *Group {
	if n == c.Size() {
		return c.group
	}
	return NewGroup(c.group.Worlds()[:n])
}

// moved is the group of the processes at some ranks of c.
func (c *Comm) moved(at []int32) *Group {
	worlds := make([]int32, len(at))
	for v, r := range at {
		worlds[v] = c.group.World(int(r))
	}
	return NewGroup(worlds)
}

// sameImpl reports whether all processes of c belong to clients of this library, and to one job. Others would not know
// of the new order, and the communicator would have two: with them, all keep theirs. So they do where there are several
// jobs: nobody knows where all of these are.
func (c *Comm) sameImpl() bool {
	return !c.severalJobs() && c.engine.agreed(c.group, sameImpl)
}

func sameImpl(h *transport.Host) bool { return h.SameImpl }

// exchanges reports whether the masters of a group's clients exchange results in Allreduce.
func (e *Engine) exchanges(g *Group) bool {
	return e.agreed(g, func(h *transport.Host) bool { return h.Exchange })
}

// agreed reports whether something holds of the hosts of all processes of a group that are in other clients.
func (e *Engine) agreed(g *Group, holds func(*transport.Host) bool) bool {
	job := e.job
	return !slices.ContainsFunc(g.Worlds(), func(w int32) bool {
		if e.isGuest(w) {
			return false // of this library
		}
		p := &job.Procs[w]
		return p.Client != job.Procs[job.Me].Client && !holds(&job.Hosts[p.Host])
	})
}

// createPlaced makes a communicator with a topology of n nodes that all processes know in full. place answers at which
// of the places that paths lead to each node is put.
func (c *Comm) createPlaced(n int, t topo.Topology, reorder bool, place func(paths [][]int32) []int32) (*Comm, error) {
	if !reorder || c.Size() == 1 || !c.sameImpl() {
		return c.createOf(c.kept(n), t)
	}
	at, err := c.placed(n, nil, func(paths [][]int32, _, _ []int32) []int32 { return place(paths) })
	if err != nil {
		return nil, err
	}
	return c.createOf(c.moved(at), t)
}

// mapped is the rank that the caller would have by what the job's tables tell, MPI_UNDEFINED if it is left out.
func (c *Comm) mapped(n int, place func(paths [][]int32) []int32) int {
	if !c.sameImpl() {
		return c.kept(n).Rank(c.engine.me)
	}
	return c.moved(place(topo.Paths(c.engine.job, c.group.Worlds()))).Rank(c.engine.me)
}

// createDist makes a communicator of a distributed graph, each process giving its own part. A process that becomes
// rank v gets the neighbors of node v, which rank v of c has given.
func (c *Comm) createDist(t *topo.DistGraph, reorder bool) (*Comm, error) {
	if !reorder || c.Size() == 1 || !c.sameImpl() {
		return c.createOf(c.group, t)
	}
	n := c.Size()
	at, err := c.placed(n, t.Outward(), func(paths [][]int32, edges, counts []int32) []int32 {
		return topology.Map(topo.Outwards(n, edges, counts), paths)
	})
	if err != nil {
		return nil, err
	}
	if t, err = c.handOver(t, at); err != nil {
		return nil, err
	}
	return c.createOf(c.moved(at), t)
}

// placed finds the processes that are to be the n nodes of a topology: at[v] is the rank in c of node v. All members
// call it. edges are those of the caller's node, as outward tells them, of a topology that nobody knows in full; rank
// 0's call of find gets them one after the other, with the number of integers from each node.
func (c *Comm) placed(n int, edges []int32,
	find func(paths [][]int32, edges, counts []int32) []int32) ([]int32, error) {
	var all, every, counts []int32
	if c.rank == 0 {
		all = make([]int32, topo.Tells*c.Size())
	}
	recv := intBuf(all)
	recv.Count = int64(topo.Tells)
	if err := c.Gather(intBuf(append(topo.Here(c.MachineColor()), int32(len(edges)))), recv, 0); err != nil {
		return nil, err
	}
	list, counts, err := c.told(all)
	if err != nil {
		return nil, err
	}
	if edges != nil {
		every = make([]int32, topo.Prefix(counts, nil))
		if err := c.Gatherv(intBuf(edges), blocks(every, counts), 0); err != nil {
			return nil, err
		}
	}
	at := make([]int32, n)
	if c.rank == 0 {
		copy(at, find(list, every, counts))
	}
	if err := c.Bcast(intBuf(at), 0); err != nil {
		return nil, err
	}
	return at, topo.CheckPlaces(at, c.Size(), c.describe())
}

// told reads what all processes tell: the paths to them, and the lengths of their edges. Where nothing is told there
// are no paths, and no edges.
func (c *Comm) told(all []int32) (list [][]int32, counts []int32, err error) {
	if all == nil {
		return nil, make([]int32, c.Size()), nil
	}
	return topo.Told(all, topo.Paths(c.engine.job, c.group.Worlds()), c.describe())
}

// The processes that exchange nodes use tags above those of the algorithms.
const (
	tagNodeSize = 240
	tagNode     = 241
)

// handOver gives the caller's node, that of its rank in c, to the process that is to have this rank, and returns the
// node that the caller gets.
func (c *Comm) handOver(t *topo.DistGraph, at []int32) (*topo.DistGraph, error) {
	to, from := int(at[c.rank]), slices.Index(at, c.rank)
	if to == int(c.rank) {
		return t, nil
	}
	size := []int32{0, int32(len(t.Sources)), int32(len(t.Destinations))}
	if t.Weighted {
		size[0] = 1
	}
	theirs := make([]int32, len(size))
	if err := c.trade(size, to, theirs, from, tagNodeSize); err != nil {
		return nil, err
	}
	got := topo.NewPart(theirs)
	if got == nil {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s describes its node as %v", from, c.describe(), theirs)
	}
	mine, lists := t.Lists(), got.Lists()
	for i := range mine {
		if err := c.trade(*mine[i], to, *lists[i], from, tagNode); err != nil {
			return nil, err
		}
	}
	return got, got.Check(c.Size())
}

// trade sends some integers to one process and receives as many as there is room for from another.
func (c *Comm) trade(send []int32, to int, recv []int32, from, tag int) error {
	r, err := c.ops.Irecv(intBuf(recv), from, tag)
	if err != nil {
		return err
	}
	sendErr := c.ops.Send(intBuf(send), to, tag)
	if err := c.ops.Wait(r); err != nil {
		return err
	}
	return sendErr
}

// Splitting by hardware (MPI 5.0, 7.4.2).

// SplitHardware splits c among the parts of a type; nil for processes that are not restricted to one, or if typ is none
// that is known (MPI_COMM_TYPE_HW_GUIDED).
func (c *Comm) SplitHardware(typ string, key int32) (*Comm, error) {
	places, err := c.places()
	if err != nil {
		return nil, err
	}
	return c.Split(places.Of(typ), key)
}

// SplitUnguided splits c among the parts of the largest type of which each holds some but not all processes, and
// returns the type, "" if there is none: then nobody gets a communicator (MPI_COMM_TYPE_HW_UNGUIDED).
func (c *Comm) SplitUnguided(key int32) (made *Comm, typ string, err error) {
	places, err := c.places()
	if err != nil {
		return nil, "", err
	}
	typ, color := places.Largest()
	made, err = c.Split(color, key)
	return made, typ, err
}

// places are the whereabouts of each process of a communicator; of an intercommunicator, of both groups, in an order
// that both have.
func (c *Comm) places() (p topo.Places, err error) {
	home := c
	if c.inter.local != nil {
		home = c.inter.local
	}
	p.All, p.Mine = make([]int32, topo.Whereabouts*home.Size()), home.Rank()
	recv := intBuf(p.All)
	recv.Count = int64(topo.Whereabouts)
	if err = home.Allgather(intBuf(topo.Here(c.MachineColor())), recv); err != nil || c.inter.local == nil {
		return p, err
	}
	theirs := make([]int32, topo.Whereabouts*c.Ranks())
	if err = c.swapEqual(p.All, theirs); err != nil {
		return p, err
	}
	if c.engine.before(home.group.World(0), c.group.World(0)) {
		p.All = append(p.All, theirs...)
	} else {
		p.All, p.Mine = append(theirs, p.All...), c.Ranks()+p.Mine
	}
	return p, nil
}

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
	m := coll.NewMachines(e.machineNumbers(worlds))
	if m != nil {
		m.Crowded = e.crowdedAt(worlds)
	}
	return m
}

// crowdedAt reports whether ranks outnumber cores on a machine of some processes of one client, as the job's tables
// say. Of guests they say nothing.
func (e *Engine) crowdedAt(worlds []int32) bool {
	return !slices.ContainsFunc(worlds, e.isGuest) && slices.ContainsFunc(worlds, func(w int32) bool {
		return e.job.Hosts[e.job.Procs[w].Host].Crowded
	})
}

// machineNumbers are numbers of the machines of some processes, in the order of these, which all of them agree on.
func (e *Engine) machineNumbers(worlds []int32) []int32 {
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
	return number
}

// machinesWithin are those of each client.
func (e *Engine) machinesWithin(l *span.Layout, g *Group) []*coll.Machines {
	if !e.position.spread {
		return nil
	}
	members := make([][]int32, l.Clients())
	for r, w := range g.Worlds() {
		members[l.Client(r)] = append(members[l.Client(r)], w)
	}
	list := make([]*coll.Machines, l.Clients())
	for i := range list {
		list[i] = e.machinesOf(members[i])
	}
	return list
}

// machinesOfClients are numbers of the machines of each client, in the order of ranks; nil: each is on one.
func (e *Engine) machinesOfClients(l *span.Layout, g *Group) []int32 {
	if !e.position.spread {
		return nil
	}
	numbers := e.machineNumbers(g.Worlds())
	for r := range numbers {
		numbers[r] = numbers[r]*int32(l.Clients()) + int32(l.Client(r))
	}
	return numbers
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
