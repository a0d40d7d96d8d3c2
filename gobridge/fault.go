package main

// #include <stdlib.h>
// #include "shim/shim.h"
import "C"

import (
	"sync"
	"unsafe"
)

// watchFaults lets fault.c say who we are.
var watchFaults = sync.OnceFunc(func() {
	name := C.CString(whoAmI())
	defer C.free(unsafe.Pointer(name))
	C.impi_watch_faults(name)
})
