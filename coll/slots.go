package coll

import (
	"fmt"
	"math"
	"slices"
)

// Short contributions go by slots of the board that the ranks of a machine share (package coll/board): each rank
// writes its own, and reads what it needs of the others. That is the first row of every table, but for vectors of an
// allreduce that are made in pieces though they would fit (BoardSlices). Whoever has the board asks for it with
// BySlots, before it comes to the algorithms of this package: libimpi does for each call, and C, which carries out what
// is simple, once for a communicator.

const slotsName = "slots"

// anyLength is the limit of a row of slots for operations without data, and for those whose blocks are looked at one by
// one: blocks that fit no slot are messages of the same operation.
const anyLength = math.MaxInt64

// slotsRow is the row for contributions of at most so many bytes.
func slotsRow(longest int64) rule { return rule{use: slotsName, slots: longest} }

// slotsText says when a row of slots fits.
func slotsText(longest int64) string {
	if longest == anyLength {
		return "on a board"
	}
	return fmt.Sprintf("on a board, up to %d bytes from a rank", longest)
}

// tables are those that routines are looked up in.
var tables = [...]selectable{OpBarrier: barriers, OpBcast: bcasts, OpGather: gathers, OpGatherv: gathervs,
	OpScatter: scatters, OpScatterv: scattervs, OpAllgather: allgathers, OpAllgatherv: allgathervs,
	OpAlltoall: alltoalls, OpAlltoallv: alltoallvs, OpAlltoallw: alltoallvs, OpReduce: reduces,
	OpAllreduce: allreduces, OpReduceScatter: reduceScatters, OpReduceScatterBlock: reduceScatters, OpScan: scans,
	OpExscan: exscans, OpNeighbors: alltoallvs}

// slotLimits is the longest contribution that goes by slots, by Routine; -1: none does.
var slotLimits [len(tables)]int64

func init() { limitSlots() }

// limitSlots brings slotLimits up to date with the tables and with what has been chosen.
func limitSlots() {
	for o, table := range tables {
		slotLimits[o] = table.slotLimit()
	}
}

// CountSlots counts an operation that goes by slots, while calls are counted. Those that C carries out are not.
func CountSlots(o Routine) {
	if counting.Load() && o != OpNeighbors { // which has no table of its own
		tables[o].countSlots()
	}
}

func (o *operation[F]) countSlots() { o.find(slotsName).used.Add(1) }

// slotLimit returns the limit of the table's row of slots; -1 if another algorithm has been chosen. One that goes by
// the board in pieces leaves to slots what is one piece.
func (o *operation[F]) slotLimit() int64 {
	if a := o.chosen; a != nil && !o.fixed && !slices.Contains([]string{slotsName, boardName, rootBoardName}, a.name) {
		return -1
	}
	return o.rules[slices.IndexFunc(o.rules, func(r rule) bool { return r.slots != 0 })].slots
}

// BySlots reports whether an operation goes by slots where the ranks have a board. A contribution is so many blocks of
// n bytes; of an operation whose blocks are looked at one by one it is one byte.
func BySlots(o Routine, n int64, blocks int) bool {
	return n <= slotLimits[o]/int64(blocks) && (n > 0 || o == OpBarrier)
}

// AllBySlots reports whether that holds for the short contributions of all operations.
func AllBySlots() bool { return slices.Min(slotLimits[:]) >= 0 }
