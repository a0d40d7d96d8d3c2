package main

import "C"

import "github.com/libimpi/libimpi/abi"

// Processes that start others (MPI 5.0, 11.8). There is no way yet to be started so.

//export impi_Comm_get_parent
func impi_Comm_get_parent(parent uintptr) int32 {
	k := check{fn: "MPI_Comm_get_parent"}
	if !k.notStarted() {
		k.result(parent, "parent")
	}
	if k.err != nil {
		return k.fail()
	}
	put[uintptr](parent, abi.MPI_COMM_NULL)
	return 0
}
