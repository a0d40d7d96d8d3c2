package topology

import "slices"

// partition parts the nodes into len(sizes) parts, sizes[i] of them in part i, and looks for a small cut. The sum of
// sizes is the number of nodes. from is a partition of these sizes to begin with, or nil; the answer's cut is never
// larger than that of from, and from itself is the answer if nothing better is found. g may be a part of a graph of
// whole nodes.
func partition(g *Graph, sizes []int, from []int32, whole int) []int32 {
	best, least := from, int64(0)
	consider := func(part []int32) {
		if cut := g.Cut(part); best == nil || cut < least {
			best, least = part, cut
		}
	}
	if len(sizes) < 2 {
		return make([]int32, g.Size())
	}
	if from != nil {
		if least = g.Cut(from); least == 0 {
			return from
		}
		refined := slices.Clone(from)
		refine(g, refined, sizes)
		consider(refined)
	}
	part := make([]int32, g.Size())
	all := make([]int32, g.Size())
	for v := range all {
		all[v] = int32(v)
	}
	halve(g, all, sizes, 0, part, whole)
	refine(g, part, sizes)
	consider(part)
	for s, t := sequence(1), shuffles(g.Size(), whole); t > 0; t-- {
		part := shuffled(sizes, &s)
		refine(g, part, sizes)
		consider(part)
	}
	return best
}

// shuffles is how many random partitions of a graph of n nodes are refined, too: some of a small graph, where
// bisection has no room for many parts of odd sizes; none of the many small parts of a large one.
func shuffles(n, whole int) int {
	switch {
	case whole > large:
		return 0
	case n <= 32:
		return 64
	case n <= 128:
		return 16
	}
	return 0
}

func shuffled(sizes []int, s *sequence) []int32 {
	n := 0
	for _, size := range sizes {
		n += size
	}
	part, order := make([]int32, n), s.order(n)
	for p, size := range sizes {
		for _, v := range order[:size] {
			part[v] = int32(p)
		}
		order = order[size:]
	}
	return part
}

// halve parts a graph by recursive bisection. nodes are the names under which part knows its nodes, base is the
// first part.
func halve(g *Graph, nodes []int32, sizes []int, base int32, part []int32, whole int) {
	if len(sizes) == 1 {
		for _, v := range nodes {
			part[v] = base
		}
		return
	}
	if len(nodes) == 0 {
		return
	}
	h, first := middle(sizes)
	side := g.bisect(first, tries(len(nodes), whole))
	scratch := none(len(nodes))
	for s, sizes := range [...][]int{sizes[:h], sizes[h:]} {
		var local, names []int32
		for v, on := range side {
			if int(on) == s {
				local, names = append(local, int32(v)), append(names, nodes[v])
			}
		}
		halve(g.induced(local, scratch), names, sizes, base+int32(s*h), part, whole)
	}
}

// middle returns how many of the sizes, and how much in all, come next to half of their sum. There are two or more.
func middle(sizes []int) (h, first int) {
	total := 0
	for _, s := range sizes {
		total += s
	}
	first, h = sizes[0], 1
	for h < len(sizes)-1 && 2*first+sizes[h] <= total {
		first += sizes[h]
		h++
	}
	return h, first
}

// large is a graph that takes its time; more for its parts would bring a cut that is 2 % smaller, and take twice as
// long.
const large = 4096

// tries is how often a part of n nodes is bisected in different ways.
func tries(n, whole int) int {
	switch {
	case n <= 512 && whole <= large:
		return 4
	case n <= large:
		return 2
	}
	return 1
}

// refine improves a partition without changing the sizes of its parts.
func refine(g *Graph, part []int32, sizes []int) {
	switch len(sizes) {
	case 0, 1:
	case 2:
		newBisection(g, part, int64(sizes[0])).refine()
	default:
		newChains(g, part, len(sizes)).refine()
	}
}
