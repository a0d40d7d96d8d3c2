package datatype

// A Section is a part of an array of the program, as Fortran's descriptors say it: a(1:n:2, 5, m:1:-1). Its elements
// lie anywhere in memory, and count as if they lay one behind the other, the first dimension varying fastest. A byte of
// that virtual memory is where
//
//	position(o) = indexes(o / Elem) times strides + o % Elem
//
// bytes from the first element. What lies behind the last element, or before the first, goes on in the last dimension.
type Section struct {
	Elem int64 // bytes of an element
	Dims []Side
}

// Side is a dimension of a section: n elements, stride bytes apart.
type Side struct{ N, Stride int64 }

// Sectioned is a section of elements of so many bytes in so many dimensions. Dimensions that say nothing are left out,
// and those that continue each other are one. It has no Dims if all elements lie one behind the other.
func Sectioned(elem int64, dims []Side) Section {
	s := Section{Elem: elem}
	for _, d := range dims {
		last := len(s.Dims) - 1
		switch {
		case d.N == 1:
		case last < 0 && d.Stride == s.Elem:
			s.Elem *= d.N
		case last >= 0 && d.Stride == s.Dims[last].N*s.Dims[last].Stride:
			s.Dims[last].N *= d.N
		default:
			s.Dims = append(s.Dims, d)
		}
	}
	return s
}

// Size is the number of bytes of all elements.
func (s *Section) Size() int64 { return s.row(len(s.Dims)) }

// row is the number of virtual bytes from one index of dimension j to the next.
func (s *Section) row(j int) int64 {
	n := s.Elem
	for _, d := range s.Dims[:j] {
		n *= d.N
	}
	return n
}

// position is where virtual byte o is.
func (s *Section) position(o int64) int64 {
	i, at := split(o, s.Elem)
	for j, d := range s.Dims {
		index := i
		if j < len(s.Dims)-1 {
			i, index = split(i, d.N)
		}
		at += index * d.Stride
	}
	return at
}

// split is the quotient of a by b > 0, rounded down, and the rest, which is not negative.
func split(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}

// holds reports whether the data of elements of t can lie in a section, wherever in its virtual memory they begin at a
// multiple of unit bytes: no basic element lies in several elements of the section, of which it would be a piece.
func (s *Section) holds(t *Type) bool {
	return whole(t, 0, gcd(s.Elem, t.extent()), map[wholeness]bool{})
}

// wholeness is a question that has been answered with yes.
type wholeness struct {
	t        *Type
	off, mod int64
}

// whole reports whether no basic element of t crosses a multiple of mod bytes, if t is at byte off, or any multiple of
// mod from there.
func whole(t *Type, off, mod int64, known map[wholeness]bool) bool {
	if t.elems == 0 {
		return true
	}
	_, off = split(off, mod)
	q := wholeness{t, off, mod}
	if known[q] {
		return true
	}
	is := true
	switch t.form {
	case formBasic:
		return off+t.size <= mod
	case formWrap:
		is = whole(t.old, off, mod, known)
	case formVector:
		if t.count > 1 {
			mod = gcd(mod, t.stride*t.scale)
		}
		is = whole(t.old, off, spaced(mod, t.blocklen, t.old), known)
	default:
		for i := 0; is && i < len(t.disps); i++ {
			old, n, at := t.place(i)
			is = n == 0 || whole(old, off+at, spaced(mod, n, old), known)
		}
	}
	known[q] = is
	return is
}

// place is block i of a type of blocks or fields: n elements of a type at byte at.
func (t *Type) place(i int) (old *Type, n, at int64) {
	if t.form == formFields {
		return t.olds[i], t.lens[i], t.disps[i]
	}
	return t.old, t.blockLen(i), t.disps[i] * t.scale
}

// spaced is mod for n elements of t instead of one.
func spaced(mod, n int64, t *Type) int64 {
	if n > 1 {
		return gcd(mod, t.extent())
	}
	return mod
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
