package job

import (
	"strings"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/topology/hardware"
)

// How each rank has ended, for -print-all-exitcodes: a line for each end that there was, with all ranks that had it.

// Exits are the ends of ranks, by their numbers in this client.
type Exits map[int]syscall.WaitStatus

// Add notes the ends of ranks by their place in a list: nil stands for 0, 1, and so on.
func (x Exits) Add(ranks []int, list []syscall.WaitStatus) {
	for i, status := range list {
		x[layout.RankIn(ranks, i)] = status
	}
}

// Say calls line for each end, in the order of the ranks that had it first. They have size numbers, of which 0 is world
// rank first; nobody knows of those that are missing.
func (x Exits) Say(first, size int, line func(format string, args ...any)) {
	var order []string
	with := map[string]hardware.Set{} // of ranks: it writes them as ranges
	for rank := range size {
		how := "ended in a way that is not known"
		if status, known := x[rank]; known && status == 0 {
			how = "exited with code 0"
		} else if known {
			how = supervise.How(status)
		}
		if with[how] == nil {
			with[how] = hardware.Set{}
			order = append(order, how)
		}
		with[how][first+rank] = true
	}
	for _, how := range order {
		if ranks := with[how]; len(ranks) == 1 {
			line("rank %v %s", ranks, how)
		} else {
			line("ranks %v %s", ranks, strings.Replace(how, "was ", "were ", 1))
		}
	}
}
