package main

import (
	"debug/elf"
	"path/filepath"
	"slices"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/transport/boot"
)

// A program that is linked with another MPI library finds nobody whom it knows: each rank is then a job of its own,
// rank 0 of 1, and does all of the work. What can be known of it beforehand is refused (abi.go); the rest is told apart
// by what does not happen: no rank greets us.

// otherLibrary is the other MPI library that a program is linked with; "" is none, or no program of this system's kind.
func otherLibrary(file string) string {
	f, err := elf.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, _ := f.ImportedLibraries()
	for _, name := range names {
		if mpiLibrary.MatchString(name) && !slices.Contains(standard, name) {
			return name
		}
	}
	return ""
}

// warnOfOthers says, once, that the ranks of a program did not join because of what it is linked with. All have ended.
func warnOfOthers(plan *options.Plan, list []supervise.Process, parts []*part) {
	alone := valueIn(list[0].Env, boot.EnvSize) == "1"
	if plan.Quiet || plan.ABI == options.ABINative && alone {
		return // with its own library a rank is alone, as it was to be
	}
	first := 0
	for i := range plan.Programs {
		g := &plan.Programs[i]
		ranks := first
		first += g.N
		if anyGreeted(parts, ranks, g.N) {
			continue
		}
		file := list[ranks].Path
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.Dir, file)
		}
		if lib := otherLibrary(file); lib != "" {
			why := ", whose ABI libimpi does not have"
			if fronts[lib] != "" {
				why = ""
			}
			complain("warning: %s is linked with another MPI library (%s)%s, so that each of its ranks was a job of its "+
				"own; compile it with our mpicc, or start it with that library's mpirun", g.Argv[0], lib, why)
			return
		}
	}
}

// anyGreeted says whether one of n ranks from first on has come to join.
func anyGreeted(parts []*part, first, n int) bool {
	for _, p := range parts {
		p.mu.Lock()
		for i := range p.seats {
			if rank := p.first + i; p.seats[i].lives > 0 && rank >= first && rank < first+n {
				p.mu.Unlock()
				return true
			}
		}
		p.mu.Unlock()
	}
	return false
}
