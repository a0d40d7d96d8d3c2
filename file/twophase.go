package file

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
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

// together is a collective access. It answers how many bytes of the stream this member has moved.
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
	if err := f.verdict(op.refused, all, sayings); err != nil {
		return 0, err
	}
	if f.stream {
		return op.inTurn()
	}
	t := &twoPhase{op: op, all: all}
	if t.survey(); t.total == 0 {
		return 0, nil
	}
	if !t.worthwhile() {
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

// worthwhile says whether two phases are.
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

// exchange is memory for windows, which is kept for the next access.
type exchange struct {
	memory []datatype.Pointer
	bytes  int64
}

// run carries the access out.
func (t *twoPhase) run() (int64, error) {
	op, f := t.op, t.op.f
	if err := t.divide(); err != nil {
		return 0, err
	}
	unlock, err := t.lock()
	rounds := (t.domain + t.window - 1) / t.window
	for round := range rounds {
		var failed error // of the engine: a member is lost
		if op.write {
			err, failed = t.writeRound(round, err)
		} else {
			err, failed = t.readRound(round, err)
		}
		if failed != nil {
			unlock()
			return 0, failed
		}
	}
	err = f.agree(err)
	unlock()
	if err != nil {
		return 0, err
	}
	return op.n, nil
}

// divide cuts the file into domains and windows.
func (t *twoPhase) divide() error {
	op, f := t.op, t.op.f
	hints := f.inForce()
	align := int64(alignment)
	if hints.stripe > 0 {
		align = hints.stripe
	}
	up := func(n, to int64) int64 { return (n + to - 1) / to * to }
	t.aggregators = f.aggregators()
	t.mine = slices.Index(t.aggregators, f.m.Rank())
	t.window = up(hints.buffer, alignment)
	t.base = t.lo / align * align
	n := int64(len(t.aggregators))
	t.domain = up((t.hi-t.base+n-1)/n, align)
	if b := &f.buffers; b.bytes < 2*t.window {
		var err error
		if b.memory, err = f.m.Memory(int(2 * t.window)); err != nil {
			return err
		}
		b.bytes = 2 * t.window
	}
	t.buffers = f.buffers.memory
	if op.write || f.machines() > 1 {
		if err := f.learn(op.v); err != nil {
			return err
		}
	}
	t.next = make([]int64, len(t.aggregators))
	for a := range t.next {
		lo, _ := t.bounds(a, 0)
		t.next[a] = op.pos + t.before(op.v, f.m.Rank(), op.pos, lo)
	}
	if t.mine >= 0 && f.peers.of == op.v {
		lo, _ := t.bounds(t.mine, 0)
		t.nexts = make([]int64, f.m.Size())
		for r, v := range f.peers.views {
			if v != nil {
				t.nexts[r] = t.said(r, saysPos) + t.before(v, r, t.said(r, saysPos), lo)
			}
		}
	}
	t.covered = f.peers.of == op.v && f.peers.disjoint && t.total == t.hi-t.lo
	return nil
}

// before is how many bytes of member r's access, from byte pos of its stream v on, lie before a byte of the file.
func (t *twoPhase) before(v *View, r int, pos, at int64) int64 {
	left := t.said(r, saysPos) + t.said(r, saysBytes) - pos
	if left <= 0 {
		return 0
	}
	return min(left, v.until(pos, at))
}

// bounds are the bytes of the file in window round of an aggregator.
func (t *twoPhase) bounds(a int, round int64) (lo, hi int64) {
	begin := t.base + int64(a)*t.domain
	lo = begin + round*t.window
	hi = min(lo+t.window, begin+t.domain, t.hi)
	lo = max(lo, t.lo)
	return min(lo, hi), hi
}

// place is the memory of a window, if it is on this machine.
func (t *twoPhase) place(a int, round, n int64) []byte {
	p := t.buffers[t.aggregators[a]]
	if p == nil {
		return nil
	}
	return at(p, round%2*t.window, n)
}

// lock keeps others from writing where windows are read and written again: until they are written, or, if all of them
// are covered, while an independent write of a member may be doing so.
func (t *twoPhase) lock() (unlock func(), err error) {
	f := t.op.f
	unlock = func() {}
	if !t.op.write || t.covered && !(f.sieves() && t.busy) {
		return unlock, nil
	}
	if f.m.Rank() == 0 {
		var held func()
		if held, err = f.storage.Lock(t.lo, t.hi, false); err == nil {
			unlock = held
		} else if err == ErrNoLocks {
			err = nil
		}
	}
	return unlock, first(err, f.m.Barrier())
}

// writeRound moves the data of a round into windows, and the own window into the file. err is what has gone wrong
// before: the file is not touched any more, but others go on.
func (t *twoPhase) writeRound(round int64, err error) (wrong, failed error) {
	storage := t.op.f.storage
	var lo, hi int64
	if t.mine >= 0 {
		lo, hi = t.bounds(t.mine, round)
	}
	if !t.covered {
		if lo < hi && err == nil && !t.fills(lo, hi) {
			err = fill(storage, t.place(t.mine, round, hi-lo), lo)
		}
		if failed := t.op.f.m.Barrier(); failed != nil {
			return err, failed
		}
	}
	if failed := t.hand(round, lo, hi); failed != nil {
		return err, failed
	}
	if failed := t.op.f.m.Barrier(); failed != nil {
		return err, failed
	}
	if lo < hi && err == nil {
		_, err = storage.WriteAt(t.place(t.mine, round, hi-lo), lo)
	}
	return err, nil
}

// fills says whether the accesses leave nothing of a window out.
func (t *twoPhase) fills(lo, hi int64) bool {
	f := t.op.f
	if f.peers.of != t.op.v || !f.peers.disjoint {
		return false
	}
	var n int64
	for r, v := range f.peers.views {
		pos := t.nexts[r]
		k := t.before(v, r, pos, hi)
		n += k
		t.nexts[r] = pos + k
	}
	return n == hi-lo
}

// parcel is data for or from another machine.
type parcel struct {
	rank   int
	pos, n int64 // of the stream of the member that it belongs to
	data   []byte
}

// messages of a round: between two members there is at most one, in each direction.
const roundTag = 1

// hand moves this member's data into the windows of a round; at an aggregator also what other machines send.
func (t *twoPhase) hand(round, lo, hi int64) error {
	op, f := t.op, t.op.f
	var reqs []coll.Req
	arriving := t.parcels(lo, hi)
	for i := range arriving {
		p := &arriving[i]
		p.data = make([]byte, p.n)
		req, err := f.m.Irecv(p.data, p.rank, roundTag)
		if err != nil {
			return err
		}
		reqs = append(reqs, req)
	}
	for i := range t.aggregators {
		a := (i + max(t.mine, 0)) % len(t.aggregators)
		lo, hi := t.bounds(a, round)
		pos := t.next[a]
		n := t.before(op.v, f.m.Rank(), pos, hi)
		if n == 0 {
			continue
		}
		t.next[a] += n
		if window := t.place(a, round, hi-lo); window != nil {
			op.v.over(window, lo, pos, n, t.op.mem.from(pos-op.pos), true)
			continue
		}
		data := t.op.mem.run
		if data == nil {
			data = make([]byte, n)
			t.op.mem.from(pos - op.pos).Pack(data)
		} else {
			data = data[pos-op.pos:][:n]
		}
		req, err := f.m.Isend(data, t.aggregators[a], roundTag)
		if err != nil {
			return err
		}
		reqs = append(reqs, req)
	}
	if err := f.m.Wait(reqs...); err != nil {
		return err
	}
	for _, p := range arriving {
		c := f.peers.views[p.rank].cursor
		c.Lay(t.place(t.mine, round, hi-lo), lo-f.peers.views[p.rank].Disp)
		c.SeekTo(p.pos)
		c.Unpack(p.data)
	}
	return nil
}

// parcels are the pieces of a window, from byte lo of the file to byte hi, that belong to members of other machines.
func (t *twoPhase) parcels(lo, hi int64) (list []parcel) {
	f := t.op.f
	if lo >= hi || f.machines() == 1 {
		return nil
	}
	for r, v := range f.peers.views {
		if t.buffers[r] != nil {
			continue
		}
		pos := t.said(r, saysPos) + t.before(v, r, t.said(r, saysPos), lo)
		if n := t.before(v, r, pos, hi); n > 0 {
			list = append(list, parcel{rank: r, pos: pos, n: n})
		}
	}
	return list
}

// readRound reads the own window, and moves data out of all windows of the round.
func (t *twoPhase) readRound(round int64, err error) (wrong, failed error) {
	op, f := t.op, t.op.f
	var lo, hi int64
	var reqs []coll.Req
	if t.mine >= 0 {
		lo, hi = t.bounds(t.mine, round)
	}
	if lo < hi {
		window := t.place(t.mine, round, hi-lo)
		if err == nil {
			err = fill(f.storage, window, lo)
		}
		for _, p := range t.parcels(lo, hi) {
			c := f.peers.views[p.rank].cursor
			c.Lay(window, lo-f.peers.views[p.rank].Disp)
			c.SeekTo(p.pos)
			data := make([]byte, p.n)
			c.Pack(data)
			req, failed := f.m.Isend(data, p.rank, roundTag)
			if failed != nil {
				return err, failed
			}
			reqs = append(reqs, req)
		}
	}
	var arriving []parcel
	for a, r := range t.aggregators {
		lo, hi := t.bounds(a, round)
		if n := t.before(op.v, f.m.Rank(), t.next[a], hi); n > 0 && t.buffers[r] == nil && lo < hi {
			p := parcel{rank: r, pos: t.next[a], n: n, data: make([]byte, n)}
			t.next[a] += n
			req, failed := f.m.Irecv(p.data, r, roundTag)
			if failed != nil {
				return err, failed
			}
			arriving, reqs = append(arriving, p), append(reqs, req)
		}
	}
	if failed := f.m.Barrier(); failed != nil {
		return err, failed
	}
	for i := range t.aggregators {
		a := (i + max(t.mine, 0)) % len(t.aggregators)
		lo, hi := t.bounds(a, round)
		pos := t.next[a]
		n := t.before(op.v, f.m.Rank(), pos, hi)
		if window := t.place(a, round, hi-lo); n > 0 && window != nil {
			t.next[a] += n
			op.v.over(window, lo, pos, n, t.op.mem.from(pos-op.pos), false)
		}
	}
	if failed := f.m.Wait(reqs...); failed != nil {
		return err, failed
	}
	for _, p := range arriving {
		t.op.mem.from(p.pos - op.pos).Unpack(p.data)
	}
	return err, nil
}
