package main

// #include <stdlib.h>
import "C"

import (
	"sync"
	"unsafe"
)

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
