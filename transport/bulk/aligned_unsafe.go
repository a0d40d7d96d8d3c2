package bulk

import "unsafe"

// aligned says whether memory begins a line.
func aligned(p []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(p)))%lineBytes == 0 }
