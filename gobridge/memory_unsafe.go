package main

import (
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
