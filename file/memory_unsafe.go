package file

import (
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// memory is the buffer of an access, as a stream of the bytes that stand in the file.
type memory struct {
	cursor datatype.Cursor
	run    []byte // all of it, if it is one run of memory as it stands in the file
}

func newMemory(b coll.Buf, rep datatype.Rep) *memory {
	mem := new(memory)
	if b.Count == 0 {
		return mem
	}
	mem.cursor.Init(b.Base, b.Count, b.Type, rep)
	if rep == datatype.Native {
		if p, n, ok := b.Type.Span(b.Base, b.Count); ok {
			mem.run = unsafe.Slice((*byte)(p), n)
		}
	}
	return mem
}

// piece answers n bytes of the stream from byte pos on, for writing to the file: the memory itself, or a copy in
// scratch, which has room for them.
func (mem *memory) piece(scratch []byte, pos, n int64) []byte {
	if mem.run != nil {
		return mem.run[pos : pos+n]
	}
	mem.cursor.SeekTo(pos)
	mem.cursor.Pack(scratch[:n])
	return scratch[:n]
}

// room answers where n bytes of the file go that stand for the stream from byte pos on. take stores them if that is
// scratch.
func (mem *memory) room(scratch []byte, pos, n int64) []byte {
	if mem.run != nil {
		return mem.run[pos : pos+n]
	}
	return scratch[:n]
}

func (mem *memory) take(p []byte, pos int64) {
	if mem.run == nil {
		mem.cursor.SeekTo(pos)
		mem.cursor.Unpack(p)
	}
}

// at is n bytes of memory, from bytes behind p.
func at(p datatype.Pointer, from, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, from)), n)
}
