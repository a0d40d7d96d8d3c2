package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Collective communication (MPI 5.0, chapter 6). MPI_IN_PLACE becomes coll.InPlace here; arguments that are not
// significant at a rank are not looked at.

// buf checks a message buffer.
func (k *check) buf(p uintptr, count int64, dt uintptr, names [3]string) coll.Buf {
	k.count(count, names[1])
	t := k.typ(dt, names[2])
	k.buffer(p, count, t, names[0])
	return coll.Buf{Base: at(p), Count: count, Type: t}
}

// perRank is buf for a block of count elements for each rank.
func (k *check) perRank(p uintptr, count int64, dt uintptr, names [3]string) coll.Buf {
	b := k.buf(p, count, dt, names)
	k.volume(count, int64(k.c.Ranks()), b.Type, names[0])
	return b
}

// total looks at the elements of blocks of several sizes together.
func (k *check) total(counts []int64, t *datatype.Type, arg string) {
	n := sum(counts)
	if n < 0 {
		k.set(abi.MPI_ERR_COUNT, "argument %s has more than 2^63-1 elements", arg)
	}
	k.volume(n, 1, t, arg)
}

var (
	sendNames = [3]string{"sendbuf", "sendcount", "sendtype"}
	recvNames = [3]string{"recvbuf", "recvcount", "recvtype"}
)

// vbuf checks a buffer of blocks.
func (k *check) vbuf(p, counts, displs, dt uintptr, wide int32, names [4]string) coll.VBuf {
	t := k.typ(dt, names[3])
	n := k.c.Ranks()
	k.array(counts, n, names[1])
	k.array(displs, n, names[2])
	if k.err != nil {
		return coll.VBuf{}
	}
	b := coll.VBuf{Base: at(p), Counts: integers(counts, n, wide != 0), Displs: integers(displs, n, wide != 0), Type: t}
	k.counts(b.Counts, names[1])
	for _, c := range b.Counts {
		k.buffer(p, c, t, names[0])
	}
	k.total(b.Counts, t, names[0])
	return b
}

func (k *check) counts(counts []int64, arg string) {
	for i, c := range counts {
		if c < 0 {
			k.set(abi.MPI_ERR_COUNT, "%s[%d] is negative: %d", arg, i, c)
		}
	}
}

var (
	sendBlocks = [4]string{"sendbuf", "sendcounts", "displs", "sendtype"}
	recvBlocks = [4]string{"recvbuf", "recvcounts", "displs", "recvtype"}
)

// done answers the code of a collective.
func (k *check) done(err error) int32 {
	if err != nil {
		return k.failed(err)
	}
	return 0
}

func collective(fn string, comm uintptr) (k check) {
	k.fn = fn
	k.comm(comm)
	return k
}

func rooted(fn string, comm uintptr, root int32) (k check) {
	k = collective(fn, comm)
	k.root(root)
	return k
}

// isRoot says whether the caller is the root.
func (k *check) isRoot(root int32) bool {
	if k.err != nil || k.c.Inter() {
		return k.err == nil && root == abi.MPI_ROOT
	}
	return k.c.Rank() == int(root)
}

// isLeaf says whether the caller is one of those between whom and the root data moves: everybody, or the group without
// the root.
func (k *check) isLeaf(root int32) bool { return k.err == nil && (root >= 0 || !k.c.Inter()) }

// inPlace says whether a buffer argument stands for the other one: not on intercommunicators.
func (k *check) inPlace(p uintptr) bool { return p == abi.MPI_IN_PLACE && k.err == nil && !k.c.Inter() }

//export impi_Barrier
func impi_Barrier(comm uintptr) int32 {
	k := collective("MPI_Barrier", comm)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Barrier())
}

//export impi_Bcast
func impi_Bcast(buffer uintptr, count int64, datatype uintptr, root int32, comm uintptr) int32 {
	k, b := bcastArgs(buffer, count, datatype, root, comm)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Bcast(b, int(root)))
}

func bcastArgs(buffer uintptr, count int64, datatype uintptr, root int32, comm uintptr) (k check, b coll.Buf) {
	k = rooted("MPI_Bcast", comm, root)
	if k.isRoot(root) || k.isLeaf(root) {
		b = k.buf(buffer, count, datatype, [3]string{"buffer", "count", "datatype"})
	}
	return k, b
}

//export impi_Gather
func impi_Gather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	k := rooted("MPI_Gather", comm, root)
	if k.err != nil {
		return k.fail()
	}
	var send, recv coll.Buf
	if k.isRoot(root) {
		recv = k.perRank(recvbuf, recvcount, recvtype, recvNames)
	}
	if k.inPlace(sendbuf) && k.isRoot(root) {
		send = coll.InPlace()
	} else if k.isLeaf(root) {
		send = k.buf(sendbuf, sendcount, sendtype, sendNames)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Gather(send, recv, int(root)))
}

//export impi_Gatherv
func impi_Gatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm uintptr, wide int32) int32 {
	k := rooted("MPI_Gatherv", comm, root)
	if k.err != nil {
		return k.fail()
	}
	var send coll.Buf
	var recv coll.VBuf
	if k.isRoot(root) {
		recv = k.vbuf(recvbuf, recvcounts, displs, recvtype, wide, recvBlocks)
	}
	if k.inPlace(sendbuf) && k.isRoot(root) {
		send = coll.InPlace()
	} else if k.isLeaf(root) {
		send = k.buf(sendbuf, sendcount, sendtype, sendNames)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Gatherv(send, recv, int(root)))
}

//export impi_Scatter
func impi_Scatter(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	k := rooted("MPI_Scatter", comm, root)
	if k.err != nil {
		return k.fail()
	}
	var send, recv coll.Buf
	if k.isRoot(root) {
		send = k.perRank(sendbuf, sendcount, sendtype, sendNames)
	}
	if k.inPlace(recvbuf) && k.isRoot(root) {
		recv = coll.InPlace()
	} else if k.isLeaf(root) {
		recv = k.buf(recvbuf, recvcount, recvtype, recvNames)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Scatter(send, recv, int(root)))
}

//export impi_Scatterv
func impi_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr, wide int32) int32 {
	k := rooted("MPI_Scatterv", comm, root)
	if k.err != nil {
		return k.fail()
	}
	var send coll.VBuf
	var recv coll.Buf
	if k.isRoot(root) {
		send = k.vbuf(sendbuf, sendcounts, displs, sendtype, wide, sendBlocks)
	}
	if k.inPlace(recvbuf) && k.isRoot(root) {
		recv = coll.InPlace()
	} else if k.isLeaf(root) {
		recv = k.buf(recvbuf, recvcount, recvtype, recvNames)
	}
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Scatterv(send, recv, int(root)))
}

// sendSide checks the send side of an all-to-all kind of collective, which may be MPI_IN_PLACE.
func (k *check) sendSide(p uintptr, count int64, dt uintptr) coll.Buf {
	if k.inPlace(p) {
		return coll.InPlace()
	}
	return k.buf(p, count, dt, sendNames)
}

//export impi_Allgather
func impi_Allgather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	k := collective("MPI_Allgather", comm)
	if k.err != nil {
		return k.fail()
	}
	send := k.sendSide(sendbuf, sendcount, sendtype)
	recv := k.perRank(recvbuf, recvcount, recvtype, recvNames)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Allgather(send, recv))
}

//export impi_Allgatherv
func impi_Allgatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr,
	wide int32) int32 {
	k := collective("MPI_Allgatherv", comm)
	if k.err != nil {
		return k.fail()
	}
	send := k.sendSide(sendbuf, sendcount, sendtype)
	recv := k.vbuf(recvbuf, recvcounts, displs, recvtype, wide, recvBlocks)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Allgatherv(send, recv))
}

//export impi_Alltoall
func impi_Alltoall(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	k := collective("MPI_Alltoall", comm)
	if k.err != nil {
		return k.fail()
	}
	send := k.sendSide(sendbuf, sendcount, sendtype)
	if !k.inPlace(sendbuf) {
		k.volume(sendcount, int64(k.c.Ranks()), send.Type, "sendbuf")
	}
	recv := k.perRank(recvbuf, recvcount, recvtype, recvNames)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Alltoall(send, recv))
}

//export impi_Alltoallv
func impi_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm uintptr,
	wide int32) int32 {
	k := collective("MPI_Alltoallv", comm)
	if k.err != nil {
		return k.fail()
	}
	send := coll.InPlaceV()
	if !k.inPlace(sendbuf) {
		send = k.vbuf(sendbuf, sendcounts, sdispls, sendtype, wide, [4]string{"sendbuf", "sendcounts", "sdispls", "sendtype"})
	}
	recv := k.vbuf(recvbuf, recvcounts, rdispls, recvtype, wide, [4]string{"recvbuf", "recvcounts", "rdispls", "recvtype"})
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Alltoallv(send, recv))
}

// wbuf checks a buffer of blocks of several types.
func (k *check) wbuf(p, counts, displs, dts uintptr, wide int32, side string) coll.WBuf {
	n := k.c.Ranks()
	k.array(counts, n, side+"counts")
	k.array(displs, n, side[:1]+"displs")
	k.array(dts, n, side+"types")
	if k.err != nil {
		return coll.WBuf{}
	}
	b := coll.WBuf{Base: at(p), Counts: integers(counts, n, wide != 0), Displs: integers(displs, n, wide != 0),
		Types: make([]*datatype.Type, n)}
	k.counts(b.Counts, side+"counts")
	for i, h := range slice[uintptr](dts, n) {
		b.Types[i] = k.typ(h, side+"types")
		k.volume(b.Counts[i], 1, b.Types[i], side+"buf")
	}
	return b
}

//export impi_Alltoallw
func impi_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm uintptr,
	wide int32) int32 {
	k := collective("MPI_Alltoallw", comm)
	if k.err != nil {
		return k.fail()
	}
	send := coll.InPlaceW()
	if !k.inPlace(sendbuf) {
		send = k.wbuf(sendbuf, sendcounts, sdispls, sendtypes, wide, "send")
	}
	recv := k.wbuf(recvbuf, recvcounts, rdispls, recvtypes, wide, "recv")
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Alltoallw(send, recv))
}

// reduction checks the arguments of a reduction of count elements. result says whether recvbuf is significant,
// inPlace whether sendbuf may be MPI_IN_PLACE here.
func (k *check) reduction(sendbuf, recvbuf uintptr, count int64, dt, op uintptr, result, inPlace bool) (send,
	recv coll.Buf, o coll.Op) {
	k.count(count, "count")
	t := k.typ(dt, "datatype")
	o = k.op(op, dt, t)
	recv = coll.Buf{Count: count, Type: t}
	if result {
		k.buffer(recvbuf, count, t, "recvbuf")
		recv.Base = at(recvbuf)
	}
	if sendbuf == abi.MPI_IN_PLACE && inPlace {
		return coll.InPlace(), recv, o
	}
	k.buffer(sendbuf, count, t, "sendbuf")
	if k.err == nil && sendbuf == recvbuf && result && count > 0 && t.Size() > 0 {
		k.set(abi.MPI_ERR_BUFFER, "arguments sendbuf and recvbuf are the same; use MPI_IN_PLACE")
	}
	return coll.Buf{Base: at(sendbuf), Count: count, Type: t}, recv, o
}

//export impi_Reduce
func impi_Reduce(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32, comm uintptr) int32 {
	k := rooted("MPI_Reduce", comm, root)
	if k.err != nil {
		return k.fail()
	}
	isRoot := k.isRoot(root)
	if k.c.Inter() && root < 0 {
		sendbuf = abi.MPI_IN_PLACE // not looked at
		if !isRoot {
			return k.done(k.c.Reduce(coll.Buf{}, coll.Buf{}, nil, int(root)))
		}
	}
	send, recv, o := k.reduction(sendbuf, recvbuf, count, datatype, op, isRoot, isRoot)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.Reduce(send, recv, o, int(root)))
}

type reduceFunc func(c *communicator, send, recv coll.Buf, o coll.Op) error

func reduceAll(fn string, sendbuf, recvbuf uintptr, count int64, dt, op, comm uintptr, run reduceFunc) int32 {
	k := collective(fn, comm)
	if k.err != nil {
		return k.fail()
	}
	send, recv, o := k.reduction(sendbuf, recvbuf, count, dt, op, true, !k.c.Inter())
	if k.err != nil {
		return k.fail()
	}
	return k.done(run(k.c, send, recv, o))
}

//export impi_Allreduce
func impi_Allreduce(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return reduceAll("MPI_Allreduce", sendbuf, recvbuf, count, datatype, op, comm,
		func(c *communicator, send, recv coll.Buf, o coll.Op) error { return c.Allreduce(send, recv, o) })
}

// reducePrefix is reduceAll for what goes by the order of ranks: there is none between two groups.
func reducePrefix(fn string, sendbuf, recvbuf uintptr, count int64, dt, op, comm uintptr, run reduceFunc) int32 {
	k := collective(fn, comm)
	if k.intra(); k.err != nil {
		return k.fail()
	}
	return reduceAll(fn, sendbuf, recvbuf, count, dt, op, comm, run)
}

//export impi_Scan
func impi_Scan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return reducePrefix("MPI_Scan", sendbuf, recvbuf, count, datatype, op, comm,
		func(c *communicator, send, recv coll.Buf, o coll.Op) error { return c.Scan(send, recv, o) })
}

//export impi_Exscan
func impi_Exscan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return reducePrefix("MPI_Exscan", sendbuf, recvbuf, count, datatype, op, comm,
		func(c *communicator, send, recv coll.Buf, o coll.Op) error { return c.Exscan(send, recv, o) })
}

//export impi_Reduce_scatter_block
func impi_Reduce_scatter_block(sendbuf, recvbuf uintptr, recvcount int64, datatype, op, comm uintptr) int32 {
	k := collective("MPI_Reduce_scatter_block", comm)
	if k.err == nil && recvcount > 0 {
		k.volume(recvcount, int64(max(k.c.Size(), k.c.Ranks())), typeOf(datatype), "recvbuf")
	}
	if k.err != nil {
		return k.fail()
	}
	return reduceAll("MPI_Reduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm,
		func(c *communicator, send, recv coll.Buf, o coll.Op) error {
			return c.ReduceScatterBlock(send, recv, o)
		})
}

//export impi_Reduce_scatter
func impi_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm uintptr, wide int32) int32 {
	k := collective("MPI_Reduce_scatter", comm)
	if k.err != nil {
		return k.fail()
	}
	n := k.c.Size()
	if k.array(recvcounts, n, "recvcounts"); k.err != nil {
		return k.fail()
	}
	counts := integers(recvcounts, n, wide != 0)
	if k.counts(counts, "recvcounts"); k.err != nil {
		return k.fail()
	}
	k.total(counts, typeOf(datatype), "sendbuf")
	send, recv, o := k.reduction(sendbuf, recvbuf, counts[k.c.Rank()], datatype, op, true, !k.c.Inter())
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.c.ReduceScatter(send, recv, counts, o))
}
