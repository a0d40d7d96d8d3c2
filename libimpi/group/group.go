// Package group is sets of processes as MPI orders and combines them (MPI 5.0, 7.3).
package group

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// Group is an ordered set of processes, named by their ranks in MPI_COMM_WORLD. It never changes.
//
// Groups of evenly spaced processes, which most are, are kept as (first, stride, count). Others keep a list, and the
// way back from world rank to rank once that is asked for: a table if the world ranks lie close together, else a map.
// All operations take time linear in the sizes of the groups, the forms with ranges less if the result is even.
type Group struct {
	count  int
	first  int32
	stride int32   // not 0; may be negative
	list   []int32 // world rank of each member; nil if they are even
	back   atomic.Pointer[inverse]
}

// inverse finds the rank of a world rank in a group with a list.
type inverse struct {
	low    int32
	dense  []int32 // by world rank - low: rank + 1, 0 where there is none
	sparse map[int32]int32
}

// New makes a group of distinct world ranks; it keeps the slice.
func New(world []int32) *Group {
	switch len(world) {
	case 0:
		return &Group{stride: 1}
	case 1:
		return &Group{count: 1, first: world[0], stride: 1}
	}
	stride := world[1] - world[0]
	for i, w := range world {
		if w != world[0]+int32(i)*stride {
			return &Group{count: len(world), list: world}
		}
	}
	return even(len(world), world[0], stride)
}

// even is the group of count processes from first on.
func even(count int, first, stride int32) *Group {
	if count < 2 {
		stride = 1
	}
	return &Group{count: count, first: first, stride: stride}
}

// Empty is MPI_GROUP_EMPTY.
var Empty = New(nil)

// Error is what is wrong with ranks that a program has given.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

func errorf(class int, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Size is the number of members.
func (g *Group) Size() int { return g.count }

// World is the rank in MPI_COMM_WORLD of the member with the given rank.
func (g *Group) World(rank int) int32 {
	if g.list != nil {
		return g.list[rank]
	}
	return g.first + int32(rank)*g.stride
}

// Worlds is the world rank of each member, in memory of the caller.
func (g *Group) Worlds() []int32 {
	world := make([]int32, g.count)
	for i := range world {
		world[i] = g.World(i)
	}
	return world
}

// Rank is the rank in the group of the process with the given world rank, or MPI_UNDEFINED.
func (g *Group) Rank(world int32) int {
	if g.list != nil {
		return g.inverse().rank(world)
	}
	d := world - g.first
	if g.stride != 1 {
		if d%g.stride != 0 {
			return abi.MPI_UNDEFINED
		}
		d /= g.stride
	}
	if d < 0 || int(d) >= g.count {
		return abi.MPI_UNDEFINED
	}
	return int(d)
}

func (v *inverse) rank(world int32) int {
	if v.sparse != nil {
		if r, ok := v.sparse[world]; ok {
			return int(r)
		}
		return abi.MPI_UNDEFINED
	}
	if i := int(world) - int(v.low); i >= 0 && i < len(v.dense) && v.dense[i] != 0 {
		return int(v.dense[i]) - 1
	}
	return abi.MPI_UNDEFINED
}

// inverse makes the way back when it is first needed. Two threads may both make it.
func (g *Group) inverse() *inverse {
	if v := g.back.Load(); v != nil {
		return v
	}
	low, high := g.list[0], g.list[0]
	for _, w := range g.list {
		low, high = min(low, w), max(high, w)
	}
	v := &inverse{low: low}
	if span := int(high) - int(low) + 1; span <= 8*g.count {
		v.dense = make([]int32, span)
		for i, w := range g.list {
			v.dense[w-low] = int32(i) + 1
		}
	} else {
		v.sparse = make(map[int32]int32, g.count)
		for i, w := range g.list {
			v.sparse[w] = int32(i)
		}
	}
	g.back.Store(v)
	return v
}

// Compare returns MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
func (g *Group) Compare(o *Group) int {
	if g.count != o.count {
		return abi.MPI_UNEQUAL
	}
	if g == o || g.list == nil && o.list == nil && g.first == o.first && g.stride == o.stride {
		return abi.MPI_IDENT
	}
	result := abi.MPI_IDENT
	for i := range g.count {
		w := g.World(i)
		if o.World(i) == w {
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
	return o.Rank(g.World(rank))
}

// Incl is the group of the given ranks, in their order. The caller has checked that they are in range.
func (g *Group) Incl(ranks []int) (*Group, error) {
	seen := make([]bool, g.count)
	world := make([]int32, len(ranks))
	for i, r := range ranks {
		if seen[r] {
			return nil, errorf(abi.MPI_ERR_RANK, "rank %d stands twice in the list", r)
		}
		seen[r] = true
		world[i] = g.World(r)
	}
	return New(world), nil
}

// Excl is the group without the given ranks, in its own order.
func (g *Group) Excl(ranks []int) (*Group, error) {
	out := make([]bool, g.count)
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
	for i := range g.count {
		if keep(i) {
			world = append(world, g.World(i))
		}
	}
	return New(world)
}

// Union is g followed by the members of o that are not in g.
func (g *Group) Union(o *Group) *Group {
	world := g.Worlds()
	for i := range o.count {
		if w := o.World(i); g.Rank(w) == abi.MPI_UNDEFINED {
			world = append(world, w)
		}
	}
	return New(world)
}

// Intersection is the members of g that are in o, in g's order.
func (g *Group) Intersection(o *Group) *Group {
	return g.filter(func(i int) bool { return o.Rank(g.World(i)) != abi.MPI_UNDEFINED })
}

// Difference is the members of g that are not in o, in g's order.
func (g *Group) Difference(o *Group) *Group {
	return g.filter(func(i int) bool { return o.Rank(g.World(i)) == abi.MPI_UNDEFINED })
}

// Range is a (first, last, stride) triplet of ranks (MPI 5.0, 7.3.2).
type Range struct{ First, Last, Stride int }

// length is the number of ranks that a range stands for, after a look at them.
func (t Range) length(g *Group) (int, error) {
	n := 0
	switch {
	case t.Stride == 0:
		return 0, errorf(abi.MPI_ERR_ARG, "stride 0 in range (%d, %d, 0)", t.First, t.Last)
	case t.First < 0 || t.First >= g.count:
		return 0, errorf(abi.MPI_ERR_RANK, "range (%d, %d, %d) begins outside the group of %d",
			t.First, t.Last, t.Stride, g.count)
	case t.Stride > 0 && t.Last >= t.First || t.Stride < 0 && t.Last <= t.First:
		n = (t.Last-t.First)/t.Stride + 1
	}
	if last := t.First + (n-1)*t.Stride; n > 0 && (last < 0 || last >= g.count) {
		return 0, errorf(abi.MPI_ERR_RANK, "range (%d, %d, %d) leaves the group of %d", t.First, t.Last, t.Stride, g.count)
	}
	return n, nil
}

// ranges expands triplets into the ranks they stand for.
func (g *Group) ranges(triplets []Range) ([]int, error) {
	var ranks []int
	for _, t := range triplets {
		n, err := t.length(g)
		if err != nil {
			return nil, err
		}
		if len(ranks)+n > g.count {
			return nil, errorf(abi.MPI_ERR_RANK, "the ranges stand for more ranks than the group's %d: some twice", g.count)
		}
		for i := range n {
			ranks = append(ranks, t.First+i*t.Stride)
		}
	}
	return ranks, nil
}

// RangeIncl is Incl of ranges. One range of an even group is not expanded.
func (g *Group) RangeIncl(triplets []Range) (*Group, error) {
	if len(triplets) == 1 && g.list == nil {
		t := triplets[0]
		n, err := t.length(g)
		if err != nil {
			return nil, err
		}
		return even(n, g.World(t.First), int32(t.Stride)*g.stride), nil
	}
	ranks, err := g.ranges(triplets)
	if err != nil {
		return nil, err
	}
	return g.Incl(ranks)
}

// RangeExcl is Excl of ranges.
func (g *Group) RangeExcl(triplets []Range) (*Group, error) {
	ranks, err := g.ranges(triplets)
	if err != nil {
		return nil, err
	}
	return g.Excl(ranks)
}

// Beyond reports whether a member's number is at least n.
func (g *Group) Beyond(n int32) bool {
	if g.list == nil {
		return g.count > 0 && max(g.first, g.first+int32(g.count-1)*g.stride) >= n
	}
	return slices.Max(g.list) >= n
}
