package programs

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/linked"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// A program that is linked with another MPI library finds nobody whom it knows: each rank is then a job of its own,
// rank 0 of 1, and does all of the work. What can be known of it beforehand is refused (abi.go); the rest is told apart
// by what does not happen: no rank greets us.

// OtherLibrary returns the other MPI library that a program is linked with; "": none, or the file is no program of
// this system's kind.
func OtherLibrary(file string) string {
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

// WarnOfOthers warns, once, that the ranks of a program did not join because of what it is linked with, or has loaded
// (seen, nil if nothing was seen). All have ended. Those that the loader has given up never ran. greeted reports
// whether one of n ranks from first on has come to join.
func WarnOfOthers(plan *options.Plan, list []supervise.Process, greeted func(first, n int) bool, job *supervise.Job,
	seen *Sighting) {
	alone := ValueIn(list[0].Env, startup.EnvSize) == "1"
	if plan.Quiet || plan.ABI == options.ABINative && alone {
		return // with its own library a rank is alone, as it was to be
	}
	_, ends := job.Exits()
	if seen != nil && !greeted(0, len(list)) {
		outcome.Complain("warning: no rank has joined the job: %s (pid %d) had loaded %s, another MPI library, so that "+
			"each process was a job of its own; %s", seen.name, seen.pid, seen.library, insteadOf(seen.library))
		return
	}
	first := 0
	for i := range plan.Programs {
		g := &plan.Programs[i]
		ranks := first
		first += g.N
		if greeted(ranks, g.N) || ends[ranks].ExitStatus() == supervise.CodeNotFound {
			continue
		}
		file := list[ranks].Path
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.Dir, file)
		}
		if lib := OtherLibrary(file); lib != "" {
			why := ", whose ABI libimpi does not have"
			if fronts[lib] != "" {
				why = ""
			}
			outcome.Complain("warning: %s is linked with another MPI library (%s)%s, so that each of its ranks was a job of "+
				"its own; compile it with our mpicc, or start it with that library's mpirun", g.Argv[0], lib, why)
			return
		}
	}
}

// insteadOf returns what brings a program to libimpi that has loaded a library of another MPI.
func insteadOf(library string) string {
	l := linked.Library{Name: filepath.Base(library), Path: library}
	for name, front := range fronts {
		if prefix, err := install.Prefix(); err == nil && strings.HasPrefix(l.Name+".", name+".") {
			l.Name = name
			return fmt.Sprintf("-x LD_PRELOAD=%s may bring it to libimpi, or start it with %s",
				filepath.Join(prefix, "lib", front, name), ownLauncher(l))
		}
	}
	return "start it with " + ownLauncher(l)
}
