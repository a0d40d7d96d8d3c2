package main

// #include <stdlib.h>
// #include "executor/window.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/onesided"
)

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
	if slot >= C.IMPI_WINDOWS || w.view.Direct == 0 || p.engine.Verifies() {
		return
	}
	targets := unsafe.Slice((*onesided.Target)(w.view.Targets), w.view.Count)
	for r := range targets {
		targets[r].Control = p.segment.Control(p.engine.LocalRank(w.Comm().Group().World(r)))
	}
	w.view.Handle = uint64(w.handle)
	w.mayLock()
	place := (*unsafe.Pointer)(unsafe.Pointer(&C.impi_windows.of[slot]))
	atomic.StorePointer(place, unsafe.Pointer(w.view))
}

// mayLock tells C whether it may lock the window.
func (w *window) mayLock() {
	w.view.MayLock = 0
	one := initialized.Load() && w.session == nil && started().thread != abi.MPI_THREAD_MULTIPLE
	if one && !w.hints.is("no_locks", "true") {
		w.view.MayLock = 1
	}
}

// closeFast makes C forget the window.
func (w *window) closeFast() {
	if slot := handle.Slot(w.handle); slot < C.IMPI_WINDOWS && w.view.Handle != 0 {
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_windows.of[slot])), nil)
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
