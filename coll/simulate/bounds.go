package simulate

import (
	"math/bits"

	"github.com/libimpi/libimpi/coll/choose"
)

// A Bound is what an algorithm of package coll costs at most among p ranks, each of which sends one message and
// receives one at a time. n is Case.Bytes: the vector of a rank, or one block.
type Bound struct {
	Operation, Algorithm string
	// Rounds bounds the number of communication rounds, and Volume the bytes that a rank sends, and those that it
	// receives. InRounds and InVolume are the same in writing; log is the logarithm to base two. No functions: what
	// the ranks do depends on data, or is not done by messages, and cannot be simulated.
	InRounds string
	Rounds   func(p int, n int64) int64
	InVolume string
	Volume   func(p int, n int64) int64
	// Source is where the algorithm and its bound were published. Algorithms on boards have none.
	Source string
	// InOrder: the bound is that for operations that do not commute.
	InOrder bool
}

// Bounds has a row for each algorithm, by operation. A new algorithm gets one here; the tests hold it to that for
// every number of ranks.
var Bounds = []Bound{
	{"barrier", "dissemination", "⌈log p⌉", log, "0", none, "Hensgen, Finkel, Manber 1988", false},
	{"barrier", "central", "2(p-1)", times(2, others), "0", none, "Mellor-Crummey, Scott 1991", false},
	{"barrier", "direct", "p-1", others, "0", none, "Träff 2010, 9.2", false},

	{"bcast", "binomial", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Johnsson, Ho 1989; Träff 2010, 9.3", false},
	{"bcast", "linear", "(p-1)⌈n/64 KiB⌉", inPieces, "n(p-1)", bytes(others), "IMPI 0.0, 4.11", false},
	{"bcast", "circulant", "N-1 + ⌈log p⌉", circulant, "⌈n/N⌉(N-1 + ⌈log p⌉)", inBlocks(circulantBlocks, circulant),
		"Träff, Ripke 2008; Träff 2024", false},
	{"bcast", "two-tree", "N + 2⌈log p⌉", twoTree, "N⌈n/N⌉", inBlocks(treeBlocks, treeBlocks),
		"Sanders, Speck, Träff 2009", false},
	{"bcast", "scatter-ring", "⌈log p⌉ + p-1", sum(log, others), "2(p-1)⌈n/p⌉", cutTwice,
		"Barnett et al. 1994; Träff 2010, 9.3", false},

	{"reduce", "binomial", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Träff 2010, 9.4", false},
	{"reduce", "binomial", "⌈log p⌉ + 1", sum(log, one), "n⌈log p⌉", bytes(log), "Träff 2010, 9.4", true},
	{"reduce", "linear", "(p-1)⌈n/64 KiB⌉", inPieces, "n(p-1)", bytes(others), "IMPI 0.0, 4.16", false},
	{"reduce", "linear", "p-1", others, "n(p-1)", bytes(others), "IMPI 0.0, 4.16", true},
	{"reduce", "circulant", "N-1 + ⌈log p⌉", circulant, "⌈n/N⌉(N-1 + ⌈log p⌉)", inBlocks(circulantBlocks, circulant),
		"Träff, Ripke 2008; Träff 2024", false},
	{"reduce", "two-tree", "N + 2⌈log p⌉", twoTree, "N⌈n/N⌉", inBlocks(treeBlocks, treeBlocks),
		"Sanders, Speck, Träff 2009", false},
	{"reduce", "butterfly", "2⌊log p⌋, or 2⌊log p⌋ + 2", sum(times(2, floor), folds), "2(q-1)⌈n/q⌉, or n more",
		cutAndFold, "Rabenseifner, Träff 2004", true},
	{"reduce", "halving", "2⌊log p⌋, or 2⌊log p⌋ + 2", sum(times(2, floor), folds), "2(q-1)⌈n/q⌉, or n more",
		cutAndFold, "Rabenseifner 2004; Träff 2010, 9.4", false},

	{"allreduce", "doubling", "⌊log p⌋, or ⌊log p⌋ + 2", sum(floor, folds), "n⌈log p⌉", bytes(log), "Träff 2010, 9.4",
		false},
	{"allreduce", "direct", "p-1", others, "n(p-1)", bytes(others), "MPI 5.0, 6.9.1", true},
	{"allreduce", "pair", "2, p = 2", times(2, one), "2⌈n/2⌉", cutTwice, "Rabenseifner 2004; Träff 2010, 9.4", false},
	{"allreduce", "halving", "2 log p", times(2, floor), "2(p-1)⌈n/p⌉", cutTwice, "Rabenseifner 2004; Träff 2010, 9.4",
		false},
	{"allreduce", "circulant", "2⌈log p⌉ + 2⌈log(1 + n/8 KiB)⌉", times(2, sum(log, cutRanges)), "2(p-1)⌈n/p⌉", cutTwice,
		"Träff 2024", false},
	{"allreduce", "butterfly", "2⌊log p⌋, or 2⌊log p⌋ + 2", sum(times(2, floor), folds), "2(q-1)⌈n/q⌉, or n more",
		cutAndFold, "Rabenseifner, Träff 2004", true},
	{"allreduce", "two-tree", "2N + 4⌈log p⌉", times(2, twoTree), "2N⌈n/N⌉",
		times(2, inBlocks(treeBlocks, treeBlocks)), "Sanders, Speck, Träff 2009", false},
	{"allreduce", "ring", "2(p-1)", times(2, others), "2(p-1)⌈n/p⌉", cutTwice, "Patarasuk, Yuan 2009", false},

	{"reduce_scatter", "doubling", "⌊log p⌋, or ⌊log p⌋ + 2", sum(floor, folds), "pn⌈log p⌉",
		bytes(product(ranks, log)), "Träff 2010, 9.4", false},
	{"reduce_scatter", "pair", "1, p = 2", times(1, one), "n", bytes(one), "Thakur, Rabenseifner, Gropp 2005", false},
	{"reduce_scatter", "circulant", "⌈log p⌉ + ⌈log(1 + pn/8 KiB)⌉", sum(log, ofAll(cutRanges)), "n(p-1)",
		bytes(others), "Träff 2024", false},
	{"reduce_scatter", "circulant-even", "⌈log p⌉ + ⌈log(1 + pn/8 KiB)⌉ + p", sum(sum(log, ofAll(cutRanges)), ranks),
		"2n(p-1)", times(2, bytes(others)), "Träff 2005; Träff 2024", false},
	{"reduce_scatter", "butterfly", "⌊log p⌋, or ⌊log p⌋ + 2", sum(floor, folds), "pn, or 7pn/4",
		func(p int, n int64) int64 { return int64(p) * n * (8 + 3*folds(p, n)) / 8 }, "Träff 2005", true},
	{"reduce_scatter", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Thakur, Rabenseifner, Gropp 2005", false},
	{"reduce_scatter", "reduce-scatter", "⌈log p⌉ + p-1", sum(log, others), "pn⌈log p⌉", bytes(product(ranks, log)),
		"MPI 5.0, 6.10", true},
	{"reduce", "fold", "2(p-1)", times(2, others), "n(p-1)", bytes(others), "MPI 5.0, 6.9.1", true},
	{"allreduce", "fold", "2(p-1)", times(2, others), "n(p-1)", bytes(others), "MPI 5.0, 6.9.1", true},
	{"reduce_scatter", "fold", "p-1", others, "n(p-1)", bytes(others), "MPI 5.0, 6.9.1", true},

	{"barrier", "machines", "2⌈log m⌉ + ⌈log M⌉", sum(times(2, within(log)), between(log)), "p", ranks,
		"Träff 2010, 9.2", false},
	{"bcast", "machines", "2N + 4⌈log p⌉", overlapping, "2n⌈log p⌉", twiceLog,
		"Träff 2010, 9.3", false},
	{"reduce", "machines", "2N + 4⌈log p⌉", overlapping, "2n⌈log p⌉", twiceLog,
		"Träff 2010, 9.4", false},
	{"allreduce", "machines", "those of allreduce among M; of reduce and bcast, or reduce_scatter and allgather, among m",
		sum(sum(times(2, within(circulant)), between(times(4, log))), within(ranks)), "3n⌈log p⌉",
		func(p int, n int64) int64 { return twiceLog(p, n) * 3 / 2 }, "Träff 2010, 9.4", false},
	{"gather", "machines", "those of gather among m, and M", branchesTwice, "n(p-1)", bytes(others),
		"IMPI 0.0, 4.12", false},
	{"scatter", "machines", "those of scatter among m, and M", branchesTwice, "n(p-1)", bytes(others),
		"IMPI 0.0, 4.14", false},
	{"allgather", "machines", "those of allgather among m, and M", allgatherTwice, "4pn", bytes(times(4, ranks)),
		"Träff, Hunold 2020; Träff 2010, 9.6", false},
	{"allgatherv", "machines", "those of allgather among m, and M", allgatherTwice, "4pn", bytes(times(4, ranks)),
		"Träff, Hunold 2020; Träff 2010, 9.6", false},
	{"reduce_scatter", "machines", "those of reduce_scatter among m, and M", func(p int, n int64) int64 {
		return 2*sum(log, ofAll(cutRanges))(p, n) + int64(p) + within(circulant)(p, int64(p)*n)
	}, "2pn⌈log p⌉", product(ranks, twiceLog), "Träff, Hunold 2020; Träff 2010, 9.4", false},
	{"scan", "machines", "those of scan and bcast among m, of exscan among M", sum(both(pipeline), within(circulant)),
		"3n⌈log p⌉", times(3, bytes(log)), "Träff 2010, 9.4", false},
	{"exscan", "machines", "those of exscan and bcast among m, and of exscan among M",
		sum(both(pipeline), within(circulant)), "3n⌈log p⌉", times(3, bytes(log)), "Träff 2010, 9.4", false},

	{"scan", "doubling", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Hillis, Steele 1986; Träff 2010, 9.4", false},
	{"scan", "pipeline", "N + p-2", pipeline, "n", bytes(one), "Träff 2010, 9.4", false},
	{"scan", "tree", "3N + 4⌈log p⌉", scanTree, "3n", bytes(times(3, one)), "Sanders, Träff 2006", false},
	{"exscan", "doubling", "⌈log p⌉", log, "n⌈log p⌉", bytes(log), "Hillis, Steele 1986; Träff 2010, 9.4", false},
	{"scan", "direct", "p-1", others, "n(p-1)", bytes(others), "MPI 5.0, 6.11", false},
	{"exscan", "direct", "p-1", others, "n(p-1)", bytes(others), "MPI 5.0, 6.11", false},

	{"exscan", "pipeline", "N + p-2", pipeline, "n", bytes(one), "Träff 2010, 9.4", false},
	{"exscan", "tree", "3N + 4⌈log p⌉", scanTree, "3n", bytes(times(3, one)), "Sanders, Träff 2006", false},

	{"gather", "binomial", "⌈log p⌉ + pn/32 KiB", branches, "n(p-1)", bytes(others), "Träff 2004", false},
	{"gather", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"gatherv", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"gatherv", "tree", "2⌈log p⌉", nil, "", nil, "Träff 2004", false},
	{"scatterv", "tree", "2⌈log p⌉", nil, "", nil, "Träff 2004", false},
	{"scatter", "binomial", "⌈log p⌉ + pn/32 KiB", branches, "n(p-1)", bytes(others), "Träff 2004", false},
	{"scatter", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},
	{"scatterv", "linear", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.5", false},

	{"allgather", "doubling", "log p", floor, "n(p-1)", bytes(others), "Thakur, Rabenseifner, Gropp 2005", false},
	{"allgather", "bruck", "⌈log p⌉", log, "n(p-1)", bytes(others), "Bruck et al. 1997; Träff 2010, 9.6", false},
	{"allgather", "bruck-ring", "⌈log p⌉ + pn/32 KiB", branches, "n(p-1)", bytes(others), "Träff 2006", false},
	{"allgather", "ring", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},
	{"allgather", "direct", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},
	{"allgatherv", "direct", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},
	{"allgatherv", "bruck", "⌈log p⌉", log, "n(p-1)", bytes(others), "Bruck et al. 1997; Träff 2010, 9.6", false},
	{"allgatherv", "circulant", "N-1 + ⌈log p⌉", ofAll(circulant), "p⌈n/N⌉(N-1 + ⌈log p⌉)", func(p int, n int64) int64 {
		return int64(p) * up(n, ofAll(circulantBlocks)(p, n)) * ofAll(circulant)(p, n)
	}, "Träff 2024", false},
	{"allgatherv", "ring", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.6", false},

	{"alltoall", "bruck", "⌈log p⌉", log, "n⌊p/2⌋⌈log p⌉",
		func(p int, n int64) int64 { return n * int64(p/2) * log(p, n) }, "Bruck et al. 1997; Träff 2010, 9.7", false},
	{"alltoall", "factor", "p-1, or p if odd", factors, "n(p-1)", bytes(others), "Sanders, Träff 2002", false},
	{"alltoallv", "factor", "p-1, or p if odd", factors, "n(p-1)", bytes(others), "Sanders, Träff 2002", false},
	{"alltoall", "hierarchical-factor", "3p/2, or 3p", hierarchicalFactor, "n(p-1)", bytes(others),
		"Sanders, Träff 2002; Träff 2010, 9.7", false},
	{"alltoallv", "hierarchical-factor", "3p/2, or 3p", hierarchicalFactor, "n(p-1)", bytes(others),
		"Sanders, Träff 2002; Träff 2010, 9.7", false},
	{"alltoall", "machines", "2m + ⌈M/m⌉ + 1", sum(sum(times(2, within(ranks)), one), func(p int, n int64) int64 {
		return up(between(ranks)(p, n), leastMachine(p))
	}), "3n(p + m²)", func(p int, n int64) int64 {
		m := int64(machineSize(p))
		return 3 * n * (int64(p) + m*m)
	}, "Sanders, Träff 2002; Träff 2010, 9.7", false},
	{"alltoall", "window", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoall", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoallv", "window", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},
	{"alltoallv", "pairwise", "p-1", others, "n(p-1)", bytes(others), "Träff 2010, 9.7", false},

	{"neighbors", "direct", "d", neighborhood, "dn", bytes(neighborhood), "Träff, Rabenseifner 2003", false},
	{"neighbors", "machines", "3(d + m)", times(3, sum(neighborhood, within(ranks))), "dn(2m + 1)",
		bytes(product(neighborhood, sum(one, times(2, within(ranks))))), "Träff 2010, 9.7", false},

	{"barrier", "vendor", "the library's", nil, "0", nil, "", false},
	{"bcast", "vendor", "the library's", nil, "the library's", nil, "", false},
	{"reduce", "vendor", "the library's", nil, "the library's", nil, "", false},
	{"allreduce", "vendor", "the library's", nil, "the library's", nil, "", false},
	{"barrier", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"bcast", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"reduce", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"allreduce", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"reduce_scatter", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"scan", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"exscan", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"allgather", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"allgatherv", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"alltoall", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"neighbors", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"alltoallv", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"gather", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"gatherv", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"scatter", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"scatterv", "slots", "1 turn", nil, "its contribution", nil, "", false},
	{"bcast", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"reduce", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"allreduce", "board", "⌈n(p+1)/p/64 KiB⌉ + 1 turns", nil, "n + ⌈n/p⌉", nil, "", false},
	{"allreduce", "board-root", "2⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"reduce_scatter", "board", "⌈pn/64 KiB⌉ turns", nil, "pn", nil, "", false},
	{"scan", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"exscan", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"allgather", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"allgatherv", "board", "⌈n/64 KiB⌉ turns", nil, "n", nil, "", false},
	{"alltoall", "board", "⌈p/⌊64 KiB/n⌋⌉ turns", nil, "n(p-1)", nil, "", false},
	{"gather", "board", "⌈n/64 KiB⌉ turns", nil, "n(p-1)", nil, "", false},
	{"scatter", "board", "⌈p/⌊64 KiB/n⌋⌉ turns", nil, "n(p-1)", nil, "", false},
}

// What bounds are made of: functions of p ranks and n bytes.
type term = func(p int, n int64) int64

func none(int, int64) int64         { return 0 }
func one(int, int64) int64          { return 1 }
func ranks(p int, _ int64) int64    { return int64(p) }
func neighborhood(int, int64) int64 { return Neighbors }
func others(p int, _ int64) int64   { return int64(p) - 1 }
func log(p int, _ int64) int64      { return int64(bits.Len(uint(p - 1))) }

// branches is for trees whose branches end where blocks are more than 64 KiB together.
func branches(p int, n int64) int64 { return log(p, n) + int64(p)*n>>15 }
func factors(p int, _ int64) int64  { return int64(p - 1 + p%2) }
func floor(p int, _ int64) int64    { return int64(bits.Len(uint(p))) - 1 }
func up(a, b int64) int64           { return (a + b - 1) / b }
func cutTwice(p int, n int64) int64 { return 2 * int64(p-1) * up(n, int64(p)) }

// The numbers N of blocks in pipelines, and their rounds.
func inPieces(p int, n int64) int64        { return others(p, n) * int64(choose.Pieces(n)) }
func circulantBlocks(p int, n int64) int64 { return int64(choose.Blocks(n, int(log(p, n))-1)) }
func circulant(p int, n int64) int64       { return circulantBlocks(p, n) - 1 + log(p, n) }
func treeBlocks(p int, n int64) int64      { return (int64(choose.Blocks(n, int(2*log(p, n)))) + 1) / 2 * 2 }
func twoTree(p int, n int64) int64         { return treeBlocks(p, n) + 2*log(p, n) }
func pipeline(p int, n int64) int64        { return int64(choose.Blocks(n, p-2)) + int64(p) - 2 }
func scanTree(p int, n int64) int64 {
	return 3*int64(choose.Blocks(n, int(4*log(p, n)/3))) + 4*log(p, n)
}

// cutRanges is in how many rounds of halving a range of pieces is so long that it is not made one message where it
// goes round the end.
func cutRanges(p int, n int64) int64 { return min(log(p, n), int64(bits.Len64(uint64(n>>13)))) }

// Machines of m = 8 ranks, of which there are M; of three if there are few. within is a term of the ranks of a
// machine, between one of the machines.
func machineSize(p int) int {
	if p <= 8 {
		return min(p, 3)
	}
	return 8
}

// hierarchicalFactor is less if all machines have as many ranks: they need no phases.
func hierarchicalFactor(p int, n int64) int64 {
	if p%machineSize(p) == 0 {
		return int64(p) * 3 / 2
	}
	return 3 * int64(p)
}

// leastMachine is how many ranks the last machine has.
func leastMachine(p int) int64 { return int64((p-1)%machineSize(p) + 1) }

func within(t term) term { return func(p int, n int64) int64 { return t(machineSize(p), n) } }
func between(t term) term {
	return func(p int, n int64) int64 { return t((p+machineSize(p)-1)/machineSize(p), n) }
}
func both(t term) term { return sum(within(t), between(t)) }

// overlapping is for a pipeline through both levels, at which a rank that takes part in both has twice the messages.
func overlapping(p int, n int64) int64 {
	return 2*int64(choose.Blocks(n, int(log(p, n)))) + 4*log(p, n)
}

func branchesTwice(p int, n int64) int64 { return 2*log(p, n) + int64(p)*n>>14 + 8 }
func allgatherTwice(p int, n int64) int64 {
	return sum(branches, between(ranks))(p, n) + 2*within(circulant)(p, int64(p)*n) + 8
}
func twiceLog(p int, n int64) int64 { return 2 * n * log(p, n) }

// cutAndFold is a vector cut into a power of two pieces, and for all ranks beyond one a whole vector more.
func cutAndFold(p int, n int64) int64 { return cutTwice(1<<floor(p, n), n) + n*folds(p, n)/2 }

// inBlocks is the longest of the blocks of a pipeline, so many times. ofAll is a term of the blocks of all ranks.
func inBlocks(blocks, times term) term {
	return func(p int, n int64) int64 { return up(n, blocks(p, n)) * times(p, n) }
}
func ofAll(t term) term { return func(p int, n int64) int64 { return t(p, int64(p)*n) } }

// folds is 2 unless p is a power of two: the ranks beyond one hand in their vectors first, and there is a round after
// all others.
func folds(p int, n int64) int64 { return 2 * (log(p, n) - floor(p, n)) }

func bytes(t term) term          { return func(p int, n int64) int64 { return n * t(p, n) } }
func times(k int64, t term) term { return func(p int, n int64) int64 { return k * t(p, n) } }
func sum(a, b term) term         { return func(p int, n int64) int64 { return a(p, n) + b(p, n) } }
func product(a, b term) term     { return func(p int, n int64) int64 { return a(p, n) * b(p, n) } }
