package datatype

import "unsafe"

// Dense tells whether elements lie in memory without gaps, the first one at the address of the buffer. t is committed.
func (t *Type) Dense() bool { return t.dense && t.runAt == 0 }

// Span tells whether count elements at base are one run of memory, and which: n bytes at p, in native form. It is on
// every message's path. t is committed.
func (t *Type) Span(base unsafe.Pointer, count int64) (p unsafe.Pointer, n int64, ok bool) {
	if count != 0 && (t.dense || count == 1 && t.run) {
		return unsafe.Add(base, t.runAt), count * t.size, true
	}
	return base, 0, count == 0
}
