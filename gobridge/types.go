package main

// #include <stdlib.h>
// #include "executor/types.h"
// #cgo nocallback impi_type_release
import "C"

import (
	"hash/maphash"
	"math"
	"slices"
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
		if t := datatype.Named(abi.MPI_DATATYPE_NULL + i); t != nil && t.Handle() != datatype.TwoInteger8 {
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

// Many programs make a datatype, use it once and free it, over and over. So a type that has ended is parked: it keeps
// its slot, its entry and its plan, though no handle leads there any more. A constructor that is called with the very
// same arguments takes it again, under the slot's next handle and not committed.
//
//	constructor -> words -> an equal call among those parked: revive
//	                     -> none: make, addType -> MPI_Type_free -> forgetEnded: park, or dropType
//
// All of it happens under the lock publishing. Types with attributes, and those that no constructor's call describes
// (what MPI_Type_get_contents answers), are not parked.

// What is parked at most: so many types, of so many bytes together with the types they are made of. What has been there
// longest goes first.
const (
	mostParked      = 64
	mostParkedBytes = 1 << 20
)

// typeCall is a constructor's call: all that a type follows from.
type typeCall struct {
	combiner int64
	wide     int32
	numbers  []int64
	olds     []*datatype.Type
	lists    []list
}

// list is an array of the program: n integers, of 64 bits if wide.
type list struct {
	at   uintptr
	n    int64
	wide bool
}

// length is how many words a call has.
func (c *typeCall) length() int64 {
	n := int64(1 + len(c.numbers) + len(c.olds))
	for i := range c.lists {
		n += c.lists[i].n
	}
	return n
}

// words appends a call as words that are equal for equal calls only; the entries of the lists come last. An old type is
// the address of its object, which lives as long as types that are made of it.
func (c *typeCall) words(to []int64) []int64 {
	to = append(to, c.combiner<<1|int64(c.wide&1))
	to = append(to, c.numbers...)
	for _, t := range c.olds {
		to = append(to, int64(uintptr(unsafe.Pointer(t))))
	}
	for _, l := range c.lists {
		if l.wide {
			to = append(to, slice[int64](l.at, int(l.n))...)
			continue
		}
		from, n := slice[int32](l.at, int(l.n)), len(to)
		to = slices.Grow(to, len(from))[:n+len(from)]
		for i, v := range from {
			to[n+i] = int64(v)
		}
	}
	return to
}

// construct returns a type of a call: one that is parked, or what make makes of the entries of the call's lists, which
// become the type's.
func (k *check) construct(out uintptr, c typeCall, make func(entries []int64) (*datatype.Type, error)) int32 {
	if k.err != nil {
		return k.fail()
	}
	d := ended.find(&c, out)
	if d == nil {
		return 0
	}
	entries := d.call[1+len(c.numbers)+len(c.olds):]
	t, err := make(entries)
	if err != nil {
		return k.failed(err)
	}
	if c.wide != 0 {
		t = t.AsLarge()
	}
	d.Type = t
	return k.answer(addType(d), out)
}

// parking holds the types that are parked.
type parking struct {
	types   []parkedType // that which ended last is the last
	bytes   int
	seed    maphash.Seed
	scratch []int64 // the words of a call
}

type parkedType struct {
	hash uint64
	slot uint32
}

var ended = parking{seed: maphash.MakeSeed()}

// find stores the handle of a parked type of a call at out and returns nil, or else answers an object for a new type,
// with the call's words.
func (p *parking) find(c *typeCall, out uintptr) *dataType {
	if n := c.length(); n > mostParkedBytes/8 {
		return &dataType{call: c.words(make([]int64, 0, n)), memory: mostParkedBytes + 1}
	}
	publishing.Lock()
	forgetEnded()
	words := c.words(p.scratch[:0])
	p.scratch = words
	hash := maphash.Bytes(p.seed, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)))
	h := p.revive(words, hash)
	if h != 0 {
		publishing.Unlock()
		put(out, h)
		return nil
	}
	d := &dataType{hash: hash, call: slices.Clone(words)}
	publishing.Unlock()
	return d
}

// revive returns the handle of a type that was parked and is not any more; 0 if none is of this call.
func (p *parking) revive(words []int64, hash uint64) uintptr {
	for i := len(p.types) - 1; i >= 0; i-- {
		if p.types[i].hash != hash {
			continue
		}
		slot := p.types[i].slot
		was, d := types.At(slot)
		if !slices.Equal(d.call, words) {
			continue
		}
		p.remove(i, d)
		h := types.Renew(was)
		if h == 0 {
			dropType(slot)
			return 0
		}
		e := entryAt(slot)
		e.refs, e.flags = 1, e.flags&(planned|compiled)|plain
		showHandle(&e.handle, h)
		return h
	}
	return 0
}

// park keeps a type that has ended, and lets go of others.
func (p *parking) park(slot uint32, d *dataType) {
	if d.memory == 0 {
		d.memory = int32(min(d.Memory(mostParkedBytes+1), mostParkedBytes+1))
	}
	if d.memory > mostParkedBytes {
		dropType(slot)
		return
	}
	if d.name != "" {
		d.name = ""
	}
	p.types = append(p.types, parkedType{d.hash, slot})
	p.bytes += int(d.memory)
	for len(p.types) > mostParked || p.bytes > mostParkedBytes {
		oldest := p.types[0].slot
		_, d := types.At(oldest)
		p.remove(0, d)
		dropType(oldest)
	}
}

func (p *parking) remove(i int, d *dataType) {
	p.bytes -= int(d.memory)
	p.types = slices.Delete(p.types, i, i+1)
}
