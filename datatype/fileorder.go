package datatype

// FileOrder tells what MPI 5.0, 14.1.1 and 14.3 want of etypes and filetypes. monotone: no displacement is negative,
// and none is less than the one before, neither in one element nor from one element to the next, an extent further.
// disjoint: besides, no two basic elements share a byte, as they must not where the view is written. It takes time in
// proportion to the type's lists.
func (t *Type) FileOrder() (monotone, disjoint bool) {
	if t.elems == 0 {
		return true, true
	}
	one := places{}.of(t)
	all := one.row(2, t.extent(), 0)
	return all.monotone && one.first >= 0, all.disjoint && one.first >= 0
}

// places is what has been found of parts of a type, which may be used on every level.
type places map[*Type]span

// span is where the basic elements of a type are: the first in the order of the type map, the last, and its end.
type span struct {
	first, last, end   int64
	monotone, disjoint bool
}

// of is the span of a type that has data.
func (p places) of(t *Type) span {
	if t.form == formBasic {
		return span{0, 0, t.size, true, true}
	}
	if known, found := p[t]; found {
		return known
	}
	found := p.parts(t)
	p[t] = found
	return found
}

func (p places) parts(t *Type) (all span) {
	if t.form == formWrap {
		return p.of(t.old)
	}
	if t.form == formVector {
		return p.of(t.old).row(t.blocklen, t.old.extent(), 0).row(t.count, t.stride*t.scale, 0)
	}
	empty := true
	for i, disp := range t.disps {
		old, n := t.old, t.blockLen(i)
		if t.form == formFields {
			old = t.olds[i]
		} else {
			disp *= t.scale
		}
		if n == 0 || old.elems == 0 {
			continue
		}
		part := p.of(old).row(n, old.extent(), disp)
		if empty {
			all, empty = part, false
			continue
		}
		all.monotone = all.monotone && part.monotone && part.first >= all.last
		all.disjoint = all.disjoint && part.disjoint && part.first >= all.end
		all.last, all.end = part.last, part.end
	}
	return all
}

// row is n of s, stride bytes apart, the first moved by at bytes.
func (s span) row(n, stride, at int64) span {
	last := at + (n-1)*stride
	return span{at + s.first, last + s.last, last + s.end,
		s.monotone && (n == 1 || stride >= s.last-s.first), s.disjoint && (n == 1 || stride >= s.end-s.first)}
}
