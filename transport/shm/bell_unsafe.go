package shm

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// bellWord is bell and sleepers together, as one 64-bit word of the segment.
type bellWord uint64

// Where the two halves are depends on the machine's byte order: bell has the lower address.
var bellShift, sleepersShift = func() (uint, uint) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return 0, 32
	}
	return 32, 0
}()

func loadBell(c *control) bellWord {
	return bellWord(atomic.LoadUint64((*uint64)(unsafe.Pointer(c))))
}

func casBell(c *control, before, now bellWord) bool {
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(c)), uint64(before), uint64(now))
}

func (w bellWord) bell() uint32 { return uint32(w >> bellShift) }

func (w bellWord) sleepers() uint32 { return uint32(w>>sleepersShift) &^ sleepersNoBarrier }

func (w bellWord) flags() uint32 { return uint32(w>>sleepersShift) & sleepersNoBarrier }

func (w bellWord) sleep(by int32) bellWord {
	return makeBell(w.bell(), (w.sleepers()+uint32(by))&^sleepersNoBarrier|w.flags())
}

func (w bellWord) rung() bellWord { return makeBell(w.bell()+1, w.flags()) }

func makeBell(bell, sleepers uint32) bellWord {
	return bellWord(uint64(bell)<<bellShift | uint64(sleepers)<<sleepersShift)
}
