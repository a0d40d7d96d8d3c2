package datatype

import "github.com/libimpi/libimpi/abi"

// Count is the number of whole elements in so many bytes of a packed stream, MPI_UNDEFINED if they do not end with an
// element (MPI_Get_count; MPI 5.0, 3.2.5). A type of size 0 has count 0 in 0 bytes.
func (t *Type) Count(bytes int64, rep Rep) int64 {
	size := t.packed(rep)
	switch {
	case bytes == 0:
		return 0
	case size == 0 || bytes < 0 || bytes%size != 0:
		return abi.MPI_UNDEFINED
	}
	return bytes / size
}

// Elements is the number of basic elements in so many bytes of a packed stream, MPI_UNDEFINED if they do not end with
// one (MPI_Get_elements; MPI 5.0, 5.1.11). A value-index pair counts as two.
func (t *Type) Elements(bytes int64, rep Rep) int64 {
	switch {
	case bytes == 0:
		return 0
	case t.packed(rep) == 0 || bytes < 0:
		return abi.MPI_UNDEFINED
	}
	n, rest := t.elements(bytes, rep)
	if rest != 0 {
		return abi.MPI_UNDEFINED
	}
	return n
}

// WholeElements is the number of basic elements that are whole in so many bytes of a packed stream, and the number of
// bytes behind them.
func (t *Type) WholeElements(bytes int64, rep Rep) (n, rest int64) {
	if t.packed(rep) == 0 || bytes <= 0 {
		return 0, max(bytes, 0)
	}
	return t.elements(bytes, rep)
}

// FirstBytes is the number of bytes in the native stream of n basic elements, the last of which may be within an
// element of t: the inverse of Elements (MPI_Status_set_elements). It is not ok if that exceeds 63 bits; of a type
// without data it is 0.
func (t *Type) FirstBytes(n int64) (bytes int64, ok bool) {
	if t.elems == 0 {
		return 0, true
	}
	var m safeMath
	bytes = m.add(m.mul(n/t.elems, t.size), t.partBytes(n%t.elems))
	return bytes, !m.overflow
}

// partBytes is the number of bytes of the first n basic elements of one element of t, which has more.
func (t *Type) partBytes(n int64) (bytes int64) {
	if n == 0 {
		return 0
	}
	old := t.old
	for i := 0; t.form == formFields; i++ {
		old = t.olds[i]
		part := old.elems * t.lens[i]
		if n < part {
			break
		}
		n, bytes = n-part, bytes+old.size*t.lens[i]
		if n == 0 {
			return bytes
		}
	}
	return bytes + n/old.elems*old.size + old.partBytes(n%old.elems)
}

func (t *Type) packed(rep Rep) int64 {
	if rep == External32 {
		return t.size32
	}
	return t.size
}

// elements counts the basic elements in bytes > 0 of a stream of t, and what is left behind the last one.
func (t *Type) elements(bytes int64, rep Rep) (n, rest int64) {
	size := t.packed(rep)
	whole := bytes / size
	n, rest = whole*t.elems, bytes%size
	if rest == 0 {
		return n, 0
	}
	switch t.form {
	case formBasic:
		return n, rest
	case formFields:
		for i, old := range t.olds {
			part := old.packed(rep) * t.lens[i]
			if rest < part {
				more, left := old.elements(rest, rep)
				return n + more, left
			}
			n, rest = n+old.elems*t.lens[i], rest-part
			if rest == 0 {
				return n, 0
			}
		}
		return n, rest
	}
	more, left := t.old.elements(rest, rep) // whatever the displacements, the stream is one of old
	return n + more, left
}
