package main

// #include <stdlib.h>
// #include "executor/direct.h"
// #include "executor/fast.h"
// #include "executor/window.h"
import "C"

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/transport/bulk"
	"github.com/libimpi/libimpi/transport/futex"
)

// The Go side of the fast path (fast.h): it fills the tables that C looks into. The types that C shares with the engine
// are generated from the engine's (libimpi/z_layout.h).

// fastQuick is where C keeps the receives that it has posted.
func fastQuick() *libimpi.Quick { return (*libimpi.Quick)(unsafe.Pointer(&C.impi_quick)) }

// fastPersistent is where C finds the persistent requests that it may start.
func fastPersistent() *libimpi.PersistentTable {
	return (*libimpi.PersistentTable)(unsafe.Pointer(&C.impi_persistent))
}

// fastShared is where the engine counts.
func fastShared() *libimpi.Shared {
	return (*libimpi.Shared)(unsafe.Pointer(&C.impi_fast.anon0))
}

// C looks for this long at an empty ring before it leaves the waiting to Go, which polls the others, too, and knows how
// to sleep. It is as long as most waits of programs whose ranks do the same work; Go's waits are bounded by their
// success.
const spinTime = 300 * time.Microsecond

// crowdedLooks is how often C looks where it gives its core away after each look.
const crowdedLooks = 100

// looksBeforeGo is how often C looks at a word of shared memory before Go waits.
func looksBeforeGo(e *libimpi.Engine) int {
	if e.Crowded() {
		return crowdedLooks
	}
	return looksIn(spinTime) | C.IMPI_FAST_OFFER - 1
}

// looksIn is how many looks, with a pause after each, take so long. The sample takes some 5 us, which nobody notices in
// MPI_Init, and is 100 times what a clock is wrong by.
func looksIn(d time.Duration) int {
	const sample = 200
	best := time.Second
	for range 3 {
		t := time.Now()
		futex.Pause(sample)
		best = min(best, time.Since(t))
	}
	return int(d) * sample / max(int(best), 1)
}

// setInUse tells C whether anything of MPI is in use.
func setInUse(on uint32) { atomic.StoreUint32((*uint32)(unsafe.Pointer(&C.impi_in_use)), on) }

// showHandle stores the handle of an entry of which the rest is there; 0 takes the entry back. It is no call of C: that
// would cost more than all else about a communicator that is made and freed.
func showHandle(at *C.uintptr_t, h uintptr) { atomic.StoreUintptr((*uintptr)(unsafe.Pointer(at)), h) }

// openFast lets C go ahead; called once the process has joined its job.
func openFast(p *process) {
	f := &C.impi_fast
	for i := range f.dense {
		if t := datatype.Named(abi.MPI_DATATYPE_NULL + i); t != nil && t.Extent() == t.Size() && t.Size() < 256 {
			f.dense[i] = C.uint8_t(t.Size())
		}
	}
	f.tag_ub, f.eager = C.uint32_t(p.engine.TagUB()), C.uint32_t(p.engine.Eager())
	if f.strings = math.MaxUint64; bulk.Strings() {
		f.strings = bulk.Least
	}
	f.growing, f.past = f.eager, math.MaxUint64
	if p.engine.Crowded() {
		f.crowded = 1
	} else if bulk.Past() {
		f.past = bulk.Least
	}
	if !p.engine.Connected() { // otherwise sockets, or pipes, have to be looked at, too
		f.looks = C.uint32_t(looksBeforeGo(p.engine))
		if f.crowded == 0 {
			f.growing = C.uint32_t(p.engine.Packet())
		}
	}
	f.shm = (*C.struct_impi_shm_private)(p.segment.Private())
}

// closeFast sends everything to Go from now on.
func closeFast() {
	C.impi_fast.shm = nil
	forgetAll()
	for i := range C.impi_windows.of {
		C.impi_windows.of[i] = nil
	}
}

// fastSlot is the place of a communicator in C's table: the predefined ones come first.
func fastSlot(h uintptr) uintptr {
	if h < handle.First {
		return h - abi.MPI_COMM_WORLD
	}
	return uintptr(handle.Slot(h)) + 2
}

// openFast makes a communicator known to C, if there is a place for it. Of an intercommunicator C knows the ranks that
// messages come from and go to.
func (c *communicator) openFast() {
	slot := fastSlot(c.handle)
	if slot >= C.IMPI_FAST_COMMS {
		return
	}
	f := &C.impi_fast.comms[slot]
	n := c.Ranks()
	reserveLocal(f, n)
	f.size = C.int32_t(n)
	c.WithRanks(func() { c.fillLocal(f) })
	f.cid, f.rank, f.members = C.uint64_t(c.CID()), C.int32_t(c.Rank()), C.int32_t(c.Size())
	f.native, f.inter, f.board = 0, 0, nil
	if c.Native() {
		f.native = 1
	}
	if c.Inter() {
		f.inter = 1
	}
	c.CountWaiting((*uint32)(unsafe.Pointer(&f.waiting)))
	c.appear(slot)
	c.WithRanks(func() { retreat(c.Comm) }) // a member may have been lost just before
}

// fillLocal tells C by which indexes it reaches the members: none, where data is converted on its way.
// Engine lock held.
func (c *communicator) fillLocal(f *C.struct_impi_fast_comm) {
	local := unsafe.Slice((*int32)(unsafe.Pointer(f.local)), int(f.size))
	for i := range local {
		local[i] = -1
		if c.Native() {
			local[i] = int32(c.FastRank(i)) // of the only group, if there are not two
		}
	}
}

// showLocal does so again, when that has changed. Engine lock held.
func (c *communicator) showLocal() {
	if f := c.fast(); f != nil {
		c.fillLocal(f)
	}
}

// closeFast makes C forget the communicator.
func (c *communicator) closeFast() {
	slot := fastSlot(c.handle)
	if slot >= C.IMPI_FAST_COMMS || !c.vanish(slot) {
		return
	}
	f := &C.impi_fast.comms[slot]
	engine().AdoptQuick()
	c.CountWaiting(nil)
	if f.room > keptRoom {
		reserveLocal(f, 0)
	}
}

// keptRoom is how many ranks an entry keeps room for when its communicator is freed.
const keptRoom = 64

// reserveLocal gives an entry room for the local ranks of n processes.
func reserveLocal(f *C.struct_impi_fast_comm, n int) {
	if n > 0 && n <= int(f.room) {
		return
	}
	C.free(unsafe.Pointer(f.local))
	f.local, f.room = nil, 0
	if n > 0 {
		f.local, f.room = (*C.int32_t)(C.malloc(C.size_t(n)*4)), C.int32_t(n)
	}
}

// impi_ring wakes a rank of this machine that sleeps.
//
//export impi_ring
func impi_ring(local int32) {
	if p := started(); p != nil {
		p.segment.Ring(int(local))
	}
}
