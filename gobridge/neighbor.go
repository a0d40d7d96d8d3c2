package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Neighborhood collectives (MPI 5.0, 8.6 to 8.8): the blocks of a buffer are those of the neighbors in the
// communicator's topology. MPI_IN_PLACE is not allowed.

// neighborhood starts the checks, and returns from how many neighbors data comes, and to how many it goes.
func (k *check) neighborhood(fn string, comm uintptr) (in, out int) {
	k.collective(fn, comm)
	if k.intra(); k.err != nil {
		return 0, 0
	}
	if k.c.Topology() == nil {
		k.set(abi.MPI_ERR_TOPOLOGY, "%s has no topology", k.c)
		return 0, 0
	}
	in, out, err := k.c.Degrees()
	if err != nil {
		k.err = libimpi.AsError(err)
	}
	return in, out
}

// neighbors checks a buffer of a block for each of n neighbors. Of a process that has none on this side the arguments
// mean nothing: buffers may be NULL, and counts anything.
func (k *check) neighbors(b block, n int, names [3]string) coll.Buf {
	if n == 0 {
		return coll.Buf{Type: datatype.Named(abi.MPI_BYTE)}
	}
	return k.perRank(b, n, names)
}

// varyingNeighbors is neighbors for blocks of several sizes.
func (k *check) varyingNeighbors(v *coll.VBuf, b blocks, n int, names [4]string) {
	if n == 0 {
		v.Type = datatype.Named(abi.MPI_BYTE)
		return
	}
	k.vbuf(v, b, n, names)
}

// exchange carries out an exchange of blocks with the neighbors.
func (k *check) exchange(f form, send, recv coll.Blocks) int32 {
	name := k.fn
	return k.carryOut(f, coll.OpNeighbors, func(v libimpi.Collectives) error { return v.Neighbors(name, send, recv) })
}

//export impi_Neighbor_allgather
func impi_Neighbor_allgather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	return neighborAllgather("MPI_Neighbor_allgather", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, comm)
}

//export impi_Ineighbor_allgather
func impi_Ineighbor_allgather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm, request uintptr) int32 {
	return neighborAllgather("MPI_Ineighbor_allgather", nonblocking(request), block{sendbuf, sendcount, sendtype},
		block{recvbuf, recvcount, recvtype}, comm)
}

//export impi_Neighbor_allgather_init
func impi_Neighbor_allgather_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, info, request uintptr) int32 {
	return neighborAllgather("MPI_Neighbor_allgather_init", persistent(info, request), block{sendbuf, sendcount,
		sendtype}, block{recvbuf, recvcount, recvtype}, comm)
}

func neighborAllgather(fn string, f form, send, recv block, comm uintptr) int32 {
	var k check
	in, out := k.neighborhood(fn, comm)
	from := k.neighbors(send, min(out, 1), sendNames)
	return k.exchange(f, coll.Same(from), coll.Even(k.neighbors(recv, in, recvNames)))
}

//export impi_Neighbor_allgatherv
func impi_Neighbor_allgatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype,
	comm uintptr, wide int32) int32 {
	return neighborAllgatherv("MPI_Neighbor_allgatherv", blocking, block{sendbuf, sendcount, sendtype}, blocks{recvbuf,
		recvcounts, displs, recvtype, wide}, comm)
}

//export impi_Ineighbor_allgatherv
func impi_Ineighbor_allgatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	request uintptr, wide int32) int32 {
	return neighborAllgatherv("MPI_Ineighbor_allgatherv", nonblocking(request), block{sendbuf, sendcount, sendtype},
		blocks{recvbuf, recvcounts, displs, recvtype, wide}, comm)
}

//export impi_Neighbor_allgatherv_init
func impi_Neighbor_allgatherv_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype,
	comm, info, request uintptr, wide int32) int32 {
	return neighborAllgatherv("MPI_Neighbor_allgatherv_init", persistent(info, request), block{sendbuf, sendcount,
		sendtype}, blocks{recvbuf, recvcounts, displs, recvtype, wide}, comm)
}

func neighborAllgatherv(fn string, f form, send block, recv blocks, comm uintptr) int32 {
	var k check
	in, out := k.neighborhood(fn, comm)
	from := k.neighbors(send, min(out, 1), sendNames)
	var to coll.VBuf
	k.varyingNeighbors(&to, recv, in, recvBlocks)
	return k.exchange(f, coll.Same(from), coll.Varying(to))
}

//export impi_Neighbor_alltoall
func impi_Neighbor_alltoall(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	return neighborAlltoall("MPI_Neighbor_alltoall", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, comm)
}

//export impi_Ineighbor_alltoall
func impi_Ineighbor_alltoall(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm, request uintptr) int32 {
	return neighborAlltoall("MPI_Ineighbor_alltoall", nonblocking(request), block{sendbuf, sendcount, sendtype},
		block{recvbuf, recvcount, recvtype}, comm)
}

//export impi_Neighbor_alltoall_init
func impi_Neighbor_alltoall_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm, info, request uintptr) int32 {
	return neighborAlltoall("MPI_Neighbor_alltoall_init", persistent(info, request), block{sendbuf, sendcount,
		sendtype}, block{recvbuf, recvcount, recvtype}, comm)
}

func neighborAlltoall(fn string, f form, send, recv block, comm uintptr) int32 {
	var k check
	in, out := k.neighborhood(fn, comm)
	from := k.neighbors(send, out, sendNames)
	return k.exchange(f, coll.Even(from), coll.Even(k.neighbors(recv, in, recvNames)))
}

//export impi_Neighbor_alltoallv
func impi_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm uintptr, wide int32) int32 {
	return neighborAlltoallv("MPI_Neighbor_alltoallv", blocking, blocks{sendbuf, sendcounts, sdispls, sendtype, wide},
		blocks{recvbuf, recvcounts, rdispls, recvtype, wide}, comm)
}

//export impi_Ineighbor_alltoallv
func impi_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr, wide int32) int32 {
	return neighborAlltoallv("MPI_Ineighbor_alltoallv", nonblocking(request), blocks{sendbuf, sendcounts, sdispls,
		sendtype, wide}, blocks{recvbuf, recvcounts, rdispls, recvtype, wide}, comm)
}

//export impi_Neighbor_alltoallv_init
func impi_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	info, request uintptr, wide int32) int32 {
	return neighborAlltoallv("MPI_Neighbor_alltoallv_init", persistent(info, request), blocks{sendbuf, sendcounts,
		sdispls, sendtype, wide}, blocks{recvbuf, recvcounts, rdispls, recvtype, wide}, comm)
}

func neighborAlltoallv(fn string, f form, send, recv blocks, comm uintptr) int32 {
	var k check
	in, out := k.neighborhood(fn, comm)
	var from, to coll.VBuf
	k.varyingNeighbors(&from, send, out, sendAll)
	k.varyingNeighbors(&to, recv, in, recvAll)
	return k.exchange(f, coll.Varying(from), coll.Varying(to))
}

//export impi_Neighbor_alltoallw
func impi_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm uintptr, wide int32) int32 {
	return neighborAlltoallw("MPI_Neighbor_alltoallw", blocking, blocks{sendbuf, sendcounts, sdispls, sendtypes, wide},
		blocks{recvbuf, recvcounts, rdispls, recvtypes, wide}, comm)
}

//export impi_Ineighbor_alltoallw
func impi_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr, wide int32) int32 {
	return neighborAlltoallw("MPI_Ineighbor_alltoallw", nonblocking(request), blocks{sendbuf, sendcounts, sdispls,
		sendtypes, wide}, blocks{recvbuf, recvcounts, rdispls, recvtypes, wide}, comm)
}

//export impi_Neighbor_alltoallw_init
func impi_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm, info, request uintptr, wide int32) int32 {
	return neighborAlltoallw("MPI_Neighbor_alltoallw_init", persistent(info, request), blocks{sendbuf, sendcounts,
		sdispls, sendtypes, wide}, blocks{recvbuf, recvcounts, rdispls, recvtypes, wide}, comm)
}

func neighborAlltoallw(fn string, f form, send, recv blocks, comm uintptr) int32 {
	var k check
	in, out := k.neighborhood(fn, comm)
	var from, to coll.WBuf
	if out > 0 {
		from = k.wbuf(send, out, true, sendTypes)
	}
	if in > 0 {
		to = k.wbuf(recv, in, true, recvTypes)
	}
	return k.exchange(f, coll.Each(from), coll.Each(to))
}
