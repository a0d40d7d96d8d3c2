package onesided

import (
	"cmp"
	"errors"
	"math"
	"runtime"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Memory of the program's own in another process of this machine (MPI_Win_create, MPI_Win_create_dynamic) is not mapped
// here, but the kernel may let this process read and write it (transport.Writer). Then the target has nothing to do:
//
//	far -> the address of a place in its process
//	    -> put and get: the runs of both layouts, some of them at a time
//	    -> accumulates: piece by piece, under the target's lock: read, combine, write
//
// Accumulates are done in this way by all members of a window or by none, so that all of them take the same lock. What
// cannot be reached although the kernel allows it, as memory of a device, is asked for. Then the origin of an
// accumulate holds the target's lock until the target has answered.

// direct is what a window knows of such memory. All fields but tables stay as they are once the window is made.
type direct struct {
	near     []bool      // by rank: this process can move data to and from its memory; nil: none
	bases    []uint64    // by rank: where its part begins in its own memory
	tables   []published // by rank: what it has attached; Window.mu guards them
	combines bool        // all members are near to all, and accumulate by themselves
}

// openDirect finds out which members' memory this process can move data to and from. bases are where their parts begin.
func (w *Window) openDirect(bases []uint64) error {
	private := w.flavor == abi.MPI_WIN_FLAVOR_CREATE || w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC && w.words != nil
	if !private || len(w.parts) == 1 {
		return nil
	}
	d := &w.direct
	d.bases, d.tables, d.near = bases, make([]published, len(bases)), make([]bool, len(bases))
	var unread error
	w.engine.Lock()
	for r := range d.near {
		if r != w.me {
			if d.near[r] = w.engine.Reaches(r); !d.near[r] {
				unread = errNotNear
			}
		}
	}
	w.engine.Unlock()
	if w.words == nil {
		return nil
	}
	all, err := AllWell(w.engine.Comm(), unread)
	d.combines = all
	return err
}

var errNotNear = errors.New("memory of another process cannot be read")

// far returns where a place lies in the memory of its process, if this process may move data there by itself.
func (w *Window) far(p Place) (addr uint64, ok bool, err error) {
	if d := &w.direct; d.near == nil || !d.near[p.Target] {
		return 0, false, nil
	}
	if w.flavor == abi.MPI_WIN_FLAVOR_CREATE {
		return w.direct.bases[p.Target] + uint64(p.Disp*w.parts[p.Target].Unit), true, nil
	}
	list, ok := w.regionsOf(p.Target)
	if !ok {
		return 0, false, nil
	}
	b := coll.Buf{Count: p.Count, Type: p.Type}
	return uint64(p.Disp), true, w.attached(list, p.Target, p.Disp, b, 0, b.Size(), math.MaxInt64)
}

// moving is what a call of moves needs.
type moving struct {
	runs  datatype.Runs
	lists [2][datatype.ListedRuns]transport.Run
	one   [2]transport.Run

	cover   [coverBytes]byte
	element [32]byte // the longest of a predefined type
}

// A run in another process costs 0.38 us, as much as some KiB of a longer one, and a call 1.3 us. So runs that lie
// close together are got with what is between them, up to coverBytes at a time. What is between them cannot be put: a
// put of more than mostRuns runs is left to the target's engine.
const (
	coverBytes = 64 << 10
	leastRuns  = 4
	mostRuns   = 16 << 10
)

// covers gets runs of a target by one of them that covers all, and copies those. False: they are few or far between, or
// cannot be read.
func (w *Window) covers(m *moving, target int, here, there []transport.Run) bool {
	if len(there) < leastRuns {
		return false
	}
	first, end := there[0].Addr, uint64(0)
	for _, r := range there {
		first, end = min(first, r.Addr), max(end, r.Addr+r.Len)
	}
	if end-first > coverBytes {
		return false
	}
	m.one = [2]transport.Run{{Addr: addressAt(startOf(m.cover[:])), Len: end - first}, {Addr: first, Len: end - first}}
	if !w.engine.Move(target, m.one[:1], m.one[1:], false) {
		return false
	}
	to := bytesAt(pointerAt(here[0].Addr), int64(here[0].Len))
	for _, r := range there {
		from := m.cover[r.Addr-first : r.Addr-first+r.Len]
		for len(from) > 0 {
			if len(to) == 0 {
				here = here[1:]
				to = bytesAt(pointerAt(here[0].Addr), int64(here[0].Len))
			}
			n := copy(to, from)
			to, from = to[n:], from[n:]
		}
	}
	return true
}

var movings = sync.Pool{New: func() any { return new(moving) }}

// list makes list i that of the runs of bytes pos to end of a layout, as many as fit. It returns up to which byte.
func (m *moving) list(i int, l *layout, pos, end int64) int64 {
	end = l.List(&m.runs, pos-l.first, end-l.first)
	for k := range m.runs.N {
		m.lists[i][k] = transport.Run{Addr: l.addr + uint64(m.runs.Off[k]), Len: uint64(m.runs.Len[k])}
	}
	return end + l.first
}

// first are the runs of list i that have the first n bytes.
func (m *moving) first(i int, n uint64) []transport.Run {
	for k := range m.lists[i] {
		run := &m.lists[i][k]
		if run.Len >= n {
			run.Len = n
			return m.lists[i][:k+1]
		}
		n -= run.Len
	}
	return m.lists[i][:]
}

// layout is what a cursor moves, at an address. Its stream begins at byte first of that of the other side.
type layout struct {
	datatype.Cursor
	addr  uint64
	first int64
}

// moves puts or gets bytes pos to end of the stream of there, which lies in the memory of a target, from or to here.
// False: it cannot, and nothing can be said of the memory.
func (w *Window) moves(here, there *layout, target int, pos, end int64, put bool) bool {
	m := movings.Get().(*moving)
	defer movings.Put(m)
	for pos < end {
		up := m.list(1, there, pos, end)
		up = m.list(0, here, pos, up)
		n := uint64(up - pos)
		ours, theirs := m.first(0, n), m.first(1, n)
		if (put || !w.covers(m, target, ours, theirs)) && !w.engine.Move(target, ours, theirs, put) {
			return false
		}
		pos = up
	}
	return true
}

// carries puts or gets data straight to or from memory at an address of another process of this machine. False: it
// cannot, and nothing can be said of the memory.
func (w *Window) carries(b coll.Buf, p Place, addr uint64, put bool) bool {
	var here, there layout
	here.addr, there.addr = addressAt(b.Base), addr
	here.Init(b.Base, b.Count, b.Type, datatype.Native)
	there.Init(nil, p.Count, p.Type, datatype.Native)
	if put && there.Len() > mostRuns*there.Run() {
		return false
	}
	ok := w.moves(&here, &there, p.Target, 0, there.Len(), put)
	runtime.KeepAlive(b.Base)
	return ok
}

// farMemory is the target of an accumulate in another process (Far).
type farMemory struct {
	w      *Window
	target int
	there  layout
}

func (f *farMemory) move(b []byte, pos int64, put bool) bool {
	var here layout
	buf := coll.Bytes(b)
	here.addr, here.first = addressAt(buf.Base), pos
	here.Init(buf.Base, buf.Count, buf.Type, datatype.Native)
	ok := f.w.moves(&here, &f.there, f.target, pos, pos+int64(len(b)), put)
	runtime.KeepAlive(b)
	return ok
}

// Load and Store implement Far.
func (f *farMemory) Load(b []byte, pos int64) bool  { return f.move(b, pos, false) }
func (f *farMemory) Store(b []byte, pos int64) bool { return f.move(b, pos, true) }

func (w *Window) farMemory(p Place, addr uint64) *farMemory {
	f := &farMemory{w: w, target: p.Target}
	f.there.addr = addr
	f.there.Init(nil, p.Count, p.Type, datatype.Native)
	return f
}

// accumulatesFar is Accumulate on memory of another process. A piece is as much as one list of runs, about.
func (w *Window) accumulatesFar(a Accumulation, p Place) error {
	addr, ok, err := w.far(p)
	if err != nil {
		return err
	}
	origin, o := a.Origin, a.Op
	if ok {
		f := w.farMemory(p, addr)
		a.Target, a.Far = coll.Buf{Count: p.Count, Type: p.Type}, f
		a.Most = max(datatype.ListedRuns*f.there.Run()/a.Element.Size(), 1)
		a.Lock, a.Unlock = w.atomically(p.Target)
		if err := a.Do(); err != ErrUnread {
			return w.unlessDead(p.Target, err)
		}
	}
	return w.askHolding(p.Target, func() error {
		_, err := w.askAccumulate(origin, a.Result, p, o, a.Element, false)
		return err
	})
}

// swapsFar is CompareAndSwap on memory of another process.
func (w *Window) swapsFar(origin, compare, result datatype.Pointer, p Place) error {
	addr, ok, err := w.far(p)
	if err != nil {
		return err
	}
	if ok {
		if err := w.words.Hold(p.Target); err != nil {
			return err
		}
		err := w.farMemory(p, addr).swap(origin, compare, result, p.Type)
		w.words.Drop(p.Target)
		if err != ErrUnread {
			return w.unlessDead(p.Target, err)
		}
	}
	return w.askHolding(p.Target, func() error { return w.askSwap(origin, compare, result, p) })
}

// swap compares and swaps the element.
func (f *farMemory) swap(origin, compare, result datatype.Pointer, t *datatype.Type) error {
	m := movings.Get().(*moving)
	defer movings.Put(m)
	had := m.element[:t.Size()]
	if !f.Load(had, 0) {
		return ErrUnread
	}
	Swap(startOf(had), origin, compare, result, t)
	if string(had) != string(bytesAt(result, t.Size())) && !f.Store(had, 0) {
		return ErrLost
	}
	return nil
}

// unlessDead is the error of what was done to a target's memory. Memory that is gone in the middle is, as a rule, that
// of a process that has died, which is the cause then: the target is asked for a sign of life.
func (w *Window) unlessDead(target int, err error) error {
	if err != ErrLost {
		return err
	}
	w.engine.Lock()
	w.requests.targets[target].changed = true
	w.engine.Unlock()
	return cmp.Or(w.flush(target), err)
}

// askHolding asks a target for an accumulate while this process holds the target's lock, and waits until it is done.
func (w *Window) askHolding(target int, ask func() error) error {
	if err := w.words.Hold(target); err != nil {
		return err
	}
	defer w.words.Drop(target)
	if err := ask(); err != nil {
		return err
	}
	return w.flush(target)
}
