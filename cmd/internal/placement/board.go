package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/topology/hardware"
)

// board is a machine as far as ranks may use it, with its CPUs in the order in which they are handed out: package by
// package, and within one NUMA node by node, cache by cache, core by core. The kernel's numbers are often not so.
type board struct {
	machine hardware.Machine
	mask    hardware.Set
	place   map[int]int // where each CPU stands in that order
}

// order are the types by which CPUs are ordered, the largest first.
var order = []string{"Package", "NUMANode", "Die", "L3Cache", "L2Cache", "L1Cache", "Core"}

func boardOf(m hardware.Machine, mask hardware.Set) *board {
	b := &board{m, mask, map[int]int{}}
	cpus := mask.List()
	if all := m.Parts("Machine"); len(all) > 0 {
		cpus = all[0].List()
	}
	key := map[int][]int{}
	for _, cpu := range cpus {
		for _, typ := range order {
			part := slices.IndexFunc(m.Parts(typ), func(s hardware.Set) bool { return s[cpu] })
			key[cpu] = append(key[cpu], part)
		}
	}
	slices.SortStableFunc(cpus, func(x, y int) int { return slices.Compare(key[x], key[y]) })
	for i, cpu := range cpus {
		b.place[cpu] = i
	}
	return b
}

// first is the CPU of a set that is handed out first.
func (b *board) first(s hardware.Set) int {
	list := s.List()
	return slices.MinFunc(list, func(x, y int) int { return b.place[x] - b.place[y] })
}

// parts are all units of a kind, whole, in order. Where the kernel tells nothing of cores, packages or NUMA nodes, each
// CPU is a core, and the machine is one package and one node.
func (b *board) parts(unit Unit) ([]hardware.Set, error) {
	known := b.machine.Parts(types[unit])
	all := b.mask
	if m := b.machine.Parts("Machine"); len(m) > 0 {
		all = m[0]
	}
	switch {
	case unit == Machine:
		known = []hardware.Set{all}
	case len(known) == 0 && (unit == NUMA || unit == Package):
		known = []hardware.Set{all}
	case unit == Core || unit == HWThread:
		known = slices.Clone(known)
		for _, cpu := range all.List() {
			if !slices.ContainsFunc(known, func(s hardware.Set) bool { return s[cpu] }) {
				known = append(known, hardware.Set{cpu: true})
			}
		}
	case len(known) == 0:
		return nil, missing{fmt.Errorf("this machine does not tell of any %s; it tells of %s", unit, b.told())}
	}
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(x, y hardware.Set) int { return b.place[b.first(x)] - b.place[b.first(y)] })
	return known, nil
}

// told are the units that there are.
func (b *board) told() string {
	var list []string
	for _, u := range []Unit{HWThread, Core, L1Cache, L2Cache, L3Cache, NUMA, Package} {
		cache := u == L1Cache || u == L2Cache || u == L3Cache
		if !cache || b.machine.Known(types[u]) {
			list = append(list, string(u))
		}
	}
	return strings.Join(list, ", ")
}

// groups are the units of a kind within some CPUs, so many together. What is left over at the end is in no group.
func (b *board) groups(unit Unit, within hardware.Set, together int) (list []hardware.Set, err error) {
	parts, err := b.parts(unit)
	if err != nil {
		return nil, err
	}
	n := 0
	group := hardware.Set{}
	for _, part := range parts {
		part = part.And(within)
		if len(part) == 0 {
			continue
		}
		for cpu := range part {
			group[cpu] = true
		}
		if n++; n%together == 0 {
			list, group = append(list, group), hardware.Set{}
		}
	}
	if n == 0 {
		return nil, missing{fmt.Errorf("no %s has any of the CPUs %v", unit, within)}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%d of %s are wanted for each rank, and CPUs %v have %d", together, unit, within, n)
	}
	return list, nil
}

// Units is how many units of a kind there are within mask; 1 if the machine does not tell.
func Units(m hardware.Machine, mask hardware.Set, unit Unit, together int) int {
	if unit == "" || unit == Slot || unit == Node {
		return 1
	}
	list, err := boardOf(m, mask).groups(unit, mask, max(1, together))
	if err != nil {
		return 1
	}
	return len(list)
}

// Home is the number of the NUMA node that has all CPUs of a set, as the kernel counts nodes; -1 if there is none, or
// if the machine has no two.
func Home(nodes map[int]hardware.Set, s hardware.Set) int {
	if len(nodes) < 2 {
		return -1
	}
	for number, cpus := range nodes {
		if s.Within(cpus) {
			return number
		}
	}
	return -1
}
