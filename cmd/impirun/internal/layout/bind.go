package layout

import (
	"fmt"
	"os"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/topology/hardware"
	"github.com/libimpi/libimpi/transport/shm"
)

// Bind gives the processes of this machine, which have these ranks, their CPUs, and says so if the user wants to know.
// job is the number of their job if they were spawned, and taken are the places of the processes that run here already.
func Bind(plan *options.Plan, list []supervise.Process, ranks []int, job int, taken []int) error {
	if !plan.Place.Local() && !plan.Show.Bindings {
		return nil
	}
	m, mask := hosts.Hardware()
	layout, err := plan.Place.Place(m, mask, len(list))
	if job != 0 {
		layout, err = plan.Place.PlaceBeside(m, mask, taken, len(list))
	}
	if err != nil {
		return err
	}
	for i, set := range layout.Sets {
		list[i].CPUs = set.List()
	}
	if layout.Note != "" && !plan.Quiet {
		outcome.Complain("note: on %s %s", hosts.Hostname(), layout.Note)
	}
	if plan.Show.Bindings {
		fmt.Fprint(os.Stderr, bindings(m, mask, layout.Sets, ranks, job))
	}
	return nil
}

// bindings is a line for each rank, in the form that people know from Open MPI.
func bindings(m hardware.Machine, mask hardware.Set, sets []hardware.Set, ranks []int, job int) string {
	var b strings.Builder
	of := ""
	if job != 0 {
		of = OfJob(job)
	}
	for i, set := range sets {
		fmt.Fprintf(&b, "[%s:%d] MCW rank %d%s ", hosts.Hostname(), os.Getpid(), RankIn(ranks, i), of)
		if set == nil {
			fmt.Fprintf(&b, "is not bound (CPUs %v)\n", mask)
			continue
		}
		fmt.Fprintf(&b, "bound to %s\n", placement.Say(m, mask, set))
	}
	return b.String()
}

// PlaceMemory tells the memory that some ranks share, by its descriptor, which CPUs they have, if all are bound.
func PlaceMemory(fd int, ranks []supervise.Process) error {
	all := map[int]bool{}
	nodes := make([]int, len(ranks))
	known := map[int]hardware.Set{}
	for i := range ranks {
		if len(ranks[i].CPUs) == 0 {
			return nil
		}
		if i == 0 {
			known = hardware.Nodes(os.DirFS(hosts.SystemFiles))
		}
		set := hardware.Set{}
		for _, cpu := range ranks[i].CPUs {
			all[cpu], set[cpu] = true, true
		}
		nodes[i] = placement.Home(known, set)
	}
	return shm.Place(fd, len(all), nodes)
}
