package datatype

// shape holds the sums over a type map that every constructor computes from those of its parts: sizes, bounds.
// add puts n copies of a part, evenly spaced, behind what is there; seal ends it.
//
// Bounds follow MPI 5.0, 5.1 and, for the markers, 5.1.7 of MPI-1: a bound that is set explicitly somewhere
// overrules the data. A part keeps its padding: no type ends before one of its parts does. The formula of 5.1 knows
// basic elements only, so that a part placed against its alignment would lose some of it; MPICH and Open MPI keep it
// (docs/decisions/46).
type shape struct {
	size   int64 // packed bytes, native
	size32 int64 // packed bytes, external32
	elems  int64 // basic elements
	align  int64 // strictest alignment of a basic element

	data   bool  // there is a basic element
	lo, hi int64 // bounds of the data, 0 without data
	end    int64 // where the last part ends, its padding included, 0 without data

	markLB, markUB bool // lb, ub were set explicitly
	lb, ub         int64

	uniform  *Type // the one predefined type, nil while there is none or once there are several
	mixed    bool
	portable bool // external32 is the native form
}

func newShape() shape { return shape{portable: true, align: 1} }

func (s *shape) extent() int64 { return s.ub - s.lb }

// add appends n copies of o, the first at byte disp, the others spacing bytes apart.
func (s *shape) add(o *shape, disp, n, spacing int64, m *safeMath) {
	if n == 0 {
		return
	}
	last := m.add(disp, m.mul(n-1, spacing))
	s.place(o, min(disp, last), max(disp, last), n, m)
}

// place appends n copies of o, the lowest at byte low and the highest at byte high.
func (s *shape) place(o *shape, low, high, n int64, m *safeMath) {
	if n == 0 {
		return
	}
	if o.data {
		lo, hi, end := m.add(low, o.lo), m.add(high, o.hi), m.add(high, o.end)
		if s.data {
			lo, hi, end = min(lo, s.lo), max(hi, s.hi), max(end, s.end)
		}
		s.data, s.lo, s.hi, s.end = true, lo, hi, end
	}
	if o.markLB {
		lb := m.add(low, o.lb)
		if s.markLB {
			lb = min(lb, s.lb)
		}
		s.markLB, s.lb = true, lb
	}
	if o.markUB {
		ub := m.add(high, o.ub)
		if s.markUB {
			ub = max(ub, s.ub)
		}
		s.markUB, s.ub = true, ub
	}
	s.append(o, n, m)
}

// append adds the sums that do not depend on where the copies lie.
func (s *shape) append(o *shape, n int64, m *safeMath) {
	s.size = m.add(s.size, m.mul(n, o.size))
	s.size32 = m.add(s.size32, m.mul(n, o.size32))
	s.elems = m.add(s.elems, m.mul(n, o.elems))
	s.align = max(s.align, o.align)
	s.portable = s.portable && o.portable
	if o.data {
		switch {
		case o.mixed, s.uniform != nil && s.uniform != o.uniform:
			s.mixed, s.uniform = true, nil
		case !s.mixed:
			s.uniform = o.uniform
		}
	}
}

// seal derives the bounds that nobody set; the upper one is padded so that the extent is a multiple of the
// alignment (epsilon in MPI 5.0, 5.1).
func (s *shape) seal(m *safeMath) {
	switch {
	case s.markLB:
	case s.data:
		s.lb = s.lo
	case s.markUB:
		s.lb = s.ub
	}
	if s.markUB {
		m.sub(s.ub, s.lb)
		return
	}
	s.ub = s.lb
	if s.data {
		s.ub = s.end
		if rest := m.sub(s.ub, s.lb) % s.align; rest > 0 {
			s.ub = m.add(s.ub, s.align-rest)
		} else if rest < 0 {
			s.ub = m.add(s.ub, -rest)
		}
		s.end = s.ub
	}
}

// safeMath is int64 arithmetic that remembers whether a result did not fit.
type safeMath struct{ overflow bool }

func (m *safeMath) add(a, b int64) int64 {
	c := a + b
	if (c > a) != (b > 0) && b != 0 {
		m.overflow = true
	}
	return c
}

func (m *safeMath) sub(a, b int64) int64 {
	c := a - b
	if (c < a) != (b > 0) && b != 0 {
		m.overflow = true
	}
	return c
}

func (m *safeMath) mul(a, b int64) int64 {
	c := a * b
	if int64(int32(a)) == a && int64(int32(b)) == b {
		return c
	}
	if a == 0 || b == 0 {
		return 0
	}
	if c/b != a || (a == -1 && b == -1<<63) || (b == -1 && a == -1<<63) {
		m.overflow = true
	}
	return c
}
