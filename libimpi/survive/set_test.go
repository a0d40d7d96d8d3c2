package survive

import (
	"slices"
	"testing"
	"testing/quick"
)

func TestSetsAreThoseOfAMap(t *testing.T) {
	oracle := func(a, b []uint8) bool {
		s, u := fromBytes(a), fromBytes(b)
		var union, common, without Set
		var gaps []int
		for m := range 256 {
			inS, inU := slices.Contains(a, uint8(m)), slices.Contains(b, uint8(m))
			if s.Has(m) != inS {
				return false
			}
			if !inS {
				gaps = append(gaps, m)
			}
			if inS || inU {
				union = append(union, int32(m))
			}
			if inS && inU {
				common = append(common, int32(m))
			}
			if inS && !inU {
				without = append(without, int32(m))
			}
		}
		if len(gaps) > 0 && s.first() != gaps[0] {
			return false
		}
		return slices.Equal(s.Union(u), union) && slices.Equal(s.Common(u), common) &&
			slices.Equal(s.Without(u), without) && s.Within(u) == (len(without) == 0) && union.check(256) == nil
	}
	if err := quick.Check(oracle, nil); err != nil {
		t.Error(err)
	}
}

func fromBytes(b []uint8) Set {
	var all []int
	for _, m := range b {
		all = append(all, int(m))
	}
	return Of(all...)
}

func TestAUnionWithWhatIsThereIsTheSameSet(t *testing.T) {
	s, u := Of(1, 2, 3), Of(2, 3)
	if a, b := s.Union(u), u.Union(s); &a[0] != &s[0] || &b[0] != &s[0] {
		t.Error("the union is a copy")
	}
}

func TestSetsOfOthersAreChecked(t *testing.T) {
	for _, s := range []Set{{-1}, {4}, {1, 1}, {2, 1}} {
		if s.check(4) == nil {
			t.Errorf("%v is accepted", s)
		}
	}
}
