package choose

import "github.com/libimpi/libimpi/transport"

// gatherPieces bounds the blocks of a gather that ranks which outnumber their cores put on their board, as measured:
// they go on meanwhile, where with messages each waits for root to read its block.
const gatherPieces = 128 << 10

// reduceAlone is the vector from which on one of the ranks that share two cores combines those of all, as measured.
const reduceAlone = 64 << 10

// Two ranks put on their board what is shorter than this, as measured. As a message it would be read where it lies, and
// then the lines of data that its sender writes anew each time, as programs do, change cores twice. Longer vectors pass
// by the board where their receiver combines them: half of a message is written to its caches by the sender's core.
const (
	pairPieces   = 64<<10 + 1 // 64 KiB are shorter
	pairOperands = 256 << 10
	pairBlocks   = 64 << 10 // of an alltoall, an allgather: longer ones both cores copy at the same time as messages
)

// Where another MPI library is taken: measured between two ranks on one machine, with MPICH 5.0.2 (docs/vendor.md). It
// is never taken for a reduce, which its nonblocking one makes slower, or an allreduce, for which no library was
// clearly faster between two machines, and Open MPI's takes twice as long.
const (
	vendorBcast     = 16 << 10 // bytes, from which on
	vendorBcastLong = 2 << 20  // bytes, below which
)

// slicesFrom is the vector, in bytes, from which an allreduce on a board is made in pieces though it fits one
// contribution, if there are more than two ranks and each has a core: each combines a slice. Where ranks outnumber
// cores, a second operation takes longer than to combine all.
const slicesFrom = 1 << 10

// Names of algorithms that several operations have: board goes by pieces on a board, and so does rootBoard, where one
// rank combines them; vendor is another MPI library; machines is made of other operations, within machines and between.
const board, rootBoard, vendor, machines = "board", "board-root", "vendor", "machines"

// direct and linear have each rank send to all that need its data at once (coll/direct.go), which takes least where
// they are far from each other: one of each IMPI client. For few of them, or for fewClients if what they send is
// shorter than longBetween bytes: that is what 1 Gbit/s carries in the 2 ms of one more way.
const (
	direct, linear, fold = "direct", "linear", "fold"
	veryFew              = 4
	fewClients           = 16
	longBetween          = 256 << 10
)

// hierarchicalFactor is an alltoall in which each machine has one partner at a time.
const hierarchicalFactor = "hierarchical-factor"

// Where several ranks share each machine, a message of each costs the port of the machine as much as the phases within
// it that one message of all of them needs, from manyTogether ranks on for short vectors, and from fewTogether on for
// blocks, of which fewer bytes cross machines, too. Computed by coll/simulate with 0.05 us a message.
//
// Where these ranks outnumber the cores, from two on: all of them wait for what a message costs any of them. Measured
// on two to four machines of two to four ranks a core (docs/limits.md).
const manyTogether, fewTogether = 32, 4

// twoMachines are so few that a ring of all ranks sends twice what has to go between machines: all blocks but one,
// where those of the other machine are enough.
const twoMachines = 2

// Rows of slots: for contributions that fit, and for those of any length.
var (
	bySlots  = rule{use: Slots, slots: transport.BoardLongest}
	anySlots = rule{use: Slots, slots: anyLength}
)

// Operations are all that there are. In a table, the first row counts that fits, and whose algorithm can be used.
var Operations = []*Operation{Barrier, Bcast, Reduce, Allreduce, ReduceScatter, Scan, Exscan, Gather, Gatherv, Scatter,
	Scatterv, Allgather, Allgatherv, Alltoall, Alltoallv, Neighbors}

var Barrier = newOperation("barrier", "", []*Algorithm{
	{Name: "dissemination"}, {Name: "central"}, {Name: direct}, {Name: vendor, needs: vendored},
	{Name: machines, needs: severalMachines},
}, func(*bounds) []rule {
	return []rule{
		anySlots,
		{use: vendor, vendor: true}, {use: machines, shared: true, together: manyTogether},
		{use: machines, shared: true, apart: true}, {use: machines, shared: true, crowded: true},
		{use: direct, distant: true, most: fewClients},
		{use: "central", crowded: true}, {use: "dissemination"},
	}
})

var Bcast = newOperation("bcast", "the message", []*Algorithm{
	{Name: "binomial"}, {Name: linear}, {Name: "circulant"}, {Name: "two-tree", needs: threeRanks},
	{Name: "scatter-ring", needs: threeRanks}, {Name: vendor, needs: vendored}, {Name: board, needs: onBoard},
	{Name: machines, needs: severalMachines},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: vendor, vendor: true, bytes: vendorBcast, below: vendorBcastLong},
		{use: board, ranks: 3, crowded: true},
		{use: board, pair: true, below: pairPieces},
		{use: machines, shared: true},
		{use: linear, distant: true, most: veryFew},
		{use: linear, distant: true, most: fewClients, below: longBetween},
		{use: "circulant", ranks: 3, bytes: b.bcastLong},
		{use: "binomial"},
	}
})

var Reduce = newOperation("reduce", "the vector", []*Algorithm{
	{Name: "binomial"}, {Name: linear}, {Name: "circulant", needs: commuting},
	{Name: "two-tree", needs: commuting | threeRanks}, {Name: "butterfly"},
	{Name: "halving", needs: commuting | pieceEach}, {Name: vendor, needs: vendored},
	{Name: board, needs: onBoard}, {Name: machines, needs: severalMachines | ordered}, {Name: fold},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: board, ranks: 3, crowded: true},
		{use: board, pair: true, below: pairOperands},
		{use: machines, shared: true},
		{use: linear, distant: true, most: veryFew},
		{use: linear, distant: true, most: fewClients, below: longBetween},
		{use: "circulant", ranks: 3, bytes: b.reduceLong},
		{use: "butterfly", ranks: 4, bytes: b.reduceLong},
		{use: "binomial"},
	}
})

var Allreduce = newOperation("allreduce", "the vector", []*Algorithm{
	{Name: "doubling"}, {Name: direct}, {Name: "pair", needs: twoRanks | commuting | pieceEach},
	{Name: "halving", needs: powerOfTwo | commuting | pieceEach}, {Name: "circulant", needs: commuting},
	{Name: "butterfly"}, {Name: "two-tree", needs: commuting | threeRanks},
	{Name: "ring", needs: commuting | pieceEach}, {Name: vendor, needs: vendored},
	{Name: board, needs: onBoard | commuting}, {Name: rootBoard, needs: onBoard},
	{Name: machines, needs: severalMachines | ordered}, {Name: fold},
}, func(b *bounds) []rule {
	return []rule{
		{use: board, ranks: 3, bytes: slicesFrom, below: transport.BoardLongest + 1, cores: true},
		bySlots,
		{use: rootBoard, ranks: 3, bytes: reduceAlone, crowded: true, twoCores: true},
		{use: board, ranks: 3, crowded: true},
		{use: machines, bytes: b.startup, shared: true},
		{use: machines, shared: true, together: manyTogether},
		{use: machines, shared: true, apart: true}, {use: machines, shared: true, crowded: true},
		{use: direct, pair: true, distant: true},
		{use: direct, distant: true, most: fewClients, below: longBetween},
		{use: fold, distant: true, most: fewClients},
		{use: "pair", bytes: b.pairLong},
		{use: "halving", ranks: 3, bytes: b.allreduceLong},
		{use: "circulant", ranks: 3, bytes: b.allreduceLong},
		{use: "butterfly", ranks: 3, bytes: b.allreduceLong},
		{use: "doubling"},
	}
})

var ReduceScatter = newOperation("reduce_scatter", "the vector", []*Algorithm{
	{Name: "doubling"}, {Name: "pair", needs: twoRanks | commuting}, {Name: "circulant", needs: commuting},
	{Name: "circulant-even", needs: commuting}, {Name: "butterfly"}, {Name: "pairwise", needs: commuting},
	{Name: "reduce-scatter"}, {Name: board, needs: onBoard | commuting},
	{Name: machines, needs: severalMachines | ordered}, {Name: fold},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: board, ranks: 3, crowded: true},
		{use: machines, shared: true, together: fewTogether}, {use: machines, shared: true, crowded: true},
		{use: machines, shared: true, distant: true},
		{use: fold, distant: true, most: fewClients},
		{use: "pair", pair: true},
		{use: "circulant-even", ranks: 3, bytes: b.scatterLong, uneven: true},
		{use: "circulant", bytes: b.scatterLong},
		{use: "butterfly", ranks: 3, bytes: b.scatterLong},
		{use: "doubling"},
	}
})

var (
	Scan   = newChain("scan", pairOperands)
	Exscan = newChain("exscan", pairPieces) // of two ranks, one gets the other's vector
)

func newChain(name string, onBoardBelow int64) *Operation {
	return newOperation(name, "the vector", []*Algorithm{
		{Name: "doubling"}, {Name: direct}, {Name: "pipeline"}, {Name: "tree"}, {Name: board, needs: onBoard},
		{Name: machines, needs: severalMachines | inOrder},
	}, func(b *bounds) []rule {
		return []rule{
			bySlots,
			{use: board, ranks: 3, crowded: true},
			{use: board, pair: true, below: onBoardBelow},
			{use: machines, shared: true, distant: true},
			{use: direct, distant: true, most: fewClients, below: longBetween},
			{use: "pipeline", ranks: 3, bytes: b.scanLong, each: b.startup},
			{use: "tree", ranks: b.scanRanks, bytes: b.scanTreeLong},
			{use: machines, shared: true, together: manyTogether},
			{use: machines, bytes: 2 * b.startup, shared: true, together: manyTogether / 2},
			{use: "doubling"},
		}
	})
}

var (
	Gather  = newRooted("gather", gatherPieces, pairPieces, 8)
	Scatter = newRooted("scatter", 0, 0, 4)
)

// newRooted makes an operation between a root and all, of blocks of one length. Ranks that outnumber their cores use
// their board for blocks that are shorter than crowdedBelow, and two ranks below pairBelow; 0: for all. Blocks go by
// machine if they are so many times shorter than those of a tree: they pass twice, and no longer one behind the other
// through the port of root's machine. Computed by coll/simulate.
func newRooted(name string, crowdedBelow, pairBelow, machinesBelow int64) *Operation {
	return newOperation(name, "a block", []*Algorithm{
		{Name: "binomial", needs: threeRanks}, {Name: linear}, {Name: board, needs: onBoard},
		{Name: machines, needs: severalMachines},
	}, func(b *bounds) []rule {
		return []rule{
			bySlots,
			{use: board, ranks: 3, below: crowdedBelow, crowded: true},
			{use: board, pair: true, below: pairBelow},
			{use: machines, below: b.gatherLong / machinesBelow, shared: true},
			{use: linear, shared: true},
			{use: linear, distant: true},
			{use: "binomial", ranks: 3, below: b.gatherLong},
			{use: linear},
		}
	})
}

var Gatherv, Scatterv = newUneven("gatherv"), newUneven("scatterv")

func newUneven(name string) *Operation {
	return newOperation(name, "", []*Algorithm{{Name: linear}, {Name: "tree"}}, func(b *bounds) []rule {
		return []rule{anySlots, {use: linear, distant: true}, {use: "tree", ranks: b.gathervRanks}, {use: linear}}
	})
}

var Allgather = newOperation("allgather", "all blocks", []*Algorithm{
	{Name: "doubling", needs: powerOfTwo}, {Name: "bruck"}, {Name: "bruck-ring"}, {Name: "ring"}, {Name: direct},
	{Name: board, needs: onBoard}, {Name: machines, needs: severalMachines},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: board, pair: true, below: 2 * pairBlocks},
		{use: board, ranks: 3, crowded: true},
		{use: machines, shared: true, distant: true},
		{use: direct, distant: true, most: fewClients},
		{use: machines, below: b.allgatherLong, shared: true, apart: true},
		{use: machines, bytes: b.allgatherLong, shared: true, few: twoMachines},
		{use: "ring", bytes: b.allgatherLong, each: b.gatherLong},
		{use: "ring", bytes: b.allgatherLong, each: b.gatherLong / 2, ragged: true},
		{use: machines, shared: true, together: fewTogether}, {use: machines, shared: true, crowded: true},
		{use: "bruck-ring", bytes: b.allgatherLong},
		{use: "doubling"},
		{use: "bruck"},
	}
})

var Allgatherv = newOperation("allgatherv", "all blocks", []*Algorithm{
	{Name: "bruck"}, {Name: "circulant"}, {Name: "ring"}, {Name: direct}, {Name: board, needs: onBoard},
	{Name: machines, needs: severalMachines},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: board, pair: true, below: 2 * pairBlocks},
		{use: board, ranks: 3, crowded: true},
		{use: machines, shared: true, distant: true},
		{use: direct, distant: true, most: fewClients},
		{use: machines, shared: true, together: fewTogether, uneven: true},
		{use: machines, below: b.allgatherLong, shared: true, apart: true},
		{use: machines, bytes: b.allgatherLong, shared: true, few: twoMachines},
		{use: "ring", bytes: b.allgatherLong, each: b.gatherLong, shared: true},
		{use: "ring", bytes: b.allgatherLong, each: b.gatherLong / 2, ragged: true},
		{use: machines, shared: true, together: fewTogether}, {use: machines, shared: true, crowded: true},
		{use: "bruck", ranks: 3, below: b.allgatherLong},
		{use: "circulant", ranks: 3, uneven: true},
		{use: "ring"},
	}
})

var Alltoall = newOperation("alltoall", "a block", []*Algorithm{
	{Name: "bruck"}, {Name: "window"}, {Name: "pairwise"}, {Name: "factor"}, {Name: board, needs: onBoard},
	{Name: machines, needs: severalMachines}, {Name: hierarchicalFactor, needs: severalMachines},
}, func(b *bounds) []rule {
	return []rule{
		bySlots,
		{use: board, ranks: 3, crowded: true},
		{use: board, pair: true, below: pairBlocks},
		{use: machines, ranks: b.bruckRanks, below: b.bruckLong, shared: true},
		{use: machines, ranks: 16 * b.bruckRanks, below: 4 * b.bruckLong, shared: true},
		{use: machines, below: 8 * b.bruckLong, shared: true, crowded: true},
		{use: hierarchicalFactor, shared: true},
		{use: "bruck", ranks: b.bruckRanks, below: b.bruckLong},
		{use: "window", below: b.overlapLong},
		{use: "window", ranks: 3, crowded: true},
		{use: "pairwise"},
	}
})

// Alltoallv is also Alltoallw.
var Alltoallv = newOperation("alltoallv", "", []*Algorithm{
	{Name: "window"}, {Name: "pairwise"}, {Name: "factor"}, {Name: hierarchicalFactor, needs: severalMachines},
}, func(*bounds) []rule {
	return []rule{anySlots, {use: hierarchicalFactor, shared: true}, {use: "window"}}
})

// Neighbors is all neighborhood collectives. Several machines are those that a topology has a plan for. In the v-forms
// each block goes its own way (Relayed).
var Neighbors = newOperation("neighbors", "a block", []*Algorithm{
	{Name: "direct"}, {Name: machines, needs: severalMachines},
}, func(b *bounds) []rule {
	return []rule{anySlots, {use: machines, below: b.relayedLong + 1, shared: true}, {use: "direct"}}
})
