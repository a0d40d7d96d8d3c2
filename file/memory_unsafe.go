package file

import (
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// memory is the buffer of an access, as a stream of the bytes that stand in the file.
type memory struct {
	buf    coll.Buf
	rep    datatype.Rep
	run    []byte // all of it, if it is one run of memory as it stands in the file
	cursor datatype.Cursor
	made   bool // cursor is
}

func (mem *memory) init(b coll.Buf, rep datatype.Rep) {
	mem.buf, mem.rep, mem.run, mem.made = b, rep, nil, false
	if b.Count > 0 && rep == datatype.Native {
		if p, n, ok := b.Type.Span(b.Base, b.Count); ok {
			mem.run = unsafe.Slice((*byte)(p), n)
		}
	}
}

// from is a cursor that goes on at byte pos of the stream.
func (mem *memory) from(pos int64) *datatype.Cursor {
	if !mem.made {
		mem.cursor.Init(mem.buf.Base, mem.buf.Count, mem.buf.Type, mem.rep)
		mem.made = true
	}
	mem.cursor.SeekTo(pos)
	return &mem.cursor
}

// err reports whether a value did not fit its form in the file.
func (mem *memory) err() error {
	if !mem.made {
		return nil
	}
	return mem.cursor.Err()
}

// piece returns n bytes of the stream from byte pos on, for writing to the file: the memory itself, or a copy in
// scratch, which has room for them.
func (mem *memory) piece(scratch []byte, pos, n int64) []byte {
	if mem.run != nil {
		return mem.run[pos : pos+n]
	}
	mem.from(pos).Pack(scratch[:n])
	return scratch[:n]
}

// room returns where n bytes of the file go that stand for the stream from byte pos on. take stores them if that is
// scratch.
func (mem *memory) room(scratch []byte, pos, n int64) []byte {
	if mem.run != nil {
		return mem.run[pos : pos+n]
	}
	return scratch[:n]
}

func (mem *memory) take(p []byte, pos int64) {
	if mem.run == nil {
		mem.from(pos).Unpack(p)
	}
}

// at is n bytes of memory, from bytes behind p.
func at(p datatype.Pointer, from, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p, from)), n)
}
