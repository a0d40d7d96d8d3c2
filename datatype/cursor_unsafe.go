package datatype

import "unsafe"

// Cursor moves count elements of a type to and from their packed stream, piece by piece. Pieces may end
// anywhere, also inside a basic element, and SeekTo starts anywhere in time proportional to the depth of
// the type. Nothing is allocated after Init. A Cursor is used by one goroutine at a time.
//
//	Init, then Pack or Unpack until Pos is Len
//
// base may be nil, with absolute displacements in the type (MPI_BOTTOM). What lies between the displacements is
// never touched.
//
// Unpacking external32 in pieces, an element of those whose size or format changes (MPI_LONG, MPI_WCHAR, an 80-bit
// long double) that is cut by the end of a piece must be completed by the pieces that follow, in order: the bytes wait
// in the element's own memory.
type Cursor struct {
	base unsafe.Pointer
	root *node // nil: top
	top  node  // count times the type, if that is not a node of the type itself
	at   int64 // of the root, from base
	pos  int64
	len  int64
	bad  bool
}

// Init starts at the beginning of the stream of count elements of t at base.
func (c *Cursor) Init(base unsafe.Pointer, count int64, t *Type, rep Rep) {
	p := t.program(rep)
	c.base, c.at, c.pos, c.bad = base, p.at, 0, false
	c.root = p.root
	switch {
	case p.root == nil || count == 0:
		c.root, c.top, c.len = nil, node{}, 0
		return
	case count == 1:
	case p.root.op == opRun && p.root.mem == t.extent():
		c.root = nil
		c.top = node{op: opRun, kind: p.root.kind, n: count * p.root.n, size: count * p.root.size, mem: count * p.root.mem}
	case p.root.op == opLoop && p.root.n*p.root.stride == t.extent():
		c.root = nil
		c.top = node{op: opLoop, n: count * p.root.n, stride: p.root.stride, child: p.root.child, size: count * p.root.size}
	default:
		c.root = nil
		c.top = node{op: opLoop, n: count, stride: t.extent(), child: p.root, size: count * p.root.size}
	}
	c.len = count * p.root.size
}

// Pack writes the next bytes of the stream to dst and answers how many: len(dst), or what is left.
func (c *Cursor) Pack(dst []byte) int { return c.move(dst, false) }

// Unpack stores the next bytes of the stream from src and answers how many: len(src), or what is missing.
func (c *Cursor) Unpack(src []byte) int { return c.move(src, true) }

// SeekTo goes on at byte pos of the stream; below 0 is 0, beyond Len is Len.
func (c *Cursor) SeekTo(pos int64) { c.pos = min(max(pos, 0), c.len) }

// Pos is the number of bytes of the stream before the next piece.
func (c *Cursor) Pos() int64 { return c.pos }

// Len is the number of bytes in the whole stream.
func (c *Cursor) Len() int64 { return c.len }

// Err is an *Error of class MPI_ERR_CONVERSION once a value did not fit its external32 form, else nil. The
// stream goes on with the value cut to the bytes it has there.
func (c *Cursor) Err() error {
	if c.bad {
		return errConversion
	}
	return nil
}

func (c *Cursor) move(buf []byte, unpack bool) int {
	n := min(int64(len(buf)), c.len-c.pos)
	if n <= 0 {
		return 0
	}
	root := c.root
	if root == nil {
		root = &c.top
	}
	m := mover{mem: c.base, buf: unsafe.Pointer(unsafe.SliceData(buf)), unpack: unpack}
	m.span(root, c.at, c.pos, c.pos+n, 0)
	c.pos += n
	c.bad = c.bad || m.bad
	return int(n)
}

// mover moves data between memory, laid out by nodes, and a packed buffer. Addresses are offsets from two base
// pointers, so that no pointer is ever formed to memory that is not moved.
type mover struct {
	mem, buf unsafe.Pointer
	unpack   bool // from buf to mem
	bad      bool // a value did not fit its external32 form
}

// span moves packed bytes lo to hi of one instance of nd at memory offset at; byte lo is at buffer offset to.
func (m *mover) span(nd *node, at, lo, hi, to int64) {
	if lo == 0 && hi == nd.size {
		m.bulk(nd, at, 0, to, 0, 1)
		return
	}
	switch nd.op {
	case opRun:
		m.spanRun(nd, at, lo, hi, to)
	case opLoop:
		m.spanLoop(nd.child, at, nd.stride, lo, hi, to)
	case opAt:
		m.spanAt(nd, at, lo, hi, to)
	default:
		m.spanParts(nd, at, lo, hi, to)
	}
}

// spanLoop moves a part of a row of instances of c, stride apart: the end of one, whole ones, the beginning of one.
func (m *mover) spanLoop(c *node, at, stride, lo, hi, to int64) {
	i := quotient(lo, c.size)
	if cut := lo - i*c.size; cut > 0 {
		end := min(c.size, cut+hi-lo)
		m.span(c, at+i*stride, cut, end, to)
		lo, to, i = lo+end-cut, to+end-cut, i+1
	}
	if whole := quotient(hi-lo, c.size); whole > 0 {
		m.bulk(c, at+i*stride, stride, to, c.size, whole)
		lo, to, i = lo+whole*c.size, to+whole*c.size, i+whole
	}
	if lo < hi {
		m.span(c, at+i*stride, 0, hi-lo, to)
	}
}

func (m *mover) spanAt(nd *node, at, lo, hi, to int64) {
	c := nd.child
	i := quotient(lo, c.size)
	if cut := lo - i*c.size; cut > 0 {
		end := min(c.size, cut+hi-lo)
		m.span(c, at+nd.offs[i], cut, end, to)
		lo, to, i = lo+end-cut, to+end-cut, i+1
	}
	if whole := quotient(hi-lo, c.size); whole > 0 {
		m.gather(c, nd.offs[i:i+whole], at, to)
		lo, to, i = lo+whole*c.size, to+whole*c.size, i+whole
	}
	if lo < hi {
		m.span(c, at+nd.offs[i], 0, hi-lo, to)
	}
}

func (m *mover) spanParts(nd *node, at, lo, hi, to int64) {
	for i := nd.part(lo); lo < hi; i++ {
		start, end := nd.starts[i], min(nd.starts[i+1], hi)
		if nd.op == opList {
			m.span(nd.kids[i], at+nd.offs[i], lo-start, end-start, to)
		} else {
			m.spanLoop(nd.child, at+nd.offs[i], nd.stride, lo-start, end-start, to)
		}
		lo, to = end, to+end-lo
	}
}

func quotient(a, b int64) int64 {
	if uint64(a|b)>>32 == 0 {
		return int64(uint32(a) / uint32(b))
	}
	return a / b
}

// reach is the memory, in bytes, that one sweep over a leaf should cover: what stays in the first-level cache
// until the next leaf of the same instances comes by.
const reach = 16 << 10

// bulk moves n whole instances of nd, ms bytes apart in memory and bs bytes apart in the buffer. It hands
// repetition counts down until a leaf has them all, the largest innermost.
func (m *mover) bulk(nd *node, at, ms, to, bs, n int64) {
	switch nd.op {
	case opRun:
		m.blocks(nd.kind, nd.n, at, ms, to, bs, n)
	case opLoop:
		c := nd.child
		switch {
		case n == 1:
			m.bulk(c, at, nd.stride, to, c.size, nd.n)
		case c.op == opRun:
			m.grid(c, at, ms, nd.stride, to, bs, n, nd.n)
		case nd.n >= n:
			for i := range n {
				m.bulk(c, at+i*ms, nd.stride, to+i*bs, c.size, nd.n)
			}
		default:
			m.inReach(n, ms, bs, func(i, n int64) {
				for j := range nd.n {
					m.bulk(c, at+i*ms+j*nd.stride, ms, to+i*bs+j*c.size, bs, n)
				}
			})
		}
	case opAt:
		if n == 1 {
			m.gather(nd.child, nd.offs, at, to)
			return
		}
		m.inReach(n, ms, bs, func(i, n int64) {
			for j, off := range nd.offs {
				m.bulk(nd.child, at+i*ms+off, ms, to+i*bs+int64(j)*nd.child.size, bs, n)
			}
		})
	case opVary:
		m.inReach(n, ms, bs, func(i, n int64) { m.bulkVary(nd, at+i*ms, ms, to+i*bs, bs, n) })
	case opList:
		m.inReach(n, ms, bs, func(i, n int64) {
			for j, kid := range nd.kids {
				m.bulk(kid, at+i*ms+nd.offs[j], ms, to+i*bs+nd.starts[j], bs, n)
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

func (m *mover) bulkVary(nd *node, at, ms, to, bs, n int64) {
	c := nd.child
	for j, off := range nd.offs {
		start := nd.starts[j]
		k := quotient(nd.starts[j+1]-start, c.size)
		if c.op == opRun && nd.stride == c.mem {
			m.blocks(c.kind, k*c.n, at+off, ms, to+start, bs, n)
			continue
		}
		for i := range n {
			m.bulk(c, at+off+i*ms, nd.stride, to+start+i*bs, c.size, k)
		}
	}
}

// gather moves one instance of c for each offset; in the buffer they follow each other.
func (m *mover) gather(c *node, offs []int64, at, to int64) {
	if c.op == opRun && m.gatherWord(c.kind, c.n, offs, at, to) {
		return
	}
	for i, off := range offs {
		m.bulk(c, at+off, 0, to+int64(i)*c.size, 0, 1)
	}
}

// grid moves n2 runs, stride apart in memory and adjacent in the buffer, in each of n1 instances.
func (m *mover) grid(c *node, at, ms, stride, to, bs, n1, n2 int64) {
	transposed := max(ms, -ms) < max(stride, -stride) && n1 > 1 && n2 >= 8
	switch {
	case transposed && c.kind == kindRaw && c.n <= maxTile:
		m.tiles(c.n, at, ms, stride, to, bs, n1, n2)
	case transposed:
		m.strips(c, at, ms, stride, to, bs, n1, n2)
	case n2 >= 8 || n2 >= n1:
		for i := range n1 {
			m.blocks(c.kind, c.n, at+i*ms, stride, to+i*bs, c.size, n2)
		}
	default:
		m.inReach(n1, ms, bs, func(i, n int64) {
			for j := range n2 {
				m.blocks(c.kind, c.n, at+i*ms+j*stride, ms, to+i*bs+j*c.size, bs, n)
			}
		})
	}
}

// strips moves a grid whose neighbours in memory are distant in the buffer, a cache line's worth of
// instances at a time, so that lines of both are used up while they are near.
func (m *mover) strips(c *node, at, ms, stride, to, bs, n1, n2 int64) {
	width := max(1, 64/c.size)
	for i := int64(0); i < n1; i += width {
		n := min(width, n1-i)
		for j := range n2 {
			m.blocks(c.kind, c.n, at+i*ms+j*stride, ms, to+i*bs+j*c.size, bs, n)
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

// spanRun moves a part of a run: the end of a unit, whole units, the beginning of one.
func (m *mover) spanRun(nd *node, at, lo, hi, to int64) {
	mem, packed := nd.kind.mem(), nd.kind.packed()
	i := quotient(lo, packed)
	if cut := lo - i*packed; cut > 0 {
		end := min(packed, cut+hi-lo)
		m.partUnit(nd.kind, at+i*mem, cut, end, to)
		lo, to, i = lo+end-cut, to+end-cut, i+1
	}
	if whole := quotient(hi-lo, packed); whole > 0 {
		m.blocks(nd.kind, whole, at+i*mem, 0, to, 0, 1)
		lo, to, i = lo+whole*packed, to+whole*packed, i+whole
	}
	if lo < hi {
		m.partUnit(nd.kind, at+i*mem, 0, hi-lo, to)
	}
}
