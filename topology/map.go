package topology

import (
	"cmp"
	"slices"
)

// Map places the nodes of a graph. paths[p] leads to place p down the hierarchy of the machine, from what separates
// most: two places with the same first l labels are in the same unit of level l. All paths have the same length, and
// there are at least as many places as nodes. The answer is each node's place.
//
// At each level the nodes are parted among the units with a small cut, and then each unit's nodes among its own. If
// places are left over, whole units are. The cut is never larger, at the first level at which it differs, than if
// node i were at place i, which is the answer if nothing better is found; and nodes that could be at their own
// place are.
func Map(g *Graph, paths [][]int32) []int32 { return place(g, nil, paths) }

// MapGrid is Map for a grid, whose closed form it considers, too.
func MapGrid(grid Grid, paths [][]int32) []int32 { return place(grid.Graph(), &grid, paths) }

func place(g *Graph, grid *Grid, paths [][]int32) []int32 {
	n := g.Size()
	nodes, identity := make([]int32, n), make([]int32, n)
	for v := range nodes {
		nodes[v], identity[v] = int32(v), int32(v)
	}
	if !slices.ContainsFunc(paths, func(path []int32) bool { return !slices.Equal(path, paths[0]) }) {
		return identity // all places are alike
	}
	all := make([]int32, len(paths))
	for p := range all {
		all[p] = int32(p)
	}
	m := mapping{paths: paths, at: make([]int32, n)}
	m.place(g, grid, nodes, m.choose(all, n, 0), 0)
	if slices.Compare(Cuts(g, paths, m.at), Cuts(g, paths, identity)) < 0 {
		return m.at
	}
	return identity
}

// Cuts is the weight of the edges between different units, for each level, if node v is at place at[v].
func Cuts(g *Graph, paths [][]int32, at []int32) []int64 {
	depth := 0
	if len(paths) > 0 {
		depth = len(paths[0])
	}
	cuts := make([]int64, depth)
	for v := range g.Size() {
		for i := g.first[v]; i < g.first[v+1]; i++ {
			u := g.to[i]
			if int(u) < v {
				continue
			}
			if l := common(paths[at[v]], paths[at[u]]); l < depth {
				cuts[l] += g.weight[i]
			}
		}
	}
	for l := 1; l < depth; l++ {
		cuts[l] += cuts[l-1] // units that differ at one level differ below it
	}
	return cuts
}

// common is how many labels two paths have in common.
func common(a, b []int32) int {
	for l := range a {
		if a[l] != b[l] {
			return l
		}
	}
	return len(a)
}

type mapping struct {
	paths [][]int32
	at    []int32
}

// units parts places by their label at a level, in the order of their first places.
func (m *mapping) units(places []int32, level int) (units [][]int32) {
	index := map[int32]int{}
	for _, p := range places {
		label := m.paths[p][level]
		i, ok := index[label]
		if !ok {
			i = len(units)
			index[label] = i
			units = append(units, nil)
		}
		units[i] = append(units[i], p)
	}
	return units
}

// choose takes n of the places of a unit: from as few units as can be, and where one is enough from the smallest
// that is. They stay in order.
func (m *mapping) choose(places []int32, n, level int) []int32 {
	if n >= len(places) || len(places) == 0 || level == len(m.paths[0]) {
		return places[:min(n, len(places))]
	}
	units := m.units(places, level)
	slices.SortStableFunc(units, func(a, b []int32) int { return cmp.Compare(len(b), len(a)) })
	var chosen []int32
	for n > 0 {
		i := 0
		for i+1 < len(units) && len(units[i+1]) >= n {
			i++
		}
		if len(units[i]) >= n {
			chosen = append(chosen, m.choose(units[i], n, level+1)...)
			break
		}
		chosen = append(chosen, units[0]...)
		n -= len(units[0])
		units = units[1:]
	}
	slices.Sort(chosen)
	return chosen
}

// place gives some nodes, whose graph is g, as many places. Both ascend. grid is set if g is a grid's graph.
func (m *mapping) place(g *Graph, grid *Grid, nodes, places []int32, level int) {
	if len(nodes) == 0 {
		return
	}
	if level == len(m.paths[0]) {
		m.settle(nodes, places)
		return
	}
	units := m.units(places, level)
	switch len(units) {
	case 1:
		m.place(g, grid, nodes, places, level+1)
		return
	case len(places): // all are apart, whoever is where
		m.settle(nodes, places)
		return
	}
	part, block := m.split(g, grid, units, places)
	m.name(part, nodes, units)
	scratch := none(len(nodes))
	for u, places := range units {
		var local, names []int32
		for i, p := range part {
			if int(p) == u {
				local, names = append(local, int32(i)), append(names, nodes[i])
			}
		}
		m.place(g.induced(local, scratch), block, names, places, level+1)
	}
}

// split parts the nodes among the units. If the parts are equal blocks of a grid, it answers such a block, too.
func (m *mapping) split(g *Graph, grid *Grid, units [][]int32, places []int32) (part []int32, block *Grid) {
	sizes := make([]int, len(units))
	unit := map[int32]int32{} // of a place
	alike := true
	for u, of := range units {
		sizes[u] = len(of)
		alike = alike && len(of) == sizes[0]
		for _, p := range of {
			unit[p] = int32(u)
		}
	}
	from := make([]int32, len(places))
	for i, p := range places {
		from[i] = unit[p]
	}
	part = partition(g, sizes, from, len(m.at))
	if grid == nil || !alike {
		return part, nil
	}
	shape := grid.Block(sizes[0])
	if shape == nil {
		return part, nil
	}
	blocks := grid.Blocks(shape)
	switch cut, least := g.Cut(blocks), g.Cut(part); {
	case slices.Equal(blocks, part):
		return blocks, grid.block(shape)
	case cut < least, cut == least && !slices.Equal(part, from):
		refined := slices.Clone(blocks)
		if refine(g, refined, sizes); g.Cut(refined) < cut {
			return refined, nil
		}
		return blocks, grid.block(shape)
	}
	return part, nil
}

// name renumbers parts among units of the same size, so that many nodes stay in the unit of their own place.
func (m *mapping) name(part, nodes []int32, units [][]int32) {
	unit := map[int32]int32{}
	for u, places := range units {
		for _, p := range places {
			unit[p] = int32(u)
		}
	}
	type pair struct{ part, unit int32 }
	count := map[pair]int{}
	for i, v := range nodes {
		if u, ok := unit[v]; ok && len(units[u]) == len(units[part[i]]) {
			count[pair{part[i], u}]++
		}
	}
	pairs := make([]pair, 0, len(count))
	for p := range count {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(count[b]-count[a], int(a.part-b.part), int(a.unit-b.unit))
	})
	to, taken := none(len(units)), make([]bool, len(units))
	for _, p := range pairs {
		if to[p.part] < 0 && !taken[p.unit] {
			to[p.part], taken[p.unit] = p.unit, true
		}
	}
	free := map[int][]int32{} // by size
	for u, t := range taken {
		if !t {
			free[len(units[u])] = append(free[len(units[u])], int32(u))
		}
	}
	for p := range to {
		if to[p] < 0 {
			of := free[len(units[p])]
			to[p], free[len(units[p])] = of[0], of[1:]
		}
	}
	for i := range part {
		part[i] = to[part[i]]
	}
}

// settle gives nodes the places of one unit, where all are alike: their own if they can have it.
func (m *mapping) settle(nodes, places []int32) {
	var movers, free []int32
	i, j := 0, 0
	for i < len(nodes) || j < len(places) {
		switch {
		case j == len(places) || i < len(nodes) && nodes[i] < places[j]:
			movers = append(movers, nodes[i])
			i++
		case i == len(nodes) || places[j] < nodes[i]:
			free = append(free, places[j])
			j++
		default:
			m.at[nodes[i]] = places[j]
			i, j = i+1, j+1
		}
	}
	for k, v := range movers {
		m.at[v] = free[k]
	}
}
