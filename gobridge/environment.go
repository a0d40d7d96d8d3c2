package main

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"unsafe"
)

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

// parseSwitch reads a variable that is 0 or 1; unset is 0.
func parseSwitch(name string) (bool, error) {
	switch v := environment(name); v {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%s: it is 0, 1 or unset", name, v)
	}
}
