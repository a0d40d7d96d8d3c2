// Package topo has the virtual topologies of MPI (MPI 5.0, chapter 8) as values: grids, graphs, and a process's part
// of a distributed graph, with what follows from them alone. Communicators carry them (libimpi/topology.go).
// It also says where processes are, by the job's tables and inside their machines.
package topo

import "fmt"

// Error is what is wrong with an argument.
type Error struct {
	Class int // MPI_ERR_...
	Text  string
}

func (e *Error) Error() string { return e.Text }

func errorf(class int, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Topology is a *Cart, *Graph or *DistGraph. It never changes, so that communicators share it.
type Topology interface {
	// Kind is MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
	Kind() int
	// Neighbors are the processes from which a rank gets, and to which it gives, in the order in which neighborhood
	// collectives use their buffers (MPI 5.0, 8.6); MPI_PROC_NULL stands beyond a border. The caller does not
	// change them.
	Neighbors(rank int) (sources, destinations []int32)
}

// Prefix stores where each block begins if at is not nil, and returns how long all of them are.
func Prefix(counts []int32, at []int64) (sum int64) {
	for i, n := range counts {
		if at != nil {
			at[i] = sum
		}
		sum += int64(n)
	}
	return sum
}
