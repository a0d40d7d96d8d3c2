package datatype

import (
	"sync"
	"unsafe"
)

// Copies from memory to memory, each laid out by a type ("transpacking"): what a message to oneself and the local part
// of a collective need. They go directly from source to destination if
//
//	one of the two is a run: then it is the packed buffer of the other;
//	both have the same layout: then one sweep visits both;
//	both are loops around runs, and the loops divide each other: then there is one nest of loops for both
//	the runs of one are long: then each is the packed buffer of a piece of the other
//	the runs of both are not short: then what lies between two ends of runs is copied at a time
//
// and otherwise through a small buffer.

// Copy moves scount elements of st at src to dcount elements of dt at dst, as a message within a process would: in
// native form, matching basic elements in order. It answers the bytes moved, and whether the source held more than
// that. The types have equal signatures over what is moved; the buffers do not overlap.
func Copy(dst unsafe.Pointer, dcount int64, dt *Type,
	src unsafe.Pointer, scount int64, st *Type) (bytes int64, truncated bool) {
	bytes, room := st.PackedSize(scount, Native), dt.PackedSize(dcount, Native)
	if bytes > room {
		bytes, truncated = room, true
	}
	if bytes == 0 {
		return 0, truncated
	}
	from, _, sok := st.Span(src, scount)
	to, _, dok := dt.Span(dst, dcount)
	switch {
	case sok && dok:
		copyRun(to, 0, from, 0, bytes)
	case sok:
		var c Cursor
		c.Init(dst, dcount, dt, Native)
		c.Unpack(unsafe.Slice((*byte)(from), bytes))
	case dok:
		var c Cursor
		c.Init(src, scount, st, Native)
		c.Pack(unsafe.Slice((*byte)(to), bytes))
	case scount <= dcount && twins(st, dt) && (scount == 1 || st.extent() == dt.extent()):
		copyTwin(dst, src, scount, st)
	case copyNest(dst, dcount, dt, src, scount, st):
	case !copyByRuns(dst, dcount, dt, src, scount, st, bytes):
		copyThrough(dst, dcount, dt, src, scount, st, bytes)
	}
	return bytes, truncated
}

// longRun is the mean length of runs, in bytes, from which one is worth the way of a cursor to where the other side's
// piece begins. Runs of 8 KiB and more take half to nine tenths of the time that the way through the buffer takes, of 2
// KiB more.
const longRun = 8 << 10

// longPiece is the mean number of bytes between two ends of runs, of either side, from which listing the runs of both
// is worth while: random lists of 256 to 512 bytes are as fast as through the buffer, of 512 to 1024 1.35 times, of 4
// KiB twice as fast.
const longPiece = 192

// copyByRuns copies if the runs are long: by those of the side whose runs are the longer, or by those of both.
func copyByRuns(dst unsafe.Pointer, dcount int64, dt *Type,
	src unsafe.Pointer, scount int64, st *Type, bytes int64) bool {
	var in, out Cursor
	out.Init(src, scount, st, Native)
	in.Init(dst, dcount, dt, Native)
	to, from := in.tree().run(), out.tree().run()
	switch {
	case max(to, from) < longRun:
		if to*from/(to+from) < longPiece {
			return false
		}
		copyPieces(dst, src, &in, &out, bytes)
	case to >= from:
		copyAlong(&in, dst, &out, false, bytes)
	default:
		copyAlong(&out, src, &in, true, bytes)
	}
	return true
}

// run is the mean length of the runs of a layout, in bytes.
func (nd *node) run() int64 { return nd.size / nd.runs }

// copyAlong moves the next bytes of other from or to each run of what walked moves, which are the source if unpack says
// so.
func copyAlong(walked *Cursor, base unsafe.Pointer, other *Cursor, unpack bool, bytes int64) {
	lists := runLists.Get().(*[2]Runs)
	defer runLists.Put(lists)
	l := &lists[0]
	for pos := int64(0); pos < bytes; {
		pos = l.fill(walked, pos, bytes)
		for i := range l.N {
			run := unsafe.Slice((*byte)(unsafe.Add(base, l.Off[i])), l.Len[i])
			if unpack {
				other.Unpack(run)
			} else {
				other.Pack(run)
			}
		}
	}
}

// copyPieces lists the runs of both sides, and copies what lies between two ends of runs at a time.
func copyPieces(dst, src unsafe.Pointer, in, out *Cursor, bytes int64) {
	lists := runLists.Get().(*[2]Runs)
	defer runLists.Put(lists)
	to, from := &lists[0], &lists[1]
	listed, told := to.fill(in, 0, bytes), from.fill(out, 0, bytes) // bytes of the stream whose runs have been listed
	for {
		pieces(dst, src, to, from)
		if to.Used == to.N {
			if listed == bytes {
				return
			}
			listed = to.fill(in, listed, bytes)
		}
		if from.Used == from.N {
			told = from.fill(out, told, bytes)
		}
	}
}

// pieces copies until the runs of one side are used up.
func pieces(dst, src unsafe.Pointer, to, from *Runs) {
	for to.Used < to.N && from.Used < from.N {
		i, j := to.Used, from.Used
		n := min(to.Len[i], from.Len[j])
		copyRun(dst, to.Off[i], src, from.Off[j], n)
		if to.take(n) {
			to.Used++
		}
		if from.take(n) {
			from.Used++
		}
	}
}

var runLists = sync.Pool{New: func() any { return new([2]Runs) }}

// copyThrough packs and unpacks through a buffer that stays in the first-level cache.
func copyThrough(dst unsafe.Pointer, dcount int64, dt *Type, src unsafe.Pointer, scount int64, st *Type, bytes int64) {
	buf := buffers.Get().(*[copyPiece]byte)
	defer buffers.Put(buf)
	var in, out Cursor
	out.Init(src, scount, st, Native)
	in.Init(dst, dcount, dt, Native)
	for bytes > 0 {
		n := out.Pack(buf[:min(bytes, copyPiece)])
		in.Unpack(buf[:n])
		bytes -= int64(n)
	}
}

const copyPiece = 16 << 10

var buffers = sync.Pool{New: func() any { return new([copyPiece]byte) }}

// twins tells whether one element of each has the same layout, as far as that is known without looking far.
func twins(a, b *Type) bool {
	p, q := a.program(Native), b.program(Native)
	return p.at == q.at && p.root == q.root
}

// copyTwin copies elements to the same layout elsewhere.
func copyTwin(dst, src unsafe.Pointer, count int64, t *Type) {
	var c Cursor
	c.Init(src, count, t, Native)
	m := mover{mem: src, buf: dst, twin: true}
	m.sweep(c.tree(), c.at, c.at)
}

// level is a loop: n instances, stride bytes apart.
type level struct{ n, stride int64 }

// levels are the loops of a tree that has nothing else, the innermost first: that over the bytes of the run.
type levels struct {
	at   int64
	list [MaxDims + 2]level
	n    int
}

// loopsOf fills l with the loops of what c moves, and answers whether it has nothing else.
func (l *levels) loopsOf(c *Cursor) bool {
	l.at = c.at
	nd := c.tree()
	for ; nd.op == opLoop && l.n < len(l.list)-1; nd = nd.child {
		l.list[l.n] = level{nd.n, nd.stride}
		l.n++
	}
	l.list[l.n] = level{nd.size, 1}
	l.n++
	for i, j := 0, l.n-1; i < j; i, j = i+1, j-1 {
		l.list[i], l.list[j] = l.list[j], l.list[i]
	}
	return nd.op == opRun
}

// copyNest copies if both sides are nests that have a common refinement. Levels are matched from the innermost on; the
// longer one of a pair is split, and goes on with what is left of it. The side that ends first ends the copy.
func copyNest(dst unsafe.Pointer, dcount int64, dt *Type, src unsafe.Pointer, scount int64, st *Type) bool {
	var in, out Cursor
	out.Init(src, scount, st, Native)
	in.Init(dst, dcount, dt, Native)
	var s, d levels
	if !s.loopsOf(&out) || !d.loopsOf(&in) {
		return false
	}
	m := mover{mem: src, buf: dst}
	block := min(s.list[0].n, d.list[0].n)
	for i, j := 0, 0; i < s.n && j < d.n; {
		a, b := &s.list[i], &d.list[j]
		n := min(a.n, b.n)
		if a.n%n != 0 || b.n%n != 0 || m.depth == MaxDims {
			return false
		}
		if (i > 0 || j > 0) && n > 1 {
			m.dims[m.depth] = Dim{n, a.stride, b.stride}
			m.depth++
		}
		*a, *b = level{a.n / n, a.stride * n}, level{b.n / n, b.stride * n}
		if a.n == 1 {
			i++
		}
		if b.n == 1 {
			j++
		}
	}
	for i, j := 0, m.depth-1; i < j; i, j = i+1, j-1 {
		m.dims[i], m.dims[j] = m.dims[j], m.dims[i]
	}
	m.nest(kindRaw, block, s.at, d.at)
	return true
}
