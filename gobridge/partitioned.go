package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Partitioned communication (MPI 5.0, chapter 4).

// partitioned checks what a partitioned send and a receive have in common; count is of one partition.
func (a *endpoint) partitioned(buf uintptr, partitions int32, count int64, dt uintptr) {
	if partitions < 0 {
		a.set(abi.MPI_ERR_ARG, "argument partitions is negative: %d", partitions)
	}
	a.count(count, "count")
	a.t = a.typ(dt, "datatype")
	if a.err == nil {
		a.buffer(buf, count*int64(min(partitions, 1)), a.t, "buf")
		a.volume(count, int64(partitions), a.t, "buf")
	}
}

//export impi_Psend_init
func impi_Psend_init(buf uintptr, partitions int32, count int64, datatype uintptr, dest, tag int32, comm, info,
	request uintptr) int32 {
	a := endpoint{check: check{fn: "MPI_Psend_init"}}
	if a.comm(comm) != nil {
		a.partitioned(buf, partitions, count, datatype)
		a.dest(dest, "dest")
		a.sendTag(tag, "tag")
		a.info(info)
		a.result(request, "request")
	}
	if a.err != nil {
		return a.fail()
	}
	put(request, a.c.PsendInit(at(buf), partitions, count, a.t, int(dest), tag))
	return 0
}

//export impi_Precv_init
func impi_Precv_init(buf uintptr, partitions int32, count int64, datatype uintptr, source, tag int32, comm, info,
	request uintptr) int32 {
	a := endpoint{check: check{fn: "MPI_Precv_init"}}
	if a.comm(comm) != nil {
		a.partitioned(buf, partitions, count, datatype)
		a.dest(source, "source") // there are no wildcards
		a.sendTag(tag, "tag")
		a.info(info)
		a.result(request, "request")
	}
	if a.err != nil {
		return a.fail()
	}
	put(request, a.c.PrecvInit(at(buf), partitions, count, a.t, int(source), tag))
	return 0
}

// ready returns the code of the Pready functions.
func (k *check) ready(err *libimpi.Error) int32 {
	if err != nil {
		return k.failed(err)
	}
	return 0
}

//export impi_Pready
func impi_Pready(partition int32, request uintptr) int32 {
	k := check{fn: "MPI_Pready"}
	if k.notStarted() {
		return k.fail()
	}
	return k.ready(engine().Pready(uint64(request), partition, partition))
}

//export impi_Pready_range
func impi_Pready_range(partition_low, partition_high int32, request uintptr) int32 {
	k := check{fn: "MPI_Pready_range"}
	if k.notStarted() {
		return k.fail()
	}
	if partition_low > partition_high {
		k.set(abi.MPI_ERR_ARG, "argument partition_low is %d, above partition_high, %d", partition_low, partition_high)
		return k.fail()
	}
	return k.ready(engine().Pready(uint64(request), partition_low, partition_high))
}

//export impi_Pready_list
func impi_Pready_list(length int32, array_of_partitions, request uintptr) int32 {
	k := check{fn: "MPI_Pready_list"}
	if k.notStarted() {
		return k.fail()
	}
	k.count(int64(length), "length")
	k.array(array_of_partitions, int(length), "array_of_partitions")
	if k.err != nil {
		return k.fail()
	}
	return k.ready(engine().PreadyList(uint64(request), slice[int32](array_of_partitions, int(length))))
}

//export impi_Parrived
func impi_Parrived(request uintptr, partition int32, flag uintptr) int32 {
	k := check{fn: "MPI_Parrived"}
	if k.notStarted() {
		return k.fail()
	}
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	if request == abi.MPI_REQUEST_NULL { // as an inactive one (MPI 5.0, 4.2.2)
		putFlag(flag, true)
		return 0
	}
	arrived, err := engine().Parrived(uint64(request), partition)
	if err != nil {
		return k.failed(err)
	}
	putFlag(flag, arrived)
	return 0
}
