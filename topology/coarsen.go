package topology

import "sort"

// sequence is a stream of numbers that is the same everywhere (xorshift64*).
type sequence uint64

func (s *sequence) next() uint64 {
	*s ^= *s >> 12
	*s ^= *s << 25
	*s ^= *s >> 27
	return uint64(*s) * 2685821657736338717
}

// order is the numbers below n, shuffled.
func (s *sequence) order(n int) []int32 {
	o := make([]int32, n)
	for i := range o {
		o[i] = int32(i)
		j := int(s.next() >> 33 % uint64(i+1))
		o[i], o[j] = o[j], o[i]
	}
	return o
}

// coarsen joins pairs of nodes: neighbors by their heaviest edge, then nodes that have a neighbor in common and
// those that have none. No pair is larger than limit. It returns the smaller graph and where each node went.
// The order in which nodes choose is a shuffled one: that of the numbers makes strips of a grid.
func (g *Graph) coarsen(limit int32, s *sequence) (*Graph, []int32) {
	n := g.Size()
	mate := none(n)
	heaviest := none(n)
	for _, v := range s.order(n) {
		best := int64(0)
		heaviest[v] = -1
		with := int32(-1)
		most := int64(0)
		for i := g.first[v]; i < g.first[v+1]; i++ {
			u, w := g.to[i], g.weight[i]
			if w > most || w == most && u < heaviest[v] {
				most, heaviest[v] = w, u
			}
			if mate[v] < 0 && mate[u] < 0 && w > best && g.sizeOf(v)+g.sizeOf(u) <= limit {
				best, with = w, u
			}
		}
		if with >= 0 {
			mate[v], mate[with] = with, v
		}
	}
	g.joinRest(mate, heaviest, limit)
	return g.contract(mate)
}

// joinRest pairs nodes that have found no mate, those with the same heaviest neighbor: leaves of a star, and
// nodes without edges.
func (g *Graph) joinRest(mate, heaviest []int32, limit int32) {
	var rest []int32
	for v, m := range mate {
		if m < 0 {
			rest = append(rest, int32(v))
		}
	}
	sort.SliceStable(rest, func(i, j int) bool { return heaviest[rest[i]] < heaviest[rest[j]] })
	for i := 0; i+1 < len(rest); i++ {
		v, u := rest[i], rest[i+1]
		if heaviest[v] == heaviest[u] && g.sizeOf(v)+g.sizeOf(u) <= limit {
			mate[v], mate[u] = u, v
			i++
		}
	}
}

// contract is the graph of the pairs.
func (g *Graph) contract(mate []int32) (*Graph, []int32) {
	n := g.Size()
	to := none(n)
	c := &Graph{}
	for v := range n {
		if to[v] >= 0 {
			continue
		}
		to[v] = int32(len(c.size))
		size := g.sizeOf(int32(v))
		if m := mate[v]; m >= 0 {
			to[m] = to[v]
			size += g.sizeOf(m)
		}
		c.size = append(c.size, size)
	}
	at := make([]int, 1, len(c.size)+1)
	c.first = make([]int, len(c.size)+1)
	add := func(v int32, self int32) {
		for i := g.first[v]; i < g.first[v+1]; i++ {
			if u := to[g.to[i]]; u != self {
				c.to, c.weight = append(c.to, u), append(c.weight, g.weight[i])
			}
		}
	}
	for v := range n {
		if int(to[v]) != len(at)-1 {
			continue // it came with its mate
		}
		add(int32(v), to[v])
		if m := mate[v]; m >= 0 {
			add(m, to[v])
		}
		at = append(at, len(c.to))
	}
	c.merge(at)
	return c, to
}
