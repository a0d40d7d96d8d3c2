package main

// #include <stdlib.h>
// #include "executor/window.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/onesided"
)

// One-sided communication and its synchronization (MPI 5.0, 12.3 to 12.5). Each call checks its arguments; whether it
// is allowed in the state of the window, and within its bounds, the engine says.

// there is what a call names of a target.
type there struct {
	rank  int32
	disp  int64
	count int64
	dt    uintptr
}

// here is a buffer of the calling process.
type here struct {
	buf   uintptr
	count int64
	dt    uintptr
}

// access are the checked arguments of a call of communication.
type access struct {
	check
	place          onesided.Place
	origin, result coll.Buf
	op             coll.Op
	element        *datatype.Type
	nobody         bool // the target is MPI_PROC_NULL
}

func (k *check) targetRank(rank int32, arg string) {
	if k.w != nil && uint32(rank) >= uint32(k.w.Comm().Size()) {
		k.set(abi.MPI_ERR_RANK, "argument %s is %d, and %s has ranks 0 to %d", arg, rank, k.w, k.w.Comm().Size()-1)
	}
}

// local checks a buffer of the calling process.
func (k *check) local(b here, buf, count, dt string) coll.Buf {
	k.count(b.count, count)
	t := k.typ(b.dt, dt)
	k.buffer(b.buf, b.count, t, buf)
	return coll.Buf{Base: at(b.buf), Count: b.count, Type: t}
}

// target checks what a call names of its target.
func (a *access) target(p there) {
	if a.nobody = p.rank == abi.MPI_PROC_NULL; !a.nobody {
		a.targetRank(p.rank, "target_rank")
	}
	a.count(p.count, "target_count")
	t := a.typ(p.dt, "target_datatype")
	a.volume(p.count, 1, t, "target_count")
	if p.disp < 0 && !a.nobody && a.w != nil && a.w.Flavor() != abi.MPI_WIN_FLAVOR_DYNAMIC {
		a.set(abi.MPI_ERR_DISP, "argument target_disp is negative: %d", p.disp)
	}
	a.place = onesided.Place{Target: int(p.rank), Disp: p.disp, Count: p.count, Type: t}
}

func accessArgs(fn string, origin here, p there, win uintptr) (a access) {
	a.fn = fn
	if a.win(win) == nil {
		return a
	}
	a.origin = a.local(origin, "origin_addr", "origin_count", "origin_datatype")
	a.target(p)
	return a
}

// operator checks the operation of an accumulate. origin is the type that it takes from the calling process.
func (a *access) operator(h uintptr, origin *datatype.Type) {
	if a.err != nil {
		return
	}
	switch a.op = op.Predefined(int(h)); {
	case ops.Find(h) != nil:
		a.set(abi.MPI_ERR_OP, "argument op is a function of the program: one-sided communication takes predefined "+
			"operations only")
	case h == abi.MPI_OP_NULL:
		a.set(abi.MPI_ERR_OP, "argument op is MPI_OP_NULL")
	case a.op == nil:
		a.isNot(abi.MPI_ERR_OP, "an operation", "op", h)
	case a.place.Count > 0 && a.place.Type.Size() > 0: // what combines nothing may do so with any type
		var err error
		if a.element, err = onesided.CheckOp(int(h), a.place.Type, origin); err != nil {
			a.err = libimpi.AsError(err)
		}
	}
}

// alike compares the types of both sides, where types are compared.
func (a *access) alike() {
	if a.err != nil || a.nobody || !engine().Checks().Has(checks.Types) {
		return
	}
	there := coll.Buf{Count: a.place.Count, Type: a.place.Type}
	if a.origin.Type != nil {
		a.err = libimpi.CompareTypes("origin", a.origin, "target", there)
	}
	if a.err == nil && a.result.Type != nil {
		a.err = libimpi.CompareTypes("result", a.result, "target", there)
	}
}

// carryOut makes the call; request is where its request goes, 0 if it answers none.
func (a *access) carryOut(request uintptr, asks bool, f func(asks bool) (uint64, error)) int32 {
	if asks {
		a.check.result(request, "request")
	}
	a.alike()
	if a.err != nil {
		return a.fail()
	}
	id := uint64(libimpi.Done)
	if !a.nobody {
		var err error
		if id, err = f(asks); err != nil {
			return a.failed(err)
		}
	}
	if asks {
		a.give(request, id)
	}
	return 0
}

//export impi_Put
func impi_Put(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, win uintptr) int32 {
	return putData("MPI_Put", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, win, 0, false)
}

//export impi_Rput
func impi_Rput(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, win, request uintptr) int32 {
	return putData("MPI_Rput", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, win, request, true)
}

func putData(fn string, origin here, p there, win, request uintptr, asks bool) int32 {
	a := accessArgs(fn, origin, p, win)
	return a.carryOut(request, asks, func(asks bool) (uint64, error) { return a.w.Put(a.origin, a.place, asks) })
}

//export impi_Get
func impi_Get(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, win uintptr) int32 {
	return getData("MPI_Get", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, win, 0, false)
}

//export impi_Rget
func impi_Rget(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, win, request uintptr) int32 {
	return getData("MPI_Rget", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, win, request, true)
}

func getData(fn string, origin here, p there, win, request uintptr, asks bool) int32 {
	a := accessArgs(fn, origin, p, win)
	return a.carryOut(request, asks, func(asks bool) (uint64, error) { return a.w.Get(a.origin, a.place, asks) })
}

//export impi_Accumulate
func impi_Accumulate(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, op, win uintptr) int32 {
	return accumulate("MPI_Accumulate", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, op, win, 0, false)
}

//export impi_Raccumulate
func impi_Raccumulate(origin_addr uintptr, origin_count int64, origin_datatype uintptr, target_rank int32, target_disp,
	target_count int64, target_datatype, op, win, request uintptr) int32 {
	return accumulate("MPI_Raccumulate", here{origin_addr, origin_count, origin_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, op, win, request, true)
}

func accumulate(fn string, origin here, p there, op, win, request uintptr, asks bool) int32 {
	a := accessArgs(fn, origin, p, win)
	if op == abi.MPI_NO_OP {
		a.set(abi.MPI_ERR_OP, "argument op is MPI_NO_OP, which is for calls that bring back what was there")
	}
	a.operator(op, a.origin.Type)
	return a.carryOut(request, asks, func(asks bool) (uint64, error) {
		return a.w.Accumulate(a.origin, coll.Buf{}, a.place, a.op, a.element, asks)
	})
}

//export impi_Get_accumulate
func impi_Get_accumulate(origin_addr uintptr, origin_count int64, origin_datatype, result_addr uintptr,
	result_count int64, result_datatype uintptr, target_rank int32, target_disp, target_count int64, target_datatype, op,
	win uintptr) int32 {
	return getAccumulate("MPI_Get_accumulate", here{origin_addr, origin_count, origin_datatype},
		here{result_addr, result_count, result_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, op, win, 0, false)
}

//export impi_Rget_accumulate
func impi_Rget_accumulate(origin_addr uintptr, origin_count int64, origin_datatype, result_addr uintptr,
	result_count int64, result_datatype uintptr, target_rank int32, target_disp, target_count int64, target_datatype, op,
	win, request uintptr) int32 {
	return getAccumulate("MPI_Rget_accumulate", here{origin_addr, origin_count, origin_datatype},
		here{result_addr, result_count, result_datatype},
		there{target_rank, target_disp, target_count, target_datatype}, op, win, request, true)
}

// getAccumulate: with MPI_NO_OP the origin's arguments are not looked at.
func getAccumulate(fn string, origin, result here, p there, op, win, request uintptr, asks bool) int32 {
	a := access{check: check{fn: fn}}
	if a.win(win) != nil {
		if op != abi.MPI_NO_OP {
			a.origin = a.local(origin, "origin_addr", "origin_count", "origin_datatype")
		}
		a.result = a.local(result, "result_addr", "result_count", "result_datatype")
		a.target(p)
		a.operator(op, a.origin.Type)
		if a.err == nil && a.result.Size() != a.place.Count*a.place.Type.Size() {
			a.set(abi.MPI_ERR_COUNT, "the result has %d bytes, and the data of the target %d", a.result.Size(),
				a.place.Count*a.place.Type.Size())
		}
	}
	return a.carryOut(request, asks, func(asks bool) (uint64, error) {
		return a.w.Accumulate(a.origin, a.result, a.place, a.op, a.element, asks)
	})
}

// single checks the arguments of a call for one element of a predefined type.
func single(fn string, origin, dt uintptr, rank int32, disp int64, win uintptr, unused bool) (a access) {
	a.fn = fn
	if a.win(win) == nil {
		return a
	}
	t := a.typ(dt, "datatype")
	if t != nil && t.Handle() == 0 {
		a.set(abi.MPI_ERR_TYPE, "argument datatype is not a predefined datatype")
	}
	if !unused {
		a.buffer(origin, 1, t, "origin_addr")
		a.origin = coll.Buf{Base: at(origin), Count: 1, Type: t}
	}
	a.target(there{rank, disp, 1, dt})
	return a
}

//export impi_Fetch_and_op
func impi_Fetch_and_op(origin_addr, result_addr, datatype uintptr, target_rank int32, target_disp int64, op,
	win uintptr) int32 {
	a := single("MPI_Fetch_and_op", origin_addr, datatype, target_rank, target_disp, win, op == abi.MPI_NO_OP)
	a.buffer(result_addr, 1, a.place.Type, "result_addr")
	a.operator(op, a.origin.Type)
	a.result = coll.Buf{Base: at(result_addr), Count: 1, Type: a.place.Type}
	return a.carryOut(0, false, func(bool) (uint64, error) {
		return a.w.Accumulate(a.origin, a.result, a.place, a.op, a.element, false)
	})
}

//export impi_Compare_and_swap
func impi_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype uintptr, target_rank int32,
	target_disp int64, win uintptr) int32 {
	a := single("MPI_Compare_and_swap", origin_addr, datatype, target_rank, target_disp, win, false)
	a.buffer(compare_addr, 1, a.place.Type, "compare_addr")
	a.buffer(result_addr, 1, a.place.Type, "result_addr")
	if t := a.place.Type; a.err == nil && !onesided.Swappable(t) {
		a.set(abi.MPI_ERR_TYPE, "argument datatype is %s: integers, logicals, MPI_BYTE and multi-language types can be "+
			"compared", t.Name())
	}
	return a.carryOut(0, false, func(bool) (uint64, error) {
		return libimpi.Done, a.w.CompareAndSwap(a.origin.Base, at(compare_addr), at(result_addr), a.place)
	})
}

// assertion looks whether an assertion has none but some bits.
func (k *check) assertion(value, allowed int32) {
	if value&^allowed != 0 {
		k.set(abi.MPI_ERR_ASSERT, "argument assert is %d, and %#x of it means nothing here", value, value&^allowed)
	}
}

// synchronize carries a call out whose arguments are checked.
func (k *check) synchronize(f func(w *window) error) int32 {
	if k.err != nil {
		return k.fail()
	}
	return k.done(f(k.w))
}

//export impi_Win_fence
func impi_Win_fence(assert int32, win uintptr) int32 {
	k := winQuery("MPI_Win_fence", win)
	k.assertion(assert, abi.MPI_MODE_NOSTORE|abi.MPI_MODE_NOPUT|abi.MPI_MODE_NOPRECEDE|abi.MPI_MODE_NOSUCCEED)
	k.agreeWindow(func() []coll.Value {
		return []coll.Value{
			coll.Flag("MPI_MODE_NOPRECEDE in argument assert", abi.MPI_ERR_ASSERT, assert&abi.MPI_MODE_NOPRECEDE != 0),
			coll.Flag("MPI_MODE_NOSUCCEED in argument assert", abi.MPI_ERR_ASSERT, assert&abi.MPI_MODE_NOSUCCEED != 0)}
	})
	return k.synchronize(func(w *window) error { return w.Fence(int(assert)) })
}

// namedGroup is the group that a window's MPI_Win_post or MPI_Win_start has named last, and the ranks of its members:
// programs name the same one again and again.
type namedGroup struct {
	group *libimpi.Group
	ranks []int
}

// ranksOf are the ranks in the window of the members of a group.
func (k *check) ranksOf(h uintptr) (ranks []int) {
	if k.err != nil {
		return nil
	}
	g := k.group(h, "group")
	if g == nil {
		return nil
	}
	if last := k.w.named.Load(); last != nil && last.group == g {
		return last.ranks
	}
	ranks = make([]int, 0, g.Size())
	for i := range g.Size() {
		r := k.w.Comm().Group().Rank(g.World(i))
		if r == abi.MPI_UNDEFINED {
			k.set(abi.MPI_ERR_GROUP, "rank %d of argument group is not in %s", i, k.w)
			return nil
		}
		ranks = append(ranks, r)
	}
	k.w.named.Store(&namedGroup{g, ranks})
	return ranks
}

//export impi_Win_start
func impi_Win_start(group uintptr, assert int32, win uintptr) int32 {
	k := winQuery("MPI_Win_start", win)
	ranks := k.ranksOf(group)
	k.assertion(assert, abi.MPI_MODE_NOCHECK)
	return k.synchronize(func(w *window) error { return w.Start(ranks, int(assert)) })
}

//export impi_Win_post
func impi_Win_post(group uintptr, assert int32, win uintptr) int32 {
	k := winQuery("MPI_Win_post", win)
	ranks := k.ranksOf(group)
	k.assertion(assert, abi.MPI_MODE_NOCHECK|abi.MPI_MODE_NOSTORE|abi.MPI_MODE_NOPUT)
	return k.synchronize(func(w *window) error { return w.Post(ranks, int(assert)) })
}

//export impi_Win_complete
func impi_Win_complete(win uintptr) int32 {
	k := winQuery("MPI_Win_complete", win)
	return k.synchronize(func(w *window) error { return w.Complete() })
}

//export impi_Win_wait
func impi_Win_wait(win uintptr) int32 {
	k := winQuery("MPI_Win_wait", win)
	return k.synchronize(func(w *window) error { return w.Wait() })
}

//export impi_Win_test
func impi_Win_test(win, flag uintptr) int32 {
	k := winQuery("MPI_Win_test", win)
	k.result(flag, "flag")
	return k.synchronize(func(w *window) error {
		done, err := w.Test()
		putFlag(flag, done)
		return err
	})
}

//export impi_Win_lock
func impi_Win_lock(lock_type, rank, assert int32, win uintptr) int32 {
	k := winQuery("MPI_Win_lock", win)
	if lock_type != abi.MPI_LOCK_EXCLUSIVE && lock_type != abi.MPI_LOCK_SHARED {
		k.set(abi.MPI_ERR_LOCKTYPE, "argument lock_type is %d, and neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
			lock_type)
	}
	nobody := k.lockRank(rank)
	k.assertion(assert, abi.MPI_MODE_NOCHECK)
	k.mayLock()
	return k.unlessNobody(nobody, func(w *window) error {
		return w.Lock(int(rank), lock_type == abi.MPI_LOCK_EXCLUSIVE, int(assert))
	})
}

// lockRank is targetRank where the rank may be MPI_PROC_NULL, as that of communication may, and reports whether it is:
// there is nothing to lock, and nothing to wait for.
func (k *check) lockRank(rank int32) (nobody bool) {
	if rank == abi.MPI_PROC_NULL {
		return true
	}
	k.targetRank(rank, "rank")
	return false
}

// unlessNobody is synchronize for a call that names a rank.
func (k *check) unlessNobody(nobody bool, f func(w *window) error) int32 {
	if nobody && k.err == nil {
		return 0
	}
	return k.synchronize(f)
}

// mayLock refuses locks of a window whose info has promised that there are none.
func (k *check) mayLock() {
	if k.err == nil && k.w.hints.is("no_locks", "true") {
		k.set(abi.MPI_ERR_RMA_SYNC, "the info of the window has promised by no_locks that it is never locked")
	}
}

//export impi_Win_unlock
func impi_Win_unlock(rank int32, win uintptr) int32 {
	k := winQuery("MPI_Win_unlock", win)
	nobody := k.lockRank(rank)
	return k.unlessNobody(nobody, func(w *window) error { return w.Unlock(int(rank)) })
}

//export impi_Win_lock_all
func impi_Win_lock_all(assert int32, win uintptr) int32 {
	k := winQuery("MPI_Win_lock_all", win)
	k.assertion(assert, abi.MPI_MODE_NOCHECK)
	k.mayLock()
	return k.synchronize(func(w *window) error { return w.LockAll(int(assert)) })
}

//export impi_Win_unlock_all
func impi_Win_unlock_all(win uintptr) int32 {
	k := winQuery("MPI_Win_unlock_all", win)
	return k.synchronize(func(w *window) error { return w.UnlockAll() })
}

//export impi_Win_flush
func impi_Win_flush(rank int32, win uintptr) int32 { return flush("MPI_Win_flush", rank, win, false) }

//export impi_Win_flush_local
func impi_Win_flush_local(rank int32, win uintptr) int32 {
	return flush("MPI_Win_flush_local", rank, win, true)
}

func flush(fn string, rank int32, win uintptr, local bool) int32 {
	k := winQuery(fn, win)
	nobody := k.lockRank(rank)
	return k.unlessNobody(nobody, func(w *window) error { return w.Flush(int(rank), local, fn) })
}

//export impi_Win_flush_all
func impi_Win_flush_all(win uintptr) int32 { return flushAll("MPI_Win_flush_all", win, false) }

//export impi_Win_flush_local_all
func impi_Win_flush_local_all(win uintptr) int32 {
	return flushAll("MPI_Win_flush_local_all", win, true)
}

func flushAll(fn string, win uintptr, local bool) int32 {
	k := winQuery(fn, win)
	return k.synchronize(func(w *window) error { return w.FlushAll(local, fn) })
}

//export impi_Win_sync
func impi_Win_sync(win uintptr) int32 {
	k := winQuery("MPI_Win_sync", win)
	return k.synchronize(func(w *window) error { return w.Sync() })
}

// The Go side of windows in C (executor/window.h): what C sees of a window, and how C wakes others.

// newView is room in C memory for what C sees of a window of n processes.
func (m *making) newView(n int) *onesided.View {
	const head, each = unsafe.Sizeof(onesided.View{}), unsafe.Sizeof(onesided.Target{})
	v := (*onesided.View)(keepMemory(head + uintptr(n)*each))
	v.Targets, v.Count = unsafe.Add(unsafe.Pointer(v), head), uint32(n)
	m.config.View, m.config.Targets = v, unsafe.Slice((*onesided.Target)(v.Targets), n)
	return v
}

// openFast makes the window known to C, if it can do anything with it. Several threads lock and fence in Go.
func (w *window) openFast() {
	p, slot := started(), handle.Slot(w.handle)
	if slot >= C.IMPI_WINDOWS || w.view.Direct == 0 || p.engine.Checks() != 0 {
		return
	}
	targets := unsafe.Slice((*onesided.Target)(w.view.Targets), w.view.Count)
	for r := range targets {
		targets[r].Control = p.segment.Control(p.engine.LocalRank(w.Comm().Group().World(r)))
	}
	w.mayLock()
	w.Show(uint64(w.handle))
	atomic.StorePointer(fastWindow(slot), unsafe.Pointer(w.view))
}

// fastWindow is where C finds the window of a slot.
func fastWindow(slot uint32) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Pointer(&C.impi_windows.of[slot]))
}

// mayLock tells C whether it may lock the window.
func (w *window) mayLock() {
	w.view.MayLock = 0
	one := initialized.Load() && w.session == nil && started().thread != abi.MPI_THREAD_MULTIPLE
	if one && !w.hints.is("no_locks", "true") {
		w.view.MayLock = 1
	}
}

// closeFast makes C forget the window, if it knows it.
func (w *window) closeFast() {
	if slot := handle.Slot(w.handle); slot < C.IMPI_WINDOWS {
		atomic.CompareAndSwapPointer(fastWindow(slot), unsafe.Pointer(w.view), nil)
	}
}

// impi_window_wake wakes the other members of a window that sleep.
//
//export impi_window_wake
func impi_window_wake(win uintptr) {
	if w := windows.Find(win); w != nil {
		w.WakeAll()
	}
}
