package hardware

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }

// two packages of two cores of two hardware threads; threads of a core are numbered n and n+4, as on many machines.
func two() fstest.MapFS {
	system := fstest.MapFS{"cpu/online": file("0-7"), "node/node0/cpulist": file("0-1,4-5"),
		"node/node1/cpulist": file("2-3,6-7"), "node/possible": file("0-1"), "node/node2/cpulist": file("")}
	for cpu := range 8 {
		core, pack := cpu%4, cpu%4/2
		dir := fmt.Sprintf("cpu/cpu%d/", cpu)
		system[dir+"topology/package_cpus_list"] = file([]string{"0-1,4-5", "2-3,6-7"}[pack])
		system[dir+"topology/thread_siblings_list"] = file(fmt.Sprintf("%d,%d", core, core+4)) // an older kernel's name
		for i, c := range []struct{ level, typ, cpus string }{
			{"1", "Data", fmt.Sprintf("%d,%d", core, core+4)}, {"1", "Instruction", fmt.Sprint(cpu)},
			{"2", "Unified", fmt.Sprintf("%d,%d", core, core+4)},
			{"3", "Unified", []string{"0-1,4-5", "2-3,6-7"}[pack]},
		} {
			at := fmt.Sprintf("%scache/index%d/", dir, i)
			system[at+"level"], system[at+"type"], system[at+"shared_cpu_list"] = file(c.level), file(c.typ), file(c.cpus)
		}
	}
	return system
}

func TestAProcessIsRestrictedToThePartsThatHoldItsMask(t *testing.T) {
	m := Read(two())
	for _, tt := range []struct {
		mask string
		want map[string]int
	}{
		{"0-7", map[string]int{"Machine": 0}},
		{"0", map[string]int{"Machine": 0, "Package": 0, "NUMANode": 0,
			"L3Cache": 0, "L2Cache": 0, "L1Cache": 0, "Core": 0, "PU": 0}},
		{"5,1", map[string]int{"Machine": 0, "Package": 0, "NUMANode": 0,
			"L3Cache": 0, "L2Cache": 1, "L1Cache": 1, "Core": 1}},
		{"2-3", map[string]int{"Machine": 0, "Package": 1, "NUMANode": 1, "L3Cache": 1}},
		{"6", map[string]int{"Machine": 0, "Package": 1, "NUMANode": 1,
			"L3Cache": 1, "L2Cache": 2, "L1Cache": 2, "Core": 2, "PU": 6}},
		{"", nil}, {"9", nil},
	} {
		cpus, err := ParseList(tt.mask)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range m.Restricted(cpus) {
			want, ok := tt.want[Types[i]]
			if !ok {
				want = -1
			}
			if got != want {
				t.Errorf("mask %q: %s %d, want %d", tt.mask, Types[i], got, want)
			}
		}
	}
	if m.Known("Die") || !m.Known("Core") || m.Known("Board") {
		t.Error("what the machine tells of")
	}
}

func TestNodesAreNumberedAsTheKernelDoes(t *testing.T) {
	if got := fmt.Sprint(Nodes(two())); got != "map[0:0-1,4-5 1:2-3,6-7]" {
		t.Error(got)
	}
}

func TestAMachineThatTellsNothingHasNoParts(t *testing.T) {
	for _, system := range []fstest.MapFS{{}, {"cpu/online": file("x")},
		{"cpu/online": file("0-3"), "cpu/cpu0/cache/index0/level": file("2")}} {
		m := Read(system)
		if slices.ContainsFunc(Types[1:8], m.Known) {
			t.Errorf("%v", m)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8,10-11", "3-1", "0-", "-1", "0-99999999999", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseList(text); err == nil {
			if again, err := ParseList(s.String()); err != nil || len(again) != len(s) || len(s) > 0 && !s.Within(again) {
				t.Errorf("%q: %v is read back as %v, %v", text, s, again, err)
			}
			for cpu := range s {
				if cpu < 0 || cpu >= maxCPU {
					t.Errorf("%q: CPU %d", text, cpu)
				}
			}
		}
	})
}
