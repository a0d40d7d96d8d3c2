package stat

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/libimpi/report"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew from what is said of the situations")

// TestSituationsAreDescribedAsTheGoldenFileSays compares testdata/situations.txt. go test -rewrite writes it anew: read
// the difference before you commit it.
func TestSituationsAreDescribedAsTheGoldenFileSays(t *testing.T) {
	const name = "testdata/situations.txt"
	var b strings.Builder
	for _, c := range situations {
		s := c.make()
		fmt.Fprintf(&b, "# %s\n%s", c.name, Make(s.ranks).Text())
		if d := Prove(s.ranks, s.later()); d != nil {
			fmt.Fprintf(&b, "%s\n", d.Text())
		}
		b.WriteString("\n")
	}
	if *rewrite {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Errorf("texts differ (-golden +got):\n%s", diff)
	}
}

func TestDeadlocksAreProvenAndNothingElseIsCalledOne(t *testing.T) {
	for _, c := range situations {
		s := c.make()
		if got := Prove(s.ranks, s.later()) != nil; got != c.dead {
			t.Errorf("%s: proven %v", c.name, got)
		}
	}
}

func TestADeadlockIsNotProvenIfAnythingHappensBetweenTheRounds(t *testing.T) {
	for name, change := range map[string]func(p *report.Process){
		"moves":    func(p *report.Process) { p.Moves++ },
		"sent":     func(p *report.Process) { p.Sent++ },
		"received": func(p *report.Process) { p.Received++ },
		"call":     func(p *report.Process) { p.Threads[0].Call = "MPI_Send" },
		"anew":     func(p *report.Process) { p.Threads[0].Since = 1 },
		"woken":    func(p *report.Process) { p.Threads[0].Settled = false },
		"thread":   func(p *report.Process) { p.Threads = append(p.Threads, p.Threads[0]) },
		"computes": func(p *report.Process) { p.Threads, p.Computing = nil, true },
		"process":  func(p *report.Process) { p.PID++ },
		"open":     func(p *report.Process) { p.Open = "a port" },
	} {
		s := world(2)
		s.recv(0, 1, 1)
		s.recv(1, 0, 1)
		later := s.later()
		if change(later[1].Process); Prove(s.ranks, later) != nil {
			t.Errorf("%s changes, and a deadlock is proven", name)
		}
	}
	s := world(2)
	s.recv(0, 1, 1)
	s.recv(1, 0, 1)
	later := s.later()
	later[1] = Rank{Rank: 1, State: Mute}
	for name, second := range map[string][]Rank{"mute": later, "fewer": later[:1], "twice": {later[0], later[0]}} {
		if Prove(s.ranks, second) != nil {
			t.Errorf("%s: a deadlock is proven", name)
		}
	}
}

// TestReportsOfAThousandRanksAreShortAndMadeQuickly also bounds work: situations in which all ranks look at all others.
func TestReportsOfAThousandRanksAreShort(t *testing.T) {
	for name, s := range manyRanks(1000) {
		r := Make(s.ranks)
		if text := r.Text(); strings.Count(text, "\n") > 200 || len(text) > 64<<10 {
			t.Errorf("%s: %d lines, %d bytes", name, strings.Count(text, "\n"), len(text))
		}
		Prove(s.ranks, s.later())
	}
}

// manyRanks are situations of n ranks.
func manyRanks(n int) map[string]*situation {
	all := map[string]*situation{}
	add := func(name string, each func(s *situation, i int)) {
		s := world(n)
		for i := range n {
			each(s, i)
		}
		all[name] = s
	}
	add("ring", func(s *situation, i int) { s.recv(i, (i+1)%n, 1) })
	add("random", func(s *situation, i int) { s.recv(i, i*i*7919%n, i%13) })
	add("any", func(s *situation, i int) { s.recv(i, anySource, anyTag) })
	add("barrier", func(s *situation, i int) {
		if i > 0 {
			s.coll(0, 1, "MPI_Barrier", nil, i)
		}
	})
	add("two barriers", func(s *situation, i int) {
		if i == 0 {
			s.comm(5, "dup", seq(0, n)...)
		}
		s.coll(uint64(5*(i%2)), 1, "MPI_Barrier", nil, i)
	})
	add("roots", func(s *situation, i int) { s.coll(0, 1, "MPI_Bcast", []string{"root", fmt.Sprint(i)}, i) })
	add("full queues", func(s *situation, i int) {
		s.recv(i, (i+1)%n, 1)
		for k := range report.Most {
			s.arrived(i, (i+k)%n, 100+k, 0)
		}
	})
	return all
}

func BenchmarkMake1000(b *testing.B) {
	for name, s := range manyRanks(1000) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Make(s.ranks).Text()
			}
		})
	}
}

// FuzzMake gives reports that package report lets through, but that make no sense.
func FuzzMake(f *testing.F) {
	for _, c := range situations {
		var list []*report.Process
		for _, r := range c.make().ranks {
			if r.Process != nil {
				list = append(list, r.Process)
			}
		}
		b, err := json.Marshal(list)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var texts []json.RawMessage
		if json.Unmarshal(b, &texts) != nil {
			return
		}
		var ranks []Rank
		for i, text := range texts[:min(len(texts), 16)] {
			p, err := report.Parse(text)
			if err != nil {
				ranks = append(ranks, Rank{Rank: i, State: Mute})
				continue
			}
			ranks = append(ranks, Rank{Rank: i, Process: p})
		}
		text := Make(ranks).Text()
		if len(text) > 1<<20 {
			t.Errorf("a text of %d bytes", len(text))
		}
		for _, r := range text {
			if r < ' ' && r != '\n' {
				t.Fatalf("a control character in %q", text)
			}
		}
		if d := Prove(ranks, ranks); d != nil {
			t.Error("a deadlock although no time has passed")
		}
	})
}
