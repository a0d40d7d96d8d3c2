package simulate

import "math/bits"

// A Bound is what an algorithm of package coll costs at most among p ranks, each of which sends one message and
// receives one at a time. n is Case.Bytes: the vector of a rank, or one block.
type Bound struct {
	Operation, Algorithm string
	// Rounds bounds the number of communication rounds, and Volume the bytes that a rank sends, and those that it
	// receives. InRounds and InVolume are the same in writing; log is the logarithm to base two.
	InRounds string
	Rounds   func(p int, n int64) int64
	InVolume string
	Volume   func(p int, n int64) int64
	// Source is where the algorithm and its bound were published.
	Source string
	// InOrder: the bound is that for operations that do not commute.
	InOrder bool
}

// Bounds has a row for each algorithm, by operation. A new algorithm gets one here; the tests hold it to that for every
// number of ranks.
var Bounds = []Bound{
	{"barrier", "dissemination", "⌈log p⌉", log, "0", none, "Hensgen, Finkel, Manber 1988", false},
	{"barrier", "central", "2(p-1)", times(2, others), "0", none, "", false},

	{"bcast", "binomial", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Träff 2010, 9.3", false},
	{"bcast", "scatter-ring", "⌈log p⌉ + p-1", sum(log, others), "2(p-1)⌈n/p⌉", cutTwice, "Träff 2010, 9.3", false},

	{"reduce", "binomial", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Träff 2010, 9.4", false},
	{"reduce", "binomial", "⌈log p⌉ + 1", sum(log, one), "n⌈log p⌉", bytes(log), "Träff 2010, 9.4", true},
	{"reduce", "halving", "2⌊log p⌋, or 2⌊log p⌋ + 2", sum(times(2, floor), folds), "2(q-1)⌈n/q⌉, or n more",
		func(p int, n int64) int64 { return cutTwice(1<<floor(p, n), n) + n*folds(p, n)/2 },
		"Rabenseifner 2004; Träff 2010, 9.4", false},

	{"allreduce", "doubling", "⌊log p⌋, or ⌊log p⌋ + 2", sum(floor, folds), "n⌈log p⌉", bytes(log), "Träff 2010, 9.4",
		false},
	{"allreduce", "halving", "2 log p", times(2, floor), "2(p-1)⌈n/p⌉", cutTwice, "Rabenseifner 2004; Träff 2010, 9.4",
		false},
	{"allreduce", "ring", "2(p-1)", times(2, others), "2(p-1)⌈n/p⌉", cutTwice, "Patarasuk, Yuan 2009", false},

	{"reduce_scatter", "doubling", "⌊log p⌋, or ⌊log p⌋ + 2", sum(floor, folds), "pn⌈log p⌉",
		bytes(product(ranks, log)), "Träff 2010, 9.4", false},
	{"reduce_scatter", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Thakur, Rabenseifner, Gropp 2005", false},
	{"reduce_scatter", "reduce-scatter", "⌈log p⌉ + p-1", sum(log, others), "pn⌈log p⌉", bytes(product(ranks, log)),
		"Träff 2010, 9.4", true},

	{"scan", "doubling", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Hillis, Steele 1986; Träff 2010, 9.4", false},
	{"exscan", "doubling", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Hillis, Steele 1986; Träff 2010, 9.4", false},

	{"gather", "binomial", "⌈log p⌉", log, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"gather", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"gatherv", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"scatter", "binomial", "⌈log p⌉", log, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"scatter", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"scatterv", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},

	{"allgather", "doubling", "log p", floor, "n(p-1)", bytes(others), "Thakur, Rabenseifner, Gropp 2005", false},
	{"allgather", "bruck", "⌈log p⌉", log, "n(p-1)", bytes(others), "Bruck et al. 1997; Träff 2010, 9.6", false},
	{"allgather", "ring", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},
	{"allgatherv", "ring", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},

	{"alltoall", "bruck", "⌈log p⌉", log, "n⌊p/2⌋⌈log p⌉",
		func(p int, n int64) int64 { return n * int64(p/2) * log(p, n) }, "Bruck et al. 1997; Träff 2010, 9.7", false},
	{"alltoall", "window", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoall", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoallv", "window", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoallv", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
}

// What bounds are made of: functions of p ranks and n bytes.
type term = func(p int, n int64) int64

func none(int, int64) int64         { return 0 }
func one(int, int64) int64          { return 1 }
func ranks(p int, _ int64) int64    { return int64(p) }
func others(p int, _ int64) int64   { return int64(p) - 1 }
func log(p int, _ int64) int64      { return int64(bits.Len(uint(p - 1))) }
func floor(p int, _ int64) int64    { return int64(bits.Len(uint(p))) - 1 }
func cutTwice(p int, n int64) int64 { return 2 * int64(p-1) * ((n + int64(p) - 1) / int64(p)) }

// folds is 2 unless p is a power of two: the ranks beyond one hand in their vectors first, and there is a round after
// all others.
func folds(p int, n int64) int64 { return 2 * (log(p, n) - floor(p, n)) }

func bytes(t term) term          { return func(p int, n int64) int64 { return n * t(p, n) } }
func times(k int64, t term) term { return func(p int, n int64) int64 { return k * t(p, n) } }
func sum(a, b term) term         { return func(p int, n int64) int64 { return a(p, n) + b(p, n) } }
func product(a, b term) term     { return func(p int, n int64) int64 { return a(p, n) * b(p, n) } }
