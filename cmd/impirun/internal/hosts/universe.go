package hosts

import (
	"runtime"
	"slices"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// Universe returns MPI_UNIVERSE_SIZE: how many processes may usefully run at a time, as the user says it, or the slots
// of all machines that are listed, in a host file or by a resource manager; a machine in the list of which nobody has
// said them counts for one. It is at least the number of ranks; 0: there is no such number, since nothing limits the
// job. The number of cores limits nothing, unless the user says that the system is to be the measure.
func Universe(plan *options.Plan) int32 {
	switch {
	case plan.Universe == options.UniverseInfinite:
		return 0
	case plan.Universe > 0:
		return int32(max(plan.Universe, plan.Size()))
	}
	lines, err := listed(plan)
	list, _ := Merged(lines)
	system := plan.Universe == options.UniverseSystem
	switch limits := slices.ContainsFunc(list, func(m Machine) bool { return m.Slots > 0 || !m.Local }); {
	case err == nil && (limits || system && len(list) > 0):
	case system:
		list = []Machine{{Local: true}}
	default:
		return 0
	}
	n := 0
	for _, m := range list {
		switch {
		case m.Slots > 0:
			n += m.Slots
		case m.Local && system:
			n += runtime.NumCPU()
		default:
			n++
		}
	}
	return int32(max(n, plan.Size()))
}
