package tags

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Channels come and go while some stay: no two have a tag in common, however often the tags begin anew.
func TestTagsOfAChannelAreNobodyElses(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var s Space
		var live []block
		rounds, last := 0, int32(0)
		for rounds < 3 {
			if len(live) > 0 && rnd.IntN(2) == 0 {
				i := 1 % len(live) // the first stays for ever
				if i > 0 {
					i += rnd.IntN(len(live) - 1)
				} else if len(live) == 1 && rnd.IntN(2) == 0 {
					continue
				}
				if i > 0 {
					s.GiveBack(int32(live[i].first))
					live = slices.Delete(live, i, i+1)
				}
			}
			n := int32(1 + rnd.IntN(1<<(4+rnd.IntN(24))))
			first, ok := s.Take(n)
			if !ok {
				t.Fatalf("seed %d: no room for %d tags beside %v", seed, n, live)
			}
			got := block{int64(first), int64(first) + int64(n)}
			if first < 0 || got.end > End {
				t.Fatalf("seed %d: tags %v", seed, got)
			}
			if slices.ContainsFunc(live, func(r block) bool { return r.first < got.end && got.first < r.end }) {
				t.Fatalf("seed %d: tags %v are in use: %v", seed, got, live)
			}
			if live = append(live, got); first < last {
				rounds++
			}
			last = first
			for len(live) > 20 {
				s.GiveBack(int32(live[1].first))
				live = slices.Delete(live, 1, 2)
			}
		}
		for _, r := range live {
			s.GiveBack(int32(r.first))
		}
		if len(s.inUse) != 0 {
			t.Fatalf("seed %d: %v are left", seed, s.inUse)
		}
	}
}

func TestTagsEnd(t *testing.T) {
	var s Space
	first, ok := s.Take(End - 10)
	if first != 0 || !ok {
		t.Fatal(first, ok)
	}
	if _, ok = s.Take(11); ok {
		t.Error("more tags than there are")
	}
	if first, ok = s.Take(10); !ok || first != End-10 {
		t.Errorf("the last ten begin at %d, %t", first, ok)
	}
	if _, ok = s.Take(1); ok {
		t.Error("one more")
	}
	s.GiveBack(0)
	if first, ok = s.Take(1); !ok || first != 0 {
		t.Errorf("anew: %d, %t", first, ok)
	}
}
