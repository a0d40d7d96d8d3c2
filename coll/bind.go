package coll

import (
	"fmt"
	"math"

	"github.com/libimpi/libimpi/coll/choose"
)

// operation is a collective operation with the functions, of type F, that carry out its algorithms.
type operation[F any] struct {
	*choose.Operation
	functions []F // in the order of its algorithms
}

// bind gives each algorithm of an operation its function: all but slots, which callers of this package carry out. A
// function is nil where the operation is made of others (machines.go), which a list that they depend on cannot name.
func bind[F any](o *choose.Operation, byName map[string]F) operation[F] {
	all := operation[F]{o, make([]F, len(o.Algorithms))}
	for i, a := range o.Algorithms {
		f, bound := byName[a.Name]
		if all.functions[i] = f; !bound && a.Name != choose.Slots {
			panic(fmt.Sprintf("%s has no function for its algorithm %s", o.Name, a.Name))
		}
	}
	if len(byName) != len(o.Algorithms)-1 {
		panic(fmt.Sprintf("%s has a function for an algorithm that package choose does not name", o.Name))
	}
	return all
}

// pick returns the function for a case.
func (o *operation[F]) pick(k choose.Case) F { return o.functions[o.Pick(k)] }

// caseOf is the case of an operation on so many bytes.
func caseOf(c Comm, bytes int64) choose.Case {
	k := unsizedOf(c)
	k.Bytes, k.Vendor = bytes, bytes <= math.MaxInt32 && ByVendor(c)
	if b, ok := c.(Boarded); ok {
		on := b.Board()
		k.Board, k.Crowded, k.TwoCores = on.Part, k.Crowded || on.Crowded, on.TwoCores
	}
	return k
}

// unsizedOf is the case of an operation on blocks of which a rank does not know all sizes.
func unsizedOf(c Comm) choose.Case {
	k := choose.Case{Ranks: c.Size(), Distant: distant(c)}
	if m := machinesOf(c); m != nil {
		k.Distant = m.spans()
		k.Machines, k.Ordered, k.Aligned = true, m.ordered, m.ordered && m.Outer == nil && !m.Distant
		k.Together, k.Ragged, k.Crowded = k.Ranks/m.Count(), m.each == 0, m.Crowded
	}
	return k
}

// reductionOf is the case of a reduction. A vector goes by the board if its elements have no gaps, and two of them fit
// a contribution; functions of the program may not be called wherever operations of a board are carried out.
func reductionOf(c Comm, vector Buf, op Op) choose.Case {
	k := caseOf(c, vector.Size())
	k.Count, k.Commutes, k.Vendor = vector.Count, op.Commutative(), k.Vendor && leavable(vector, op)
	if k.Board > 0 && (op.OfProgram() || 2*vector.Type.Size() > k.Board || !vector.Type.Plain().Dense()) {
		k.Board = 0
	}
	return k
}
