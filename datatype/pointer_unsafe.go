package datatype

import "unsafe"

// Pointer is the address of data: where a buffer begins, in memory of the program or of our own. It may be that of
// MPI_BOTTOM, from which absolute displacements count.
type Pointer = unsafe.Pointer
