package pipe

import "unsafe"

// The memory of a pipe: the positions of the first ring, those of the second, and, each at a page, the two rings.

// positions are those of one ring, each in a cache line of its own: who writes seldom looks at who reads.
type positions struct {
	written   uint64 // bytes that have been written since the start
	closed    uint32 // not 0: and no more will be
	_         [52]byte
	read      uint64 // bytes that have been read
	_         [56]byte
	wantsData uint32 // 1: the reader sleeps, or is about to
	_         [60]byte
	wantsRoom uint32 // 1: the writer does
	_         [60]byte
}

const (
	pageBytes = 4096
	memBytes  = pageBytes + 2*RingBytes
)

// The positions fit into the first page.
const _ = pageBytes - 2*unsafe.Sizeof(positions{})

// halfOf is ring i of the memory, which has memBytes.
func halfOf(mem []byte, i int) half {
	at := pageBytes + i*RingBytes
	return half{
		shared: (*positions)(unsafe.Pointer(&mem[i*int(unsafe.Sizeof(positions{}))])),
		ring:   mem[at : at+RingBytes : at+RingBytes],
	}
}
