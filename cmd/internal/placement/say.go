package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/topology/hardware"
)

// How bindings are shown, in the form that people know from Open MPI.

// Say names the cores of a set and draws the machine: a pair of brackets for each package, a bar between cores, and for
// each hardware thread B if it is in the set, ~ if it is not in mask, or a dot.
func Say(m hardware.Machine, mask, set hardware.Set) string {
	b := boardOf(m, mask)
	packages, err := b.parts(Package)
	if err != nil {
		return fmt.Sprintf("CPUs %v", set)
	}
	var names []string
	picture := ""
	core := 0
	for i, pack := range packages {
		cores, err := b.groups(Core, pack, 1)
		if err != nil {
			continue
		}
		var drawn []string
		for _, c := range cores {
			text, threads := "", hardware.Set{}
			for k, cpu := range b.inOrder(c) {
				switch {
				case set[cpu]:
					text += "B"
					threads[k] = true
				case !mask[cpu]:
					text += "~"
				default:
					text += "."
				}
			}
			if len(threads) > 0 {
				names = append(names, fmt.Sprintf("socket %d[core %d[hwt %v]]", i, core, threads))
			}
			drawn = append(drawn, text)
			core++
		}
		picture += "[" + strings.Join(drawn, "/") + "]"
	}
	return fmt.Sprintf("%s (CPUs %v): %s", strings.Join(names, ", "), set, picture)
}

func (b *board) inOrder(s hardware.Set) []int {
	list := s.List()
	slices.SortStableFunc(list, func(x, y int) int { return b.place[x] - b.place[y] })
	return list
}
