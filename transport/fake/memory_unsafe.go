package fake

import "unsafe"

// read fills dst from an address of this very process, which all processes of a World are in.
func read(addr uint64, dst []byte) { copy(dst, at(addr, uint64(len(dst)))) }

// write stores src at an address.
func write(addr uint64, src []byte) { copy(at(addr, uint64(len(src))), src) }

// at is n bytes at an address.
func at(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}

// aligned is n bytes of memory at a multiple of align.
func aligned(n, align int) []byte {
	room := words(n + align)
	from := -uintptr(unsafe.Pointer(&room[0])) & uintptr(align-1)
	return room[from:][:n:n]
}

// words is n bytes of memory that begin where a word may.
func words(n int) []byte {
	w := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), n)
}
