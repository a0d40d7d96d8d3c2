// Package hardware reads from Linux what a machine is made of, and says which of its parts a process is restricted to
// by its CPU mask. The names of the types are hwloc's.
package hardware

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Types are the kinds of parts, from the largest to the smallest. Not every machine tells of all of them.
var Types = []string{"Machine", "Package", "NUMANode", "Die", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"}

// Set is a set of CPUs by number.
type Set map[int]bool

// List are the CPUs in ascending order.
func (s Set) List() []int { return slices.Sorted(maps.Keys(s)) }

// String is the kernel's notation: "0-3,8".
func (s Set) String() string {
	var parts []string
	list := slices.Sorted(maps.Keys(s))
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if part := strconv.Itoa(list[i]); k == i {
			parts = append(parts, part)
		} else {
			parts = append(parts, part+"-"+strconv.Itoa(list[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// And are the CPUs that are in both.
func (s Set) And(t Set) Set {
	both := Set{}
	for cpu := range s {
		if t[cpu] {
			both[cpu] = true
		}
	}
	return both
}

// Within reports whether all CPUs of s are in t; an empty set is nowhere.
func (s Set) Within(t Set) bool {
	for cpu := range s {
		if !t[cpu] {
			return false
		}
	}
	return len(s) > 0
}

// Machine is what was read: the parts of each type in Types, in the order of their first CPUs.
type Machine [][]Set

// sources say where a CPU's directory tells which CPUs share a part with it.
var sources = map[string][]string{
	"Package": {"topology/package_cpus_list", "topology/core_siblings_list"},
	"Die":     {"topology/die_cpus_list"},
	"Core":    {"topology/core_cpus_list", "topology/thread_siblings_list"},
}

// Read reads /sys/devices/system, or a tree like it. What a kernel does not tell is left out.
func Read(system fs.FS) Machine {
	m := make(Machine, len(Types))
	online, err := readList(system, "cpu/online")
	if err != nil {
		return m
	}
	m.add("Machine", online)
	for _, cpu := range slices.Sorted(maps.Keys(online)) {
		dir := fmt.Sprintf("cpu/cpu%d", cpu)
		m.add("PU", Set{cpu: true})
		for typ, names := range sources {
			for _, name := range names {
				if s, err := readList(system, path.Join(dir, name)); err == nil {
					m.add(typ, s)
					break
				}
			}
		}
		m.addCaches(system, path.Join(dir, "cache"))
	}
	m.addNodes(system)
	for _, parts := range m {
		first := func(s Set) int { return slices.Min(slices.Collect(maps.Keys(s))) }
		slices.SortFunc(parts, func(a, b Set) int { return first(a) - first(b) })
	}
	return m
}

// addCaches adds the data caches that a CPU uses.
func (m Machine) addCaches(system fs.FS, dir string) {
	entries, _ := fs.ReadDir(system, dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "index") {
			continue
		}
		at := path.Join(dir, e.Name())
		if kind, err := readText(system, path.Join(at, "type")); err != nil || kind == "Instruction" {
			continue
		}
		level, err := readText(system, path.Join(at, "level"))
		if err != nil {
			continue
		}
		if s, err := readList(system, path.Join(at, "shared_cpu_list")); err == nil {
			m.add("L"+level+"Cache", s)
		}
	}
}

var nodeName = regexp.MustCompile(`^node[0-9]+$`)

func (m Machine) addNodes(system fs.FS) {
	entries, _ := fs.ReadDir(system, "node")
	for _, e := range entries {
		if nodeName.MatchString(e.Name()) {
			if s, err := readList(system, path.Join("node", e.Name(), "cpulist")); err == nil {
				m.add("NUMANode", s)
			}
		}
	}
}

// Nodes are the CPUs of each NUMA node, by the kernel's number of it.
func Nodes(system fs.FS) map[int]Set {
	nodes := map[int]Set{}
	entries, _ := fs.ReadDir(system, "node")
	for _, e := range entries {
		if !nodeName.MatchString(e.Name()) {
			continue
		}
		number, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "node"))
		if s, failed := readList(system, path.Join("node", e.Name(), "cpulist")); err == nil && failed == nil && len(s) > 0 {
			nodes[number] = s
		}
	}
	return nodes
}

// add notes a part that may be known.
func (m Machine) add(typ string, s Set) {
	i := slices.Index(Types, typ)
	if i < 0 || len(s) == 0 {
		return
	}
	for _, known := range m[i] {
		if len(known) == len(s) && s.Within(known) {
			return
		}
	}
	m[i] = append(m[i], s)
}

// Restricted returns, for each of Types, the number of the part that a process which may run on these CPUs is
// restricted to; -1 if there is none.
func (m Machine) Restricted(cpus Set) []int {
	at := make([]int, len(Types))
	for i := range at {
		at[i] = slices.IndexFunc(m[i], cpus.Within)
	}
	return at
}

// Known reports whether the machine tells of a type.
func (m Machine) Known(typ string) bool {
	i := slices.Index(Types, typ)
	return i >= 0 && len(m[i]) > 0
}

// Parts are the parts of a type, in the order of their first CPUs; none if the machine does not tell of it.
func (m Machine) Parts(typ string) []Set {
	if i := slices.Index(Types, typ); i >= 0 && i < len(m) {
		return m[i]
	}
	return nil
}

func readText(system fs.FS, name string) (string, error) {
	b, err := fs.ReadFile(system, name)
	return strings.TrimSpace(string(b)), err
}

func readList(system fs.FS, name string) (Set, error) {
	text, err := readText(system, name)
	if err != nil {
		return nil, err
	}
	return ParseList(text)
}

// maxCPU is beyond all numbers of CPUs.
const maxCPU = 1 << 16

// ParseList reads the kernel's notation: numbers and ranges of them, "0-3,8,10-11".
func ParseList(text string) (Set, error) {
	s := Set{}
	if text == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 32)
		to, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || from > to || to >= maxCPU {
			return nil, fmt.Errorf("%q is no list of CPUs", text)
		}
		for cpu := from; cpu <= to; cpu++ {
			s[int(cpu)] = true
		}
	}
	return s, nil
}
