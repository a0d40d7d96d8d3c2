package bulk

import "unsafe"

// aligned reports whether memory begins a line.
func aligned(p []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(p)))%lineBytes == 0 }
