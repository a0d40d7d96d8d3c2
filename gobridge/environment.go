package main

// #include <stdlib.h>
import "C"

import "unsafe"

// The environment is C's: Go has taken a copy of it when the library was loaded, and a program may have changed it
// since.

// lookupEnv is os.LookupEnv.
func lookupEnv(name string) (string, bool) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	v := C.getenv(c)
	if v == nil {
		return "", false
	}
	return C.GoString(v), true
}

// environment is the value of a variable, empty if it is not set.
func environment(name string) string {
	v, _ := lookupEnv(name)
	return v
}
