package main

// #include "executor/attr_fast.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// The Go side of the tables from which C answers queries (attr_fast.h).

// openFastValues shows C the predefined attributes; called once.
func openFastValues(v *predefinedValues) {
	t := &C.impi_attr
	for i, p := range [...]*int32{v.at(abi.MPI_TAG_UB), v.at(abi.MPI_IO), v.at(abi.MPI_HOST),
		v.at(abi.MPI_WTIME_IS_GLOBAL),
		v.at(abi.MPI_APPNUM), v.at(abi.MPI_LASTUSEDCODE), v.at(abi.MPI_UNIVERSE_SIZE)} {
		t.predefined[i] = (*C.int32_t)(unsafe.Pointer(p))
	}
}

// openFastQueries lets C answer, or stops it.
func openFastQueries(on uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&C.impi_attr.open)), on)
}

// at is where a predefined attribute's value stands.
func (v *predefinedValues) at(key int32) *int32 {
	switch key {
	case abi.MPI_TAG_UB:
		return &v.tagUB
	case abi.MPI_IO:
		return &v.io
	case abi.MPI_HOST:
		return &v.host
	case abi.MPI_WTIME_IS_GLOBAL:
		return &v.wtimeIsGlobal
	case abi.MPI_APPNUM:
		return &v.appnum
	case abi.MPI_UNIVERSE_SIZE:
		return &v.universe
	case abi.MPI_LASTUSEDCODE:
		return &v.lastCode
	}
	return nil
}

// openQueries shows a communicator to C, if there is a place for it.
func (c *communicator) openQueries() {
	slot := c.handle&0xffffffff - handle.First + 1
	switch c.handle {
	case abi.MPI_COMM_WORLD:
		slot = 0
	case abi.MPI_COMM_SELF:
		slot = C.IMPI_ATTR_COMMS
	default:
		if slot >= C.IMPI_ATTR_COMMS {
			return
		}
	}
	c.attrs.mu.Lock()
	defer c.attrs.mu.Unlock()
	c.attrs.shown = &C.impi_attr.comms[slot]
	c.attrs.shown.colors = [4]C.int32_t{}
	c.attrs.show()
	showHandle(&c.attrs.shown.handle, c.handle)
}

// closeQueries makes C forget the communicator.
func (c *communicator) closeQueries() {
	c.attrs.mu.Lock()
	defer c.attrs.mu.Unlock()
	if c.attrs.shown != nil {
		showHandle(&c.attrs.shown.handle, 0)
		c.attrs.shown = nil
	}
}

// show copies the values for C. The lock is held.
func (a *attributes) show() {
	s := a.shown
	if s == nil {
		return
	}
	version, count := (*uint32)(unsafe.Pointer(&s.version)), int32(-1)
	atomic.AddUint32(version, 1) // odd: a reader looks again, or goes to Go
	if n := a.values.len(); n <= len(s.values) {
		count = int32(n)
		for i := range n {
			key, v := a.values.nth(i)
			atomic.StoreInt32((*int32)(unsafe.Pointer(&s.values[i].key)), key)
			atomic.StoreUintptr((*uintptr)(unsafe.Pointer(&s.values[i].value)), v.value)
		}
	}
	atomic.StoreInt32((*int32)(unsafe.Pointer(&s.count)), count)
	atomic.AddUint32(version, 1)
}

// showHandle stores the handle of an entry of which the rest is there; 0 takes the entry back. This and what is above
// are no calls of C: those would cost more than all else about a communicator that is made and freed.
func showHandle(at *C.uintptr_t, h uintptr) { atomic.StoreUintptr((*uintptr)(unsafe.Pointer(at)), h) }

// showColors gives the values of IMPI's attributes a place where C finds them, and answers it; nil if there is none.
func (a *attributes) showColors(values [4]int32) *[4]int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown == nil {
		return nil
	}
	p := (*[4]int32)(unsafe.Pointer(&a.shown.colors))
	p[1], p[2], p[3] = values[1], values[2], values[3]
	atomic.StoreInt32(&p[0], values[0])
	return p
}

// showKey tells C that a key may be asked for.
func showKey(key int, on C.uint8_t) {
	if key < C.IMPI_ATTR_KEYS {
		C.impi_attr.keys[key] = on
	}
}

func openFastGroup(h uintptr, g *libimpi.Group) {
	if slot := h&0xffffffff - handle.First; slot < C.IMPI_ATTR_GROUPS {
		f := &C.impi_attr.groups[slot]
		f.rank, f.size = C.int32_t(g.Rank(engine().Me())), C.int32_t(g.Size())
		showHandle(&f.handle, h)
	}
}

func closeFastGroup(h uintptr) {
	if slot := h&0xffffffff - handle.First; slot < C.IMPI_ATTR_GROUPS {
		showHandle(&C.impi_attr.groups[slot].handle, 0)
	}
}
