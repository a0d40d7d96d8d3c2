package datatype

import "sort"

// A program is a type compiled for one representation: a loop tree whose leaves are runs. A node describes
// the memory of its instances relative to an address that its parent computes; constant offsets are hoisted
// to the root. Empty parts are gone, runs that touch are one, a loop of a run without gaps is a run, and
// displacements that are evenly spaced are a loop.
type program struct {
	root *node // nil: no data
	at   int64 // of the root
}

type op uint8

const (
	opRun  op = iota // n units of one kind, without gaps
	opLoop           // n times child, stride bytes apart
	opAt             // child at each of offs
	opVary           // at each of offs several times child; starts holds the packed offset of each
	opList           // kids[i] at offs[i]; starts holds the packed offset of each
)

type node struct {
	op     op
	kind   kind
	size   int64 // packed bytes
	mem    int64 // run: bytes in memory
	n      int64 // run: units; loop: repetitions
	stride int64 // loop, and vary: from one child to the next
	child  *node
	offs   []int64
	starts []int64 // one more than offs: the last is size
	kids   []*node
}

// program compiles t for rep, once.
func (t *Type) program(rep Rep) *program {
	if p := t.compiled[rep].Load(); p != nil {
		return p
	}
	if rep == External32 && t.portable {
		return t.program(Native)
	}
	p := new(program)
	p.at, p.root = t.compile(rep)
	t.compiled[rep].CompareAndSwap(nil, p)
	return t.compiled[rep].Load()
}

func (t *Type) compile(rep Rep) (at int64, root *node) {
	switch t.form {
	case formVector:
		old := t.old.program(rep)
		return old.at, repeat(repeat(old.root, t.blocklen, t.old.extent()), t.count, t.stride)
	case formBlocks:
		old := t.old.program(rep)
		at, root = t.compileBlocks(old.root)
		return at + old.at, root
	case formFields:
		return t.compileFields(rep)
	case formWrap:
		old := t.old.program(rep)
		return old.at, old.root
	}
	if t.size == 0 {
		return 0, nil
	}
	if rep == Native {
		return 0, newRun(kindRaw, t.size)
	}
	return 0, newRun(t.kind, t.units)
}

func newRun(k kind, n int64) *node {
	return &node{op: opRun, kind: k, n: n, size: n * k.packed(), mem: n * k.mem()}
}

// repeat is n times c, stride bytes apart.
func repeat(c *node, n, stride int64) *node {
	switch {
	case c == nil || n == 0:
		return nil
	case n == 1:
		return c
	case c.op == opRun && stride == c.mem:
		return newRun(c.kind, n*c.n)
	case c.op == opLoop && stride == c.n*c.stride:
		return &node{op: opLoop, n: n * c.n, stride: stride / c.n, child: c.child, size: n * c.size}
	}
	return &node{op: opLoop, n: n, stride: stride, child: c, size: n * c.size}
}

func (t *Type) compileBlocks(c *node) (at int64, root *node) {
	if c == nil {
		return 0, nil
	}
	offs, lens := joined(t, t.old.extent())
	switch {
	case len(offs) == 0:
		return 0, nil
	case !allEqual(lens):
		return 0, vary(c, offs, lens, t.old.extent())
	}
	return spread(repeat(c, lens[0], t.old.extent()), offs)
}

// joined lists the blocks that are not empty, with those that continue each other made one.
func joined(t *Type, extent int64) (offs, lens []int64) {
	for i, d := range t.disps {
		n := t.blockLen(i)
		last := len(offs) - 1
		switch {
		case n == 0:
		case last >= 0 && offs[last]+lens[last]*extent == d:
			lens[last] += n
		default:
			offs, lens = append(offs, d), append(lens, n)
		}
	}
	return offs, lens
}

func allEqual(v []int64) bool {
	for _, x := range v {
		if x != v[0] {
			return false
		}
	}
	return true
}

// spread is c at each offset.
func spread(c *node, offs []int64) (at int64, root *node) {
	if len(offs) == 1 {
		return offs[0], c
	}
	step := offs[1] - offs[0]
	for i := 2; i < len(offs); i++ {
		if offs[i]-offs[i-1] != step {
			return 0, &node{op: opAt, n: int64(len(offs)), child: c, offs: offs, size: int64(len(offs)) * c.size}
		}
	}
	return offs[0], repeat(c, int64(len(offs)), step)
}

func vary(c *node, offs, lens []int64, stride int64) *node {
	nd := &node{op: opVary, child: c, offs: offs, stride: stride, starts: make([]int64, len(offs)+1)}
	for i, n := range lens {
		nd.starts[i] = nd.size
		nd.size += n * c.size
	}
	nd.starts[len(offs)] = nd.size
	return nd
}

func (t *Type) compileFields(rep Rep) (at int64, root *node) {
	var offs []int64
	var kids []*node
	for i, old := range t.olds {
		p := old.program(rep)
		if kid := repeat(p.root, t.lens[i], old.extent()); kid != nil {
			offs, kids = appendField(offs, kids, t.disps[i]+p.at, kid)
		}
	}
	switch {
	case len(kids) == 0:
		return 0, nil
	case len(kids) == 1:
		return offs[0], kids[0]
	case sameRuns(kids):
		return spread(kids[0], offs)
	}
	nd := &node{op: opList, offs: offs, kids: kids, starts: make([]int64, len(kids)+1)}
	for i, kid := range kids {
		nd.starts[i] = nd.size
		nd.size += kid.size
	}
	nd.starts[len(kids)] = nd.size
	return 0, nd
}

// appendField appends kid, or lengthens the run before it, or takes over the fields of a list.
func appendField(offs []int64, kids []*node, at int64, kid *node) ([]int64, []*node) {
	if kid.op == opList && len(kid.kids) <= 16 {
		for i, grandkid := range kid.kids {
			offs, kids = appendField(offs, kids, at+kid.offs[i], grandkid)
		}
		return offs, kids
	}
	if last := len(kids) - 1; last >= 0 {
		prev := kids[last]
		if prev.op == opRun && kid.op == opRun && prev.kind == kid.kind && offs[last]+prev.mem == at {
			kids[last] = newRun(kid.kind, prev.n+kid.n)
			return offs, kids
		}
	}
	return append(offs, at), append(kids, kid)
}

func sameRuns(kids []*node) bool {
	for _, k := range kids {
		if k.op != opRun || k.kind != kids[0].kind || k.n != kids[0].n {
			return false
		}
	}
	return true
}

// part is the index of the part that packed byte pos, below size, is in.
func (nd *node) part(pos int64) int {
	return sort.Search(len(nd.offs), func(i int) bool { return nd.starts[i+1] > pos })
}
