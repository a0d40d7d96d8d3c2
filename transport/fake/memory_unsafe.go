package fake

import "unsafe"

// read fills dst from an address of this very process, which all processes of a World are in.
func read(addr uint64, dst []byte) {
	at := uintptr(addr)
	copy(dst, unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), len(dst)))
}

// write stores src at an address.
func write(addr uint64, src []byte) {
	at := uintptr(addr)
	copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), len(src)), src)
}

// words is n bytes of memory that begin where a word may.
func words(n int) []byte {
	w := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), n)
}
