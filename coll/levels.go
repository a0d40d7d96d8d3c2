package coll

// Machines say which ranks of a communicator are on the same machine. They are made once, and several calls share them.
type Machines struct {
	Outer *Machines // where the machines are, in their order; may be nil
	// Distant says that the machines are IMPI clients, or on one each: between them there may be a long way.
	Distant bool
	// Crowded says that on a machine the ranks of the job outnumber the cores, as all ranks know.
	Crowded bool

	of, place []int32   // by rank: its machine, numbered by first rank, and which of the ranks there it is
	order     []int32   // all ranks, machine by machine
	members   [][]int32 // by machine, ascending: parts of order
	lanes     [][]int32 // by place: the rank that has it on each machine; as many as the smallest machine has ranks
	start     []int32   // by machine: where order has its first rank
	last      []int32   // by machine: its last rank
	each      int       // ranks of a machine; 0: not the same number everywhere
	ordered   bool      // the ranks of each machine follow one another
}

// NewMachines makes Machines from a number for each rank that is equal for the ranks of one machine. It returns nil if
// there is only one machine, or a rank on each.
func NewMachines(number []int32) *Machines {
	m := &Machines{ordered: true}
	known := map[int32]int32{}
	for r, n := range number {
		i, is := known[n]
		if !is {
			i = int32(len(m.members))
			known[n] = i
			m.members = append(m.members, nil)
		}
		m.ordered = m.ordered && (!is || m.of[r-1] == i)
		m.of, m.place = append(m.of, i), append(m.place, int32(len(m.members[i])))
		m.members[i] = append(m.members[i], int32(r))
	}
	if len(m.members) < 2 || len(m.members) == len(number) {
		return nil
	}
	m.order = make([]int32, 0, len(number))
	fewest, most := len(number), 0
	for i, ranks := range m.members {
		at := len(m.order)
		m.start = append(m.start, int32(at))
		m.order = append(m.order, ranks...)
		m.members[i] = m.order[at:]
		m.last = append(m.last, ranks[len(ranks)-1])
		fewest, most = min(fewest, len(ranks)), max(most, len(ranks))
	}
	if fewest == most {
		m.each = most
	}
	for place := range fewest {
		lane := make([]int32, len(m.members))
		for i, ranks := range m.members {
			lane[i] = ranks[place]
		}
		m.lanes = append(m.lanes, lane)
	}
	return m
}

// Count is the number of machines.
func (m *Machines) Count() int { return len(m.members) }

// Members is the number of ranks on a machine.
func (m *Machines) Members(i int) int { return len(m.members[i]) }

// Of is the number of the machine that a rank is on.
func (m *Machines) Of(rank int) int { return int(m.of[rank]) }

// machinesOf are those of a communicator that knows them; nil: they do not matter.
func machinesOf(c Comm) *Machines {
	if k, ok := c.(interface{ Machines() *Machines }); ok {
		return k.Machines()
	}
	return nil
}

// spans reports whether the ranks are in several clients.
func (m *Machines) spans() bool {
	for ; m != nil; m = m.Outer {
		if m.Distant {
			return true
		}
	}
	return false
}

// distant reports whether each rank of a communicator is in an IMPI client of its own.
func distant(c Comm) bool {
	w, ok := c.(*View)
	return ok && w.Distant && w.within == nil
}

// levels are the two views of a rank.
type levels struct {
	m       *Machines
	within  View // the ranks of its machine
	between View // one of each machine; only for the rank that stands for its own
	lead    int  // place within of the rank that stands for the machine
	lanes   int  // how many carry the data (lanes.go)
}

// levels makes the views for an operation with a root, which is -1 if there is none. They live as long as s.
func (s *Scratch) levels(c Comm, root int) *levels {
	k := s.levelsBy(c, 0)
	if root >= 0 {
		w := &k.between
		w.Standing(k.m.Of(root), root)
		if w.me == w.at {
			k.lead = int(k.m.place[root])
		}
	}
	return k
}

// levelsBy is levels where the rank at a place stands for each machine.
func (s *Scratch) levelsBy(c Comm, place int) *levels {
	m := machinesOf(c)
	return s.levelsOf(c, m, m.lanes[place], place)
}

// levelsOf is levels where the given ranks stand for their machines: on this one, that at place lead.
func (s *Scratch) levelsOf(c Comm, m *Machines, ranks []int32, lead int) *levels {
	k, r := &s.level, c.Rank()
	mine := int(m.of[r])
	*k = levels{m: m, within: NewView(c, m.members[mine], int(m.place[r]), 0, nil),
		between: NewView(c, ranks, mine, 0, m.Outer), lead: lead}
	k.between.Distant = m.Distant
	return k
}

// inOrder shows all ranks in the order of their machines, and returns these; nil: it is the order of ranks. A ring in
// it passes each machine once. The view lives as long as s.
func (s *Scratch) inOrder(c Comm) (Comm, *Machines) {
	m := machinesOf(c)
	if m == nil || m.ordered {
		return c, nil
	}
	k, r := &s.level, c.Rank()
	*k = levels{m: m, within: NewView(c, m.order, m.inOrder(r), 0, nil)}
	return &k.within, m
}

// inOrder is where a rank is in the order of machines, which may be nil: then it is that of ranks.
func (m *Machines) inOrder(rank int) int {
	if m == nil {
		return rank
	}
	return int(m.start[m.of[rank]] + m.place[rank])
}

// leads reports whether this rank stands for its machine.
func (k *levels) leads() bool { return k.within.me == k.lead }

// here is the number of ranks of this rank's machine.
func (k *levels) here() int { return len(k.within.ranks) }
