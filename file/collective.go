package file

import (
	"slices"

	"github.com/libimpi/libimpi/datatype"
)

// Collective access. All members say what they are about to move; from that each of them chooses the same way:
//
//	each for itself: accesses that do not interleave, or whose runs are long, or in atomic mode
//	in two phases: the part of the file that all accesses lie in is cut into domains, one for each aggregator, and
//	domains into windows, one a round. Data goes between the members' memory and the windows, and windows between
//	aggregators and the file, each as a whole. Inside a machine all members reach all windows, so that data is moved
//	once; to other machines it is sent.
//
// In both of them nobody returns before all have done their part, and an error is one of all members.

// What a member says of its access.
const (
	saysClass = iota // of the error that has kept it from taking part
	saysPos          // where in its stream, and how many bytes
	saysBytes
	saysLow // of the file: where the access begins and ends
	saysHigh
	saysRun  // mean length of its runs
	saysBusy // it has independent writes under way
	sayings
)

// together is a collective access. It returns how many bytes of the stream this member has moved.
func (op *Op) together() (int64, error) {
	f := op.f
	own := make([]int64, sayings)
	if op.refused == nil && op.n > 0 {
		if op.refused = op.clip(); op.n > 0 {
			own[saysPos], own[saysBytes], own[saysLow] = op.pos, op.n, op.v.at(op.pos)
			own[saysHigh], own[saysRun] = op.v.end(op.pos+op.n), min(op.v.run(), op.n)
		}
	}
	own[saysClass], own[saysBusy] = class(op.refused), f.busy.Load()
	all := make([]int64, sayings*f.m.Size())
	if err := f.m.Allgather(own, all); err != nil {
		return 0, err
	}
	if err := f.outcome(op.refused, all, sayings); err != nil {
		return 0, err
	}
	if f.stream {
		return op.inTurn()
	}
	t := &twoPhase{op: op, all: all}
	if t.survey(); t.total == 0 {
		return 0, nil
	}
	inPhases := t.worthwhile()
	if far := f.machines() > 1; inPhases && (op.write || far) {
		if err := f.learn(op.v); err != nil {
			return 0, err
		}
		inPhases = !far || f.peers.known
	}
	if !inPhases {
		n, err := op.alone()
		return n, f.agree(err)
	}
	return t.run()
}

// inTurn moves the data of one member after the other, in the order of ranks.
func (op *Op) inTurn() (n int64, err error) {
	for r := range op.f.m.Size() {
		if r == op.f.m.Rank() {
			n, err = op.alone()
		}
		if failed := op.f.m.Barrier(); failed != nil {
			return n, failed
		}
	}
	return n, op.f.agree(err)
}

// clip shortens a read to what there is of the file.
func (op *Op) clip() error {
	if op.write || op.f.stream {
		return nil
	}
	size, err := op.f.storage.Size()
	if err != nil {
		return err
	}
	if at := op.v.at(op.pos); at >= size {
		op.n = 0
	} else {
		op.n = min(op.n, op.v.until(op.pos, size))
	}
	return nil
}

// twoPhase is a collective access in two phases.
type twoPhase struct {
	op  *Op
	all []int64 // what the members say

	lo, hi, total int64 // of the file: what is accessed, and how many bytes that is, counted for each member
	interleaved   bool
	shortest      int64 // mean length of the runs of the member that has the shortest
	busy          bool

	aggregators    []int
	base           int64              // of the file: where the first domain begins
	domain, window int64              // bytes
	buffers        []datatype.Pointer // by rank: two windows each; nil: on another machine
	next           []int64            // by aggregator: the next byte of the own stream that goes there
	nexts          []int64            // at an aggregator, by rank: the next byte of each stream
	covered        bool               // all accesses together leave nothing out
	mine           int                // which aggregator this member is; -1: none
}

// said is what member r says.
func (t *twoPhase) said(r, what int) int64 { return t.all[sayings*r+what] }

// survey finds out what all accesses together are.
func (t *twoPhase) survey() {
	var ranks []int
	for r := range t.op.f.m.Size() {
		t.busy = t.busy || t.said(r, saysBusy) != 0
		n := t.said(r, saysBytes)
		if n == 0 {
			continue
		}
		if lo, hi, run := t.said(r, saysLow), t.said(r, saysHigh), t.said(r, saysRun); t.total == 0 {
			t.lo, t.hi, t.shortest = lo, hi, run
		} else {
			t.lo, t.hi, t.shortest = min(t.lo, lo), max(t.hi, hi), min(t.shortest, run)
		}
		t.total += n
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, func(a, b int) int { return int(min(max(t.said(a, saysLow)-t.said(b, saysLow), -1), 1)) })
	for i := 1; i < len(ranks); i++ {
		t.interleaved = t.interleaved || t.said(ranks[i], saysLow) < t.said(ranks[i-1], saysHigh)
	}
}

// Two phases are worth while for runs up to so many bytes, inside a machine and beyond, and not where less than one
// byte in so many is accessed.
const (
	shortRun    = 16 << 10
	shortRunFar = 1 << 20
	sparse      = 16
)

// worthwhile reports whether two phases are.
func (t *twoPhase) worthwhile() bool {
	f := t.op.f
	choice, short := f.hints.collectReads, int64(shortRun)
	if t.op.write {
		choice = f.hints.collectWrites
	}
	if f.machines() > 1 {
		short = shortRunFar
	}
	switch {
	case t.op.atomic || choice == disable || t.op.write && f.unread:
		return false
	case choice == enable:
		return true
	}
	return t.interleaved && t.shortest < short && (t.hi-t.lo)/t.total < sparse
}

// machines is how many machines the members are on.
func (f *File) machines() (n int) {
	for r := range f.m.Size() {
		n = max(n, f.m.Machine(r)+1)
	}
	return n
}

// Aggregators where no hint says how many: members of one machine, and of each of several.
const (
	mostAggregators = 64
	mostEach        = 4
)

// aggregators are the members that read and write windows: the same number of each machine, as far as it has so many,
// one of each machine in turn.
func (f *File) aggregators() (ranks []int) {
	machines := make([][]int, f.machines())
	for r := range f.m.Size() {
		m := f.m.Machine(r)
		machines[m] = append(machines[m], r)
	}
	n := int(min(f.hints.aggregators, int64(f.m.Size())))
	switch {
	case n > 0:
	case len(machines) == 1:
		n = min(f.m.Size(), mostAggregators)
	default:
		for _, m := range machines {
			n += min(len(m), mostEach)
		}
	}
	each := (n + len(machines) - 1) / len(machines)
	for i := 0; len(ranks) < n; i++ {
		for _, m := range machines {
			if k := min(each, len(m)); i < k && len(ranks) < n {
				ranks = append(ranks, m[i*len(m)/k])
			}
		}
		if i == each { // some machines have fewer members
			each = f.m.Size()
			ranks, i = ranks[:0], -1
		}
	}
	return ranks
}
