package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/simulate"
)

// An arrangement is ranks on several machines.
type arrangement struct {
	text  string
	sizes []int // ranks of each machine
	dealt bool  // to the machines in turn, as -map-by node does, and not one machine after the other
}

// machineSeats is how many ranks a machine has room for.
const machineSeats = 64

var arrangements = []arrangement{
	{"16 machines of 64 ranks, which follow one another", sized(64, 64, 64, 64), false},
	{"16 machines of 64 ranks, to which ranks are dealt in turn (`-map-by node`)", sized(64, 64, 64, 64), true},
	{"16 uneven machines, four each of 64, 48, 32 and 16 ranks, which follow one another", sized(64, 48, 32, 16), false},
}

// sized are 16 machines of four sizes.
func sized(sizes ...int) (all []int) {
	for range 4 {
		all = append(all, sizes...)
	}
	return all
}

// place returns the machines of the ranks, and their seats in a model with room for machineSeats on each machine.
func (a arrangement) place() (m *coll.Machines, seats []int) {
	var number []int32
	taken := make([]int, len(a.sizes))
	sit := func(machine int) {
		number, seats = append(number, int32(machine)), append(seats, machine*machineSeats+taken[machine])
		taken[machine]++
	}
	if !a.dealt {
		for i, n := range a.sizes {
			for range n {
				sit(i)
			}
		}
		return coll.NewMachines(number), seats
	}
	for left := true; left; {
		left = false
		for i, n := range a.sizes {
			if taken[i] < n {
				sit(i)
				left = true
			}
		}
	}
	return coll.NewMachines(number), seats
}

// apartRows are what is shown of several machines.
var apartRows = []row{{"barrier", 0}, {"bcast", 1 << 20}, {"reduce", 1 << 20},
	{"allreduce", 8}, {"allreduce", 16 << 10}, {"allreduce", 1 << 20},
	{"reduce_scatter", 8}, {"reduce_scatter", 1 << 10}, {"scan", 8}, {"scan", 64 << 10}, {"exscan", 64 << 10},
	{"gather", 8}, {"scatter", 8}, {"allgather", 8}, {"allgather", 1 << 10}, {"allgather", 16 << 10},
	{"allgatherv", 1 << 10}, {"alltoall", 8}, {"alltoall", 256}, {"alltoall", 64 << 10}, {"alltoallv", 1 << 10},
	{"neighbors", 8}, {"neighbors", 512}}

// apartTables compare operations of ranks that know their machines with the same ones of ranks that do not.
func apartTables() (string, error) {
	var b strings.Builder
	for i, a := range arrangements {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s:\n\n| | time | by machine | messages | by machine | bytes | by machine |\n"+
			"|---|---|---|---|---|---|---|\n", a.text)
		for _, r := range apartRows {
			line, err := a.compare(r)
			if err != nil {
				return "", err
			}
			b.WriteString(line)
		}
	}
	return b.String(), nil
}

// compare is the line of a call.
func (a arrangement) compare(r row) (string, error) {
	m, seats := a.place()
	model := clusters
	model.Levels = slices.Clone(clusters.Levels[:2])
	model.Levels[1].Span = machineSeats
	times, messages, volumes := "", "", ""
	for _, known := range []*coll.Machines{nil, m} {
		k := simulate.Case{Operation: r.operation, Ranks: len(seats), Bytes: r.bytes, Machines: known}
		s, err := k.Record(simulate.MostSteps)
		if err != nil {
			return "", err
		}
		took, err := s.Run(simulate.Seated{Model: model, Seats: seats})
		if err != nil {
			return "", fmt.Errorf("%v: %w", k, err)
		}
		n, volume := s.Leaving(m)
		times, messages = times+" | "+duration(took), messages+" | "+fmt.Sprint(n)
		volumes += " | " + rounded(volume)
	}
	return fmt.Sprintf("| %s%s%s%s |\n", strings.TrimSpace(r.operation+" "+size(r.bytes)), times, messages, volumes), nil
}

// rounded writes a number of bytes with three digits or so.
func rounded(n int64) string {
	for unit := int64(1 << 30); unit > 1; unit >>= 10 {
		if n >= 10*unit {
			return size((n + unit/2) / unit * unit)
		}
	}
	return size(n)
}
