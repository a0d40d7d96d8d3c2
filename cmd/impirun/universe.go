package main

import (
	"runtime"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// universe is MPI_UNIVERSE_SIZE: how many processes may usefully run at a time, as the user says it, or the slots of
// all machines that are listed. A machine of which nobody has said them counts for its cores if it is this one, or else
// for one. It is at least the number of ranks; 0: there is no such number.
func universe(plan *options.Plan) int32 {
	switch {
	case plan.Universe == options.UniverseInfinite:
		return 0
	case plan.Universe > 0:
		return int32(max(plan.Universe, plan.Size()))
	}
	lines, err := listed(plan)
	list, _ := merged(lines)
	if err != nil || len(list) == 0 {
		list = []machine{{local: true}}
	}
	n := 0
	for _, m := range list {
		switch {
		case m.slots > 0:
			n += m.slots
		case m.local:
			n += runtime.NumCPU()
		default:
			n++
		}
	}
	return int32(max(n, plan.Size()))
}
