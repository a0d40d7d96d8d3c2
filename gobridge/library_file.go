package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// libraryFile is the file that this code has been loaded from; empty if the system does not say.
func libraryFile() string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	here := uint64(reflect.ValueOf(libraryFile).Pointer())
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || here < from || here >= to {
			continue
		}
		if at := strings.IndexByte(line, '/'); at >= 0 {
			return strings.TrimSpace(line[at:])
		}
	}
	return ""
}
