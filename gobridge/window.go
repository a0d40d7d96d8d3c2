package main

// #include <stdlib.h>
// #include "executor/window.h"
// #include "shim/shim.h"
import "C"

import (
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/observe"
	"github.com/libimpi/libimpi/gobridge/ordered"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/onesided"
)

// Windows (MPI 5.0, 12.2): how they are made and freed, and what a program asks of them or stores with them. What is
// done in them is in onesided.go.
type window struct {
	*libimpi.Window
	handle  uintptr
	attrs   attributes
	handler atomic.Pointer[errhandler]
	hints   windowHints
	values  *windowValues
	named   atomic.Pointer[namedGroup]
	session *session       // of its communicator
	view    *onesided.View // in C memory, with the targets behind it
}

// windowValues stand in C memory: the program holds the addresses of the attributes' values.
type windowValues struct {
	size                int64
	unit, flavor, model int32
	private             unsafe.Pointer // memory of MPI_Win_allocate that is not shared
}

// win looks a window up; the others need it, so it comes first.
func (k *check) win(h uintptr) *window {
	if k.notStarted() {
		return nil
	}
	if k.w = windows.Find(h); k.w != nil {
		return k.w
	}
	if h == abi.MPI_WIN_NULL {
		k.set(abi.MPI_ERR_WIN, "argument win is MPI_WIN_NULL")
	} else {
		k.isNot(abi.MPI_ERR_WIN, "a window", "win", h)
	}
	return nil
}

func winQuery(fn string, win uintptr) (k check) {
	k.fn = fn
	k.win(win)
	return k
}

// making is a call that makes a window.
type making struct {
	check
	config onesided.Config
	hints  windowHints
	result uintptr
	memory unsafe.Pointer // that Alloc has found
}

// makeArgs checks what all such calls have in common.
func makeArgs(fn string, flavor int, size, unit int64, info, comm, win uintptr) (m making) {
	m.fn = fn
	if m.comm(comm) == nil {
		return m
	}
	m.intra()
	if size < 0 {
		m.set(abi.MPI_ERR_SIZE, "argument size is negative: %d", size)
	}
	if unit <= 0 {
		m.set(abi.MPI_ERR_DISP, "argument disp_unit is %d; it must be positive", unit)
	}
	with := m.info(info)
	m.hints.take(with, flavor)
	m.result = win
	m.check.result(win, "win")
	m.config = onesided.Config{Flavor: flavor, Size: size, Unit: unit,
		Contiguous: !m.hints.is("alloc_shared_noncontig", "true"), Align: alignmentOf(with)}
	if flavor == abi.MPI_WIN_FLAVOR_CREATE || flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		m.config.Align = 0 // the memory is the program's
	}
	return m
}

// open makes the window.
func (m *making) open() (*window, int32) {
	if !m.agreeOn(m.alikeWindows) {
		return nil, m.fail()
	}
	m.config.Alloc = func(n int64) (datatype.Pointer, error) {
		if m.memory = allocate(n, m.config.Align); m.memory == nil {
			return nil, noMemory(n, m.config.Align)
		}
		return m.memory, nil
	}
	view := m.newView(m.c.Size())
	made, err := m.c.NewWindow(m.config)
	if err != nil {
		letGo(unsafe.Pointer(view))
		C.free(m.memory)
		return nil, m.failed(err)
	}
	w := &window{Window: made, hints: m.hints, session: m.c.session, view: view}
	w.handler.Store(defaultHandler())
	made.Bridge = w
	w.values = keepOne[windowValues]()
	*w.values = windowValues{m.config.Size, int32(m.config.Unit), int32(m.config.Flavor), abi.MPI_WIN_UNIFIED, m.memory}
	if w.handle = windows.Add(w); w.handle != 0 {
		w.openFast()
	}
	return w, m.answer(w.handle, m.result)
}

//export impi_Win_create
func impi_Win_create(base uintptr, size, disp_unit int64, info, comm, win uintptr) int32 {
	m := makeArgs("MPI_Win_create", abi.MPI_WIN_FLAVOR_CREATE, size, disp_unit, info, comm, win)
	if base == 0 && size > 0 {
		m.set(abi.MPI_ERR_BASE, "argument base is NULL, for %d bytes", size)
	}
	m.config.Base = at(base)
	_, code := m.open()
	return code
}

//export impi_Win_allocate
func impi_Win_allocate(size, disp_unit int64, info, comm, baseptr, win uintptr) int32 {
	return allocateWindow("MPI_Win_allocate", abi.MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win)
}

//export impi_Win_allocate_shared
func impi_Win_allocate_shared(size, disp_unit int64, info, comm, baseptr, win uintptr) int32 {
	return allocateWindow("MPI_Win_allocate_shared", abi.MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win)
}

func allocateWindow(fn string, flavor int, size, unit int64, info, comm, baseptr, win uintptr) int32 {
	m := makeArgs(fn, flavor, size, unit, info, comm, win)
	m.check.result(baseptr, "baseptr")
	w, code := m.open()
	if w != nil {
		put(baseptr, w.Base())
	}
	return code
}

//export impi_Win_create_dynamic
func impi_Win_create_dynamic(info, comm, win uintptr) int32 {
	m := makeArgs("MPI_Win_create_dynamic", abi.MPI_WIN_FLAVOR_DYNAMIC, 0, 1, info, comm, win)
	_, code := m.open()
	return code
}

//export impi_Win_attach
func impi_Win_attach(win, base uintptr, size int64) int32 {
	k := winQuery("MPI_Win_attach", win)
	k.dynamic()
	if size < 0 {
		k.set(abi.MPI_ERR_SIZE, "argument size is negative: %d", size)
	}
	if base == 0 && size > 0 {
		k.set(abi.MPI_ERR_BASE, "argument base is NULL, for %d bytes", size)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.w.Attach(uint64(base), size))
}

//export impi_Win_detach
func impi_Win_detach(win, base uintptr) int32 {
	k := winQuery("MPI_Win_detach", win)
	if k.dynamic(); k.err != nil {
		return k.fail()
	}
	return k.done(k.w.Detach(uint64(base)))
}

// dynamic refuses windows that have their memory from the beginning.
func (k *check) dynamic() {
	if k.w != nil && k.w.Flavor() != abi.MPI_WIN_FLAVOR_DYNAMIC {
		k.set(abi.MPI_ERR_RMA_FLAVOR, "argument win is not a window of MPI_Win_create_dynamic")
	}
}

//export impi_Win_shared_query
func impi_Win_shared_query(win uintptr, rank int32, size, disp_unit, baseptr uintptr) int32 {
	k := winQuery("MPI_Win_shared_query", win)
	k.result(size, "size")
	k.result(disp_unit, "disp_unit")
	k.result(baseptr, "baseptr")
	if k.err == nil && k.w.Flavor() == abi.MPI_WIN_FLAVOR_DYNAMIC {
		k.set(abi.MPI_ERR_RMA_FLAVOR, "argument win is a window of MPI_Win_create_dynamic, whose memory is not shared")
	}
	if rank != abi.MPI_PROC_NULL {
		k.targetRank(rank, "rank")
	}
	if k.err != nil {
		return k.fail()
	}
	r := int(rank)
	if rank == abi.MPI_PROC_NULL {
		r = k.w.firstWithMemory()
	}
	part, base := k.w.Part(r), k.w.At(r)
	if base == nil { // it is not mapped here, or the window is nobody's memory
		part.Size = 0
	}
	put(size, part.Size)
	put(disp_unit, part.Unit)
	put(baseptr, base)
	return 0
}

// firstWithMemory is the lowest rank that has any; if none has, all are alike.
func (w *window) firstWithMemory() int {
	for r := range w.Comm().Size() {
		if w.Part(r).Size > 0 {
			return r
		}
	}
	return 0
}

//export impi_Win_free
func impi_Win_free(win uintptr) int32 {
	k := check{fn: "MPI_Win_free"}
	if k.result(win, "win"); k.err != nil {
		return k.fail()
	}
	h := *ref[uintptr](win)
	if k.win(h) == nil {
		return k.fail()
	}
	w := k.w
	if err := w.MayFree(); err != nil {
		return k.failed(err)
	}
	if !k.agreeWindow(nil) && !w.Broken() {
		return k.fail()
	}
	if code := w.attrs.deleteAll(h); code != 0 {
		return k.refused(code, "delete")
	}
	err := w.Free()
	if err != nil && !w.Broken() {
		return k.failed(err)
	}
	w.closeFast()
	windows.Drop(h)
	C.free(w.values.private)
	letGo(unsafe.Pointer(w.view))
	letGo(unsafe.Pointer(w.values))
	put[uintptr](win, abi.MPI_WIN_NULL)
	return k.done(err)
}

//export impi_Win_get_group
func impi_Win_get_group(win, groupOut uintptr) int32 {
	k := winQuery("MPI_Win_get_group", win)
	if k.result(groupOut, "group"); k.err != nil {
		return k.fail()
	}
	return k.answer(saveGroup(k.w.Comm().Group(), k.w.session), groupOut)
}

//export impi_Win_set_name
func impi_Win_set_name(win, win_name uintptr) int32 {
	k := winQuery("MPI_Win_set_name", win)
	if k.result(win_name, "win_name"); k.err != nil {
		return k.fail()
	}
	k.w.Rename(text(win_name, abi.MPI_MAX_OBJECT_NAME-1))
	observe.Renamed(win)
	return 0
}

//export impi_Win_get_name
func impi_Win_get_name(win, win_name, resultlen uintptr) int32 {
	k, name := check{fn: "MPI_Win_get_name"}, "MPI_WIN_NULL"
	if win != abi.MPI_WIN_NULL && k.win(win) != nil {
		name = k.w.Name
	}
	k.result(win_name, "win_name")
	k.result(resultlen, "resultlen")
	if k.err != nil {
		return k.fail()
	}
	put(resultlen, int32(putText(win_name, name, abi.MPI_MAX_OBJECT_NAME)))
	return 0
}

//export impi_Win_create_keyval
func impi_Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state uintptr) int32 {
	return createKeyval("MPI_Win_create_keyval", kindWin, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state)
}

//export impi_Win_free_keyval
func impi_Win_free_keyval(win_keyval uintptr) int32 {
	return freeKeyval("MPI_Win_free_keyval", kindWin, win_keyval)
}

// windowKey reports whether a key is one of those that every window has.
func windowKey(key int32) bool { return key >= abi.MPI_WIN_BASE && key <= abi.MPI_WIN_MODEL }

//export impi_Win_set_attr
func impi_Win_set_attr(win uintptr, win_keyval int32, attribute_val uintptr) int32 {
	k := winQuery("MPI_Win_set_attr", win)
	if k.err == nil && windowKey(win_keyval) {
		k.set(abi.MPI_ERR_KEYVAL, "argument keyval (%d) is predefined and cannot be changed", win_keyval)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.setAttr(&k.w.attrs, win, kindWin, win_keyval, attribute_val)
}

//export impi_Win_get_attr
func impi_Win_get_attr(win uintptr, win_keyval int32, attribute_val, flag uintptr) int32 {
	k := winQuery("MPI_Win_get_attr", win)
	if k.err != nil {
		return k.fail()
	}
	if !windowKey(win_keyval) {
		return k.getAttr(&k.w.attrs, win_keyval, kindWin, attribute_val, flag)
	}
	k.result(attribute_val, "attribute_val")
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	putFlag(flag, true)
	put(attribute_val, k.w.attribute(win_keyval))
	return 0
}

// attribute is the value of a predefined attribute: the address of the window, and for others that of a number.
func (w *window) attribute(key int32) unsafe.Pointer {
	switch key {
	case abi.MPI_WIN_SIZE:
		return unsafe.Pointer(&w.values.size)
	case abi.MPI_WIN_DISP_UNIT:
		return unsafe.Pointer(&w.values.unit)
	case abi.MPI_WIN_CREATE_FLAVOR:
		return unsafe.Pointer(&w.values.flavor)
	case abi.MPI_WIN_MODEL:
		return unsafe.Pointer(&w.values.model)
	}
	return w.Base()
}

//export impi_Win_delete_attr
func impi_Win_delete_attr(win uintptr, win_keyval int32) int32 {
	k := winQuery("MPI_Win_delete_attr", win)
	if k.err == nil && windowKey(win_keyval) {
		k.set(abi.MPI_ERR_KEYVAL, "argument keyval (%d) is predefined and cannot be changed", win_keyval)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.deleteAttr(&k.w.attrs, win, win_keyval, kindWin)
}

//export impi_Win_create_errhandler
func impi_Win_create_errhandler(win_errhandler_fn, errhandler uintptr) int32 {
	return createErrhandler("MPI_Win_create_errhandler", win_errhandler_fn, "win_errhandler_fn", nil, errhandler)
}

//export impi_Win_set_errhandler
func impi_Win_set_errhandler(win, errhandler uintptr) int32 {
	k := winQuery("MPI_Win_set_errhandler", win)
	h := k.errhandler(errhandler)
	if k.err != nil {
		return k.fail()
	}
	k.w.handler.Store(h)
	return 0
}

//export impi_Win_get_errhandler
func impi_Win_get_errhandler(win, errhandler uintptr) int32 {
	k := winQuery("MPI_Win_get_errhandler", win)
	if k.result(errhandler, "errhandler"); k.err != nil {
		return k.fail()
	}
	return k.answer(k.w.handler.Load().hold(), errhandler)
}

//export impi_Win_call_errhandler
func impi_Win_call_errhandler(win uintptr, errorcode int32) int32 {
	k := winQuery("MPI_Win_call_errhandler", win)
	if k.err != nil {
		return k.fail()
	}
	return callHandler(k.w.handler.Load(), win, errorcode)
}

//export impi_Win_fromint
func impi_Win_fromint(win int32) uintptr { return fromIntOr(&windows, win, abi.MPI_WIN_NULL) }

//export impi_Win_f2c
func impi_Win_f2c(win int32) uintptr { return fromIntOr(&windows, win, abi.MPI_WIN_NULL) }

// windowHints are the info keys of windows (MPI 5.0, 12.2), as they are followed or kept. What they promise the library
// needs in no case but one: without alloc_shared_noncontig the parts of MPI_Win_allocate_shared follow each other.
type windowHints struct {
	values ordered.Map[string, string]
}

// windowKeys are the keys with their defaults, and of which flavor they are; 0: of all.
var windowKeys = [...]struct {
	key, value string
	flavor     int
	valid      func(string) bool
	all        bool // all members give the same value: it is about the window as a whole
}{
	{"no_locks", "false", 0, isTruth, true},
	{"accumulate_ordering", "rar,raw,war,waw", 0, isOrdering, true},
	{"accumulate_ops", "same_op_no_op", 0, func(v string) bool { return v == "same_op" || v == "same_op_no_op" }, true},
	{"mpi_accumulate_granularity", "0", 0, isNumber, true},
	{"same_size", "false", 0, isTruth, true},
	{"same_disp_unit", "false", 0, isTruth, true},
	{"alloc_shared_noncontig", "false", abi.MPI_WIN_FLAVOR_SHARED, isTruth, true},
	{alignmentKey, "", 0, isAlignment, false},
	{assertKindsKey, "", 0, func(string) bool { return true }, false},
}

func isTruth(v string) bool { return v == "true" || v == "false" }

func isNumber(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && n >= 0
}

// alignmentKey asks for memory at a multiple of a power of two, when the library allocates it (MPI 5.0, 9.2).
const alignmentKey = "mpi_minimum_memory_alignment"

func isAlignment(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && n > 0 && n&(n-1) == 0
}

// alignmentOf is what an info asks for; 0: nothing, or no power of two.
func alignmentOf(with *info) int64 {
	if with == nil {
		return 0
	}
	v, ok := with.get(alignmentKey)
	if !ok || !isAlignment(v) {
		return 0
	}
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}

func isOrdering(v string) bool {
	if v == "none" {
		return true
	}
	for part := range strings.SplitSeq(v, ",") {
		if part != "rar" && part != "raw" && part != "war" && part != "waw" {
			return false
		}
	}
	return true
}

// take notes the keys of an info that mean something, and leaves those alone that it does not mention.
func (h *windowHints) take(with *info, flavor int) {
	for _, k := range windowKeys {
		if k.flavor != 0 && k.flavor != flavor {
			continue
		}
		value := k.value
		if old := h.values.Find(k.key); old != nil {
			value = *old
		}
		if with != nil {
			if v, ok := with.get(k.key); ok && k.valid(v) {
				value = v
			}
		}
		if value != "" {
			h.values.Set(k.key, value)
		}
	}
}

func (h *windowHints) is(key, value string) bool {
	v := h.values.Find(key)
	return v != nil && *v == value
}

//export impi_Win_set_info
func impi_Win_set_info(win, info uintptr) int32 {
	k := winQuery("MPI_Win_set_info", win)
	with := k.someInfo(info)
	if k.err != nil {
		return k.fail()
	}
	with = with.clone()
	with.entries.Remove(alignmentKey) // the memory lies where it lies
	k.w.hints.take(with, k.w.Flavor())
	k.w.mayLock()
	return 0
}

//export impi_Win_get_info
func impi_Win_get_info(win, info_used uintptr) int32 {
	k := winQuery("MPI_Win_get_info", win)
	if k.result(info_used, "info_used"); k.err != nil {
		return k.fail()
	}
	used := &info{entries: k.w.hints.values.Clone()}
	used.set(kindsKey, k.w.session.memoryKinds())
	return k.answer(infos.Add(used), info_used)
}
