package file

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// The two phases of a collective access. Every aggregator has two windows, which take turns: while one is written to
// the file, the next is filled, so that one barrier a round is enough.
//
//	writing: [ read the own window, barrier ] every member fills all windows, barrier, the own window to the file
//	reading: the own window from the file, barrier, every member takes from all windows

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

// fills reports whether the accesses leave nothing of a window out.
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
		c := f.peers.views[p.rank].laid(t.place(t.mine, round, hi-lo), lo, p.pos)
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
			c := f.peers.views[p.rank].laid(window, lo, p.pos)
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
