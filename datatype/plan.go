package datatype

// A Plan is the layout of one element for whoever moves elements without a Cursor: loops around a block, or a list of
// blocks. At is where it begins, in bytes from the element's address. In the packed form the blocks follow each other.
type Plan struct {
	At   int64
	Nest // if Offs is nil: the block, and the loops around it

	Offs  []int64 // from there to each block, in units of Scale bytes
	Scale int64
	Lens  []int64 // each block has so many times Block bytes, Least to Most of them; nil: each has Block
	Least int64
	Most  int64
}

// planBlocks is how many blocks of a layout that is neither loops nor one list are listed one by one.
const planBlocks = 16

// Plan returns the plan of a committed type's native form; false if it has no data or is not that simple. The lists
// are not to be changed.
func (t *Type) Plan() (Plan, bool) {
	p := t.program(Native)
	if p.root == nil || t.view != nil {
		return Plan{}, false
	}
	plan := Plan{At: p.at}
	switch nd := p.root; {
	case plan.loops(nd):
	case nd.op == opAt && nd.child.op == opRun:
		plan.Offs, plan.Scale, plan.Block = nd.offs, nd.scale, nd.child.size
	case nd.runsOnly():
		plan.Offs, plan.Scale, plan.Lens, plan.Block = nd.offs, nd.scale, nd.lens, nd.child.size
		plan.Least, plan.Most = nd.least*nd.child.size, nd.most*nd.child.size
	case nd.runs <= planBlocks:
		plan.blocks(nd)
	default:
		return Plan{}, false
	}
	return plan, true
}

// loops describes a layout that is loops around a run.
func (p *Plan) loops(nd *node) bool {
	var dims [MaxDims]Dim
	depth := 0
	for ; nd.op == opLoop && depth < MaxDims; nd = nd.child {
		dims[depth] = Dim{nd.n, nd.stride, nd.child.size}
		depth++
	}
	if nd.op != opRun {
		return false
	}
	p.arrange(dims[:depth], nd.kind, nd.n)
	return true
}

// blocks lists the runs of a layout one by one.
func (p *Plan) blocks(nd *node) {
	var l Runs
	l.span(nd, 0, 0, nd.size)
	lists := make([]int64, 2*l.N)
	p.Offs, p.Lens, p.Scale, p.Block, p.Least = lists[:l.N], lists[l.N:], 1, 1, l.Len[0]
	copy(p.Offs, l.Off[:l.N])
	copy(p.Lens, l.Len[:l.N])
	for _, n := range p.Lens {
		p.Least, p.Most = min(p.Least, n), max(p.Most, n)
	}
}
