package placement

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/topology/hardware"
)

// describedMachines are those of testdata, by name, and one of which nothing is known.
func describedMachines(t *testing.T) map[string]hardware.Machine {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	all := map[string]hardware.Machine{"unknown": hardware.Read(fstest.MapFS{})}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		system := fstest.MapFS{}
		for line := range strings.Lines(string(text)) {
			if path, content, ok := strings.Cut(line, " "); ok && path != "#" {
				system[path] = &fstest.MapFile{Data: []byte(content)}
			}
		}
		all[strings.TrimSuffix(filepath.Base(file), ".txt")] = hardware.Read(system)
	}
	return all
}

func set(t *testing.T, list string) hardware.Set {
	t.Helper()
	s, err := hardware.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRanksGetTheCPUsThatTheUserWants(t *testing.T) {
	machines := describedMachines(t)
	for _, tt := range []struct {
		machine, mask string
		p             Policy
		n             int
		want          string // the sets by rank, then the note or the error
	}{
		{"two-sockets", "0-31", Policy{}, 3, "- - -"},
		{"two-sockets", "0-31", Policy{Bind: Core}, 3, "0,16 1,17 2,18"},
		{"two-sockets", "0-31", Policy{Bind: HWThread}, 3, "0 16 1"},
		{"two-sockets", "0-31", Policy{Bind: Package}, 3, "0-7,16-23 8-15,24-31 0-7,16-23"},
		{"two-sockets", "0-31", Policy{Bind: Package, Map: Slot}, 3, "0-7,16-23 0-7,16-23 0-7,16-23"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Package}, 3, "0,16 8,24 1,17"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Package, Rank: Slot}, 3, "0,16 1,17 8,24"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Slot, Rank: NUMA}, 3, "0,16 1,17 2,18"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Package, PerUnit: 2}, 4, "0,16 1,17 8,24 9,25"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Package, PerUnit: 2, Rank: Package}, 4, "0,16 8,24 1,17 9,25"},
		{"two-sockets", "0-31", Policy{Bind: Core, Count: 4}, 3, "0-3,16-19 4-7,20-23 8-11,24-27"},
		{"two-sockets", "0-31", Policy{Bind: Core, Count: 4, Map: Package, PerUnit: 1}, 2, "0-3,16-19 8-11,24-27"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Package, PerUnit: 1}, 3,
			"error: -map-by ppr:1:package: there is room for 2 ranks, since this machine has package 2 times within " +
				"CPUs 0-31, and 3 are wanted here"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Node}, 2, "0,16 1,17"},
		{"two-sockets", "0-31", Policy{Bind: Core, Map: Node, PerUnit: 2}, 3, "0,16 1,17 2,18"},
		{"two-sockets", "0-31", Policy{Bind: Package, Map: Node, PerUnit: 2}, 3, "0-7,16-23 8-15,24-31 0-7,16-23"},
		{"two-sockets", "0-31", Policy{Map: Package, PerUnit: 2}, 4, "- - - -"},
		{"two-sockets", "0-31", Policy{Bind: NUMA, Map: Core}, 2, "0-7,16-23 0-7,16-23"},
		{"two-sockets", "4,20,9", Policy{Bind: Core}, 2, "4,20 9"},
		{"two-sockets", "4,20,9", Policy{Bind: Package}, 2, "4,20 9"},
		{"two-sockets", "4,20,9", Policy{Bind: Core}, 3,
			"4,20 9 4,20 note: 2 ranks are bound to 1 core, CPUs 4,20: they take turns (-bind-to core:overload-allowed " +
				"if that is wanted)"},
		{"two-sockets", "4,20,9", Policy{Bind: Core, Sharing: ShareWanted}, 3, "4,20 9 4,20"},
		{"two-sockets", "4,20,9", Policy{Bind: Core, Threads: true}, 3, "4,20 9 4,20"},
		{"two-sockets", "4,20,9", Policy{Bind: Core, Sharing: ShareNever}, 3,
			"error: 2 ranks are bound to 1 core, CPUs 4,20, and -bind-to core:no-overload forbids that"},
		{"two-sockets", "4,20,9", Policy{Bind: Core, Count: 3}, 1, "error: 3 of core are wanted for each rank, and CPUs " +
			"4,9,20 have 2"},
		{"two-sockets", "0-31", Policy{CPUs: "2-3"}, 2, "2-3 2-3"},
		{"two-sockets", "0-31", Policy{CPUs: "2-3,18", Bind: Core}, 2, "2,18 3"},
		{"two-sockets", "0-7", Policy{CPUs: "2,8"}, 1, "error: CPU 8 is none that this process may use, which are 0-7"},
		{"two-sockets", "0-7", Policy{Lists: []string{"0,2", "1"}}, 3, "0,2 1 0,2"},
		{"two-sockets", "0-7", Policy{Lists: []string{"9"}}, 1,
			"error: CPU 9 is none that this process may use, which are 0-7"},
		{"two-sockets", "5,2", Policy{EachCPU: true}, 3, "2 5 2"},
		{"two-sockets", "0-31", Policy{CPUs: "5,2", EachCPU: true}, 3, "2 5 2"},
		{"two-sockets", "0-31", Policy{Bind: Machine}, 1, "0-31"},
		{"holes", "0-31", Policy{Bind: Core}, 4, "0,16 1 2,18 4,20"},
		{"holes", "3,19,14", Policy{Bind: Core}, 1,
			"error: the system does not say which CPUs this process may use: ranks cannot be bound"},
		{"odd-and-even", "0-15", Policy{Bind: Core}, 9, "0 2 4 6 8 10 12 14 1"},
		{"odd-and-even", "0-15", Policy{Bind: L3Cache}, 3, "0,2 4,6 8,10"},
		{"odd-and-even", "0-15", Policy{Bind: L3Cache, Count: 2}, 3, "0,2,4,6 8,10,12,14 1,3,5,7"},
		{"odd-and-even", "0-15", Policy{Bind: NUMA, Map: Package}, 3, "0,2,4,6 1,3,5,7 8,10,12,14"},
		{"odd-and-even", "0-15", Policy{Bind: Core, Map: NUMA, Rank: Package}, 4, "0 1 8 9"},
		{"arm", "0-3", Policy{Bind: L3Cache}, 1,
			"error: this machine does not tell of any l3cache; it tells of hwthread, core, numa, package"},
		{"arm", "0-3", Policy{Bind: L3Cache, IfSupported: true}, 1, "-"},
		{"arm", "0-3", Policy{Bind: NUMA}, 1, "0-3"},
		{"one", "0", Policy{Bind: Core, Sharing: ShareWanted}, 2, "0 0"},
		{"bare", "1-4", Policy{Bind: Core}, 2, "1 2"},
		{"bare", "1-4", Policy{Bind: Package}, 1, "1-4"},
		{"unknown", "1-4", Policy{Bind: Core}, 2, "1 2"},
		{"unknown", "1-4", Policy{Bind: Package}, 2, "1-4 1-4"},
		{"unknown", "", Policy{}, 1, "-"},
	} {
		l, err := tt.p.Place(machines[tt.machine], set(t, tt.mask), tt.n)
		got := ""
		for _, s := range l.Sets {
			if got += " -"; s != nil {
				got = strings.TrimSuffix(got, "-") + s.String()
			}
		}
		if l.Note != "" {
			got += " note: " + l.Note
		}
		if err != nil {
			got = " error: " + err.Error()
		}
		if got != " "+tt.want {
			t.Errorf("%s, mask %s, %v, %d ranks:\n got%s\nwant %s", tt.machine, tt.mask, &tt.p, tt.n, got, tt.want)
		}
	}
}

// oracle returns what rank i is bound to, slowly, from a table of the unit that each CPU is in.
func oracle(m hardware.Machine, mask hardware.Set, mapped, bind Unit, i int) string {
	unitOf := func(unit Unit, cpu int) int {
		for k, s := range m.Parts(types[unit]) {
			if s[cpu] {
				return k
			}
		}
		return -1
	}
	all := m.Parts("Machine")[0]
	var cpus []int
	for cpu := range 64 {
		if mask[cpu] && all[cpu] {
			cpus = append(cpus, cpu)
		}
	}
	slices.SortFunc(cpus, func(x, y int) int {
		for _, u := range []Unit{Package, NUMA, L3Cache, Core, HWThread} {
			if d := unitOf(u, x) - unitOf(u, y); d != 0 {
				return d
			}
		}
		return 0
	})
	distinct := func(unit Unit, cpus []int) (list []int) {
		for _, cpu := range cpus {
			if k := unitOf(unit, cpu); !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
		return list
	}
	in := func(unit Unit, k int, cpus []int) (list []int) {
		for _, cpu := range cpus {
			if unitOf(unit, cpu) == k {
				list = append(list, cpu)
			}
		}
		return list
	}
	units := distinct(mapped, cpus)
	here := in(mapped, units[i%len(units)], cpus)
	to := distinct(bind, here)
	if len(to) == 1 {
		here = cpus
	}
	s := hardware.Set{}
	for _, cpu := range in(bind, to[i/len(units)%len(to)], here) {
		s[cpu] = true
	}
	return s.String()
}

func TestPlacesAreThoseOfASlowOracleForEveryMask(t *testing.T) {
	machines := describedMachines(t)
	units := []Unit{HWThread, Core, L3Cache, NUMA, Package}
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"two-sockets", "holes", "odd-and-even", "one"} {
		m := machines[name]
		for range 60 {
			mask := hardware.Set{}
			for cpu := range m.Parts("Machine")[0] {
				if random.IntN(3) > 0 {
					mask[cpu] = true
				}
			}
			if len(mask) == 0 {
				continue
			}
			mapped, bind := units[random.IntN(5)], units[random.IntN(5)]
			p := Policy{Map: mapped, Bind: bind, Sharing: ShareWanted}
			n := 1 + random.IntN(40)
			l, err := p.Place(m, mask, n)
			if err != nil {
				t.Fatalf("%s, mask %v, %v: %v", name, mask, &p, err)
			}
			for i, s := range l.Sets {
				if want := oracle(m, mask, mapped, bind, i); s.String() != want {
					t.Fatalf("%s, mask %v, %v: rank %d is bound to %v, want %s", name, mask, &p, i, s, want)
				}
			}
		}
	}
}

func TestEveryPolicyStaysWithinTheMaskAndGivesEachPlaceOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	units := []Unit{"", HWThread, Core, L3Cache, NUMA, Package, Machine}
	for name, m := range describedMachines(t) {
		for range 80 {
			mask := hardware.Set{}
			for cpu := range 32 {
				if random.IntN(4) > 0 {
					mask[cpu] = true
				}
			}
			p := Policy{Map: units[random.IntN(6)], Bind: units[random.IntN(7)], Rank: units[random.IntN(6)],
				Count: random.IntN(4), PerUnit: random.IntN(2) * random.IntN(9), Threads: random.IntN(2) == 0}
			if p.Map == "" {
				p.PerUnit = 0
			}
			n := 1 + random.IntN(12)
			l, err := p.Place(m, mask, n)
			if err != nil {
				continue
			}
			other := p
			other.Rank = ""
			plain, err := other.Place(m, mask, n)
			if err != nil {
				t.Fatal(err)
			}
			var ranked, mapped []string
			for i, s := range l.Sets {
				if p.Binds() != (s != nil) || s != nil && !s.Within(mask) {
					t.Fatalf("%s, mask %v, %v: rank %d of %d is bound to %v", name, mask, &p, i, n, s)
				}
				ranked, mapped = append(ranked, s.String()), append(mapped, plain.Sets[i].String())
			}
			slices.Sort(ranked)
			slices.Sort(mapped)
			if d := cmp.Diff(mapped, ranked); d != "" {
				t.Fatalf("%s, mask %v, %v: ranking loses places: %s", name, mask, &p, d)
			}
		}
	}
}

func TestRanksAreDealtToMachinesInTheOrderOfTheList(t *testing.T) {
	for _, tt := range []struct {
		list       string // machines with their slots
		p          Policy
		n, perHost int
		chunk      int
		want       string // the machine of each rank
	}{
		{"a b c", Policy{}, 7, 0, 1, "aaabbcc"},
		{"a b c", Policy{}, 2, 0, 1, "ab"},
		{"a2 b2 c2", Policy{}, 3, 0, 1, "aab"},
		{"a2 b c2", Policy{}, 5, 0, 1, "aabcc"},
		{"a2 b2", Policy{}, 7, 0, 1, "aaaabbb"},
		{"a4 b4", Policy{}, 4, 1, 1, "aabb"},
		{"a b", Policy{}, 4, 2, 1, "aabb"},
		{"a1", Policy{}, 3, 0, 1, "aaa"},
		{"a b a", Policy{}, 3, 0, 1, "aba"},
		{"a2 b1 a1", Policy{}, 4, 0, 1, "aaba"},
		{"a2 b1 a1", Policy{}, 4, 2, 1, "aabb"},
		{"a4 b4", Policy{Map: Node}, 5, 0, 1, "ababa"},
		{"a1 b4", Policy{Map: Node}, 5, 0, 1, "abbbb"},
		{"a1 b2", Policy{Map: Node}, 6, 0, 1, "abbaba"},
		{"a4 b4", Policy{Map: Node, Rank: Slot}, 5, 0, 1, "aaabb"},
		{"a3 b3", Policy{Rank: Node}, 5, 0, 1, "ababa"},
		{"a4 b4", Policy{Map: Package, Span: true}, 6, 0, 2, "aabbaa"},
		{"a4 b4", Policy{Map: Package, PerUnit: 1}, 4, 2, 2, "aabb"},
		{"a4 b4", Policy{Map: Node, PerUnit: 2}, 4, 2, 1, "aabb"},
		{"a4 b4", Policy{Map: Package, PerUnit: 2, Rank: Span}, 8, 4, 2, "aabbaabb"},
	} {
		var list []Entry
		for word := range strings.FieldsSeq(tt.list) {
			e := Entry{Machine: int(word[0] - 'a')}
			if len(word) > 1 {
				e.Slots = int(word[1] - '0')
			}
			list = append(list, e)
		}
		got := make([]byte, tt.n)
		for m, ranks := range tt.p.Deal(list, tt.n, tt.perHost, tt.chunk) {
			if !slices.IsSorted(ranks) {
				t.Errorf("%v", ranks)
			}
			for _, r := range ranks {
				got[r] += byte('a' + m)
			}
		}
		if string(got) != tt.want {
			t.Errorf("%s, %v, %d ranks, %d per host: %q, want %s", tt.list, &tt.p, tt.n, tt.perHost, got, tt.want)
		}
	}
}

func TestEveryRankIsDealtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var list []Entry
		for range 1 + random.IntN(6) {
			list = append(list, Entry{Machine: random.IntN(3), Slots: random.IntN(4)})
		}
		p := Policy{Map: []Unit{"", Slot, Node, Package}[random.IntN(4)], Span: random.IntN(2) == 0,
			Rank: []Unit{"", Slot, Node, Span}[random.IntN(4)], PerUnit: random.IntN(2)}
		n := 1 + random.IntN(20)
		seen := make([]int, n)
		for _, ranks := range p.Deal(list, n, random.IntN(3), 1+random.IntN(3)) {
			for _, r := range ranks {
				seen[r]++
			}
		}
		if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
			t.Fatalf("%v, %v, %d ranks: %v", list, &p, n, seen)
		}
	}
}

func TestBindingsAreDrawnAsPeopleKnowThem(t *testing.T) {
	machines := describedMachines(t)
	for _, tt := range []struct{ machine, mask, set, want string }{
		{"two-sockets", "0-31", "0,16", "socket 0[core 0[hwt 0-1]] (CPUs 0,16): [BB/../../../../../../..]" +
			"[../../../../../../../..]"},
		{"two-sockets", "0-9", "17,8", "socket 0[core 1[hwt 1]], socket 1[core 8[hwt 0]] (CPUs 8,17): " +
			"[.~/.B/.~/.~/.~/.~/.~/.~][B~/.~/~~/~~/~~/~~/~~/~~]"},
		{"arm", "0-3", "2-3", "socket 0[core 2[hwt 0]], socket 0[core 3[hwt 0]] (CPUs 2-3): [././B/B]"},
		{"unknown", "4-6", "5", "socket 0[core 1[hwt 0]] (CPUs 5): [./B/.]"},
	} {
		if got := Say(machines[tt.machine], set(t, tt.mask), set(t, tt.set)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.machine, got, tt.want)
		}
	}
}

func TestARankIsAtHomeOnTheNodeThatHasItsCPUs(t *testing.T) {
	two := map[int]hardware.Set{0: set(t, "0-3"), 2: set(t, "4-7")}
	for list, want := range map[string]int{"0": 0, "0-3": 0, "5-6": 2, "3-4": -1, "": -1, "9": -1} {
		if got := Home(two, set(t, list)); got != want {
			t.Errorf("CPUs %s: node %d, want %d", list, got, want)
		}
	}
	if got := Home(map[int]hardware.Set{0: set(t, "0-3")}, set(t, "1")); got != -1 {
		t.Errorf("on a machine of one node: %d", got)
	}
}

func TestPoliciesAreSaidInWords(t *testing.T) {
	for want, p := range map[string]Policy{
		"": {},
		"map 2 to each package, rank by slot, bind to core, 4 each, cores may be shared": {Map: Package, PerUnit: 2,
			Rank: Slot, Bind: Core, Count: 4, Sharing: ShareWanted},
		"map by node, bind to numa, if supported, CPUs 0-3": {Map: Node, Bind: NUMA, IfSupported: true, CPUs: "0-3"},
		"CPUs by rank 0,2 | 1":                              {Lists: []string{"0,2", "1"}},
	} {
		if got := fmt.Sprint(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRanksThatComeLaterGetThePlacesThatAreLeft(t *testing.T) {
	m, mask := describedMachines(t)["two-sockets"], set(t, "0-31")
	for _, tt := range []struct {
		p     Policy
		taken []int
		n     int
		want  string // as above
	}{
		{Policy{}, []int{0, 1}, 2, "- -"},
		{Policy{Bind: Core}, nil, 2, "0,16 1,17"},
		{Policy{Bind: Core}, []int{0, 1}, 2, "2,18 3,19"},
		{Policy{Bind: Core}, []int{0, 3, 1}, 3, "2,18 4,20 5,21"},
		{Policy{Bind: Core, Map: Package}, []int{0}, 2, "8,24 1,17"},
		{Policy{Bind: Core, Map: Package, Rank: Slot}, []int{0}, 3, "1,17 8,24 9,25"},
		{Policy{Bind: Core, Map: Package, PerUnit: 2}, []int{0, 1, 2}, 3, "9,25 2,18 3,19"},
		{Policy{Lists: []string{"4", "7", "9"}}, []int{0, 2}, 3, "7 4 7"},
		{Policy{CPUs: "4-6"}, []int{0}, 1, "4-6"},
		{Policy{Bind: Package, CPUs: "0,8"}, []int{0}, 2,
			"8 0 note: 2 ranks are bound to 1 core, CPUs 0: they take turns (-bind-to package:overload-allowed if that is " +
				"wanted)"},
		{Policy{Bind: Package, CPUs: "0,8", Sharing: ShareNever}, []int{0, 1}, 1,
			"error: 2 ranks are bound to 1 core, CPUs 0, and -bind-to package:no-overload forbids that"},
	} {
		l, err := tt.p.PlaceBeside(m, mask, tt.taken, tt.n)
		var got []string
		for _, s := range l.Sets {
			if s == nil {
				got = append(got, "-")
			} else {
				got = append(got, s.String())
			}
		}
		if l.Note != "" {
			got = append(got, "note: "+l.Note)
		}
		if err != nil {
			got = []string{"error: " + err.Error()}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%+v, %d beside %v: %q, want %q", tt.p, tt.n, tt.taken, got, tt.want)
		}
	}
}
