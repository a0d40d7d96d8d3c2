package main

import "C"

import (
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/abi"
)

// windowHints are the info keys of windows (MPI 5.0, 12.2), as they are followed or kept. What they promise the library
// needs in no case but one: without alloc_shared_noncontig the parts of MPI_Win_allocate_shared follow each other.
type windowHints struct {
	values ordered[string, string]
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
		if old := h.values.find(k.key); old != nil {
			value = *old
		}
		if with != nil {
			if v, ok := with.get(k.key); ok && k.valid(v) {
				value = v
			}
		}
		if value != "" {
			h.values.set(k.key, value)
		}
	}
}

func (h *windowHints) is(key, value string) bool {
	v := h.values.find(key)
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
	with.entries.remove(alignmentKey) // the memory lies where it lies
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
	used := &info{entries: k.w.hints.values.clone()}
	used.set(kindsKey, k.w.session.memoryKinds())
	return k.answer(infos.Add(used), info_used)
}
