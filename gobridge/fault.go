package main

// #include <stdlib.h>
// #include "shim/shim.h"
import "C"

import (
	"sync"
	"unsafe"
)

// nameFaults lets fault.c say who we are.
var nameFaults = sync.OnceFunc(func() {
	name := C.CString(whoAmI())
	defer C.free(unsafe.Pointer(name))
	C.impi_name_faults(name)
})
