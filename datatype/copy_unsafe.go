package datatype

import (
	"sync"
	"unsafe"
)

// Copies from memory to memory, each laid out by a type ("transpacking"): what a message to oneself, the local part of
// a collective, and a window of a file need. They go directly from source to destination if
//
//	one of the two is a long run: then it is the packed buffer of the other;
//	both have the same layout: then one sweep visits both;
//	both are loops around runs, and the loops divide each other: then there is one nest of loops for both;
//	the runs of both are not short: then what lies between two ends of runs is copied at a time
//
// and otherwise through a small buffer. What is not so as a whole may be so in parts: Move looks again where one ends.

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
	st, scount = st.Laid(scount)
	dt, dcount = dt.Laid(dcount)
	from, _, sok := st.Span(src, scount)
	to, _, dok := dt.Span(dst, dcount)
	if sok && dok {
		copyRun(to, 0, from, 0, bytes)
		return bytes, truncated
	}
	if !sok && !dok && scount <= dcount && twins(st, dt) && (scount == 1 || st.extent() == dt.extent()) {
		copyTwin(dst, src, scount, st)
		return bytes, truncated
	}
	var in, out Cursor
	switch {
	case sok:
		in.Init(dst, dcount, dt, Native)
		in.Unpack(unsafe.Slice((*byte)(from), bytes))
	case dok:
		out.Init(src, scount, st, Native)
		out.Pack(unsafe.Slice((*byte)(to), bytes))
	default:
		in.Init(dst, dcount, dt, Native)
		out.Init(src, scount, st, Native)
		Move(&in, &out, bytes)
	}
	return bytes, truncated
}

// Move moves the next n bytes of the stream of src to the next n bytes of the stream of dst, or as many as both have,
// and returns how many. The two may be of different representations: the stream is that of external32 if one of them
// is, and bytes for the other. What they are relative to does not overlap. An error of the conversion is that of the
// cursor.
func Move(dst, src *Cursor, n int64) int64 {
	n = min(n, dst.len-dst.pos, src.len-src.pos)
	short := 0 // pieces in a row that were hardly worth the look
	for left := n; left > 0; {
		var j joint
		piece := j.find(dst, src, left)
		switch {
		case piece >= longPart:
			short = 0
		case piece < left && piece > 0:
			short++
		}
		switch {
		case j.run:
			piece = j.moveRun(dst, src, piece)
		case piece > 0 && short < patience:
			j.moveNest(dst, src, piece)
		default:
			piece = moveAnyhow(dst, src, left)
		}
		left -= piece
	}
	return max(n, 0)
}

const (
	// longRun is the length of a run, in bytes, from which it is worth the way of a cursor to where the other side's
	// piece begins. Runs of 8 KiB and more take half to nine tenths of the time that the way through the buffer takes,
	// of 2 KiB more.
	longRun = 8 << 10
	// longPiece is the mean number of bytes between two ends of runs, of either side, from which listing the runs of
	// both is worth while: random lists of 256 to 512 bytes are as fast as through the buffer, of 512 to 1024 1.35
	// times, of 4 KiB twice as fast.
	longPiece = 192
	// longPart is the size of a nest of loops from which finding it takes less time than moving it.
	longPart = 2 << 10
	// patience is how many smaller ones follow each other before the data goes another way: at the beginning of a
	// piece, and at its end, each level of loops may be cut.
	patience = 8
)

// joint is what two cursors can move in one go.
type joint struct {
	dst, src levels
	run      bool // the next bytes of one side are a run, long enough or all there is
	dims     [MaxDims]Dim
	depth    int
	block    int64
}

// find returns how many of the next bytes, at most left, are a run at one side or a nest of loops at both; 0: neither.
func (j *joint) find(dst, src *Cursor, left int64) int64 {
	most := min(left, longRun)
	from := j.src.next(src, left)
	if from && j.src.list[0].n >= most {
		j.run = true
		return j.src.list[0].n
	}
	to := j.dst.next(dst, left)
	if to && j.dst.list[0].n >= most {
		j.run = true
		return j.dst.list[0].n
	}
	if !from || !to {
		return 0
	}
	return j.match()
}

func (j *joint) moveRun(dst, src *Cursor, n int64) int64 {
	if j.src.n > 0 && j.src.list[0].n >= n {
		src.pos += n
		return int64(dst.Unpack(unsafe.Slice((*byte)(unsafe.Add(src.base, j.src.at)), n)))
	}
	dst.pos += n
	return int64(src.Pack(unsafe.Slice((*byte)(unsafe.Add(dst.base, j.dst.at)), n)))
}

func (j *joint) moveNest(dst, src *Cursor, n int64) {
	m := mover{mem: src.base, buf: dst.base, dims: j.dims, depth: j.depth}
	m.nest(kindRaw, j.block, j.src.at, j.dst.at)
	src.pos += n
	dst.pos += n
}

// level is a loop: n instances, stride bytes apart.
type level struct{ n, stride int64 }

// levels are the loops around the bytes that come next, the innermost first: that over the bytes of the run.
type levels struct {
	at   int64 // of the first byte, from base
	list [MaxDims + 2]level
	n    int
}

// next fills l with the loops that begin with the next byte of c, and that hold no more than left bytes, all of them
// equal and whole. It reports whether the bytes are in memory what they are in the stream.
func (l *levels) next(c *Cursor, left int64) bool {
	var path [MaxDims + 1]struct{ rest, n, stride, size int64 } // from the outermost on
	depth := 0
	nd, at, pos := c.tree(), c.at, c.pos
	for nd.op != opRun {
		n, stride, i := int64(1), int64(0), int64(0)
		switch nd.op {
		case opLoop:
			i, n, stride = quotient(pos, nd.child.size), nd.n, nd.stride
			at, pos = at+i*stride, pos-i*nd.child.size
			nd = nd.child
		case opAt:
			k := quotient(pos, nd.child.size)
			at, pos = at+nd.offs[k]*nd.scale, pos-k*nd.child.size
			nd, depth = nd.child, 0
		case opVary:
			k, start := nd.block(pos)
			pos -= start
			i, n, stride = quotient(pos, nd.child.size), nd.lens[k], nd.stride
			at, pos = at+nd.offs[k]*nd.scale+i*stride, pos-i*nd.child.size
			nd, depth = nd.child, 0
		case opList:
			k := nd.kid(pos)
			at, pos = at+nd.offs[k], pos-nd.starts[k]
			nd, depth = nd.kids[k], 0
		}
		if n == 1 {
			continue
		}
		if depth == len(path) {
			copy(path[:], path[1:])
			depth--
		}
		path[depth].rest, path[depth].n, path[depth].stride, path[depth].size = n-i, n, stride, nd.size
		depth++
	}
	if nd.kind != kindRaw {
		return false
	}
	l.at, l.list[0], l.n = at+pos, level{min(nd.n-pos, left), 1}, 1
	for whole := l.list[0].n == nd.n; whole && depth > 0; {
		depth--
		p := &path[depth]
		if left < p.size {
			break
		}
		n := min(p.rest, quotient(left, p.size))
		if p.stride == l.list[0].n && l.n == 1 {
			l.list[0].n *= n
		} else {
			l.list[l.n] = level{n, p.stride}
			l.n++
		}
		whole = n == p.n
	}
	return true
}

// Apart returns where the next n bytes begin and how far apart, if they are blocks of so many bytes at equal distances,
// in memory as in the stream.
func (c *Cursor) Apart(block, n int64) (at unsafe.Pointer, step int64, ok bool) {
	var l levels
	if !l.next(c, n) || l.n != 2 || l.list[0].n != block || l.list[1].n*block != n {
		return nil, 0, false
	}
	return unsafe.Add(c.base, l.at), l.list[1].stride, true
}

// match finds the nest of loops that both sides have in common, and returns how many bytes it moves. Levels are matched
// from the innermost on; the longer one of a pair is split, and goes on with what is left of it. Where it cannot be
// split the nest ends, but that the outermost level of a side need not be moved to its end.
func (j *joint) match() int64 {
	s, d := &j.src, &j.dst
	j.block = min(s.list[0].n, d.list[0].n)
	bytes := j.block
	for k, i := 0, 0; k < s.n && i < d.n; {
		a, b := &s.list[k], &d.list[i]
		n := min(a.n, b.n)
		if inner := k == 0 && i == 0; !inner && n > 1 {
			if j.depth == MaxDims {
				break
			}
			j.dims[j.depth] = Dim{n, a.stride, b.stride}
			j.depth++
			bytes *= n
		}
		if a.n%n != 0 && k < s.n-1 || b.n%n != 0 && i < d.n-1 {
			break
		}
		*a, *b = level{a.n / n, a.stride * n}, level{b.n / n, b.stride * n}
		if a.n == 1 {
			k++
		}
		if b.n == 1 {
			i++
		}
	}
	for i, k := 0, j.depth-1; i < k; i, k = i+1, k-1 {
		j.dims[i], j.dims[k] = j.dims[k], j.dims[i]
	}
	return bytes
}

// moveAnyhow moves all of the next bytes by the runs of both sides, if they are long enough; else some of them through
// a buffer. It returns how many.
func moveAnyhow(dst, src *Cursor, left int64) int64 {
	if dst.raw && src.raw {
		if to, from := dst.Run(), src.Run(); to*from/(to+from) >= longPiece {
			copyPieces(dst, src, left)
			return left
		}
	}
	return moveThrough(dst, src, left)
}

// copyPieces lists the runs of both sides, and copies what lies between two ends of runs at a time.
func copyPieces(dst, src *Cursor, bytes int64) {
	lists := runLists.Get().(*[2]Runs)
	defer runLists.Put(lists)
	to, from := &lists[0], &lists[1]
	ends := [2]int64{dst.pos + bytes, src.pos + bytes}
	dst.pos, src.pos = to.fill(dst, dst.pos, ends[0]), from.fill(src, src.pos, ends[1])
	for {
		pieces(dst.base, src.base, to, from)
		if to.Used == to.N {
			if dst.pos == ends[0] {
				return
			}
			dst.pos = to.fill(dst, dst.pos, ends[0])
		}
		if from.Used == from.N {
			src.pos = from.fill(src, src.pos, ends[1])
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

// moveThrough packs and unpacks through a buffer that stays in the first-level cache.
func moveThrough(dst, src *Cursor, left int64) int64 {
	buf := buffers.Get().(*[copyPiece]byte)
	defer buffers.Put(buf)
	n := src.Pack(buf[:min(left, copyPiece)])
	return int64(dst.Unpack(buf[:n]))
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
