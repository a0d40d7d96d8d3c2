package file

import (
	"sync"

	"github.com/libimpi/libimpi/datatype"
)

// Independent access: what one member moves without the others.
//
//	a piece of the file without holes: one call of the file system, or several through a buffer if the memory has holes
//	runs that are long, or far from each other: a call for each
//	runs that are short: windows of the file as a whole (data sieving). A window that is written is read before, and
//	written again, under a lock, unless the data covers it.

// A call of the file system costs what copying so many bytes costs that are in the page cache. A window that is written
// moves each byte three times, one that is read once or twice, and has to be locked.
const (
	writeCall = 2 << 10
	readCall  = 10 << 10
)

// pieceBytes is how much goes through a buffer at a time.
const pieceBytes = 256 << 10

var scratches = sync.Pool{New: func() any { return new([]byte) }}

// scratch returns n bytes to work with, and what gives them back.
func scratch(n int64) ([]byte, func()) {
	p := scratches.Get().(*[]byte)
	if int64(len(*p)) < n {
		*p = make([]byte, n)
	}
	return (*p)[:n], func() { scratches.Put(p) }
}

// alone moves the data of an access, and returns how many bytes of the stream.
func (op *Op) alone() (int64, error) {
	if op.n == 0 {
		return 0, nil
	}
	if !op.atomic {
		return op.move()
	}
	unlock, err := op.f.storage.Lock(op.v.at(op.pos), op.v.end(op.pos+op.n), !op.write)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return op.move()
}

// move chooses the way.
func (op *Op) move() (int64, error) {
	run := op.v.span(op.pos, op.n) == op.n
	if op.write {
		if op.f.sieves() {
			op.f.busy.Add(1)
			defer op.f.busy.Add(-1)
		}
		switch {
		case run:
			return op.writeRun()
		case op.f.sievesWrites(op.v.spread):
			return op.sieveWrite()
		}
		return op.writeRuns(0)
	}
	switch {
	case run:
		return op.readRun()
	case op.f.sievesReads(op.v.spread):
		return op.sieveRead()
	}
	return op.readRuns()
}

// sievesWrites reports whether windows are the better way to write runs that are so many bytes apart, sievesReads
// whether they are to read them.
func (f *File) sievesWrites(spread int64) bool {
	return !f.stream && !f.unread && f.hints.sieveWrites.or(spread <= writeCall)
}

func (f *File) sievesReads(spread int64) bool {
	return !f.stream && f.hints.sieveReads.or(spread <= readCall)
}

// sieves reports whether a member may read, modify and write windows: its view has runs that are near each other.
func (f *File) sieves() bool { return f.spread != farthest && f.sievesWrites(f.spread) }

// locks reports whether writes have to keep out of the way of others, which read, modify and write.
func (op *Op) locks() bool { return op.f.sieves() && !op.atomic }

// lock keeps a write out of the way of windows that are being read and written.
func (op *Op) lock(lo, hi int64, shared bool) (unlock func(), err error) {
	if !op.locks() {
		return func() {}, nil
	}
	unlock, err = op.f.storage.Lock(lo, hi, shared)
	if err == ErrNoLocks { // nobody can read, modify and write here
		return func() {}, nil
	}
	return unlock, err
}

// writeRun writes a piece of the file.
func (op *Op) writeRun() (moved int64, err error) {
	from := op.v.at(op.pos)
	unlock, err := op.lock(from, from+op.n, true)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if op.mem.run != nil {
		n, err := op.f.storage.WriteAt(op.mem.run[:op.n], from)
		return int64(n), err
	}
	buf, done := scratch(min(op.n, pieceBytes))
	defer done()
	for moved < op.n {
		n, err := op.f.storage.WriteAt(op.mem.piece(buf, moved, min(op.n-moved, pieceBytes)), from+moved)
		if moved += int64(n); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// readRun reads a piece of the file.
func (op *Op) readRun() (moved int64, err error) {
	from := op.v.at(op.pos)
	if op.mem.run != nil {
		n, err := op.f.storage.ReadAt(op.mem.run[:op.n], from)
		return int64(n), err
	}
	buf, done := scratch(min(op.n, pieceBytes))
	defer done()
	for moved < op.n {
		p := buf[:min(op.n-moved, pieceBytes)]
		n, err := op.f.storage.ReadAt(p, from+moved)
		op.mem.take(p[:n], moved)
		if moved += int64(n); err != nil || n < len(p) {
			return moved, err
		}
	}
	return moved, nil
}

// runs calls each for the runs of the stream from byte moved of the access to byte end, until it answers false.
func (op *Op) runs(moved, end int64, each func(at, pos, n int64) bool) {
	var list datatype.Runs
	c := op.v.cursor
	for pos := op.pos + moved; pos < op.pos+end; {
		next := c.List(&list, pos, op.pos+end)
		for i := range list.N {
			if !each(op.v.Disp+list.Off[i], pos-op.pos, list.Len[i]) {
				return
			}
			pos += list.Len[i]
		}
		pos = next
	}
}

// stretch is how much of the stream is moved at a time by ways that copy: all of it, if the memory is one run.
func (op *Op) stretch() int64 {
	if op.mem.run != nil {
		return op.n
	}
	return min(op.n, pieceBytes)
}

// writeRuns writes run after run, those of byte moved and later.
func (op *Op) writeRuns(moved int64) (int64, error) {
	var err error
	step := op.stretch()
	buf, done := scratch(min(step, pieceBytes))
	defer done()
	for moved < op.n && err == nil {
		begin := moved
		p := op.mem.piece(buf, begin, min(step, op.n-begin))
		op.runs(begin, begin+int64(len(p)), func(at, pos, n int64) bool {
			var unlock func()
			if unlock, err = op.lock(at, at+n, true); err != nil {
				return false
			}
			defer unlock()
			var wrote int
			wrote, err = op.f.storage.WriteAt(p[pos-begin:pos-begin+n], at)
			moved += int64(wrote)
			return err == nil
		})
	}
	return moved, err
}

// readRuns reads run after run.
func (op *Op) readRuns() (moved int64, err error) {
	step := op.stretch()
	buf, done := scratch(min(step, pieceBytes))
	defer done()
	for ended := false; moved < op.n && err == nil && !ended; {
		begin := moved
		p := op.mem.room(buf, begin, min(step, op.n-begin))
		op.runs(begin, begin+int64(len(p)), func(at, pos, n int64) bool {
			var got int
			got, err = op.f.storage.ReadAt(p[pos-begin:pos-begin+n], at)
			moved += int64(got)
			ended = int64(got) < n
			return err == nil && !ended
		})
		op.mem.take(p[:moved-begin], begin)
	}
	return moved, err
}

// sieveWrite writes by windows.
func (op *Op) sieveWrite() (moved int64, err error) {
	window, done := scratch(op.f.inForce().writeBuffer)
	defer done()
	for moved < op.n {
		n, err := op.writeWindow(window, moved)
		if err == ErrNoLocks {
			return op.writeRuns(moved)
		}
		if moved += n; err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// writeWindow writes a window of the file, which begins with byte moved of the access.
func (op *Op) writeWindow(window []byte, moved int64) (int64, error) {
	v, pos := op.v, op.pos+moved
	lo := v.at(pos)
	n := min(v.until(pos, lo+int64(len(window))), op.n-moved)
	window = window[:v.end(pos+n)-lo]
	unlock := func() {}
	if covered := n == int64(len(window)); !covered || op.locks() {
		var err error
		if !op.atomic {
			if unlock, err = op.f.storage.Lock(lo, lo+int64(len(window)), covered); err != nil {
				return 0, err
			}
		}
		if !covered {
			if err = fill(op.f.storage, window, lo); err != nil {
				unlock()
				return 0, err
			}
		}
	}
	defer unlock()
	v.over(window, lo, pos, n, op.mem.from(moved), true)
	wrote, err := op.f.storage.WriteAt(window, lo)
	if err != nil {
		n = 0
		if wrote > 0 {
			n = v.until(pos, lo+int64(wrote))
		}
	}
	return n, err
}

// fill reads a window; what lies behind the end of the file is 0.
func fill(s Storage, window []byte, lo int64) error {
	n, err := s.ReadAt(window, lo)
	clear(window[n:])
	return err
}

// sieveRead reads by windows.
func (op *Op) sieveRead() (moved int64, err error) {
	buf, done := scratch(op.f.inForce().readBuffer)
	defer done()
	v := op.v
	for moved < op.n {
		pos := op.pos + moved
		lo := v.at(pos)
		n := min(v.until(pos, lo+int64(len(buf))), op.n-moved)
		window := buf[:v.end(pos+n)-lo]
		got, err := op.f.storage.ReadAt(window, lo)
		ended := got < len(window)
		if ended {
			n = min(n, v.until(pos, lo+int64(got)))
		}
		v.over(window, lo, pos, n, op.mem.from(moved), false)
		if moved += n; err != nil || ended {
			return moved, err
		}
	}
	return moved, nil
}
