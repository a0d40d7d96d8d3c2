package datatype

import "math/bits"

// The signature of a type is the sequence of its basic types, in the order of the type map (MPI 5.0, 5.1). Its hash is
// that sequence read as the digits of a number modulo 2^61-1: the digit of a basic type is its handle times the base.
// So the hash of a sequence follows from those of its parts, h(ab) = h(a) base^|b| + h(b), n copies take log n steps,
// and no description of a type makes a difference. Sequences of different types or lengths have the same hash with a
// probability of length / 2^61 for a base that nobody chose to that end; it is no defence against forgery.
type signature struct {
	hash uint64
	pow  uint64 // base^elements
}

var emptySignature = signature{0, 1}

// Signature is a hash of the sequence of basic types and their number. Two types that may be matched in
// a message, MPI_BYTE and MPI_PACKED aside, have equal signatures, however they are constructed. It is computed
// on the first call, in time proportional to the tree, whatever the repetition counts.
func (t *Type) Signature() (hash uint64, elements int64) { return t.signature().hash, t.elems }

// SignatureOf is the hash of the signature of count elements.
func (t *Type) SignatureOf(count int64) uint64 { return t.signature().times(count).hash }

// SignatureWithin returns the hash of the signature of the first so many bytes of the data of count elements, as they
// are in rep, and whether these are all of the bytes of their basic elements.
func (t *Type) SignatureWithin(count, bytes int64, rep Rep) (hash uint64, whole bool) {
	s, whole := t.within(count, bytes, rep)
	return s.hash, whole
}

// within is the signature of the first bytes of count elements of t.
func (t *Type) within(count, bytes int64, rep Rep) (s signature, whole bool) {
	each := t.PackedSize(1, rep)
	if bytes == 0 || each == 0 {
		return emptySignature, bytes == 0
	}
	n := min(count, bytes/each)
	s = t.signature().times(n)
	if bytes -= n * each; bytes == 0 {
		return s, true
	}
	switch {
	case n == count || t.form == formBasic:
		return s, false
	case t.form != formFields:
		rest, whole := t.old.within(t.elems/t.old.elems, bytes, rep)
		return s.then(rest), whole
	}
	for i, old := range t.olds {
		part := min(bytes, old.PackedSize(t.lens[i], rep))
		rest, whole := old.within(t.lens[i], part, rep)
		s = s.then(rest)
		if bytes -= part; bytes == 0 || !whole {
			return s, whole
		}
	}
	return s, bytes == 0
}

func (t *Type) signature() signature {
	if t.elems == 0 {
		return emptySignature
	}
	if s := t.hashed.Load(); s != nil {
		return *s
	}
	var s signature
	switch t.form {
	case formBasic:
		s = signature{mulMod(uint64(t.handle), hashBase), hashBase}
	case formFields:
		s = emptySignature
		for i, old := range t.olds {
			s = s.then(old.signature().times(t.lens[i]))
		}
	default: // wherever they lie, they are elements of old
		s = t.old.signature().times(t.elems / t.old.elems)
	}
	t.hashed.Store(&s)
	return s
}

// then is the signature of s followed by that of o.
func (s signature) then(o signature) signature {
	return signature{addMod(mulMod(s.hash, o.pow), o.hash), mulMod(s.pow, o.pow)}
}

// times is the signature of n times s, by doubling.
func (s signature) times(n int64) signature {
	r := emptySignature
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = r.then(s)
		}
		s = s.then(s)
	}
	return r
}

const (
	hashPrime = 1<<61 - 1
	hashBase  = 0x9e3779b97f4a7c1 // any number below the prime that is not small
)

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	r := lo&hashPrime + (lo>>61 | hi<<3)
	return foldMod(r)
}

func addMod(a, b uint64) uint64 { return foldMod(a + b) }

func foldMod(r uint64) uint64 {
	r = r&hashPrime + r>>61
	if r >= hashPrime {
		r -= hashPrime
	}
	return r
}
