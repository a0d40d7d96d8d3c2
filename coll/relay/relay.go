// Package relay plans which blocks of a neighborhood collective travel from machine to machine in one message. A plan
// is made once for a topology, from the edges of all ranks. It moves no data.
//
//	collect  a rank gives its blocks for another machine to one rank of its own machine, the sender
//	swap     the sender gives those of all ranks to one rank of the other machine, the receiver
//	deal     the receiver gives each rank of its machine the blocks for it
//
// This takes as many messages within machines as ranks send and receive, and saves one between machines for each
// edge. So a pair of machines is planned for if it has more edges than such ranks; blocks of other edges go directly
// from rank to rank. If it has many more there are several messages, each for some of the ranks that get blocks, by
// different senders and receivers.
//
// The blocks of a message are in the order of the ranks that send them, and those of one rank in the order of its
// edges.
package relay

import "slices"

// Graph is what a rank knows of the edges.
type Graph struct {
	Rank int
	Of   []int32                // by rank: its machine
	Out  func(rank int) []int32 // the ranks to which the edges of a rank lead; below 0: none
	In   []int32                // the ranks from which edges lead to this one; below 0: none
	// Back is which In of its end an edge is, by which Out it is of its beginning; nil: those between two ranks are in
	// the same order at both.
	Back func(out int) (in int32)
}

// Plan is what one rank does. Edges that it does not name go directly.
type Plan struct {
	Out, In   []bool // by edge: whether the plan has it
	Collects  []Collect
	Senders   []Sender
	Receivers []Receiver
	Gets      []Get
}

// Collect says that this rank gives the blocks of some of its edges to a sender, which may be itself.
type Collect struct {
	To    int32
	Edges []int32 // of Out
}

// Sender says that this rank sends to the receiver of another machine what ranks of its own give to it.
type Sender struct {
	To    int32
	From  []int32 // ranks, ascending
	Edges []int32 // how many edges each of these has
	Total int     // edges
}

// Receiver says that this rank gets the message of a sender, and deals it.
type Receiver struct {
	From   int32
	Ranks  int // that have sent
	Total  int // edges
	Shares []Share
	Own    int // which of this rank's Gets its own share is, which it has
}

// Share is what one rank gets of a message, by the places of its blocks there: among those of all edges, and among the
// ranks that have sent, if each has one block for all of its edges.
type Share struct {
	To    int32
	Edges []int32
	Ranks []int32
}

// Get says that this rank gets the blocks of some of its edges from a receiver.
type Get struct {
	From  int32
	Edges []int32 // of In
}

// edge leads from one machine to another.
type edge struct {
	from, to int32
	out      int32 // which one of its rank's it is
	sender   int32 // which of the ranks that have edges it comes from
}

// New makes the plan of a rank. It returns false if Out and In contradict each other.
func New(g Graph) (*Plan, bool) {
	mine := g.Of[g.Rank]
	leaving, coming := map[int32][]edge{}, map[int32][]edge{}
	for r := range g.Of {
		for i, to := range g.Out(r) {
			if to < 0 || g.Of[to] == g.Of[r] {
				continue
			}
			e := edge{from: int32(r), to: to, out: int32(i)}
			if g.Of[r] == mine {
				leaving[g.Of[to]] = append(leaving[g.Of[to]], e)
			} else if g.Of[to] == mine {
				coming[g.Of[r]] = append(coming[g.Of[r]], e)
			}
		}
	}
	places, ok := g.places(coming)
	if !ok {
		return nil, false
	}
	p := &Plan{Out: make([]bool, len(g.Out(g.Rank))), In: make([]bool, len(g.In))}
	for _, other := range sorted(leaving) {
		for _, k := range groups(leaving[other]) {
			p.leave(&g, mine, other, &k)
		}
	}
	for _, other := range sorted(coming) {
		for _, k := range groups(coming[other]) {
			p.come(&g, mine, other, &k, places)
		}
	}
	return p, true
}

// sorted are the machines of a map, ascending: the same order at all ranks.
func sorted(m map[int32][]edge) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// places finds which In each edge is that leads to this rank.
func (g *Graph) places(coming map[int32][]edge) (map[edge]int32, bool) {
	places, used := map[edge]int32{}, make([]bool, len(g.In))
	from := map[int32][]int32{} // the places that are left
	for i, r := range g.In {
		if r >= 0 {
			from[r] = append(from[r], int32(i))
		}
	}
	for _, other := range sorted(coming) {
		for _, e := range coming[other] {
			if int(e.to) != g.Rank {
				continue
			}
			in := int32(-1)
			if g.Back != nil {
				in = g.Back(int(e.out))
			} else if left := from[e.from]; len(left) > 0 {
				in, from[e.from] = left[0], left[1:]
			}
			if in < 0 || int(in) >= len(g.In) || g.In[in] != e.from || used[in] {
				return nil, false
			}
			places[e], used[in] = in, true
		}
	}
	for i, r := range g.In {
		if r >= 0 && g.Of[r] != g.Of[g.Rank] && !used[i] {
			return nil, false
		}
	}
	return places, true
}

// ends numbers the senders of edges between two machines, and returns the ranks at both ends, ascending.
func ends(edges []edge) (from, to []int32) {
	for i := range edges {
		e := &edges[i]
		if len(from) == 0 || from[len(from)-1] != e.from {
			from = append(from, e.from)
		}
		e.sender = int32(len(from) - 1)
		to = append(to, e.to)
	}
	slices.Sort(to)
	return from, slices.Compact(to)
}

// group is edges from some ranks of a machine to some of another one whose blocks are one message.
type group struct {
	edges    []edge
	from, to []int32
	number   int // among the groups of the two machines
}

// groups are those of the edges between two machines, none if it does not pay. The ranks of the receiving machine are
// halved as long as a message for either half saves at least half of all messages: so several ranks share the work.
func groups(edges []edge) (all []group) {
	from, to := ends(edges)
	if len(edges) <= len(from)+len(to) {
		return nil
	}
	left := []group{{edges: edges, from: from, to: to}}
	for len(left) > 0 {
		g := left[len(left)-1]
		left = left[:len(left)-1]
		if a, b, ok := g.halves(); ok {
			left = append(left, b, a)
			continue
		}
		g.number = len(all)
		all = append(all, g)
	}
	return all
}

// halves are the two of a group, if both pay.
func (g *group) halves() (a, b group, ok bool) {
	if len(g.to) < 2 {
		return a, b, false
	}
	first := g.to[len(g.to)/2]
	for _, e := range g.edges {
		if e.to < first {
			a.edges = append(a.edges, e)
		} else {
			b.edges = append(b.edges, e)
		}
	}
	for _, half := range []*group{&a, &b} {
		half.from, half.to = ends(half.edges)
		if len(half.edges) < 2*(len(half.from)+len(half.to)) {
			return a, b, false
		}
	}
	return a, b, true
}

// sender and receiver are those of a group. Other is the machine at the other side.
func (g *group) sender(other int32) int32   { return g.from[(int(other)+g.number)%len(g.from)] }
func (g *group) receiver(other int32) int32 { return g.to[int(other)%len(g.to)] }

// leave plans for a group of edges to another machine.
func (p *Plan) leave(g *Graph, mine, other int32, k *group) {
	by := k.sender(other)
	c := Collect{To: by}
	s := Sender{To: k.receiver(mine), From: k.from, Edges: make([]int32, len(k.from)), Total: len(k.edges)}
	for _, e := range k.edges {
		s.Edges[e.sender]++
		if int(e.from) == g.Rank {
			p.Out[e.out] = true
			c.Edges = append(c.Edges, e.out)
		}
	}
	if len(c.Edges) > 0 {
		p.Collects = append(p.Collects, c)
	}
	if int(by) == g.Rank {
		p.Senders = append(p.Senders, s)
	}
}

// come plans for a group of edges from another machine.
func (p *Plan) come(g *Graph, mine, other int32, k *group, places map[edge]int32) {
	by := k.receiver(other)
	get, r := Get{From: by}, Receiver{From: k.sender(mine), Ranks: len(k.from), Total: len(k.edges)}
	for _, rank := range k.to {
		r.Shares = append(r.Shares, Share{To: rank})
	}
	for i, e := range k.edges {
		at, _ := slices.BinarySearch(k.to, e.to)
		share := &r.Shares[at]
		share.Edges, share.Ranks = append(share.Edges, int32(i)), append(share.Ranks, e.sender)
		if int(e.to) == g.Rank {
			in := places[edge{from: e.from, to: e.to, out: e.out}]
			p.In[in] = true
			get.Edges = append(get.Edges, in)
		}
	}
	if len(get.Edges) > 0 {
		r.Own = len(p.Gets)
		p.Gets = append(p.Gets, get)
	}
	if int(by) == g.Rank {
		p.Receivers = append(p.Receivers, r)
	}
}

// Pays reports whether the plan has any edge of this rank.
func (p *Plan) Pays() bool { return slices.Contains(p.Out, true) || slices.Contains(p.In, true) }
