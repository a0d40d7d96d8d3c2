package datatype

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// bytesOf lists where each byte of the packed form of an element is, by the type map.
func (m *model) bytesOf() []int64 {
	var list []int64
	for _, e := range m.entries {
		for i := range e.basic.size {
			list = append(list, e.at+i)
		}
	}
	return list
}

// bytesOf lists the same by a plan.
func (p *Plan) bytesOf(size int64) []int64 {
	list := make([]int64, size)
	if p.Offs == nil {
		p.loop(list, p.Dims[:p.Depth], p.At, 0)
		return list
	}
	to := int64(0)
	for i, off := range p.Offs {
		n := p.Block
		if p.Lens != nil {
			n *= p.Lens[i]
		}
		for k := range n {
			list[to] = p.At + off*p.Scale + k
			to++
		}
	}
	return list[:to]
}

func (p *Plan) loop(list []int64, dims []Dim, at, to int64) {
	if len(dims) == 0 {
		for i := range p.Block {
			list[to+i] = at + i
		}
		return
	}
	for i := range dims[0].N {
		p.loop(list, dims[1:], at+i*dims[0].Mem, to+i*dims[0].Buf)
	}
}

func TestAPlanPutsEachByteWhereTheTypeMapHasIt(t *testing.T) {
	loops, lists, varied := 0, 0, 0
	check(t, 4000, func(r *rand.Rand, m *model) error {
		p, ok := m.t.Plan()
		if !ok {
			if want := m.bytesOf(); len(want) > 0 && m.t.program(Native).root.runs <= planBlocks {
				return fmt.Errorf("no plan for %d blocks", m.t.program(Native).root.runs)
			}
			return nil
		}
		if got, want := p.bytesOf(m.t.Size()), m.bytesOf(); !slices.Equal(got, want) {
			return fmt.Errorf("plan %+v\ngives %v\nwant  %v", p, got, want)
		}
		switch {
		case p.Offs == nil:
			loops++
		case p.Lens == nil:
			lists++
		default:
			varied++
			if p.Least != slices.Min(p.Lens)*p.Block || p.Most != slices.Max(p.Lens)*p.Block {
				return fmt.Errorf("blocks of %v times %d, from %d to %d", p.Lens, p.Block, p.Least, p.Most)
			}
		}
		return nil
	})
	if loops < 100 || lists < 20 || varied < 100 {
		t.Errorf("%d loops, %d lists of equal blocks, %d of others: the drawing misses some", loops, lists, varied)
	}
}

func TestWhatIsNotSimpleHasNoPlan(t *testing.T) {
	must := func(t *Type, err error) *Type {
		if err != nil {
			panic(err)
		}
		return t
	}
	double := Named(abi.MPI_DOUBLE)
	pair := must(Hvector(2, 1, 16, double))
	offs := []int64{0, 5, 100, 250, 251, 300, 399, 500, 601}
	for name, c := range map[string]struct {
		t  *Type
		ok bool
	}{
		"nothing":                         {must(Contiguous(0, double)), false},
		"eight blocks in a list of loops": {must(Indexed([]int64{1, 1, 1, 1}, []int64{0, 7, 9, 20}, pair)), true},
		"eighteen":                        {must(IndexedBlock(1, offs, pair)), false},
		"many blocks in one list":         {must(IndexedBlock(1, offs, double)), true},
	} {
		c.t.Commit()
		if _, ok := c.t.Plan(); ok != c.ok {
			t.Errorf("%s: a plan: %v", name, ok)
		}
	}
}
