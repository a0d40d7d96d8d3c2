package main

import "C"

// Hints of communicators (MPI 5.0, 7.4.4). libimpi follows none of its own; what the program has set is kept, so
// that it can be read back and is inherited by MPI_Comm_dup.

//export impi_Comm_set_info
func impi_Comm_set_info(comm, info uintptr) int32 {
	k := check{fn: "MPI_Comm_set_info"}
	k.comm(comm)
	with := k.someInfo(info)
	if k.err != nil {
		return k.fail()
	}
	k.c.info = with.clone()
	return 0
}

//export impi_Comm_get_info
func impi_Comm_get_info(comm, info_used uintptr) int32 {
	k := check{fn: "MPI_Comm_get_info"}
	k.comm(comm)
	k.result(info_used, "info_used")
	if k.err != nil {
		return k.fail()
	}
	used := k.c.info.clone()
	if used == nil {
		used = &info{}
	}
	put(info_used, save(used))
	return 0
}
