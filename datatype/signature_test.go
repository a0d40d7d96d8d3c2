package datatype

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// sequence is the signature of m itself.
func (m *model) sequence() string {
	s := ""
	for _, e := range m.entries {
		s += fmt.Sprintf("%x ", e.basic.handle)
	}
	return s
}

func TestDifferentSignaturesHaveDifferentHashes(t *testing.T) {
	seen := map[uint64]string{}
	differ := func(m *model) error {
		hash, n := m.t.Signature()
		if n != int64(len(m.entries)) {
			return fmt.Errorf("%d elements, want %d", n, len(m.entries))
		}
		if was, found := seen[hash]; found && was != m.sequence() {
			return fmt.Errorf("%s and %s have the hash %x", was, m.sequence(), hash)
		}
		seen[hash] = m.sequence()
		return nil
	}
	for h := firstHandle; h < firstHandle+len(predefined); h++ {
		if Named(h) == nil {
			continue
		}
		if err := differ(named(h)); err != nil {
			t.Error(err)
		}
	}
	check(t, 4000, func(r *rand.Rand, m *model) error { return differ(m) })
	if len(seen) < 500 {
		t.Errorf("only %d signatures", len(seen))
	}
}

// One element more, less, other, or in another place, whatever the number of the others.
func TestASignatureIsOfEveryElementAndItsPlace(t *testing.T) {
	i, d, l := testInt, testDouble, Named(abi.MPI_LONG)
	repeated := func(n int64, olds ...*Type) *Type {
		lens, disps := make([]int64, len(olds)), make([]int64, len(olds))
		for k := range olds {
			lens[k], disps[k] = 1, int64(16*k)
		}
		return ok(Contiguous(n, ok(Struct(lens, disps, olds))))
	}
	const many = 1 << 40
	unlike := []*Type{
		repeated(0, i), repeated(1, i), repeated(2, i), repeated(many, i), repeated(many+1, i), repeated(many, d),
		repeated(many, l),
		repeated(many, i, d), repeated(many, d, i), repeated(many, i, i, d), repeated(many, i, d, i), repeated(many, d, i, i),
		repeated(1, repeated(many, i), repeated(many, d)), repeated(1, repeated(many, d), repeated(many, i)),
		repeated(1, repeated(many, i), repeated(many+1, d)), repeated(1, repeated(many, i), d, repeated(many, i)),
		repeated(1, repeated(many-1, i), d, repeated(many+1, i)), repeated(1, repeated(many+1, i), d, repeated(many-1, i)),
	}
	for a := range unlike {
		for b := range a {
			x, n := unlike[a].Signature()
			if y, o := unlike[b].Signature(); x == y {
				t.Errorf("types %d of %d elements and %d of %d have the hash %x", a, n, b, o, x)
			}
		}
	}
	same := []*Type{repeated(6, i), repeated(3, i, i), repeated(2, i, i, i), repeated(1, repeated(4, i), repeated(2, i)),
		ok(Indexed([]int64{1, 0, 5}, []int64{9, 0, 3}, i)), ok(Hvector(3, 2, -40, i)),
		Dup(ok(Resized(repeated(6, i), -3, 1)))}
	for k := range same {
		x, n := same[k].Signature()
		if y, o := same[0].Signature(); x != y || n != o {
			t.Errorf("six ints, description %d: %x %d, want %x %d", k, x, n, y, o)
		}
	}
}
