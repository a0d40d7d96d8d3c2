package coll

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/relay"
)

// Neighborhood collectives.
//
//	direct    one message along each edge
//	machines  short blocks go from machine to machine in one message for many edges, as a plan says (package relay)

var neighborhoods = bind(choose.Neighbors, map[string]func(s *Scratch, c Comm, e *Edges, send, recv *Blocks) error{
	"direct":   (*Scratch).neighborsDirect,
	"machines": (*Scratch).neighborsByMachine,
})

// Edges are the neighbors of a rank in a virtual topology (MPI 5.0, 8.6): the ranks from which and to which data goes,
// in the order of the blocks. A rank below 0 stands for MPI_PROC_NULL, and a neighbor may be the rank itself, or
// appear several times.
type Edges struct {
	In, Out []int32
	// Grid says that the neighbors come in pairs, of the negative and of the positive direction of a dimension. What is
	// sent in one direction arrives from the other one, also where both neighbors are the same rank. Otherwise data goes
	// along the edges between two ranks in their order.
	Grid bool
	// Plan is for ranks on several machines, of whom all have one; nil: all blocks go directly. Data looks the same in
	// the memory of all of them.
	Plan *relay.Plan

	tags []int // by pair of a grid, so that the directions of one dimension and all dimensions are told apart
	self []int // by In: which Out the rank's own data comes from, -1 if it comes from another rank
	nth  []int // by In, if no grid: how many edges from the same rank stand before
}

// NewEdges makes the Edges of a rank. It is an error if more edges come from the rank itself than go to it.
func NewEdges(rank int, in, out []int32, grid bool) (*Edges, error) {
	e := &Edges{In: in, Out: out, Grid: grid, self: make([]int, len(in))}
	mine := make([]int, 0, 2)
	for i, r := range out {
		if int(r) == rank {
			mine = append(mine, i)
		}
	}
	for i, r := range in {
		e.self[i] = -1
		switch {
		case int(r) != rank:
		case grid:
			e.self[i] = i ^ 1
		case len(mine) == 0:
			return nil, &Error{Class: abi.MPI_ERR_TOPOLOGY,
				Msg: fmt.Sprintf("rank %d is its own source more often than its own destination", rank)}
		default:
			e.self[i], mine = mine[0], mine[1:]
		}
	}
	if grid {
		e.number(rank)
	} else {
		e.nth = make([]int, len(in))
		seen := make(map[int32]int)
		for i, r := range in {
			e.nth[i] = seen[r]
			seen[r]++
		}
	}
	return e, nil
}

// number gives each dimension in which there are other ranks, the same ones at all ranks, a tag for each direction.
func (e *Edges) number(rank int) {
	next := 0
	other := func(r int32) bool { return r >= 0 && int(r) != rank }
	for i := 0; i+1 < len(e.In); i += 2 {
		e.tags = append(e.tags, tagNeighbor+next)
		if other(e.In[i]) || other(e.In[i+1]) {
			next += 2
		}
	}
}

// outTag is the tag of what goes along edge i of Out, inTag of what comes along edge i of In.
func (e *Edges) outTag(i int) int {
	if !e.Grid {
		return tagNeighbor
	}
	return e.tags[i/2] + i%2
}

func (e *Edges) inTag(i int) int {
	if !e.Grid {
		return tagNeighbor
	}
	return e.tags[i/2] + 1 - i%2
}

// PlanFor makes the plan of a rank from the machines of all ranks and the ranks to which the edges of each lead. It
// returns false if the caller's edges contradict these.
func (e *Edges) PlanFor(rank int, machine []int32, out func(rank int) []int32) (*relay.Plan, bool) {
	g := relay.Graph{Rank: rank, Of: machine, Out: out, In: e.In}
	if e.Grid {
		g.Back = func(out int) int32 { return int32(out ^ 1) }
	}
	return relay.New(g)
}

// Neighbors gives block i of send to neighbor Out[i], and takes block i of recv from neighbor In[i]. What belongs to
// MPI_PROC_NULL is left alone. All ranks have blocks of the same kinds, and a plan or none.
func Neighbors(c Comm, e *Edges, send, recv *Blocks) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	k := choose.Case{Ranks: c.Size(), Machines: e.Plan != nil}
	if recv.kind == even {
		k.Bytes = recv.buf.Size()
	}
	err = neighborhoods.pick(k)(s, c, e, send, recv)
	return err
}

// neighborsDirect: one message along each edge, all of them at once.
func (s *Scratch) neighborsDirect(c Comm, e *Edges, send, recv *Blocks) error {
	if err := s.alongEdges(c, e, send, recv, nil); err != nil {
		return err
	}
	return s.Wait(c)
}

// alongEdges starts the messages along all edges, but for those with blocks that x has, and copies the rank's own
// blocks.
func (s *Scratch) alongEdges(c Comm, e *Edges, send, recv *Blocks, x *relayed) error {
	for i, to := range e.Out {
		if to < 0 || int(to) == c.Rank() || x != nil && x.plan.Out[i] && x.short(send.At(i)) {
			continue
		}
		if err := s.Add(c.Isend(send.At(i), int(to), e.outTag(i))); err != nil {
			return err
		}
	}
	for i, from := range e.In {
		if from < 0 || e.self[i] >= 0 || x != nil && x.plan.In[i] && x.short(recv.At(i)) {
			continue
		}
		if err := s.Add(c.Irecv(recv.At(i), int(from), e.inTag(i))); err != nil {
			return err
		}
	}
	return e.copyOwn(c, send, recv)
}

// copyOwn copies along the edges from the rank to itself.
func (e *Edges) copyOwn(c Comm, send, recv *Blocks) error {
	for i, from := range e.self {
		if from < 0 {
			continue
		}
		if err := c.Copy(recv.At(i), send.At(from)); err != nil {
			return err
		}
	}
	return nil
}
