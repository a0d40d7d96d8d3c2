package datatype

import "sort"

// Navigation between a packed stream and the memory it is laid out in (Traff 2010, 7: the type navigation functions):
// what a file view needs to know where its bytes are, and how many of them lie in a piece of a file. Both take steps in
// proportion to the depth of the layout and to the logarithm of its lists, wherever they start.
//
// They are meant for streams in the order of memory (Ordered), as the types of file views are (MPI 5.0, 14.1.1). For
// others the answers are numbers without a meaning. A unit that external32 converts counts where it begins.

// Extent is the number of bytes of memory from the first to the last of n bytes of the stream, from byte pos on, those
// two included; of what there is, if that is less.
func (c *Cursor) Extent(pos, n int64) int64 {
	pos = min(max(pos, 0), c.len)
	n = min(n, c.len-pos)
	if n <= 0 {
		return 0
	}
	nd := c.tree()
	first, _ := nd.place(pos)
	last, unit := nd.place(pos + n - 1)
	return last + unit - first
}

// Within is the number of bytes of the stream, from byte pos on, in the next bytes of memory, so many of them: from
// where byte pos is.
func (c *Cursor) Within(pos, extent int64) int64 {
	pos = min(max(pos, 0), c.len)
	if pos == c.len || extent <= 0 {
		return 0
	}
	nd := c.tree()
	at, _ := nd.place(pos)
	if last, _ := nd.place(c.len - 1); extent > last-at {
		return c.len - pos
	}
	return max(nd.below(at+extent)-pos, 0)
}

// Place is where byte pos of the stream is, in bytes from the address that c was given; of Len or more, where the last
// byte ends. A unit that external32 converts counts where it begins.
func (c *Cursor) Place(pos int64) int64 {
	if c.len == 0 {
		return c.at
	}
	if pos = max(pos, 0); pos < c.len {
		at, _ := c.tree().place(pos)
		return c.at + at
	}
	at, unit := c.tree().place(c.len - 1)
	return c.at + at + unit
}

// place is where packed byte pos of one instance of nd is, which begins at 0, and the bytes from there to the end of
// its unit.
func (nd *node) place(pos int64) (at, unit int64) {
	for {
		switch nd.op {
		case opRun:
			mem, packed := nd.kind.mem(), nd.kind.packed()
			return at + pos/packed*mem, mem
		case opLoop:
			at, pos = at+pos/nd.child.size*nd.stride, pos%nd.child.size
			nd = nd.child
		case opAt:
			at, pos = at+nd.offs[pos/nd.child.size]*nd.scale, pos%nd.child.size
			nd = nd.child
		case opVary:
			i, start := nd.block(pos)
			at, pos = at+nd.offs[i]*nd.scale+(pos-start)/nd.child.size*nd.stride, (pos-start)%nd.child.size
			nd = nd.child
		default:
			i := nd.kid(pos)
			at, pos = at+nd.offs[i], pos-nd.starts[i]
			nd = nd.kids[i]
		}
	}
}

// below is the number of packed bytes of one instance of nd, which begins at 0, whose units begin below memory offset
// end.
func (nd *node) below(end int64) (n int64) {
	for {
		first := nd.first()
		if end <= first {
			return n
		}
		switch nd.op {
		case opRun:
			mem := nd.kind.mem()
			return n + min(nd.n, (end-1)/mem+1)*nd.kind.packed()
		case opLoop:
			i := instance(end-1-first, nd.stride, nd.n)
			n, end = n+i*nd.child.size, end-i*nd.stride
			nd = nd.child
		case opAt:
			i := sort.Search(len(nd.offs)-1, func(i int) bool { return nd.offs[i+1]*nd.scale+first-nd.offs[0]*nd.scale >= end })
			n, end = n+int64(i)*nd.child.size, end-nd.offs[i]*nd.scale
			nd = nd.child
		case opVary:
			i := sort.Search(len(nd.offs)-1, func(i int) bool { return nd.offs[i+1]*nd.scale+first-nd.offs[0]*nd.scale >= end })
			n, end = n+nd.start(i), end-nd.offs[i]*nd.scale
			j := instance(end-1-first+nd.offs[0]*nd.scale, nd.stride, nd.lens[i])
			n, end = n+j*nd.child.size, end-j*nd.stride
			nd = nd.child
		default:
			i := sort.Search(len(nd.kids)-1, func(i int) bool { return nd.offs[i+1]+nd.kids[i+1].first() >= end })
			n, end = n+nd.starts[i], end-nd.offs[i]
			nd = nd.kids[i]
		}
	}
}

// instance is which of n instances, stride bytes apart, the first of which begins at 0, is the last that does not begin
// beyond at.
func instance(at, stride, n int64) int64 {
	if stride <= 0 {
		return n - 1
	}
	return min(at/stride, n-1)
}

// first is where the first byte of one instance is.
func (nd *node) first() (at int64) {
	for nd.op != opRun {
		if nd.list != nil {
			at += nd.offs[0] * nd.scale
		}
		if nd.op == opList {
			nd = nd.kids[0]
		} else {
			nd = nd.child
		}
	}
	return at
}

// start is the packed offset of block i of a vary node.
func (nd *node) start(i int) int64 {
	n := nd.starts[i/stretch]
	for _, l := range nd.lens[i/stretch*stretch : i] {
		n += l * nd.child.size
	}
	return n
}

// Ordered tells whether the data of what c moves lies in memory in the order of the stream, nothing on top of anything
// else. It takes time in proportion to the type's lists.
func (c *Cursor) Ordered() bool {
	return c.len == 0 || orders{}.of(c.tree()).ok
}

// orders is what has been found of parts of a layout, which may be used on every level.
type orders map[*node]ordered

// ordered is where one instance of a node begins and ends, if its data lies in the order of the stream.
type ordered struct {
	first, end int64
	ok         bool
}

func (o orders) of(nd *node) ordered {
	if nd.op == opRun {
		return ordered{0, nd.mem, true}
	}
	if known, found := o[nd]; found {
		return known
	}
	found := o.parts(nd)
	o[nd] = found
	return found
}

func (o orders) parts(nd *node) (all ordered) {
	if nd.op == opLoop {
		return o.of(nd.child).row(nd.n, nd.stride, 0)
	}
	for i, off := range nd.offs {
		var part ordered
		switch nd.op {
		case opAt:
			part = o.of(nd.child).row(1, 0, off*nd.scale)
		case opVary:
			part = o.of(nd.child).row(nd.lens[i], nd.stride, off*nd.scale)
		default:
			part = o.of(nd.kids[i]).row(1, 0, off)
		}
		if !part.ok || i > 0 && part.first < all.end {
			return ordered{}
		}
		if i == 0 {
			all = part
		}
		all.end = part.end
	}
	return all
}

// row is n instances of what o is of, stride bytes apart, the first moved by at bytes.
func (o ordered) row(n, stride, at int64) ordered {
	return ordered{at + o.first, at + o.end + (n-1)*stride, o.ok && (n == 1 || stride >= o.end-o.first)}
}
