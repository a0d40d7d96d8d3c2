package main

// #include <stdlib.h>
import "C"

import (
	"sync"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// The program's memory, as the exports get it: addresses.

// at makes a pointer of an address in C memory.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// ref is the T at an address; nil for address 0.
func ref[T any](p uintptr) *T { return (*T)(at(p)) }

// put stores v at an address of the program.
func put[T any](p uintptr, v T) { *(*T)(at(p)) = v }

// slice is n elements of T at an address; nil if there are none.
func slice[T any](p uintptr, n int) []T {
	if n <= 0 || p == 0 {
		return nil
	}
	return unsafe.Slice((*T)(at(p)), n)
}

// putFlag stores a C truth value.
func putFlag(p uintptr, on bool) {
	v := int32(0)
	if on {
		v = 1
	}
	put(p, v)
}

// ints reads n C ints.
func ints(p uintptr, n int) []int {
	out := make([]int, n)
	for i, v := range slice[int32](p, n) {
		out[i] = int(v)
	}
	return out
}

// text reads a C string of at most max bytes.
func text(p uintptr, max int) string {
	b := (*[1 << 30]byte)(at(p))
	n := 0
	for n < max && b[n] != 0 {
		n++
	}
	return string(b[:n])
}

// putText stores s with its terminating zero, cut to room bytes in all, and returns how many bytes of s it stored.
func putText(p uintptr, s string, room int) int {
	if room <= 0 {
		return 0
	}
	n := min(len(s), room-1)
	b := unsafe.Slice((*byte)(at(p)), n+1)
	copy(b, s[:n])
	b[n] = 0
	return n
}

// address is the address of Go-owned memory that is passed to C for the time of a call.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// intsBuf is a slice as MPI_INTs, for a collective operation of our own.
func intsBuf(s []int32) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: datatype.Named(abi.MPI_INT)}
}

// bytesBuf is a slice as MPI_BYTEs.
func bytesBuf(s []byte) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: datatype.Named(abi.MPI_BYTE)}
}

// Memory of C's that only Go's heap refers to. Leak checkers, such as LeakSanitizer, look for pointers in the variables
// of programs and libraries and in C's memory, and not in Go's heap: all such blocks are in a list, which begins in a
// variable. Blocks that C's variables or other blocks refer to need not be.

// keptBlock is the head of a block, in C memory as the block itself, and as long as C aligns memory.
type keptBlock struct{ next, previous *keptBlock }

const keptHead = unsafe.Sizeof(keptBlock{})

var kept struct {
	sync.Mutex
	first *keptBlock
}

// keepMemory is calloc of a block of the list.
func keepMemory(bytes uintptr) unsafe.Pointer {
	b := (*keptBlock)(C.calloc(1, C.size_t(keptHead+bytes)))
	if b == nil {
		return nil
	}
	kept.Lock()
	defer kept.Unlock()
	if b.next = kept.first; b.next != nil {
		b.next.previous = b
	}
	kept.first = b
	return unsafe.Add(unsafe.Pointer(b), keptHead)
}

// keepOne is a zero T of the list; nil if there is no memory.
func keepOne[T any]() *T {
	var t T
	return (*T)(keepMemory(unsafe.Sizeof(t)))
}

// letGo is free of a block of the list; nil is no block.
func letGo(p unsafe.Pointer) {
	if p == nil {
		return
	}
	b := (*keptBlock)(unsafe.Add(p, -int(keptHead)))
	kept.Lock()
	defer kept.Unlock()
	if b.previous == nil {
		kept.first = b.next
	} else {
		b.previous.next = b.next
	}
	if b.next != nil {
		b.next.previous = b.previous
	}
	C.free(unsafe.Pointer(b))
}
