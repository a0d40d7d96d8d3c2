package supervise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/topology/hardware"
)

// Failure is the error or crash of one rank, or the same of several. Its parts are those of the first of them. It does
// not change.
type Failure struct {
	report.Error
	Did     string   // "gave up: ...", "was killed by signal 11 ..."
	Origins []Origin // at least one, in the order of their ranks
}

// Origin is a process in messages.
type Origin struct {
	Rank    int    // in MPI_COMM_WORLD
	Of      string // follows the rank, such as " of spawned job 2"
	Machine string
	PID     int
}

func (p Origin) String() string {
	return fmt.Sprintf("rank %d%s on %s (pid %d)", p.Rank, p.Of, p.Machine, p.PID)
}

// mostOrigins bounds those that are kept of one failure.
const mostOrigins = 1 << 20

// with is the cause with what a rank has told of it.
func (c Cause) with(told *report.Error) Cause {
	if told != nil {
		c.Failure = &Failure{Error: *told}
	}
	return c
}

// Checked is a failure that another launcher has told; nil if it is none.
func (f *Failure) Checked() *Failure {
	if f == nil || len(f.Origins) == 0 || len(f.Origins) > mostOrigins {
		return nil
	}
	c := *f
	c.Error = *f.Error.Bounded()
	return &c
}

func (f *Failure) where() string {
	if f == nil {
		return ""
	}
	return f.Where()
}

// Join adds the ranks of another cause, if that is the same error or crash. Consequences of others are not. Whoever has
// a copy of the cause keeps what it was.
func (c *Cause) Join(o *Cause) {
	if c.Failure == nil || o.Failure == nil || c.Answer || o.Answer || !c.Failure.Same(&o.Failure.Error) {
		return
	}
	f, g := *c.Failure, o.Failure
	if len(f.Origins)+len(g.Origins) > mostOrigins || f.Origins[0].Of != g.Origins[0].Of {
		return
	}
	if g.Origins[0].Rank < f.Origins[0].Rank {
		f.Error, f.Did = g.Error, g.Did
	}
	f.Origins = slices.Concat(f.Origins, g.Origins)
	slices.SortFunc(f.Origins, func(a, b Origin) int { return cmp.Compare(a.Rank, b.Rank) })
	f.Origins = slices.Compact(f.Origins)
	did := f.Did
	if how, ok := strings.CutPrefix(did, "was killed"); ok {
		did = "were killed" + how
	}
	c.Failure, c.Text = &f, f.Who()+" "+did
}

// Who names the ranks: one with its machine and process, several as a list with their machines.
func (f *Failure) Who() string {
	if len(f.Origins) == 1 {
		return f.Origins[0].String()
	}
	ranks, machines := f.Ranks(), f.Machines()
	return fmt.Sprintf("ranks %v%s on %s", ranks, f.Origins[0].Of, strings.Join(machines, ", "))
}

// Ranks are the numbers of all.
func (f *Failure) Ranks() hardware.Set {
	set := hardware.Set{}
	for _, p := range f.Origins {
		set[p.Rank] = true
	}
	return set
}

// mostMachines bounds the machines that a message names.
const mostMachines = 4

// Machines are the names of the machines, of which the last may be a number of others.
func (f *Failure) Machines() (names []string) {
	for _, p := range f.Origins {
		if !slices.Contains(names, p.Machine) {
			names = append(names, p.Machine)
		}
	}
	if n := len(names); n > mostMachines+1 {
		names = append(names[:mostMachines:mostMachines], fmt.Sprintf("%d other machines", n-mostMachines))
	}
	return names
}

// Lines are what follows the line that says what has happened. machineOf names the machine of a rank; "": not known.
func (f *Failure) Lines(machineOf func(rank int) string) (lines []string) {
	if f == nil {
		return nil
	}
	peer := ""
	if f.Peer != nil {
		peer = machineOf(*f.Peer)
	}
	if peer == f.Origins[0].Machine {
		peer = "" // which the first line has
	}
	lines = f.Error.Lines(peer)
	if len(f.Origins) > 1 && len(lines) > 0 {
		lines = append([]string{fmt.Sprintf("what follows is of rank %d (pid %d)", f.Origins[0].Rank,
			f.Origins[0].PID)}, lines...)
	}
	return lines
}
