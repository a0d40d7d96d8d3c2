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
	opVary           // at each of offs lens[i] times child
	opList           // kids[i] at offs[i]
)

type node struct {
	op     op
	kind   kind
	size   int64 // packed bytes
	mem    int64 // run: bytes in memory
	runs   int64 // in the whole layout
	n      int64 // run: units; loop: repetitions
	stride int64 // loop, and vary: from one child to the next
	child  *node
	*list  // at, vary, list
}

// list is what a node has that is not regular. Its arrays are never changed, and often those of the Type.
type list struct {
	offs   []int64 // from the node to each part
	scale  int64   // bytes in a unit of offs
	lens   []int64 // vary: children in each block
	least  int64   // vary: the smallest and the largest of lens
	most   int64
	starts []int64 // list: packed offset of each kid, and size; vary: packed offset of every stretch-th block
	kids   []*node // list
}

// stretch is the number of blocks of a vary node among which a position is looked for one by one.
const stretch = 32

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
		return old.at, repeat(repeat(old.root, t.blocklen, t.old.extent()), t.count, t.stride*t.scale)
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
	return &node{op: opRun, kind: k, n: n, size: n * k.packed(), mem: n * k.mem(), runs: 1}
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
		return &node{op: opLoop, n: n * c.n, stride: stride / c.n, child: c.child, size: n * c.size, runs: n * c.runs}
	}
	return &node{op: opLoop, n: n, stride: stride, child: c, size: n * c.size, runs: n * c.runs}
}

func (t *Type) compileBlocks(c *node) (at int64, root *node) {
	if c == nil {
		return 0, nil
	}
	extent := t.old.extent()
	offs, lens := t.disps, t.lens
	if !t.apart() {
		offs, lens = t.joined()
	}
	switch {
	case len(offs) == 0:
		return 0, nil
	case lens == nil:
		return spread(repeat(c, t.blocklen, extent), offs, t.scale)
	case allEqual(lens):
		return spread(repeat(c, lens[0], extent), offs, t.scale)
	}
	return 0, vary(c, offs, lens, t.scale, extent)
}

// apart tells whether no block is empty or continues the one before.
func (t *Type) apart() bool {
	if t.lens == nil && t.blocklen == 0 {
		return false
	}
	extent := t.old.extent()
	if t.lens == nil && t.scale != 0 {
		touching, gap := t.blocklen*extent/t.scale, t.blocklen*extent%t.scale
		for i := 1; gap == 0 && i < len(t.disps); i++ {
			if t.disps[i]-t.disps[i-1] == touching {
				return false
			}
		}
		return true
	}
	for i, d := range t.disps {
		n := t.blockLen(i)
		if n == 0 || i+1 < len(t.disps) && d*t.scale+n*extent == t.disps[i+1]*t.scale {
			return false
		}
	}
	return true
}

// joined lists the blocks that are not empty, with those that continue each other made one.
func (t *Type) joined() (offs, lens []int64) {
	extent := t.old.extent()
	offs, lens = make([]int64, 0, len(t.disps)), make([]int64, 0, len(t.disps))
	for i, d := range t.disps {
		n := t.blockLen(i)
		last := len(offs) - 1
		switch {
		case n == 0:
		case last >= 0 && offs[last]*t.scale+lens[last]*extent == d*t.scale:
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

// spread is c at each offset, in units of scale bytes.
func spread(c *node, offs []int64, scale int64) (at int64, root *node) {
	if len(offs) == 1 {
		return offs[0] * scale, c
	}
	step := offs[1] - offs[0]
	for i := 2; i < len(offs); i++ {
		if offs[i]-offs[i-1] != step {
			n := int64(len(offs))
			return 0, &node{op: opAt, child: c, size: n * c.size, runs: n * c.runs, list: &list{offs: offs, scale: scale}}
		}
	}
	return offs[0] * scale, repeat(c, int64(len(offs)), step*scale)
}

func vary(c *node, offs, lens []int64, scale, stride int64) *node {
	nd := &node{op: opVary, child: c, stride: stride,
		list: &list{offs: offs, scale: scale, lens: lens, least: lens[0], most: lens[0]}}
	nd.starts = make([]int64, 0, (len(lens)+stretch-1)/stretch)
	for i, n := range lens {
		if i%stretch == 0 {
			nd.starts = append(nd.starts, nd.size)
		}
		nd.size += n * c.size
		nd.least, nd.most = min(nd.least, n), max(nd.most, n)
	}
	if nd.runs = int64(len(lens)); c.op != opRun || stride != c.mem {
		nd.runs = nd.size / c.size * c.runs
	}
	return nd
}

func (t *Type) compileFields(rep Rep) (at int64, root *node) {
	if record, places := t.sameRecords(rep); record != nil {
		return spread(record, places, 1)
	}
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
	case allSame(kids):
		return spread(kids[0], offs, 1)
	case len(kids) > shortList && allRuns(kids):
		return 0, varyingRuns(offs, kids)
	}
	nd := &node{op: opList, list: &list{offs: offs, scale: 1, kids: kids, starts: make([]int64, len(kids)+1)}}
	for i, kid := range kids {
		nd.starts[i] = nd.size
		nd.size += kid.size
		nd.runs += kid.runs
	}
	nd.starts[len(kids)] = nd.size
	return 0, nd
}

// sameRecords is the structure that all fields are, and where; nil if they are anything else.
func (t *Type) sameRecords(rep Rep) (record *node, offs []int64) {
	for i, old := range t.olds {
		p := old.program(rep)
		kid := repeat(p.root, t.lens[i], old.extent())
		switch c := (comparison{}); {
		case kid == nil:
			continue
		case kid.op != opList, record != nil && !c.same(kid, record):
			return nil, nil
		}
		record, offs = kid, append(offs, t.disps[i]+p.at)
	}
	return record, offs
}

// appendField appends kid, or lengthens the run before it, or takes over the fields of a list.
func appendField(offs []int64, kids []*node, at int64, kid *node) ([]int64, []*node) {
	if kid.op == opList && len(kid.kids) <= shortList {
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

func allSame(kids []*node) bool {
	for _, k := range kids {
		if c := (comparison{}); !c.same(k, kids[0]) {
			return false
		}
	}
	return true
}

// allRuns tells whether all kids are runs of one kind.
func allRuns(kids []*node) bool {
	for _, k := range kids {
		if k.op != opRun || k.kind != kids[0].kind {
			return false
		}
	}
	return true
}

// varyingRuns is runs of one kind at offsets in bytes: blocks of units, without a node for each.
func varyingRuns(offs []int64, runs []*node) *node {
	lens := make([]int64, len(runs))
	for i, run := range runs {
		lens[i] = run.n
	}
	unit := newRun(runs[0].kind, 1)
	return vary(unit, offs, lens, 1, unit.mem)
}

// comparison finds whether two nodes describe the same layout, as far as short lists and not too many of them show:
// parts may be shared on every level, so that a whole comparison could take as many steps as the layout has runs.
type comparison struct{ steps int }

func (c *comparison) same(a, b *node) bool {
	if a == b {
		return true
	}
	if c.steps++; c.steps > longComparison || a == nil || b == nil {
		return false
	}
	if a.op != b.op || a.kind != b.kind || a.n != b.n || a.size != b.size || (a.list == nil) != (b.list == nil) {
		return false
	}
	if !(a.runsOnly() && b.runsOnly() && a.child.kind == b.child.kind) &&
		(a.stride != b.stride || !c.same(a.child, b.child)) {
		return false
	}
	return a.list == nil || c.sameList(a, b)
}

// runsOnly tells whether nd is blocks without gaps inside, whatever the units that their lengths are in.
func (nd *node) runsOnly() bool {
	return nd.op == opVary && nd.child.op == opRun && nd.stride == nd.child.mem
}

func (c *comparison) sameList(a, b *node) bool {
	if len(a.offs) != len(b.offs) || len(a.offs) > shortList {
		return false
	}
	for i := range a.offs {
		switch {
		case a.op == opList && (a.offs[i] != b.offs[i] || !c.same(a.kids[i], b.kids[i])),
			a.op != opList && a.offs[i]*a.scale != b.offs[i]*b.scale,
			a.op == opVary && a.lens[i]*a.child.size != b.lens[i]*b.child.size:
			return false
		}
	}
	return true
}

// These bound the lists that are compared or taken over and the nodes that are compared, so that compiling stays
// linear.
const (
	shortList      = 16
	longComparison = 64
)

// kid is the index of the kid of a list that packed byte pos, below size, is in.
func (nd *node) kid(pos int64) int {
	return sort.Search(len(nd.kids), func(i int) bool { return nd.starts[i+1] > pos })
}

// block is the index of the block that packed byte pos, below size, is in, and where that begins.
func (nd *node) block(pos int64) (i int, start int64) {
	i = stretch * (sort.Search(len(nd.starts), func(i int) bool { return nd.starts[i] > pos }) - 1)
	for start = nd.starts[i/stretch]; ; i++ {
		end := start + nd.lens[i]*nd.child.size
		if pos < end {
			return i, start
		}
		start = end
	}
}
