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
	raw  bool // the stream is bytes as they are in memory
	bad  bool
}

// Init starts at the beginning of the stream of count elements of t at base.
func (c *Cursor) Init(base unsafe.Pointer, count int64, t *Type, rep Rep) {
	if t.view != nil && count > 0 {
		t, count = t.laid(count), 1
	}
	p := t.program(rep)
	c.base, c.at, c.pos, c.raw, c.bad = base, p.at, 0, rep == Native || t.portable, false
	c.root = p.root
	switch {
	case p.root == nil || count == 0:
		c.root, c.top, c.len = nil, node{}, 0
		return
	case count == 1:
	case p.root.op == opRun && p.root.mem == t.extent():
		c.root = nil
		c.top = node{op: opRun, kind: p.root.kind, n: count * p.root.n,
			size: count * p.root.size, mem: count * p.root.mem, runs: 1}
	case p.root.op == opLoop && p.root.n*p.root.stride == t.extent():
		c.root = nil
		c.top = node{op: opLoop, n: count * p.root.n, stride: p.root.stride, child: p.root.child, size: count * p.root.size,
			runs: count * p.root.runs}
	default:
		c.root = nil
		c.top = node{op: opLoop, n: count, stride: t.extent(), child: p.root, size: count * p.root.size,
			runs: count * p.root.runs}
	}
	c.len = count * p.root.size
}

// Pack writes the next bytes of the stream to dst and returns how many: len(dst), or what is left.
func (c *Cursor) Pack(dst []byte) int { return c.move(dst, false) }

// Unpack stores the next bytes of the stream from src and returns how many: len(src), or what is missing.
func (c *Cursor) Unpack(src []byte) int { return c.move(src, true) }

// SeekTo goes on at byte pos of the stream; below 0 is 0, beyond Len is Len.
func (c *Cursor) SeekTo(pos int64) { c.pos = min(max(pos, 0), c.len) }

// Pos is the number of bytes of the stream before the next piece.
func (c *Cursor) Pos() int64 { return c.pos }

// Len is the number of bytes in the whole stream.
func (c *Cursor) Len() int64 { return c.len }

// Lay makes a buffer the memory: its first byte is the one that is from bytes behind what the displacements are
// relative to. So a window of a file is moved by the layout of the whole. Only the bytes that are moved must be there.
func (c *Cursor) Lay(window []byte, from int64) {
	c.base = unsafe.Pointer(unsafe.SliceData(window))
	c.at -= from
}

// Run is the mean number of bytes of the stream that lie in memory without a gap, 0 if there are none at all.
func (c *Cursor) Run() int64 {
	if c.len == 0 {
		return 0
	}
	nd := c.tree()
	return nd.size / nd.runs
}

// Piece advises how many bytes to move next: about so many, as few as the layout likes, at most most. Where columns lie
// side by side a row is visited again for each piece, so that there it takes as many whole columns as fit. Elsewhere
// the piece ends where a part of the layout does that repeats, so that it is moved in few loops.
func (c *Cursor) Piece(about, most int) int {
	nd := c.tree()
	if nd.op == opLoop && nd.child.op == opLoop && max(nd.stride, -nd.stride) < max(nd.child.stride, -nd.child.stride) {
		if size := nd.child.size; size < int64(most) {
			return max(about, int(int64(most)/size*size))
		}
		return most
	}
	return about - int((c.pos+int64(about))%nd.part(int64(about/2)))
}

// part is the size of the largest part of nd of at most so many packed bytes that repeats at multiples of itself; 1:
// none.
func (nd *node) part(most int64) int64 {
	for nd.op == opLoop || nd.op == opAt {
		if nd = nd.child; nd.size <= most {
			return nd.size
		}
	}
	return 1
}

// Err is an *Error of class MPI_ERR_CONVERSION once a value did not fit its external32 form, else nil. The
// stream goes on with the value cut to the bytes it has there.
func (c *Cursor) Err() error {
	if c.bad {
		return errConversion
	}
	return nil
}

// tree is the layout of everything that c moves.
func (c *Cursor) tree() *node {
	if c.root != nil {
		return c.root
	}
	return &c.top
}

func (c *Cursor) move(buf []byte, unpack bool) int {
	n := min(int64(len(buf)), c.len-c.pos)
	if n <= 0 {
		return 0
	}
	m := mover{mem: c.base, buf: unsafe.Pointer(unsafe.SliceData(buf)), unpack: unpack}
	m.span(c.tree(), c.at, c.pos, c.pos+n, 0)
	c.pos += n
	c.bad = c.bad || m.bad
	return int(n)
}

// span moves packed bytes lo to hi of one instance of nd at memory offset at; byte lo is at buffer offset to.
func (m *mover) span(nd *node, at, lo, hi, to int64) {
	if lo == 0 && hi == nd.size {
		m.sweep(nd, at, to)
		return
	}
	switch nd.op {
	case opRun:
		m.spanRun(nd, at, lo, hi, to)
	case opLoop:
		m.spanLoop(nd.child, at, nd.stride, lo, hi, to)
	case opAt:
		m.spanAt(nd, at, lo, hi, to)
	case opVary:
		m.spanVary(nd, at, lo, hi, to)
	case opList:
		m.spanList(nd, at, lo, hi, to)
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
		m.dims[0], m.depth = Dim{whole, stride, c.size}, 1
		m.sweep(c, at+i*stride, to)
		m.depth = 0
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
		m.span(c, at+nd.offs[i]*nd.scale, cut, end, to)
		lo, to, i = lo+end-cut, to+end-cut, i+1
	}
	if whole := quotient(hi-lo, c.size); whole > 0 {
		m.gather(c, nd.offs[i:i+whole], nd.scale, at, to)
		lo, to, i = lo+whole*c.size, to+whole*c.size, i+whole
	}
	if lo < hi {
		m.span(c, at+nd.offs[i]*nd.scale, 0, hi-lo, to)
	}
}

// spanVary moves the end of a block, whole blocks, the beginning of one.
func (m *mover) spanVary(nd *node, at, lo, hi, to int64) {
	i, start := nd.block(lo)
	first := i
	for lo < hi {
		end := start + nd.lens[i]*nd.child.size
		if lo > start || end > hi {
			m.spanLoop(nd.child, at+nd.offs[i]*nd.scale, nd.stride, lo-start, min(end, hi)-start, to)
			to, lo, start, i = to+min(end, hi)-lo, min(end, hi), end, i+1
			continue
		}
		for first, lo = i, start; i < len(nd.lens) && start+nd.lens[i]*nd.child.size <= hi; i++ {
			start += nd.lens[i] * nd.child.size
		}
		m.vary(nd, first, i, at, to)
		to, lo = to+start-lo, start
	}
}

func (m *mover) spanList(nd *node, at, lo, hi, to int64) {
	for i := nd.kid(lo); lo < hi; i++ {
		start, end := nd.starts[i], min(nd.starts[i+1], hi)
		m.span(nd.kids[i], at+nd.offs[i], lo-start, end-start, to)
		lo, to = end, to+end-lo
	}
}

func quotient(a, b int64) int64 {
	if uint64(a|b)>>32 == 0 {
		return int64(uint32(a) / uint32(b))
	}
	return a / b
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
		m.run(nd.kind, whole, at+i*mem, to)
		lo, to, i = lo+whole*packed, to+whole*packed, i+whole
	}
	if lo < hi {
		m.partUnit(nd.kind, at+i*mem, 0, hi-lo, to)
	}
}
