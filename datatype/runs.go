package datatype

// Runs is where some of a packed stream lies in memory: its runs in order, as many as fit. It is filled anywhere in
// the stream, in time proportional to the depth of the layout and the number of runs; a copy between two layouts lists
// the runs of both (copy_unsafe.go). Streams are native: a run has as many bytes in memory as in the stream.
type Runs struct {
	N, Used int               // how many there are, and how many of them a copy has used up
	Off     [ListedRuns]int64 // bytes from the address that the layout is relative to
	Len     [ListedRuns]int64
}

// ListedRuns is how many runs there are in a list at most.
const ListedRuns = 256

func (l *Runs) full() bool { return l.N == ListedRuns }

func (l *Runs) add(off, n int64) {
	l.Off[l.N], l.Len[l.N] = off, n
	l.N++
}

// take shortens the next run by its first n bytes, and reports whether nothing is left of it.
func (l *Runs) take(n int64) bool {
	l.Off[l.Used] += n
	l.Len[l.Used] -= n
	return l.Len[l.Used] == 0
}

// List fills l with the runs of bytes lo to hi of what c moves, as many as fit, and returns up to which byte: less than
// hi if there are more.
func (c *Cursor) List(l *Runs, lo, hi int64) int64 { return l.fill(c, lo, hi) }

// fill lists the runs of bytes lo to hi of what c moves, and returns up to which byte.
func (l *Runs) fill(c *Cursor, lo, hi int64) int64 {
	l.N, l.Used = 0, 0
	return l.span(c.tree(), c.at, lo, hi)
}

// span lists bytes lo to hi of one instance of nd at memory offset at, until the list is full. It is not full yet.
func (l *Runs) span(nd *node, at, lo, hi int64) int64 {
	switch nd.op {
	case opRun:
		l.add(at+lo, hi-lo)
		return hi
	case opLoop:
		return l.row(nd.child, at, nd.stride, lo, hi)
	case opAt:
		size := nd.child.size
		for i := quotient(lo, size); lo < hi && !l.full(); i++ {
			start := i * size
			lo = start + l.span(nd.child, at+nd.offs[i]*nd.scale, lo-start, min(start+size, hi)-start)
		}
	case opVary:
		for i, start := nd.block(lo); lo < hi && !l.full(); i++ {
			end := start + nd.lens[i]*nd.child.size
			lo = start + l.row(nd.child, at+nd.offs[i]*nd.scale, nd.stride, lo-start, min(end, hi)-start)
			start = end
		}
	case opList:
		for i := nd.kid(lo); lo < hi && !l.full(); i++ {
			start := nd.starts[i]
			lo = start + l.span(nd.kids[i], at+nd.offs[i], lo-start, min(nd.starts[i+1], hi)-start)
		}
	}
	return lo
}

// row lists bytes lo to hi of instances of c, stride bytes apart.
func (l *Runs) row(c *node, at, stride, lo, hi int64) int64 {
	if c.op == opRun && stride == c.mem {
		l.add(at+lo, hi-lo)
		return hi
	}
	for i := quotient(lo, c.size); lo < hi && !l.full(); i++ {
		start := i * c.size
		lo = start + l.span(c, at+i*stride, lo-start, min(start+c.size, hi)-start)
	}
	return lo
}
