package coll

import (
	"slices"
	"testing"
)

// The four conditions under which schedules are right (Traff 2024, 2): what a rank sends its receiver receives; a rank
// receives the q blocks before the current ones but its base block's, and its base block; what it sends it has received
// before.
func TestSchedulesOfTheCirculantGraph(t *testing.T) {
	for p := 2; p <= 1200; p++ {
		if p > 300 && p%7 != 0 && p&(p-1) != 0 {
			continue
		}
		g := newCirculant(p)
		q := int32(g.q)
		in := make([]schedule, p)
		for r := range p {
			in[r] = g.receives(r)
		}
		for r := range p {
			out, b := g.sends(r), int32(g.base(r))
			has := slices.Clone(in[r][:q])
			slices.Sort(has)
			for i := range has {
				want := int32(i) - q // -q to -1
				if r > 0 && want >= b-q {
					want++ // without b-q
				}
				if r > 0 && i == len(has)-1 {
					want = b
				}
				if has[i] != want {
					t.Fatalf("p=%d: rank %d with base block %d receives %v", p, r, b, in[r][:q])
				}
			}
			for k := range int(q) {
				if got := in[(r+g.skip[k])%p][k]; got != out[k] {
					t.Fatalf("p=%d round %d: rank %d sends block %d where %d is expected", p, k, r, out[k], got)
				}
				if r > 0 && out[k] != b-q && !slices.Contains(in[r][:k], out[k]) {
					t.Fatalf("p=%d round %d: rank %d sends block %d before it has come", p, k, r, out[k])
				}
			}
		}
	}
}
