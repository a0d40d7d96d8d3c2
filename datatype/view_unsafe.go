package datatype

import "unsafe"

// At is where element i of elements of t at base begins, and of which type it and those behind it are: t, or another
// view.
func (t *Type) At(base unsafe.Pointer, i int64) (unsafe.Pointer, *Type) {
	return t.Beyond(base, i*t.extent())
}

// Beyond is At for elements that begin so many bytes, or virtual bytes, behind base.
func (t *Type) Beyond(base unsafe.Pointer, bytes int64) (unsafe.Pointer, *Type) {
	if t.view == nil {
		return unsafe.Add(base, bytes), t
	}
	other, at := t.beyond(bytes)
	return unsafe.Add(base, at), other
}
