package op

import "unsafe"

// at is the address of a slice's elements.
func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
