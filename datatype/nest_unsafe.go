package datatype

import "unsafe"

// The sweep moves whole instances. Descending to a leaf it collects the repetition counts on its way, so that each leaf
// is visited once for all its instances (Traff 2010, 7), and puts them into the order that suits the memory: a nest of
// loops around a run. A large nest, list of blocks or run goes to the kernels of the program's language, if there are
// any (Kernels), everything else to those in Go, which are their oracle.

// Dim is a level of a nest of loops: N instances, so many bytes apart in memory and in the packed buffer.
type Dim struct{ N, Mem, Buf int64 }

// MaxDims is the depth of the deepest nest; what is deeper is repeated by the sweep.
const MaxDims = 6

// Nest is loops around a block of so many bytes, the outermost first.
type Nest struct {
	Dims   [MaxDims]Dim
	Depth  int32
	Unpack bool // from buf to mem
	Block  int64
}

// Kernels move large pieces faster than Go does. The piece begins at mem + at and buf + to; mem alone may be no
// address. What is written does not overlap anything else.
type Kernels struct {
	// Nest moves blocks in loops.
	Nest func(mem, buf unsafe.Pointer, at, to int64, nest Nest)
	// Listed moves a block from or to mem + at + offs[i]*scale, for each i; in the buffer they follow each other.
	Listed func(mem, buf unsafe.Pointer, at, to int64, offs []int64, scale int64, block int64, unpack bool)
	// Varied is Listed for blocks of lens[i]*unit bytes, which are between least and most.
	Varied func(mem, buf unsafe.Pointer, at, to int64, offs, lens []int64, scale, unit, least, most int64, unpack bool)
}

var kernels *Kernels

// SetKernels makes k the kernels of all later moves; nil: those in Go. It is called before data is moved.
func SetKernels(k *Kernels) { kernels = k }

// From so many bytes on, Kernels are worth the call.
const (
	nestBytes = 2 << 10
	runBytes  = 16 << 10
)

// mover moves data between memory, laid out by nodes, and a packed buffer. Addresses are offsets from two base
// pointers, so that no pointer is ever formed to memory that is not moved.
type mover struct {
	mem, buf unsafe.Pointer
	unpack   bool // from buf to mem
	bad      bool // a value did not fit its external32 form
	twin     bool // buf is laid out as mem is: a copy from one to the other (copy_unsafe.go)

	dims        [MaxDims]Dim // repetition counts on the way to a leaf, those from base to depth
	base, depth int
}

// reach is the memory, in bytes, that one sweep over a leaf should cover if others follow: what stays in the
// first-level cache until the next leaf of the same instances comes by.
const reach = 16 << 10

// longList is the length from which a list of blocks is moved instance by instance.
const longList = 32

// sweep moves all instances of nd that the repetition counts say; the first is at memory offset at and buffer offset
// to.
func (m *mover) sweep(nd *node, at, to int64) {
	switch {
	case nd.op == opRun:
		m.nest(nd.kind, nd.n, at, to)
	case nd.op == opLoop && m.depth < MaxDims:
		m.dims[m.depth] = Dim{nd.n, nd.stride, m.step(nd.stride, nd.child.size)}
		m.depth++
		m.sweep(nd.child, at, to)
		m.depth--
	case nd.op == opLoop:
		for i := range nd.n {
			m.sweep(nd.child, at+i*nd.stride, to+i*m.step(nd.stride, nd.child.size))
		}
	case m.base == m.depth:
		m.parts(nd, at, to)
	case nd.op != opList && len(nd.offs) >= longList:
		m.each(nd, at, to)
	default:
		m.near(nd, at, to)
	}
}

// each moves one instance of nd after the other.
func (m *mover) each(nd *node, at, to int64) {
	if m.base == m.depth {
		m.parts(nd, at, to)
		return
	}
	d := m.dims[m.base]
	m.base++
	for i := range d.N {
		m.each(nd, at+i*d.Mem, to+i*d.Buf)
	}
	m.base--
}

// near moves as many instances of nd at a time as are in reach: those that are furthest apart one by one.
func (m *mover) near(nd *node, at, to int64) {
	far := m.base
	for i := far + 1; i < m.depth; i++ {
		if m.dims[i].pitch() > m.dims[far].pitch() {
			far = i
		}
	}
	outer := &m.dims[m.base]
	*outer, m.dims[far] = m.dims[far], *outer
	d := *outer
	if step := reach / d.pitch(); step >= d.N {
		m.parts(nd, at, to)
	} else if step > 1 {
		for i := int64(0); i < d.N; i += step {
			outer.N = min(step, d.N-i)
			m.parts(nd, at+i*d.Mem, to+i*d.Buf)
		}
		outer.N = d.N
	} else {
		m.base++
		for i := range d.N {
			m.sweep(nd, at+i*d.Mem, to+i*d.Buf)
		}
		m.base--
	}
	*outer, m.dims[far] = m.dims[far], *outer
}

func (d *Dim) pitch() int64 { return max(d.Mem, -d.Mem, d.Buf, -d.Buf, 1) }

// step is the way in the buffer that belongs to one in memory.
func (m *mover) step(mem, packed int64) int64 {
	if m.twin {
		return mem
	}
	return packed
}

// parts moves the parts of nd one after the other, all instances of each.
func (m *mover) parts(nd *node, at, to int64) {
	switch {
	case nd.op == opAt && m.base == m.depth:
		m.gather(nd.child, nd.offs, nd.scale, at, to)
	case nd.op == opAt:
		for i, off := range nd.offs {
			m.sweep(nd.child, at+off*nd.scale, to+m.step(off*nd.scale, int64(i)*nd.child.size))
		}
	case nd.op == opVary:
		m.vary(nd, 0, len(nd.offs), at, to)
	default:
		for i, kid := range nd.kids {
			m.sweep(kid, at+nd.offs[i], to+m.step(nd.offs[i], nd.starts[i]))
		}
	}
}

// gather moves one instance of c for each offset; in the buffer they follow each other.
func (m *mover) gather(c *node, offs []int64, scale, at, to int64) {
	if c.op == opRun && !m.twin {
		if c.kind == kindRaw && kernels != nil && int64(len(offs))*c.size >= nestBytes {
			kernels.Listed(m.mem, m.buf, at, to, offs, scale, c.size, m.unpack)
			return
		}
		if m.gatherWord(c.kind, c.n, offs, scale, at, to) {
			return
		}
	}
	for i, off := range offs {
		m.sweep(c, at+off*scale, to+m.step(off*scale, int64(i)*c.size))
	}
}

// vary moves the blocks lo to hi of a vary node.
func (m *mover) vary(nd *node, lo, hi int, at, to int64) {
	c, offs, lens := nd.child, nd.offs[lo:hi], nd.lens[lo:hi]
	if c.op == opRun && nd.stride == c.mem && m.base == m.depth {
		if c.kind == kindRaw && kernels != nil && !m.twin && int64(len(offs))*nd.least*c.size >= nestBytes {
			kernels.Varied(m.mem, m.buf, at, to, offs, lens, nd.scale,
				c.size, nd.least*c.size, nd.most*c.size, m.unpack)
			return
		}
		for i, off := range offs {
			m.run(c.kind, lens[i]*c.n, at+off*nd.scale, to+m.step(off*nd.scale, 0))
			to += m.step(0, lens[i]*c.size)
		}
		return
	}
	for i, off := range offs {
		row := node{op: opLoop, n: lens[i], stride: nd.stride, child: c}
		m.sweep(&row, at+off*nd.scale, to+m.step(off*nd.scale, 0))
		to += m.step(0, lens[i]*c.size)
	}
}

// run moves one run.
func (m *mover) run(k kind, units, at, to int64) {
	bytes := units * k.packed()
	if k == kindRaw && bytes >= runBytes && kernels != nil {
		kernels.Nest(m.mem, m.buf, at, to, Nest{Block: bytes, Unpack: m.unpack})
		return
	}
	m.blocks(k, units, at, 0, to, 0, 1)
}

// nest moves a run of so many units for each combination of the repetition counts.
func (m *mover) nest(k kind, units, at, to int64) {
	n := Nest{Unpack: m.unpack}
	units = n.arrange(m.dims[m.base:m.depth], k, units)
	if n.Depth == 0 {
		m.run(k, units, at, to)
		return
	}
	bytes := n.Block
	for _, d := range n.Dims[:n.Depth] {
		bytes *= d.N // the size of the type's data: it does not overflow
	}
	if k == kindRaw && bytes >= nestBytes && kernels != nil {
		kernels.Nest(m.mem, m.buf, at, to, n)
		return
	}
	m.loops(k, units, at, to, n.Dims[:n.Depth])
}

// arrange makes n of loops around runs of so many units: those that matter, in the order that suits the memory. It
// returns how many units follow each other without a gap, which may be more than before.
func (n *Nest) arrange(dims []Dim, k kind, units int64) int64 {
	for _, d := range dims {
		if d.N > 1 {
			n.Dims[n.Depth] = d
			n.Depth++
		}
	}
	order(n.Dims[:n.Depth])
	mem, packed := k.mem(), k.packed()
	for n.Depth > 0 && n.Dims[n.Depth-1].Mem == units*mem && n.Dims[n.Depth-1].Buf == units*packed {
		n.Depth--
		units *= n.Dims[n.Depth].N
	}
	n.Block = units * packed
	return units
}

// order puts the level whose instances are nearest to each other in the buffer last, and the others before it by their
// distance in memory. Two that could be one become one.
func order(dims []Dim) {
	for i := 1; i < len(dims); i++ {
		for j := i; j > 0 && max(dims[j].Mem, -dims[j].Mem) > max(dims[j-1].Mem, -dims[j-1].Mem); j-- {
			dims[j], dims[j-1] = dims[j-1], dims[j]
		}
	}
	last := len(dims) - 1
	for i := range last {
		if max(dims[i].Buf, -dims[i].Buf) < max(dims[last].Buf, -dims[last].Buf) {
			d := dims[i]
			copy(dims[i:], dims[i+1:])
			dims[last] = d
			break
		}
	}
}

// loops is Kernels.Nest in Go.
func (m *mover) loops(k kind, units, at, to int64, dims []Dim) {
	d := dims[0]
	switch len(dims) {
	case 1:
		m.blocks(k, units, at, d.Mem, to, d.Buf, d.N)
	case 2:
		m.grid(k, units, at, to, d, dims[1])
	default:
		for i := range d.N {
			m.loops(k, units, at+i*d.Mem, to+i*d.Buf, dims[1:])
		}
	}
}

// grid moves the two innermost levels.
func (m *mover) grid(k kind, units, at, to int64, outer, inner Dim) {
	transposed := max(outer.Mem, -outer.Mem) < max(inner.Mem, -inner.Mem) && inner.N >= 8
	switch {
	case transposed && k == kindRaw && units <= maxTile:
		m.tiles(units, at, to, outer, inner)
	case transposed:
		m.strips(k, units, at, to, outer, inner)
	case inner.N >= 8 || inner.N >= outer.N:
		for i := range outer.N {
			m.blocks(k, units, at+i*outer.Mem, inner.Mem, to+i*outer.Buf, inner.Buf, inner.N)
		}
	default:
		m.inReach(outer.N, outer.Mem, outer.Buf, func(i, n int64) {
			for j := range inner.N {
				m.blocks(k, units, at+i*outer.Mem+j*inner.Mem, outer.Mem, to+i*outer.Buf+j*inner.Buf, outer.Buf, n)
			}
		})
	}
}

// inReach calls sweep for the instances i to i+n, as many at a time as are in reach.
func (m *mover) inReach(n, ms, bs int64, sweep func(i, n int64)) {
	step := max(1, reach/max(ms, -ms, bs, 1))
	for i := int64(0); i < n; i += step {
		sweep(i, min(step, n-i))
	}
}

// strips moves a grid whose neighbours in memory are distant in the buffer, a cache line's worth of
// instances at a time, so that lines of both are used up while they are near.
func (m *mover) strips(k kind, units, at, to int64, outer, inner Dim) {
	width := max(1, 64/(units*k.packed()))
	for i := int64(0); i < outer.N; i += width {
		n := min(width, outer.N-i)
		for j := range inner.N {
			m.blocks(k, units, at+i*outer.Mem+j*inner.Mem, outer.Mem, to+i*outer.Buf+j*inner.Buf, outer.Buf, n)
		}
	}
}

// blocks moves n runs of so many units.
func (m *mover) blocks(k kind, units, at, ms, to, bs, n int64) {
	switch {
	case k != kindRaw:
		m.convertBlocks(k, units, at, ms, to, bs, n)
	case m.unpack:
		copyBlocks(m.mem, at, ms, m.buf, to, bs, units, n)
	default:
		copyBlocks(m.buf, to, bs, m.mem, at, ms, units, n)
	}
}
