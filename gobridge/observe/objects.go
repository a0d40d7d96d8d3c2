package observe

// #include <stdlib.h>
// #include "record.h"
// #include "../shim/shim.h"
import "C"

import "unsafe"

// What handles stand for: C asks when it first meets one.

//export impi_record_object
func impi_record_object(handle uintptr, o *C.struct_impi_object) {
	r := current.Load()
	found := r.config.Object(handle)
	*o = C.struct_impi_object{handle: C.uint64_t(handle), size: C.int64_t(found.Size), rank: C.int32_t(found.Rank),
		in: C.int32_t(found.In), out: C.int32_t(found.Out)}
	if found.Comm == nil && found.Window == nil && found.File == nil && found.Op == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o.group = r.group(found.Ranks)
	id := r.ids[handle]
	if id == 0 {
		r.last++
		id = r.last
		r.ids[handle] = id
		r.define(id, &found)
	}
	o.id = C.uint32_t(id)
}

// define writes what an object is.
func (r *Recorder) define(id uint32, o *Object) {
	if r.writer == nil {
		return
	}
	switch w := r.writer; {
	case o.Comm != nil:
		o.Comm.ID = id
		w.Comm(o.Comm)
	case o.Window != nil:
		o.Window.ID = id
		w.Window(o.Window)
	case o.File != nil:
		o.File.ID = id
		w.File(o.File)
	default:
		w.Op(id, o.Op)
	}
}

// Renamed writes what an object is once more.
func Renamed(handle uintptr) {
	r := current.Load()
	if r == nil {
		return
	}
	found := r.config.Object(handle)
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := r.ids[handle]; id != 0 {
		r.define(id, &found)
	}
}

// group returns the members in C's memory, where they stay.
func (r *Recorder) group(ranks []int32) *C.struct_impi_group {
	if len(ranks) == 0 {
		return nil
	}
	key := string(unsafe.Slice((*byte)(unsafe.Pointer(&ranks[0])), 4*len(ranks)))
	g := r.groups[key]
	if g != nil || 4*len(ranks) > r.room {
		return g
	}
	g = (*C.struct_impi_group)(C.malloc(C.size_t(4 + 4*len(ranks))))
	if g == nil {
		return nil
	}
	g.n = C.int32_t(len(ranks))
	copy(unsafe.Slice((*int32)(unsafe.Add(unsafe.Pointer(g), 4)), len(ranks)), ranks)
	r.room -= 4 * len(ranks)
	r.groups[key] = g
	return g
}
