package onesided

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Communication on windows (MPI 5.0, 12.3). A call that is allowed finds the memory of its target, and works on it, or
// asks the target's engine (ask.go).

// begin asks whether communication with a target is allowed now.
func (w *Window) begin(target int, request bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err *Error
	if request {
		err = w.epochs.Request(target)
	} else {
		err = w.epochs.Access(target)
	}
	if err != nil {
		return err
	}
	return w.losses.in(target)
}

// Place is what a call names of a target's memory.
type Place struct {
	Target int
	Disp   int64 // in units of the target's
	Count  int64
	Type   *datatype.Type
}

// at returns the memory of a place, relative to which its elements lie, and nil if it is not mapped here.
func (w *Window) at(p Place) (datatype.Pointer, error) {
	if w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		if p.Target == w.me || p.Count == 0 || p.Type.Size() == 0 {
			return w.attachedAt(p.Disp, p.Count, p.Type)
		}
		return nil, nil
	}
	off, err := w.parts[p.Target].Offset(p.Target, p.Disp, p.Count, p.Type)
	if err != nil {
		return nil, err
	}
	if base := w.memory[p.Target]; base != nil {
		return offset(base, off), nil
	}
	if p.Count == 0 || p.Type.Size() == 0 {
		return startOf(nothingAt[:]), nil
	}
	return nil, nil
}

// nothingAt is where nothing is stored.
var nothingAt [8]byte

// Put copies origin to a place (MPI_Put). ask says that the call returns a request; without one, or if all is done,
// that is the one of everything that is complete.
func (w *Window) Put(origin coll.Buf, p Place, ask bool) (uint64, error) {
	to, err := w.ready(p, ask, "origin", origin)
	if err != nil {
		return 0, err
	}
	if to != nil {
		return w.engine.Done, coll.Copy(coll.Buf{Base: to, Count: p.Count, Type: p.Type}, origin)
	}
	if addr, ok, err := w.far(p); err != nil || ok && w.carries(origin, p, addr, true) {
		return w.engine.Done, err
	}
	return w.askPut(origin, p, ask)
}

// Get copies a place to origin (MPI_Get).
func (w *Window) Get(origin coll.Buf, p Place, ask bool) (uint64, error) {
	from, err := w.ready(p, ask, "origin", origin)
	if err != nil {
		return 0, err
	}
	if from != nil {
		return w.engine.Done, coll.Copy(origin, coll.Buf{Base: from, Count: p.Count, Type: p.Type})
	}
	if addr, ok, err := w.far(p); err != nil || ok && w.carries(origin, p, addr, false) {
		return w.engine.Done, err
	}
	return w.askGet(origin, p, ask)
}

// Accumulate combines origin with a place, and stores what that had before in result (MPI_Get_accumulate); a result of
// no type is MPI_Accumulate's. The element may be nil if nothing is combined.
func (w *Window) Accumulate(origin, result coll.Buf, p Place, o coll.Op, element *datatype.Type, ask bool) (uint64,
	error) {
	given := origin
	if given.Type == nil {
		given = result
	}
	to, err := w.ready(p, ask, "origin", given)
	if err != nil || given.Size() == 0 {
		return w.engine.Done, err
	}
	a := Accumulation{Origin: origin, Result: result, Element: element, Op: o}
	if to == nil && w.direct.combines {
		return w.engine.Done, w.accumulatesFar(a, p)
	}
	if to == nil || !w.accumulates(p.Target) {
		return w.askAccumulate(origin, result, p, o, element, ask)
	}
	a.Target = coll.Buf{Base: to, Count: p.Count, Type: p.Type}
	a.Lock, a.Unlock = w.atomically(p.Target)
	return w.engine.Done, a.Do()
}

// accumulates reports whether this process may accumulate into the memory of a target that it has mapped. Where others
// ask the target's engine to, all but the target itself do.
func (w *Window) accumulates(target int) bool { return w.words != nil || target == w.me }

// atomically returns how the accumulates to a target exclude each other. What only the target's process reaches its
// engine's lock guards.
func (w *Window) atomically(target int) (lock func() error, unlock func()) {
	private := w.flavor == abi.MPI_WIN_FLAVOR_CREATE || w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC
	if w.words != nil && !private || w.direct.combines {
		return func() error { return w.words.Hold(target) }, func() { w.words.Drop(target) }
	}
	return func() error {
		w.engine.Lock()
		return nil
	}, w.engine.Unlock
}

// CompareAndSwap is MPI_Compare_and_swap: all three are elements of the place's type.
func (w *Window) CompareAndSwap(origin, compare, result datatype.Pointer, p Place) error {
	to, err := w.ready(p, false, "origin", coll.Buf{Count: 1, Type: p.Type})
	if err != nil {
		return err
	}
	if to == nil && w.direct.combines {
		return w.swapsFar(origin, compare, result, p)
	}
	if to == nil || !w.accumulates(p.Target) {
		return w.askSwap(origin, compare, result, p)
	}
	lock, unlock := w.atomically(p.Target)
	if err := lock(); err != nil {
		return err
	}
	Swap(to, origin, compare, result, p.Type)
	unlock()
	return nil
}

// turnEvery is how many calls that answer a request make progress once, where a window is mapped.
const turnEvery = 64

// ready asks whether communication is allowed, and returns the memory of its place, nil if it is not mapped. With a
// request the call makes progress (reach), or one of several does: where that is over at once, the program has no other
// call that does.
func (w *Window) ready(p Place, ask bool, what string, given coll.Buf) (datatype.Pointer, error) {
	if err := w.begin(p.Target, ask); err != nil {
		return nil, err
	}
	if a, b := given.Size(), p.Count*p.Type.Size(); a != b {
		return nil, errorf(abi.MPI_ERR_COUNT, "the %s data has %d bytes, and that of the target %d", what, a, b)
	}
	if ask && (w.asks || w.asked.Add(1)%turnEvery == 0) {
		w.engine.Lock()
		w.engine.Poll()
		w.engine.Unlock()
	}
	return w.at(p)
}

// Sync orders loads and stores of the program with those of others (MPI_Win_sync), and makes progress: what others ask
// of this process may be what it waits for. It involves no other member.
func (w *Window) Sync() error {
	var word uint32
	atomic.AddUint32(&word, 1)
	if w.asks {
		w.engine.Turn()
	}
	return w.engine.Failure()
}

// Swappable reports whether elements of a predefined type can be compared and swapped (MPI 5.0, 12.3.4): integers,
// logicals, bytes. Those are what a bitwise or a logical operation takes.
func Swappable(t *datatype.Type) bool {
	return op.Check(abi.MPI_BOR, t) == nil || op.Check(abi.MPI_LOR, t) == nil
}
