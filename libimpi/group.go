package libimpi

import "github.com/libimpi/libimpi/abi"

// Group is an ordered set of processes, named by their ranks in MPI_COMM_WORLD. It never changes.
type Group struct {
	ranks []int32       // world rank of each member
	index map[int32]int // world rank -> rank in the group; nil while the group is a run of consecutive ranks
	first int32         // of such a run
}

// NewGroup makes a group of distinct world ranks; it keeps the slice.
func NewGroup(world []int32) *Group {
	g := &Group{ranks: world}
	if len(world) == 0 {
		return g
	}
	g.first = world[0]
	for i, w := range world {
		if w != g.first+int32(i) {
			g.index = make(map[int32]int, len(world))
			break
		}
	}
	if g.index != nil {
		for i, w := range world {
			g.index[w] = i
		}
	}
	return g
}

// EmptyGroup is MPI_GROUP_EMPTY.
var EmptyGroup = NewGroup(nil)

// Size is the number of members.
func (g *Group) Size() int { return len(g.ranks) }

// World is the rank in MPI_COMM_WORLD of the member with the given rank.
func (g *Group) World(rank int) int32 { return g.ranks[rank] }

// Rank is the rank in the group of the process with the given world rank, or MPI_UNDEFINED.
func (g *Group) Rank(world int32) int {
	if g.index == nil {
		if i := int(world - g.first); world >= g.first && i < len(g.ranks) {
			return i
		}
		return abi.MPI_UNDEFINED
	}
	if i, ok := g.index[world]; ok {
		return i
	}
	return abi.MPI_UNDEFINED
}

// Compare answers MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
func (g *Group) Compare(o *Group) int {
	if g.Size() != o.Size() {
		return abi.MPI_UNEQUAL
	}
	result := abi.MPI_IDENT
	for i, w := range g.ranks {
		if o.ranks[i] == w {
			continue
		}
		if o.Rank(w) == abi.MPI_UNDEFINED {
			return abi.MPI_UNEQUAL
		}
		result = abi.MPI_SIMILAR
	}
	return result
}

// Translate gives for each rank of g the same process's rank in o: MPI_UNDEFINED if it is not there,
// MPI_PROC_NULL for MPI_PROC_NULL.
func (g *Group) Translate(rank int, o *Group) int {
	if rank == abi.MPI_PROC_NULL {
		return abi.MPI_PROC_NULL
	}
	return o.Rank(g.ranks[rank])
}

// Incl is the group of the given ranks, in their order. The caller has checked that they are in range.
func (g *Group) Incl(ranks []int) (*Group, error) {
	seen := make([]bool, g.Size())
	world := make([]int32, len(ranks))
	for i, r := range ranks {
		if seen[r] {
			return nil, errorf(abi.MPI_ERR_RANK, "rank %d stands twice in the list", r)
		}
		seen[r] = true
		world[i] = g.ranks[r]
	}
	return NewGroup(world), nil
}

// Excl is the group without the given ranks, in its own order.
func (g *Group) Excl(ranks []int) (*Group, error) {
	out := make([]bool, g.Size())
	for _, r := range ranks {
		if out[r] {
			return nil, errorf(abi.MPI_ERR_RANK, "rank %d stands twice in the list", r)
		}
		out[r] = true
	}
	return g.filter(func(rank int) bool { return !out[rank] }), nil
}

func (g *Group) filter(keep func(rank int) bool) *Group {
	var world []int32
	for i, w := range g.ranks {
		if keep(i) {
			world = append(world, w)
		}
	}
	return NewGroup(world)
}

// Union is g followed by the members of o that are not in g.
func (g *Group) Union(o *Group) *Group {
	world := append([]int32(nil), g.ranks...)
	for _, w := range o.ranks {
		if g.Rank(w) == abi.MPI_UNDEFINED {
			world = append(world, w)
		}
	}
	return NewGroup(world)
}

// Intersection is the members of g that are in o, in g's order.
func (g *Group) Intersection(o *Group) *Group {
	return g.filter(func(i int) bool { return o.Rank(g.ranks[i]) != abi.MPI_UNDEFINED })
}

// Difference is the members of g that are not in o, in g's order.
func (g *Group) Difference(o *Group) *Group {
	return g.filter(func(i int) bool { return o.Rank(g.ranks[i]) == abi.MPI_UNDEFINED })
}

// Ranges expands (first, last, stride) triplets into the ranks they stand for (MPI 5.0, 7.3.2).
func (g *Group) Ranges(triplets [][3]int) ([]int, error) {
	var ranks []int
	for _, t := range triplets {
		first, last, stride := t[0], t[1], t[2]
		if stride == 0 {
			return nil, errorf(abi.MPI_ERR_ARG, "stride 0 in range (%d, %d, 0)", first, last)
		}
		if first < 0 || first >= g.Size() {
			return nil, errorf(abi.MPI_ERR_RANK, "range (%d, %d, %d) begins outside the group of %d", first, last, stride, g.Size())
		}
		for r := first; stride > 0 && r <= last || stride < 0 && r >= last; r += stride {
			if r < 0 || r >= g.Size() {
				return nil, errorf(abi.MPI_ERR_RANK, "range (%d, %d, %d) leaves the group of %d", first, last, stride, g.Size())
			}
			ranks = append(ranks, r)
		}
	}
	return ranks, nil
}
