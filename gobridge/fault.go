package main

// #include <stdlib.h>
// #include "shim/shim.h"
import "C"

import (
	"sync"
	"unsafe"
)

// nameFaults lets fault.c, and the runtime (crash.go), say who we are.
var nameFaults = sync.OnceFunc(func() {
	crashName = whoAmI()
	name := C.CString(crashName)
	defer C.free(unsafe.Pointer(name))
	C.impi_name_faults(name)
})
