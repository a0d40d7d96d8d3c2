package main

import "C"

import "github.com/libimpi/libimpi/libimpi"

// Looking at several requests without completing them (MPI 5.0, 3.7.6).

//export impi_Request_get_status_all
func impi_Request_get_status_all(count int32, array_of_requests, flag, array_of_statuses uintptr) int32 {
	k := check{fn: "MPI_Request_get_status_all"}
	ids := requests(&k, count, array_of_requests)
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	done, err := engine().GetStatusAll(ids, slice[libimpi.CStatus](array_of_statuses, int(count)))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Request_get_status_any
func impi_Request_get_status_any(count int32, array_of_requests, index, flag, status uintptr) int32 {
	k := check{fn: "MPI_Request_get_status_any"}
	ids := requests(&k, count, array_of_requests)
	k.result(index, "index")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	i, done, err := engine().GetStatusAny(ids, ref[libimpi.CStatus](status))
	put(index, int32(i))
	putFlag(flag, done)
	return k.done(err)
}

//export impi_Request_get_status_some
func impi_Request_get_status_some(incount int32, array_of_requests, outcount, array_of_indices,
	array_of_statuses uintptr) int32 {
	return some("MPI_Request_get_status_some", incount, array_of_requests, outcount, array_of_indices, array_of_statuses,
		func(ids []uint64, done []int32, st []libimpi.CStatus) (int, error) {
			return engine().GetStatusSome(ids, done, st)
		})
}
