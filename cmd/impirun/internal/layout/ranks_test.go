package layout

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestRanksAreDividedAsEvenlyAsPossible(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for k := 1; k <= min(n, 32); k++ {
			next := 0
			for _, s := range Split(n, k) {
				if s.First != next || s.N < n/k || s.N > n/k+1 {
					t.Fatalf("split(%d, %d): %v", n, k, Split(n, k))
				}
				next += s.N
			}
			if next != n {
				t.Fatalf("split(%d, %d) hands out %d", n, k, next)
			}
		}
	}
}

func TestEachMachineGetsTheProgramsOfItsRanks(t *testing.T) {
	programs := []options.Program{{N: 3, Argv: []string{"a"}}, {N: 1, Number: 1, Argv: []string{"b"}},
		{N: 4, Number: 2, Argv: []string{"c"}}}
	for ranks := range 1 << 8 {
		var list []int
		want, got := "", ""
		for r := range 8 {
			if ranks>>r&1 != 0 {
				list, want = append(list, r), want+"aaabcccc"[r:r+1]
			}
		}
		for _, g := range ProgramsOf(programs, list) {
			got += strings.Repeat(g.Argv[0], g.N)
			if g.Argv[0][0] != byte('a'+g.Number) {
				t.Errorf("program %s is number %d", g.Argv[0], g.Number)
			}
		}
		if got != want {
			t.Errorf("ranks %v: %s, want %s", list, got, want)
		}
	}
	if programs[0].N != 3 {
		t.Error("the plan itself has changed")
	}
}
