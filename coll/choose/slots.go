package choose

import (
	"fmt"
	"math"
	"slices"
)

// Short contributions go by slots of the board that the ranks of a machine share (package coll/board): each rank
// writes its own, and reads what it needs of the others. That is the first row of every table, but for an allreduce,
// some of whose vectors are made in slices though they would fit. Whoever has the board asks, before it comes to the
// algorithms of package coll: libimpi for each call (FitsSlots), and gobridge once for a communicator on behalf of C,
// which carries out what is simple (AllBySlots). Of an allreduce, both ask how much goes by slots (LongestInSlots).

// Slots is what the algorithm is called.
const Slots = "slots"

// anyLength is the limit of a row of slots for operations without data, and for those whose blocks are looked at one by
// one: blocks that fit no slot are messages of the same operation.
const anyLength = math.MaxInt64

// slotsText says when a row of slots fits.
func slotsText(longest int64) string {
	if longest == anyLength {
		return "on a board"
	}
	return fmt.Sprintf("on a board, up to %d bytes from a rank", longest)
}

// limitSlots brings what is asked for slots up to date with the table and with what has been chosen. An algorithm that
// goes by the board in pieces leaves to slots what is one piece.
func (o *Operation) limitSlots() {
	at := slices.IndexFunc(o.rules, func(r rule) bool { return r.slots != 0 })
	o.longest, o.above = o.rules[at].slots, o.rules[:at]
	switch chosen := o.Chosen(); {
	case o.fixed || chosen == Slots:
		o.above = nil
	case chosen != "" && chosen != board && chosen != rootBoard:
		o.longest = -1
	}
}

// LongestInSlots returns the longest contribution, in bytes, that goes by slots in a case, where the ranks have a
// board; -1: none does. What k.Bytes and k.Board are does not matter. Pick says how a longer one goes.
func (o *Operation) LongestInSlots(k Case) int64 {
	longest := o.longest
	for i := range o.above {
		r := &o.above[i]
		if k.Bytes, k.Board = r.bytes, anyLength; o.takes(r, &k) {
			longest = min(longest, r.bytes-1)
		}
	}
	return longest
}

// FitsSlots reports whether a contribution is short enough to go by slots, whatever the case. It is so many blocks of n
// bytes; of an operation whose blocks are looked at one by one it is one byte.
func (o *Operation) FitsSlots(n int64, blocks int) bool {
	return n <= o.longest/int64(blocks) && (n > 0 || o == Barrier)
}

// AllBySlots reports whether short contributions of all operations go by slots.
func AllBySlots() bool {
	return !slices.ContainsFunc(Operations, func(o *Operation) bool { return o.longest < 0 })
}

// CountSlots counts a call that goes by slots, while calls are counted. Those that C carries out are not.
func (o *Operation) CountSlots() { o.count(len(o.Algorithms) - 1) }
