package main

// #include "shim.h"
// #include "type_record.h"
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Datatypes that C has recorded (type_record.h): their handles, and making them on first need.

// Slots of records are no slots of the table of types, and C makes handles of the same form.
const (
	firstRecord = C.IMPI_TYPE_FIRST
	_           = uint(firstRecord - chunkSize*len(types.chunks))
	_           = uint(C.IMPI_TYPE_KIND-kindType) + uint(kindType-C.IMPI_TYPE_KIND)
	_           = uint(C.IMPI_TYPE_GENERATIONS-generations) + uint(generations-C.IMPI_TYPE_GENERATIONS)
)

// recordedTypes are the types that Go has made of records, by slot. A type stands here until its record is free, which
// may be after its handle has ended: other records may be made of it.
type recordedTypes struct {
	sync.Mutex // guards making and forgetting
	chunks     [C.IMPI_TYPE_CHUNKS]atomic.Pointer[[C.IMPI_TYPE_CHUNK]atomic.Pointer[dataType]]
}

var recorded recordedTypes

// isRecord tells whether a handle is, or was, one of a record.
func isRecord(h uintptr) bool { return kind(h>>56) == kindType && uint32(h) >= firstInt+firstRecord }

func slotOfRecord(h uintptr) uint32 { return uint32(h) - firstInt - firstRecord }

// record is C's record of a slot, nil if there was never one.
func record(slot uint32) *C.struct_impi_type_record {
	if slot/C.IMPI_TYPE_CHUNK >= C.IMPI_TYPE_CHUNKS {
		return nil
	}
	chunk := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_types.chunks[slot/C.IMPI_TYPE_CHUNK])))
	if chunk == nil {
		return nil
	}
	return &(*[C.IMPI_TYPE_CHUNK]C.struct_impi_type_record)(chunk)[slot%C.IMPI_TYPE_CHUNK]
}

func recordState(r *C.struct_impi_type_record) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.state)))
}

// find answers the type of a record's handle, made now if need be; nil if the handle is stale.
func (t *recordedTypes) find(h uintptr) *dataType {
	r := record(slotOfRecord(h))
	if r == nil {
		return nil
	}
	state := recordState(r)
	if state/C.IMPI_TYPE_GENERATION != uint32(h>>32)&0xffffff || state&C.IMPI_TYPE_LIVE == 0 {
		return nil
	}
	if state&C.IMPI_TYPE_KNOWN != 0 {
		d := t.place(r).Load()
		if recordState(r)/C.IMPI_TYPE_GENERATION != state/C.IMPI_TYPE_GENERATION { // freed meanwhile: d may be another
			return nil
		}
		return d
	}
	t.Lock()
	defer t.Unlock()
	if r = C.impi_type_pin(C.uintptr_t(h)); r == nil {
		return nil
	}
	d := t.made(r, 1)
	t.forgetStale()
	return d
}

// held is libimpi.HeldType: of a record that C has pinned for a receive.
func (t *recordedTypes) held(p unsafe.Pointer) *datatype.Type {
	t.Lock()
	defer t.Unlock()
	d := t.made((*C.struct_impi_type_record)(p), 1)
	t.forgetStale()
	if d == nil { // no program can bring that about: C records only what can be made
		return datatype.LBMarker
	}
	return d.Type
}

// place is where the type of a record stands.
func (t *recordedTypes) place(r *C.struct_impi_type_record) *atomic.Pointer[dataType] {
	chunk := &t.chunks[r.slot/C.IMPI_TYPE_CHUNK]
	if chunk.Load() == nil {
		chunk.CompareAndSwap(nil, new([C.IMPI_TYPE_CHUNK]atomic.Pointer[dataType]))
	}
	return &chunk.Load()[r.slot%C.IMPI_TYPE_CHUNK]
}

// made is the type of a record that something keeps, which is made now if need be. It gives so many pins back. The
// lock is held.
func (t *recordedTypes) made(r *C.struct_impi_type_record, pins int) *dataType {
	d := t.place(r).Load()
	if recordState(r)&C.IMPI_TYPE_KNOWN == 0 {
		made, err := t.typeOfRecord(r)
		if err != nil { // the record is of a type that has been freed while it was in use
			for ; pins > 0; pins-- {
				C.impi_type_unpin(r)
			}
			return nil
		}
		if r.large != 0 {
			made = made.AsLarge()
		}
		d = &dataType{Type: made}
		t.place(r).Store(d)
		for {
			state := recordState(r)
			var plan *C.struct_impi_type_plan
			if state&C.IMPI_TYPE_COMMITTED != 0 {
				made.Commit()
				plan = planOf(made)
			}
			if C.impi_type_made(r, C.uint32_t(state), C.int(pins), plan) != 0 {
				return d
			}
		}
	}
	for ; pins > 0; pins-- {
		C.impi_type_unpin(r)
	}
	return d
}

// shapeOf is what C knows of a predefined type.
func shapeOf(t *datatype.Type) C.struct_impi_shape {
	return C.struct_impi_shape{size: C.int64_t(t.Size()), lb: C.int64_t(t.LB()), ub: C.int64_t(t.UB()), lo: C.int64_t(t.TrueLB()),
		hi: C.int64_t(t.TrueUB()), size32: C.int64_t(t.PackedSize(1, datatype.External32)), elems: C.int64_t(t.Elements(t.Size(), datatype.Native)),
		align: C.int32_t(t.Alignment()), unit: C.int32_t(t.Unit()), word: C.int32_t(t.Word())}
}

// planOf is what C needs to pack a type whose shape it knows, nil if the type is not that simple.
func planOf(t *datatype.Type) *C.struct_impi_type_plan {
	at, nest, ok := t.Nest()
	if !ok {
		return nil
	}
	plan := &C.struct_impi_type_plan{at: C.int64_t(at), dense: flag(nest.Depth == 0 && nest.Block == t.Extent())}
	setNest((*C.struct_impi_nest)(unsafe.Pointer(&plan.anon0)), &nest)
	return plan
}

// typeOfRecord calls the constructor that C has not.
func (t *recordedTypes) typeOfRecord(r *C.struct_impi_type_record) (*datatype.Type, error) {
	n, arrays := int(r.n[0]), uintptr(unsafe.Pointer(r.arrays))
	var old *datatype.Type
	if r.old != 0 {
		old = t.old(uintptr(r.old))
	}
	count, blocklength := int64(r.n[0]), int64(r.n[1])
	switch r.combiner {
	case abi.MPI_COMBINER_CONTIGUOUS:
		return datatype.Contiguous(count, old)
	case abi.MPI_COMBINER_VECTOR:
		return datatype.Vector(count, blocklength, int64(r.n[2]), old)
	case abi.MPI_COMBINER_HVECTOR:
		return datatype.Hvector(count, blocklength, int64(r.n[2]), old)
	case abi.MPI_COMBINER_INDEXED:
		return datatype.Indexed(integers(arrays+uintptr(n)*4, n, false), integers(arrays, n, false), old)
	case abi.MPI_COMBINER_HINDEXED:
		return datatype.Hindexed(integers(arrays+uintptr(n)*8, n, false), copied(arrays, n, true), old)
	case abi.MPI_COMBINER_INDEXED_BLOCK:
		return datatype.IndexedBlock(blocklength, integers(arrays, n, false), old)
	case abi.MPI_COMBINER_HINDEXED_BLOCK:
		return datatype.HindexedBlock(blocklength, copied(arrays, n, true), old)
	case abi.MPI_COMBINER_STRUCT:
		olds := make([]*datatype.Type, n)
		for i, h := range slice[uintptr](arrays+uintptr(n)*8, n) {
			olds[i] = t.old(h)
		}
		return datatype.Struct(integers(arrays+uintptr(n)*16, n, false), copied(arrays, n, true), olds)
	case abi.MPI_COMBINER_SUBARRAY:
		side := uintptr(n) * 4
		return datatype.Subarray(integers(arrays, n, false), integers(arrays+side, n, false), integers(arrays+2*side, n, false), int(r.n[1]), old)
	case abi.MPI_COMBINER_DARRAY:
		side := uintptr(n) * 4
		return datatype.Darray(int(r.n[1]), int(r.n[2]), integers(arrays, n, false), ints(arrays+side, n), ints(arrays+2*side, n),
			ints(arrays+3*side, n), int(r.n[3]), old)
	case abi.MPI_COMBINER_DUP:
		return datatype.Twin(old), nil
	}
	return datatype.Resized(old, int64(r.n[0]), int64(r.n[1]))
}

// old is the type that a record is made of, which it keeps.
func (t *recordedTypes) old(h uintptr) *datatype.Type {
	if !isRecord(h) {
		return typeOf(h)
	}
	if d := t.made(record(slotOfRecord(h)), 0); d != nil {
		return d.Type
	}
	return nil
}

// committed tells C of a type that was made before it was committed: by the handle it is packed in C from now on.
func (t *recordedTypes) committed(h uintptr, made *datatype.Type) {
	t.Lock()
	defer t.Unlock()
	C.impi_type_committed(C.uintptr_t(h), planOf(made))
	t.forgetStale()
}

// drop ends a handle; false if it has ended already.
func (t *recordedTypes) drop(h uintptr) bool {
	t.Lock()
	defer t.Unlock()
	ended := C.impi_type_drop(C.uintptr_t(h)) != 0
	t.forgetStale()
	return ended
}

// forgetStale lets go of types whose records are free, so that C can use these again.
func (t *recordedTypes) forgetStale() {
	stale := (*uint32)(unsafe.Pointer(&C.impi_types.stale))
	for first := atomic.LoadUint32(stale); first != 0; first = atomic.LoadUint32(stale) {
		t.place(record(first - 1)).Store(nil)
		C.impi_type_reclaim()
	}
}

// handleOfRecord is the handle of a record's integer, 0 if there is none.
func handleOfRecord(n int32) uintptr {
	slot := uint32(n) - firstInt - firstRecord
	if r := record(slot); r != nil {
		if state := recordState(r); state&C.IMPI_TYPE_LIVE != 0 {
			return uintptr(kindType)<<56 | uintptr(state/C.IMPI_TYPE_GENERATION)<<32 | uintptr(uint32(n))
		}
	}
	return 0
}
