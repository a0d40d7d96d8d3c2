package main

// #include "shim/z_shim.h"
import "C"

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/mpit"
	"github.com/libimpi/libimpi/settings"
)

// The MPI tool information interface (MPI 5.0, 15.3). Package mpit has what there is, the other files what is done with
// it: tool_control.go, tool_variable.go, tool_event.go, and watch.go, by which messages that C would carry come to the
// engine, where they are counted. No function calls an error handler: it answers its code.

// tools is the state of the interface. Its lock is taken before the engine's, and never held while a function of the
// program runs.
var tools struct {
	sync.Mutex
	inits    int // MPI_T_init_thread without MPI_T_finalize
	controls []uintptr
	sessions []*toolSession
	events   []*registration
}

// What tools see of the process once it has joined its job; it stays after MPI_Finalize.
var (
	toolEngine  atomic.Pointer[libimpi.Engine]
	segmentSize atomic.Uint64 // of the machine's shared memory, in bytes
)

// tellTools is called when there is an engine: what has been started before begins to count.
func tellTools(p *process) {
	tools.Lock()
	defer tools.Unlock()
	e := p.engine
	toolEngine.Store(e)
	segmentSize.Store(uint64(p.segment.Size()))
	for _, s := range tools.sessions {
		for _, h := range s.handles {
			if h.following {
				e.Follow(&h.peak, false)
			}
		}
	}
	rewatch()
}

// lockTools takes the lock if the interface is initialized, and returns MPI_T_ERR_NOT_INITIALIZED if it is not.
func lockTools() int32 {
	tools.Lock()
	if tools.inits > 0 {
		return abi.MPI_SUCCESS
	}
	tools.Unlock()
	return abi.MPI_T_ERR_NOT_INITIALIZED
}

// lookAtTools returns the same, and does not hold on to the lock.
func lookAtTools() int32 {
	code := lockTools()
	if code == abi.MPI_SUCCESS {
		tools.Unlock()
	}
	return code
}

//export impi_T_init_thread
func impi_T_init_thread(required int32, provided uintptr) int32 {
	if provided == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	tools.Lock()
	defer tools.Unlock()
	tools.inits++
	makeEnums()
	put[int32](provided, levelFor(required))
	return abi.MPI_SUCCESS
}

//export impi_T_finalize
func impi_T_finalize() int32 {
	if code := lockTools(); code != abi.MPI_SUCCESS {
		return code
	}
	defer tools.Unlock()
	if tools.inits--; tools.inits > 0 {
		return abi.MPI_SUCCESS
	}
	for _, h := range tools.controls {
		controlHandles.Drop(h)
	}
	for _, s := range slices.Clone(tools.sessions) {
		s.end()
	}
	for _, r := range slices.Clone(tools.events) {
		r.end(mpit.Function{})
	}
	tools.controls = nil
	rewatch()
	return abi.MPI_SUCCESS
}

// putString answers a string by MPI's convention (MPI 5.0, 15.3.3): the length is what a whole one needs.
func putString(s string, buffer, length uintptr) {
	if length == 0 {
		return
	}
	if room := *ref[int32](length); buffer != 0 && room > 0 {
		putText(buffer, s, int(room))
	}
	put(length, int32(len(s)+1))
}

// putInt answers a number that the caller may not want.
func putInt(p uintptr, n int) {
	if p != 0 {
		put(p, int32(n))
	}
}

// putYes answers a truth value that the caller may not want.
func putYes(p uintptr, yes bool) {
	if p != 0 {
		putFlag(p, yes)
	}
}

// putHandle answers a handle that the caller may not want.
func putHandle(p, h uintptr) {
	if p != 0 {
		put(p, h)
	}
}

// putIndex returns what a search by name has found.
func putIndex(out uintptr, index int) int32 {
	if index < 0 {
		return abi.MPI_T_ERR_INVALID_NAME
	}
	put(out, int32(index))
	return abi.MPI_SUCCESS
}

// longestName bounds what is read of a name that a program gives.
const longestName = 256

// search returns the index of a name.
func search(name, out uintptr, find func(name string) int) int32 {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return code
	}
	if name == 0 || out == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	return putIndex(out, find(text(name, longestName)))
}

// putCount returns how many there are.
func putCount(out uintptr, n int) int32 {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return code
	}
	if out == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	put(out, int32(n))
	return abi.MPI_SUCCESS
}

// Enumerations.

var (
	enums       = handle.Table[mpit.Enum]{Kind: kindEnum}
	enumHandles map[*mpit.Enum]uintptr
	makeEnums   = sync.OnceFunc(func() {
		enumHandles = map[*mpit.Enum]uintptr{}
		for i := range settings.All {
			if e := controlEnums()[i]; e != nil {
				enumHandles[e] = enums.Add(e)
			}
		}
		for i := range mpit.Variables {
			if e := mpit.Variables[i].Enum; e != nil {
				enumHandles[e] = enums.Add(e)
			}
		}
		for i := range mpit.Events {
			enumHandles[mpit.Events[i].Enum] = enums.Add(mpit.Events[i].Enum)
		}
	})
)

// enum looks an enumeration up.
func enum(h uintptr) (*mpit.Enum, int32) {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return nil, code
	}
	if e := enums.Find(h); e != nil {
		return e, abi.MPI_SUCCESS
	}
	return nil, abi.MPI_T_ERR_INVALID_HANDLE
}

//export impi_T_enum_get_info
func impi_T_enum_get_info(enumtype, num, name, name_len uintptr) int32 {
	e, code := enum(enumtype)
	if code == abi.MPI_SUCCESS {
		putInt(num, len(e.Items))
		putString(e.Name, name, name_len)
	}
	return code
}

//export impi_T_enum_get_item
func impi_T_enum_get_item(enumtype uintptr, index int32, value, name, name_len uintptr) int32 {
	e, code := enum(enumtype)
	switch {
	case code != abi.MPI_SUCCESS:
		return code
	case index < 0 || int(index) >= len(e.Items):
		return abi.MPI_T_ERR_INVALID_INDEX
	}
	putInt(value, int(e.Items[index].Value))
	putString(e.Items[index].Name, name, name_len)
	return abi.MPI_SUCCESS
}

// Categories.

//export impi_T_category_get_num
func impi_T_category_get_num(num_cat uintptr) int32 { return putCount(num_cat, len(mpit.Categories)) }

// impi_T_category_changed: the number of updates, of which there are none.
//
//export impi_T_category_changed
func impi_T_category_changed(update_number uintptr) int32 { return putCount(update_number, 0) }

// category looks a category up.
func category(index int32) (*mpit.Category, int32) {
	if code := lookAtTools(); code != abi.MPI_SUCCESS {
		return nil, code
	}
	if index < 0 || int(index) >= len(mpit.Categories) {
		return nil, abi.MPI_T_ERR_INVALID_INDEX
	}
	return &mpit.Categories[index], abi.MPI_SUCCESS
}

//export impi_T_category_get_info
func impi_T_category_get_info(cat_index int32, name, name_len, desc, desc_len, num_cvars, num_pvars,
	num_categories uintptr) int32 {
	c, code := category(cat_index)
	if code == abi.MPI_SUCCESS {
		putString(c.Name, name, name_len)
		putString(c.About, desc, desc_len)
		putInt(num_cvars, len(c.Controls))
		putInt(num_pvars, len(c.Variables))
		putInt(num_categories, len(c.Categories))
	}
	return code
}

//export impi_T_category_get_num_events
func impi_T_category_get_num_events(cat_index int32, num_events uintptr) int32 {
	c, code := category(cat_index)
	if code == abi.MPI_SUCCESS && num_events == 0 {
		return abi.MPI_T_ERR_INVALID
	}
	if code == abi.MPI_SUCCESS {
		putInt(num_events, len(c.Events))
	}
	return code
}

//export impi_T_category_get_index
func impi_T_category_get_index(name, cat_index uintptr) int32 {
	return search(name, cat_index, mpit.FindCategory)
}

// members returns what a category has of something, as much of it as there is room for.
func members(index, room int32, indices uintptr, of func(c *mpit.Category) []int32) int32 {
	c, code := category(index)
	switch {
	case code != abi.MPI_SUCCESS:
		return code
	case room < 0 || room > 0 && indices == 0:
		return abi.MPI_T_ERR_INVALID
	}
	copy(slice[int32](indices, int(room)), of(c))
	return abi.MPI_SUCCESS
}

//export impi_T_category_get_cvars
func impi_T_category_get_cvars(cat_index, length int32, indices uintptr) int32 {
	return members(cat_index, length, indices, func(c *mpit.Category) []int32 { return c.Controls })
}

//export impi_T_category_get_pvars
func impi_T_category_get_pvars(cat_index, length int32, indices uintptr) int32 {
	return members(cat_index, length, indices, func(c *mpit.Category) []int32 { return c.Variables })
}

//export impi_T_category_get_events
func impi_T_category_get_events(cat_index, length int32, indices uintptr) int32 {
	return members(cat_index, length, indices, func(c *mpit.Category) []int32 { return c.Events })
}

//export impi_T_category_get_categories
func impi_T_category_get_categories(cat_index, length int32, indices uintptr) int32 {
	return members(cat_index, length, indices, func(c *mpit.Category) []int32 { return c.Categories })
}

// controlEnums are the enumerations of control variables, by their places in settings.All.
var controlEnums = sync.OnceValue(func() map[int]*mpit.Enum {
	all := map[int]*mpit.Enum{}
	for i := range settings.All {
		s := &settings.All[i]
		if s.Kind != settings.Choose {
			continue
		}
		e := &mpit.Enum{Name: s.Name + "_values"}
		for _, c := range s.Choices {
			e.Items = append(e.Items, mpit.Item{Value: c.Value, Name: c.Name})
		}
		all[i] = e
	}
	return all
})
