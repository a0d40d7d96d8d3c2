package main

import (
	"runtime"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// universe is MPI_UNIVERSE_SIZE: how many processes may usefully run at a time, as the user says it, or the slots of
// all machines; a machine of which nobody has said them has as many as cores, or as ranks if it is another. It is at
// least the number of ranks; 0: there is no such number.
func universe(plan *options.Plan, list []machine) int32 {
	switch {
	case plan.Universe == options.UniverseInfinite:
		return 0
	case plan.Universe > 0:
		return int32(max(plan.Universe, plan.Size()))
	}
	if len(list) == 0 {
		list = []machine{{local: true}}
	}
	n := 0
	for _, m := range list {
		switch {
		case m.slots > 0:
			n += m.slots
		case m.local:
			n += max(runtime.NumCPU(), m.n)
		default:
			n += m.n
		}
	}
	return int32(max(n, plan.Size()))
}
