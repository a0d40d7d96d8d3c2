package datatype

// Laying a type over a section: an ordinary type with the same data, whose displacements are those in memory. A row of
// instances of a type, equally far apart, is a vector in memory, too, as long as the indexes of the section's
// dimensions advance alike from one to the next; so loops stay loops:
//
//	rows of 3 in a section of 6 by n          rows of 4 in a section of 6 by n
//	  2 instances a column, repeated            3 instances in 2 columns, of which the second is cut, repeated
//
// Types whose data follows no such rule become lists of blocks, at most as long as the data that repeats.

// laying lays types over a section.
type laying struct {
	*Section
	rows    []int64 // by dimension, and the whole
	vectors map[vectorOf]*Type
	err     error
}

// vectorOf is a vector that has been made, as it may be needed again.
type vectorOf struct {
	n, stride int64
	old       *Type
}

// part is n elements of a type, an extent apart, at byte at of memory.
type part struct {
	at, n int64
	t     *Type
}

// lay is count elements of t, which begin at virtual byte off and each extent of t from there, as one element of a type
// relative to byte origin of memory.
func (s *Section) lay(t *Type, count, off, origin int64) (*Type, error) {
	l := laying{Section: s, vectors: map[vectorOf]*Type{}}
	for j := range len(s.Dims) + 1 {
		l.rows = append(l.rows, s.row(j))
	}
	parts := l.row(nil, t, count, t.extent(), off)
	for i := range parts {
		parts[i].at -= origin
	}
	made := l.joined(parts)
	if l.err != nil {
		return nil, l.err
	}
	if made.at != 0 || made.n != 1 {
		made.t = l.keep(Hindexed([]int64{made.n}, []int64{made.at}, made.t))
	}
	return made.t, l.err
}

// keep notes an error of a constructor: a type that is too large.
func (l *laying) keep(t *Type, err error) *Type {
	if err != nil && l.err == nil {
		l.err = err
	}
	if t == nil {
		t = empty
	}
	return t
}

var empty, _ = Struct(nil, nil, nil)

// row appends the parts of n instances of t, the first at virtual byte off and the others stride bytes apart each.
func (l *laying) row(to []part, t *Type, n, stride, off int64) []part {
	if n == 0 || t.elems == 0 || l.err != nil {
		return to
	}
	return l.along(to, len(l.Dims)-1, t, n, stride, off)
}

// along is row for instances that are all in the same virtual row of dimension j+1, or anywhere if j is the last one.
func (l *laying) along(to []part, j int, t *Type, n, stride, off int64) []part {
	if n == 1 {
		return l.one(to, t, off)
	}
	if j < 0 { // in one element
		return l.run(to, t, n, stride, l.position(off+t.lo)-t.lo)
	}
	row := l.rows[j]
	each := row / gcd(row, stride) // so many are a whole number of rows
	if each >= n {
		return l.within(to, j, t, n, stride, off)
	}
	step, times := each*stride/row*l.Dims[j].Stride, n/each
	first := l.joined(l.within(nil, j, t, each, stride, off))
	if first.n > 1 {
		first = part{first.at, 1, l.vector(first.n, first.t.extent(), first.t)}
	}
	to = l.run(to, first.t, times, step, first.at)
	if rest := n % each; rest > 0 {
		to = l.within(to, j, t, rest, stride, off+times*each*stride)
	}
	return to
}

// within is along for instances that are no more than what repeats: it takes those of each row of dimension j together.
func (l *laying) within(to []part, j int, t *Type, n, stride, off int64) []part {
	for n > 0 && l.err == nil {
		k := fitting(off+t.lo, off+t.hi, stride, n, l.rows[j])
		if k == 0 {
			to, k = l.one(to, t, off), 1
		} else {
			to = l.along(to, j-1, t, k, stride, off)
		}
		n, off = n-k, off+k*stride
	}
	return to
}

// fitting is how many of n instances, of which the first has virtual bytes lo to hi, are in the same row as byte lo.
func fitting(lo, hi, stride, n, row int64) int64 {
	i, before := split(lo, row)
	behind := (i+1)*row - hi
	switch {
	case behind < 0:
		return 0
	case stride > 0:
		return min(n, behind/stride+1)
	case stride < 0:
		return min(n, before/-stride+1)
	}
	return n
}

// run appends n instances of t in memory, stride bytes apart.
func (l *laying) run(to []part, t *Type, n, stride, at int64) []part {
	if n == 1 || stride == t.extent() {
		return append(to, part{at, n, t})
	}
	return append(to, part{at, 1, l.vector(n, stride, t)})
}

func (l *laying) vector(n, stride int64, old *Type) *Type {
	key := vectorOf{n, stride, old}
	t := l.vectors[key]
	if t == nil {
		t = l.keep(Hvector(n, 1, stride, old))
		l.vectors[key] = t
	}
	return t
}

// one appends the parts of one instance of t at virtual byte off.
func (l *laying) one(to []part, t *Type, off int64) []part {
	if t.elems == 0 {
		return to
	}
	if t.form == formBasic || fitting(off+t.lo, off+t.hi, 0, 1, l.Elem) == 1 {
		return append(to, part{l.position(off+t.lo) - t.lo, 1, t})
	}
	switch t.form {
	case formWrap:
		return l.one(to, t.old, off)
	case formVector:
		if t.blocklen == 1 || t.count == 1 {
			n, stride := t.count, t.stride*t.scale
			if t.count == 1 {
				n, stride = t.blocklen, t.old.extent()
			}
			return l.row(to, t.old, n, stride, off)
		}
		return l.row(to, l.vector(t.blocklen, t.old.extent(), t.old), t.count, t.stride*t.scale, off)
	}
	for i := range t.disps {
		old, n, at := t.place(i)
		to = l.row(to, old, n, old.extent(), off+at)
	}
	return to
}

// joined is parts as one.
func (l *laying) joined(parts []part) part {
	if len(parts) == 1 {
		return parts[0]
	}
	lens, disps, olds := make([]int64, len(parts)), make([]int64, len(parts)), make([]*Type, len(parts))
	same := true
	for i, p := range parts {
		lens[i], disps[i], olds[i] = p.n, p.at, p.t
		same = same && p.t == parts[0].t
	}
	if same && len(parts) > 0 {
		return part{0, 1, l.keep(Hindexed(lens, disps, parts[0].t))}
	}
	return part{0, 1, l.keep(Struct(lens, disps, olds))}
}
