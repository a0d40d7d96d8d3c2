package simulate

import (
	"fmt"
	"math"
	"sync"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

// A Case is a call of an operation of package coll.
type Case struct {
	// Operation and Algorithm are names that choose.Choose knows; no algorithm: the one that is chosen by default.
	Operation, Algorithm string
	Ranks                int
	// Bytes are those of the vector of a rank, or of one block.
	Bytes int64
	Root  int
	// InOrder says that the operation of a reduction does not commute.
	InOrder bool
	// Machines are where the ranks know that they are; nil: they do not.
	Machines *coll.Machines
}

// Placed are p ranks on machines of spans[0] each, in clusters of spans[1] ranks each, and so on: as in a Hierarchy.
func Placed(p int, spans ...int) *coll.Machines {
	var all, below *coll.Machines
	each := 1
	for _, span := range spans {
		number := make([]int32, (p+each-1)/each)
		for i := range number {
			number[i] = int32(i / (span / each))
		}
		m := coll.NewMachines(number)
		if m == nil {
			break
		}
		if all == nil {
			all = m
		} else {
			below.Outer = m
		}
		below, each = m, span
	}
	return all
}

// Clients are Placed ranks where the last of several spans is that of an IMPI client, far from the others.
func Clients(p int, spans ...int) *coll.Machines {
	m := Placed(p, spans...)
	if m != nil && m.Outer != nil {
		m.Outer.Distant = true
	}
	return m
}

func (k Case) String() string {
	name := k.Operation
	if k.Algorithm != "" {
		name += ":" + k.Algorithm
	}
	return fmt.Sprintf("%s of %d bytes among %d ranks", name, k.Bytes, k.Ranks)
}

// calls make the operations of package coll, with vectors or blocks of n bytes.
var calls = map[string]func(c *Rank, k *Case) error{
	"barrier": func(c *Rank, k *Case) error { return coll.Barrier(c) },
	"bcast":   func(c *Rank, k *Case) error { return coll.Bcast(c, c.Buf(k.Bytes), k.Root) },
	"reduce": func(c *Rank, k *Case) error {
		return coll.Reduce(c, c.Buf(k.Bytes), c.Buf(k.Bytes), k.op(), k.Root)
	},
	"allreduce": func(c *Rank, k *Case) error { return coll.Allreduce(c, c.Buf(k.Bytes), c.Buf(k.Bytes), k.op()) },
	"scan":      func(c *Rank, k *Case) error { return coll.Scan(c, c.Buf(k.Bytes), c.Buf(k.Bytes), k.op()) },
	"exscan":    func(c *Rank, k *Case) error { return coll.Exscan(c, c.Buf(k.Bytes), c.Buf(k.Bytes), k.op()) },
	"reduce_scatter": func(c *Rank, k *Case) error {
		return coll.ReduceScatterBlock(c, c.Blocks(k.Bytes), c.Buf(k.Bytes), k.op())
	},
	"gather":  func(c *Rank, k *Case) error { return coll.Gather(c, c.Buf(k.Bytes), c.Blocks(k.Bytes), k.Root) },
	"scatter": func(c *Rank, k *Case) error { return coll.Scatter(c, c.Blocks(k.Bytes), c.Buf(k.Bytes), k.Root) },
	"gatherv": func(c *Rank, k *Case) error {
		return coll.Gatherv(c, c.Buf(k.Bytes), c.varying(k.Bytes), k.Root)
	},
	"scatterv": func(c *Rank, k *Case) error {
		return coll.Scatterv(c, c.varying(k.Bytes), c.Buf(k.Bytes), k.Root)
	},
	"allgather":  func(c *Rank, k *Case) error { return coll.Allgather(c, c.Buf(k.Bytes), c.Blocks(k.Bytes)) },
	"allgatherv": func(c *Rank, k *Case) error { return coll.Allgatherv(c, c.Buf(k.Bytes), c.varying(k.Bytes)) },
	"alltoall":   func(c *Rank, k *Case) error { return coll.Alltoall(c, c.Blocks(k.Bytes), c.Blocks(k.Bytes)) },
	"alltoallv":  func(c *Rank, k *Case) error { return coll.Alltoallv(c, c.varying(k.Bytes), c.varying(k.Bytes)) },
	"neighbors":  neighbors,
}

// Neighbors is how many neighbors each rank has in a neighborhood collective: those that touch it in a grid of three
// dimensions, which is closed at all sides. Where the grid has few ranks, they may be the same one, or the rank itself.
const Neighbors = 26

// neighbors is MPI_Neighbor_alltoall in such a grid.
func neighbors(c *Rank, k *Case) error {
	g := gridOf(k.Ranks)
	around := g.around(c.Rank())
	e, err := coll.NewEdges(c.Rank(), around, around, false)
	if err != nil {
		return err
	}
	if k.Machines != nil {
		of := make([]int32, k.Ranks)
		for r := range of {
			of[r] = int32(k.Machines.Of(r))
		}
		e.Plan, _ = e.PlanFor(c.Rank(), of, g.around)
	}
	send, recv := c.Buf(Neighbors*k.Bytes), c.Buf(Neighbors*k.Bytes)
	send.Count, recv.Count = k.Bytes, k.Bytes
	out, in := coll.Even(send), coll.Even(recv)
	return coll.Neighbors(c, e, &out, &in)
}

// grid has three dimensions; ranks run through it row by row.
type grid [3]int

// gridOf makes the dimensions as equal as divisors of p allow, the first one the longest.
func gridOf(p int) (g grid) {
	for i := 2; i > 0; i-- {
		g[i] = 1
		for n := 1; n <= p; n++ {
			if whole := math.Pow(float64(n), float64(i+1)); p%n == 0 && whole <= float64(p)*(1+1e-9) {
				g[i] = n
			}
		}
		p /= g[i]
	}
	g[0] = p
	return g
}

// around are the neighbors of a rank.
func (g grid) around(rank int) (all []int32) {
	at := grid{rank / (g[1] * g[2]), rank / g[2] % g[1], rank % g[2]}
	for i := range 27 {
		if i == 13 {
			continue // the rank itself
		}
		var to grid
		for d, step := range [3]int{i/9 - 1, i/3%3 - 1, i%3 - 1} {
			to[d] = (at[d] + step + g[d]) % g[d]
		}
		all = append(all, int32((to[0]*g[1]+to[1])*g[2]+to[2]))
	}
	return all
}

// Blocks returns a buffer with room for a block of n bytes for each rank. Its Count is that of one.
func (r *Rank) Blocks(n int64) coll.Buf {
	b := r.Buf(n * int64(r.Size()))
	b.Count = n
	return b
}

// varying is Blocks for the v-variants. All blocks are of the same length.
func (r *Rank) varying(n int64) coll.VBuf {
	if p := r.Size(); len(r.layout.counts) != p || r.layout.counts[0] != n {
		counts, displs := make([]int64, p), make([]int64, p)
		for i := range p {
			counts[i], displs[i] = n, int64(i)*n
		}
		*r.layout = layout{counts, displs}
	}
	b := r.Blocks(n)
	return coll.VBuf{Base: b.Base, Counts: r.layout.counts, Displs: r.layout.displs, Type: b.Type}
}

// layout is that of blocks of one length, which all ranks share.
type layout struct{ counts, displs []int64 }

// Reduction is an operation on bytes that is never carried out.
type Reduction struct {
	coll.Op
	InOrder bool
}

// Commutative implements coll.Op.
func (o Reduction) Commutative() bool { return !o.InOrder }

func (k *Case) op() coll.Op { return Reduction{InOrder: k.InOrder} }

// choosing is held while algorithms are chosen, which is for the whole process.
var choosing sync.Mutex

// Record has the ranks make the call. most is as in Record. It returns nil if the algorithm cannot be used.
func (k Case) Record(most int64) (*Schedules, error) {
	call := calls[k.Operation]
	if call == nil {
		return nil, fmt.Errorf("there is no operation %q", k.Operation)
	}
	choosing.Lock()
	defer choosing.Unlock()
	if k.Algorithm != "" {
		choose.Count(true)
		if err := choose.Choose(k.Operation + ":" + k.Algorithm); err != nil {
			return nil, err
		}
		defer choose.Choose("")
	}
	s, err := Record(k.Ranks, most, func(c *Rank) error {
		c.Place(k.Machines)
		return call(c, &k)
	})
	if err != nil {
		return nil, fmt.Errorf("%v: %w", k, err)
	}
	if k.Algorithm != "" && choose.Find(k.Operation).Used(k.Algorithm) == 0 {
		return nil, nil
	}
	return s, nil
}
