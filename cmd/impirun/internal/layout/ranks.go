// Package layout is about the numbers of ranks and where ranks stand: which ranks a client and a program have, and
// which CPUs and memory of this machine.
//
// Flow: ranks are divided among clients (Split) and programs (ProgramOf) -> the user sees the map, if he wants to
// (ShowMap, Explain) -> the processes of this machine get their CPUs (Bind), and the memory that they share is told of
// them (PlaceMemory).
package layout

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// Share is the part of a job's ranks that one client starts: world ranks First to First+N-1 if the job is
// all ours, else its own ranks 0 to N-1.
type Share struct{ First, N int }

// Split divides n ranks among k clients as evenly as possible, the larger shares first.
func Split(n, k int) []Share {
	shares := make([]Share, k)
	first := 0
	for i := range shares {
		shares[i] = Share{first, n / k}
		if i < n%k {
			shares[i].N++
		}
		first += shares[i].N
	}
	return shares
}

// RankIn returns the rank of local rank i; ranks are the ranks by local rank, nil if the two are the same.
func RankIn(ranks []int, i int) int {
	if ranks == nil {
		return i
	}
	return ranks[i]
}

// ProgramOf returns the program of the plan that a rank runs.
func ProgramOf(plan *options.Plan, rank int) *options.Program {
	for i := range plan.Programs {
		if g := &plan.Programs[i]; rank < g.N {
			return g
		}
		rank -= plan.Programs[i].N
	}
	return &options.Program{}
}

// OfJob returns what follows a rank of a spawned job in messages.
func OfJob(number int) string { return fmt.Sprintf(" of spawned job %d", number) }

// ProgramsOf returns the programs of some ranks, each with as many as it has of them.
func ProgramsOf(programs []options.Program, ranks []int) (list []options.Program) {
	for _, rank := range ranks {
		i := 0
		for ; rank >= programs[i].N; i++ {
			rank -= programs[i].N
		}
		if last := len(list) - 1; last >= 0 && list[last].Number == programs[i].Number {
			list[last].N++
			continue
		}
		g := programs[i]
		g.N = 1
		list = append(list, g)
	}
	return list
}

// UpTo returns the numbers from 0 to n-1.
func UpTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
