package main

// #include <stdlib.h>
// #include "executor/types.h"
// #cgo nocallback impi_type_release
import "C"

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
)

// What C is shown of datatypes (types.h): an entry for each slot of the table of types, by the slot's number.

// The tables have as many places.
const (
	_ = uint(C.IMPI_TYPE_CHUNK - handle.Chunk)
	_ = uint(handle.Chunk - C.IMPI_TYPE_CHUNK)
	_ = uint(C.IMPI_TYPE_CHUNKS - handle.Chunks)
	_ = uint(handle.Chunks - C.IMPI_TYPE_CHUNKS)
)

// What the flags of an entry say.
const (
	committed = C.IMPI_TYPE_COMMITTED
	planned   = C.IMPI_TYPE_PLANNED
	plain     = C.IMPI_TYPE_PLAIN
	compiled  = C.IMPI_TYPE_COMPILED
)

// publishing guards what is shown of new and newly committed types, and what becomes of ended ones.
var publishing sync.Mutex

// publishNamed shows C the predefined types; called once.
func publishNamed() {
	for i := range C.impi_types.named {
		C.impi_types.named[i].size = -1
		if t := datatype.Named(abi.MPI_DATATYPE_NULL + i); t != nil {
			C.impi_types.named[i] = shapeOf(t)
		}
	}
}

func shapeOf(t *datatype.Type) C.struct_impi_shape {
	return C.struct_impi_shape{size: C.int64_t(t.Size()), lb: C.int64_t(t.LB()), ub: C.int64_t(t.UB())}
}

// entryOf is the entry of a handle's slot, nil if there was never one.
func entryOf(h uintptr) *C.struct_impi_type {
	slot := handle.Slot(h)
	if slot/handle.Chunk >= C.IMPI_TYPE_CHUNKS {
		return nil
	}
	return entryAt(slot)
}

func entryAt(slot uint32) *C.struct_impi_type {
	chunk := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_types.chunks[slot/handle.Chunk])))
	if chunk == nil {
		return nil
	}
	return &(*[handle.Chunk]C.struct_impi_type)(chunk)[slot%handle.Chunk]
}

// flagsOf is where the flags of an entry stand, which C reads without a lock.
func flagsOf(e *C.struct_impi_type) *uint32 { return (*uint32)(unsafe.Pointer(&e.flags)) }

// shownType returns the entry and the type of a handle, nil if the handle is stale or foreign. C may have ended it
// without a word to Go.
func shownType(h uintptr) (*C.struct_impi_type, *dataType) {
	if handle.KindOf(h) != kindType {
		return nil, nil
	}
	e := entryOf(h)
	if e == nil || atomic.LoadUintptr((*uintptr)(unsafe.Pointer(&e.handle))) != h {
		return nil, nil
	}
	return e, types.Find(h)
}

// published returns the type of a handle, nil if there is none.
func published(h uintptr) *dataType {
	_, d := shownType(h)
	return d
}

// committedType is published for communication: the type, and whether the program has committed it. What C was told
// alone, Go does now.
func committedType(h uintptr) (*dataType, bool) {
	e, d := shownType(h)
	if d == nil {
		return nil, false
	}
	flags := atomic.LoadUint32(flagsOf(e))
	if flags&(committed|compiled) == committed {
		commitType(h)
	}
	return d, flags&committed != 0
}

// commitType makes a type ready for communication, and shows C its plan.
func commitType(h uintptr) {
	publishing.Lock()
	defer publishing.Unlock()
	if e, d := shownType(h); d != nil {
		d.Commit()
		if atomic.LoadUint32(flagsOf(e))&compiled == 0 {
			setPlan(e, d.Type)
		}
		atomic.OrUint32(flagsOf(e), committed)
	}
}

// addType returns the handle of a new datatype, and shows it to C; 0 if there is no room.
func addType(d *dataType) uintptr {
	publishing.Lock()
	defer publishing.Unlock()
	forgetEnded()
	h := types.Add(d)
	if h == 0 {
		return 0
	}
	slot := handle.Slot(h)
	e := entryAt(slot)
	if e == nil {
		chunk := C.calloc(handle.Chunk, C.sizeof_struct_impi_type)
		if chunk == nil {
			types.Drop(h)
			return 0
		}
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_types.chunks[slot/handle.Chunk])), chunk)
		e = entryAt(slot)
	}
	flags := uint32(plain)
	if _, some := d.attrs.last(); some || d.fixed {
		flags = 0
	}
	e.refs, e.slot, e.shape = 1, C.uint32_t(slot), shapeOf(d.Type)
	atomic.StoreUint32(flagsOf(e), flags)
	if d.Committed() {
		setPlan(e, d.Type)
		atomic.OrUint32(flagsOf(e), committed)
	}
	showHandle(&e.handle, h)
	return h
}

// fewBytes is up to how many bytes C moves several elements: one after the other, or by one loop more.
const fewBytes = 2 << 10

// setPlan writes the plan of a type that is compiled, if there is one, and the flags that say so.
func setPlan(e *C.struct_impi_type, t *datatype.Type) {
	set := uint32(compiled)
	if p, ok := t.Plan(); ok {
		e.plan = C.struct_impi_plan{at: C.int64_t(p.At), size: C.int64_t(t.Size()), extent: C.int64_t(t.Extent()),
			most: fewBytes}
		if p.Offs == nil {
			setLoops(&e.plan, &p.Nest, t)
			set |= planned
		} else if listable(p.Offs) && listable(p.Lens) {
			setList(e, &p)
			set |= planned
		}
	}
	atomic.OrUint32(flagsOf(e), set)
}

// Elements whose blocks take a cache line each are worth handing over row by row from this size on: gathering and
// scattering take much longer than the way from core to core, so that the receiver scatters what is there while the
// sender gathers the rest (1024 doubles 8 KiB apart: 6.4 us against 9.7).
const worthGrowing, cacheLine = 2 << 10, 64

func setLoops(plan *C.struct_impi_plan, nest *datatype.Nest, t *datatype.Type) {
	plan.nest = *(*C.struct_impi_nest)(unsafe.Pointer(nest)) // package kernel sees to it that they are alike
	if nest.Depth == 0 {
		if nest.Block == t.Extent() {
			plan.dense, plan.most = 1, math.MaxInt64
		}
		return
	}
	if nest.Depth == datatype.MaxDims {
		plan.most = 0 // no room for one loop more
	}
	rows, blocks := nest.Dims[0], nest.Dims[nest.Depth-1]
	if rows.Buf > 0 && rows.N > 1 && rows.N*rows.Buf == t.Size() {
		plan.row = C.int64_t(rows.Buf)
		if t.Size() >= worthGrowing && nest.Block <= cacheLine && max(blocks.Mem, -blocks.Mem) >= cacheLine {
			plan.growing = 1
		}
	}
}

// listable tells whether all entries of a list are numbers of 32 bits.
func listable(list []int64) bool {
	var beyond int64
	for _, v := range list {
		beyond |= v ^ int64(int32(v))
	}
	return beyond == 0
}

// setList writes a list of blocks: into the entry, or into memory of its own.
func setList(e *C.struct_impi_type, p *datatype.Plan) {
	n := len(p.Offs)
	offs, lens := unsafe.Slice((*int32)(unsafe.Pointer(&e.offs)), C.IMPI_TYPE_BLOCKS),
		unsafe.Slice((*int32)(unsafe.Pointer(&e.lens)), C.IMPI_TYPE_BLOCKS)
	if n > C.IMPI_TYPE_BLOCKS {
		memory := unsafe.Slice((*int32)(C.malloc(C.size_t(n+len(p.Lens))*4)), n+len(p.Lens))
		offs, lens = memory[:n], memory[n:]
	}
	narrow(offs, p.Offs)
	l := &e.plan.list
	l.offs, l.n, l.scale, l.block = unsafe.Pointer(&offs[0]), C.int64_t(n), C.int64_t(p.Scale), C.int64_t(p.Block)
	if p.Lens != nil {
		narrow(lens, p.Lens)
		l.lens, l.least, l.most = unsafe.Pointer(&lens[0]), C.int64_t(p.Least), C.int64_t(p.Most)
	}
}

func narrow(to []int32, from []int64) {
	for i, v := range from {
		to[i] = int32(v)
	}
}

// freeInGo sees to it that C does not free a type by itself.
func freeInGo(h uintptr) {
	publishing.Lock()
	defer publishing.Unlock()
	if e, d := shownType(h); d != nil {
		atomic.AndUint32(flagsOf(e), ^uint32(plain))
	}
}

// endType ends a datatype's handle; false if it has ended already.
func endType(h uintptr) bool {
	e := entryOf(h)
	if e == nil || !atomic.CompareAndSwapUintptr((*uintptr)(unsafe.Pointer(&e.handle)), h, 0) {
		return false
	}
	C.impi_type_release(e)
	publishing.Lock()
	defer publishing.Unlock()
	forgetEnded()
	return true
}

// forgetEnded parks types whose entries nothing refers to any more, or lets go of them. The lock is held.
func forgetEnded() {
	last := (*uint32)(unsafe.Pointer(&C.impi_types.ended))
	if atomic.LoadUint32(last) == 0 {
		return
	}
	for next := atomic.SwapUint32(last, 0); next != 0; {
		slot := next - 1
		e := entryAt(slot)
		next = atomic.LoadUint32((*uint32)(unsafe.Pointer(&e.next)))
		if _, d := types.At(slot); d.call == nil || atomic.LoadUint32(flagsOf(e))&plain == 0 {
			dropType(slot)
		} else {
			ended.park(slot, d)
		}
	}
}

// dropType makes a slot of the table and its entry free. The lock is held.
func dropType(slot uint32) {
	l := &entryAt(slot).plan.list
	if l.n > C.IMPI_TYPE_BLOCKS {
		C.free(l.offs)
	}
	l.n = 0
	h, _ := types.At(slot)
	types.Drop(h)
}

// heldType is libimpi.HeldType: the type of an entry that C has kept for a receive.
func heldType(held unsafe.Pointer) *datatype.Type {
	e := (*C.struct_impi_type)(held)
	_, d := types.At(uint32(e.slot))
	C.impi_type_release(e)
	return d.Type
}
