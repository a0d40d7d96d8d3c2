package datatype

import (
	"sync"
	"unsafe"
)

// Span tells whether count elements at base are one run of memory, and which: n bytes at p, in native form. It is on
// every message's path. t is committed.
func (t *Type) Span(base unsafe.Pointer, count int64) (p unsafe.Pointer, n int64, ok bool) {
	if count != 0 && (t.dense || count == 1 && t.run) {
		return unsafe.Add(base, t.runAt), count * t.size, true
	}
	return base, 0, count == 0
}

// Copy moves scount elements of st at src to dcount elements of dt at dst, as a message within a process would: in native
// form, matching basic elements in order. It answers the bytes moved, and whether the source held more than that.
// The types have equal signatures over what is moved; the buffers do not overlap.
func Copy(dst unsafe.Pointer, dcount int64, dt *Type, src unsafe.Pointer, scount int64, st *Type) (bytes int64, truncated bool) {
	bytes, room := st.PackedSize(scount, Native), dt.PackedSize(dcount, Native)
	if bytes > room {
		bytes, truncated = room, true
	}
	if bytes == 0 {
		return 0, truncated
	}
	from, _, sok := st.Span(src, scount)
	to, _, dok := dt.Span(dst, dcount)
	switch {
	case sok && dok:
		copyRun(to, 0, from, 0, bytes)
	case sok:
		var c Cursor
		c.Init(dst, dcount, dt, Native)
		c.Unpack(unsafe.Slice((*byte)(from), bytes))
	case dok:
		var c Cursor
		c.Init(src, scount, st, Native)
		c.Pack(unsafe.Slice((*byte)(to), bytes))
	default:
		copyThrough(dst, dcount, dt, src, scount, st, bytes)
	}
	return bytes, truncated
}

// copyThrough packs and unpacks through a buffer that stays in the first-level cache.
func copyThrough(dst unsafe.Pointer, dcount int64, dt *Type, src unsafe.Pointer, scount int64, st *Type, bytes int64) {
	buf := buffers.Get().(*[copyPiece]byte)
	defer buffers.Put(buf)
	var in, out Cursor
	out.Init(src, scount, st, Native)
	in.Init(dst, dcount, dt, Native)
	for bytes > 0 {
		n := out.Pack(buf[:min(bytes, copyPiece)])
		in.Unpack(buf[:n])
		bytes -= int64(n)
	}
}

const copyPiece = 16 << 10

var buffers = sync.Pool{New: func() any { return new([copyPiece]byte) }}
