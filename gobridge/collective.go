package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Collective communication (MPI 5.0, chapter 6). Each operation has three forms, which share all but their ends (form).
// MPI_IN_PLACE becomes coll.InPlace here; arguments that are not significant at a rank are not looked at. The other
// files are reduction.go and neighbor.go.

// form is how an operation is called for: MPI_X, MPI_Ix or MPI_X_init.
type form struct {
	coll.Form
	info, request uintptr
}

var blocking = form{}

func nonblocking(request uintptr) form      { return form{coll.Nonblocking, abi.MPI_INFO_NULL, request} }
func persistent(info, request uintptr) form { return form{coll.Persistent, info, request} }

// carryOut carries an operation out if its arguments are right, or makes a request for it.
func (k *check) carryOut(f form, what coll.Routine, operation func(v libimpi.Collectives) error) int32 {
	if k.user != nil {
		defer k.letGo(f.Form != coll.Blocking && k.err == nil)
	}
	if f.Form == coll.Blocking {
		if k.err != nil {
			return k.fail()
		}
		if watched.Load() {
			k.c.Started(int(what))
			defer k.c.Ended(int(what))
		}
		switch what {
		case coll.OpGatherv, coll.OpScatterv, coll.OpAllgatherv, coll.OpAlltoallv, coll.OpAlltoallw, coll.OpNeighbors:
			k.bytes = 0
		}
		k.c.Doing(k.fn, k.bytes)
		return k.done(k.c.CarryOut(operation))
	}
	k.info(f.info)
	if k.result(f.request, "request"); k.err != nil {
		return k.fail()
	}
	task, err := k.c.Later(f.Form)
	if err != nil {
		return k.failed(err)
	}
	task.Is(what)
	if k.numbers > 0 {
		k.c.lists = lists{} // what is recorded may keep them
	}
	if err := operation(task.Operations()); err != nil {
		task.Drop()
		return k.failed(err)
	}
	if f.Form == coll.Persistent {
		put(f.request, task.Keep())
	} else {
		put(f.request, task.Start())
	}
	return 0
}

// block are the arguments for a buffer: count elements, or as many for each rank.
type block struct {
	p     uintptr
	count int64
	dt    uintptr
}

// blocks are the arguments for a buffer with a block for each rank. wide says that counts and displacements have 64
// bits. The blocks have one type, or several: then dt is the address of their handles.
type blocks struct {
	p, counts, displs, dt uintptr
	wide                  int32
}

// buf checks a message buffer.
func (k *check) buf(b block, names [3]string) coll.Buf {
	k.count(b.count, names[1])
	t := k.typ(b.dt, names[2])
	if k.buffer(b.p, b.count, t, names[0]); t != nil {
		k.bytes = max(k.bytes, b.count*t.Size())
	}
	return coll.Buf{Base: at(b.p), Count: b.count, Type: t}
}

// perRank is buf for a block for each of n ranks.
func (k *check) perRank(b block, n int, names [3]string) coll.Buf {
	buf := k.buf(b, names)
	k.volume(b.count, int64(n), buf.Type, names[0])
	k.fits(buf.Type, b.count*int64(n), names[0])
	return buf
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

// vbuf checks a buffer of n blocks of one type, and writes it where it is to lie, as collective does.
func (k *check) vbuf(v *coll.VBuf, b blocks, n int, names [4]string) {
	t := k.typ(b.dt, names[3])
	k.array(b.counts, n, names[1])
	k.array(b.displs, n, names[2])
	if k.err != nil {
		return
	}
	v.Base, v.Type = at(b.p), t
	v.Counts, v.Displs = k.integers(b.counts, n, b.wide != 0), k.integers(b.displs, n, b.wide != 0)
	longest := k.counts(v.Counts, names[1])
	if b.p >= lowestAddress || t != nil && t.Handle() != 0 {
		k.buffer(b.p, longest, t, names[0])
	} else { // displacements may be addresses
		k.buffer(b.p, 0, nil, names[0])
		for i, c := range v.Counts {
			k.low(b.p, v.Displs[i]*t.Extent(), c, t, names[0])
		}
	}
	k.total(v.Counts, t, names[0])
}

// lists are the numbers and types that the arguments of a call on a communicator have for each rank. The calls of its
// collective operations come one after the other, and find the memory of the one before.
type lists struct {
	numbers []int64
	types   []*datatype.Type
}

// integers reads n numbers, which are valid until the next collective operation on the communicator begins.
func (k *check) integers(p uintptr, n int, wide bool) []int64 {
	if wide {
		return slice[int64](p, n)
	}
	out := part(&k.c.lists.numbers, k.numbers, n)
	k.numbers += n
	for i, v := range slice[int32](p, n) {
		out[i] = int64(v)
	}
	return out
}

// types is room for n types, as integers.
func (k *check) types(n int) []*datatype.Type {
	k.kinds += n
	return part(&k.c.lists.types, k.kinds-n, n)
}

// part is elements at to at+n of a list that grows where it has to; what was taken of it before stays valid.
func part[T any](list *[]T, at, n int) []T {
	if len(*list) < at+n {
		*list = make([]T, 2*(at+n))
	}
	return (*list)[at : at+n : at+n]
}

// wbuf checks a buffer of n blocks of several types. aints says that displacements are MPI_Aint, whatever counts are.
func (k *check) wbuf(b blocks, n int, aints bool, names [4]string) coll.WBuf {
	k.array(b.counts, n, names[1])
	k.array(b.displs, n, names[2])
	k.array(b.dt, n, names[3])
	if k.err != nil {
		return coll.WBuf{}
	}
	w := coll.WBuf{Base: at(b.p), Counts: k.integers(b.counts, n, b.wide != 0),
		Displs: k.integers(b.displs, n, b.wide != 0 || aints), Types: k.types(n)}
	k.counts(w.Counts, names[1])
	k.buffer(b.p, 0, nil, names[0]) // it may be MPI_BOTTOM: displacements may be addresses
	for i, h := range slice[uintptr](b.dt, n) {
		w.Types[i] = k.typ(h, names[3])
		k.volume(w.Counts[i], 1, w.Types[i], names[0])
		if b.p < lowestAddress {
			k.low(b.p, w.Displs[i], w.Counts[i], w.Types[i], names[0])
		}
	}
	return w
}

// counts looks at the elements of blocks, and returns how many the longest has.
func (k *check) counts(counts []int64, arg string) (longest int64) {
	for i, c := range counts {
		if c < 0 {
			k.set(abi.MPI_ERR_COUNT, "%s[%d] is negative: %d", arg, i, c)
		}
		longest = max(longest, c)
	}
	return longest
}

var (
	sendBlocks = [4]string{"sendbuf", "sendcounts", "displs", "sendtype"}
	recvBlocks = [4]string{"recvbuf", "recvcounts", "displs", "recvtype"}
	// Of operations that have both.
	sendAll = [4]string{"sendbuf", "sendcounts", "sdispls", "sendtype"}
	recvAll = [4]string{"recvbuf", "recvcounts", "rdispls", "recvtype"}
	// Of those whose blocks have types of their own.
	sendTypes = [4]string{"sendbuf", "sendcounts", "sdispls", "sendtypes"}
	recvTypes = [4]string{"recvbuf", "recvcounts", "rdispls", "recvtypes"}
)

// done returns the code of a collective.
func (k *check) done(err error) int32 {
	if err != nil {
		return k.failed(err)
	}
	return 0
}

// collective starts the checks of a collective operation. They stay where they lie: a copy of words that have just been
// written takes longer than they do.
func (k *check) collective(fn string, comm uintptr) {
	k.fn = fn
	k.comm(comm)
}

func (k *check) rooted(fn string, comm uintptr, root int32) {
	k.collective(fn, comm)
	k.root(root)
}

// isRoot reports whether the caller is the root.
func (k *check) isRoot(root int32) bool {
	if k.err != nil || k.c.Inter() {
		return k.err == nil && root == abi.MPI_ROOT
	}
	return k.c.Rank() == int(root)
}

// isLeaf reports whether the caller is one of those between whom and the root data moves: everybody, or the group
// without the root.
func (k *check) isLeaf(root int32) bool { return k.err == nil && (root >= 0 || !k.c.Inter()) }

// inPlace reports whether a buffer argument stands for the other one: not on intercommunicators.
func (k *check) inPlace(p uintptr) bool { return p == abi.MPI_IN_PLACE && k.err == nil && !k.c.Inter() }

// leafSide checks the block of each rank in a rooted operation. The root's may be MPI_IN_PLACE.
func (k *check) leafSide(b block, root int32, names [3]string) coll.Buf {
	switch {
	case k.isRoot(root) && k.inPlace(b.p):
		return coll.InPlace()
	case k.isLeaf(root):
		return k.buf(b, names)
	}
	return coll.Buf{}
}

// rootSide checks the root's block for each rank.
func (k *check) rootSide(b block, root int32, names [3]string) coll.Buf {
	if !k.isRoot(root) {
		return coll.Buf{}
	}
	return k.perRank(b, k.c.Ranks(), names)
}

func (k *check) rootSideV(v *coll.VBuf, b blocks, root int32, names [4]string) {
	if k.isRoot(root) {
		k.vbuf(v, b, k.c.Ranks(), names)
	}
}

// sendSide checks the send side of an all-to-all kind of collective, which may be MPI_IN_PLACE.
func (k *check) sendSide(b block) coll.Buf {
	if k.inPlace(b.p) {
		return coll.InPlace()
	}
	return k.buf(b, sendNames)
}

// members is how many blocks there are; 0 if the communicator is wrong.
func (k *check) members() int {
	if k.err != nil {
		return 0
	}
	return k.c.Ranks()
}

//export impi_Barrier
func impi_Barrier(comm uintptr) int32 {
	return barrier("MPI_Barrier", blocking, comm)
}

//export impi_Ibarrier
func impi_Ibarrier(comm, request uintptr) int32 {
	return barrier("MPI_Ibarrier", nonblocking(request), comm)
}

//export impi_Barrier_init
func impi_Barrier_init(comm, info, request uintptr) int32 {
	return barrier("MPI_Barrier_init", persistent(info, request), comm)
}

func barrier(fn string, f form, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	return k.carryOut(f, coll.OpBarrier, func(v libimpi.Collectives) error { return v.Barrier() })
}

//export impi_Bcast
func impi_Bcast(buffer uintptr, count int64, datatype uintptr, root int32, comm uintptr) int32 {
	return bcast("MPI_Bcast", blocking, block{buffer, count, datatype}, root, comm)
}

//export impi_Ibcast
func impi_Ibcast(buffer uintptr, count int64, datatype uintptr, root int32, comm, request uintptr) int32 {
	return bcast("MPI_Ibcast", nonblocking(request), block{buffer, count, datatype}, root, comm)
}

//export impi_Bcast_init
func impi_Bcast_init(buffer uintptr, count int64, datatype uintptr, root int32, comm, info, request uintptr) int32 {
	return bcast("MPI_Bcast_init", persistent(info, request), block{buffer, count, datatype}, root, comm)
}

func bcast(fn string, f form, b block, root int32, comm uintptr) int32 {
	var k check
	buf := k.bcast(fn, b, root, comm)
	return k.carryOut(f, coll.OpBcast, func(v libimpi.Collectives) error { return v.Bcast(buf, int(root)) })
}

func (k *check) bcast(fn string, b block, root int32, comm uintptr) (buf coll.Buf) {
	k.rooted(fn, comm, root)
	if k.isRoot(root) || k.isLeaf(root) {
		buf = k.buf(b, [3]string{"buffer", "count", "datatype"})
	}
	return buf
}

//export impi_Gather
func impi_Gather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	return gather("MPI_Gather", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount, recvtype},
		root, comm)
}

//export impi_Igather
func impi_Igather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	return gather("MPI_Igather", nonblocking(request), block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount,
		recvtype}, root, comm)
}

//export impi_Gather_init
func impi_Gather_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	return gather("MPI_Gather_init", persistent(info, request), block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, root, comm)
}

func gather(fn string, f form, send, recv block, root int32, comm uintptr) int32 {
	var k check
	k.rooted(fn, comm, root)
	in := k.rootSide(recv, root, recvNames)
	out := k.leafSide(send, root, sendNames)
	return k.carryOut(f, coll.OpGather, func(v libimpi.Collectives) error { return v.Gather(out, in, int(root)) })
}

//export impi_Gatherv
func impi_Gatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr, root int32,
	comm uintptr, wide int32) int32 {
	return gatherv("MPI_Gatherv", blocking, block{sendbuf, sendcount, sendtype}, blocks{recvbuf, recvcounts, displs,
		recvtype, wide}, root, comm)
}

//export impi_Igatherv
func impi_Igatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, request uintptr, wide int32) int32 {
	return gatherv("MPI_Igatherv", nonblocking(request), block{sendbuf, sendcount, sendtype}, blocks{recvbuf,
		recvcounts, displs, recvtype, wide}, root, comm)
}

//export impi_Gatherv_init
func impi_Gatherv_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, info, request uintptr, wide int32) int32 {
	return gatherv("MPI_Gatherv_init", persistent(info, request), block{sendbuf, sendcount, sendtype}, blocks{recvbuf,
		recvcounts, displs, recvtype, wide}, root, comm)
}

func gatherv(fn string, f form, send block, recv blocks, root int32, comm uintptr) int32 {
	var k check
	k.rooted(fn, comm, root)
	var in coll.VBuf
	k.rootSideV(&in, recv, root, recvBlocks)
	out := k.leafSide(send, root, sendNames)
	return k.carryOut(f, coll.OpGatherv, func(v libimpi.Collectives) error { return v.Gatherv(out, in, int(root)) })
}

//export impi_Scatter
func impi_Scatter(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	return scatter("MPI_Scatter", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount, recvtype},
		root, comm)
}

//export impi_Iscatter
func impi_Iscatter(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	return scatter("MPI_Iscatter", nonblocking(request), block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount,
		recvtype}, root, comm)
}

//export impi_Scatter_init
func impi_Scatter_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	return scatter("MPI_Scatter_init", persistent(info, request), block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, root, comm)
}

func scatter(fn string, f form, send, recv block, root int32, comm uintptr) int32 {
	var k check
	k.rooted(fn, comm, root)
	out := k.rootSide(send, root, sendNames)
	in := k.leafSide(recv, root, recvNames)
	return k.carryOut(f, coll.OpScatter, func(v libimpi.Collectives) error { return v.Scatter(out, in, int(root)) })
}

//export impi_Scatterv
func impi_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr, wide int32) int32 {
	return scatterv("MPI_Scatterv", blocking, blocks{sendbuf, sendcounts, displs, sendtype, wide}, block{recvbuf,
		recvcount, recvtype}, root, comm)
}

//export impi_Iscatterv
func impi_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr, wide int32) int32 {
	return scatterv("MPI_Iscatterv", nonblocking(request), blocks{sendbuf, sendcounts, displs, sendtype, wide},
		block{recvbuf, recvcount, recvtype}, root, comm)
}

//export impi_Scatterv_init
func impi_Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, info, request uintptr, wide int32) int32 {
	return scatterv("MPI_Scatterv_init", persistent(info, request), blocks{sendbuf, sendcounts, displs, sendtype, wide},
		block{recvbuf, recvcount, recvtype}, root, comm)
}

func scatterv(fn string, f form, send blocks, recv block, root int32, comm uintptr) int32 {
	var k check
	k.rooted(fn, comm, root)
	var out coll.VBuf
	k.rootSideV(&out, send, root, sendBlocks)
	in := k.leafSide(recv, root, recvNames)
	return k.carryOut(f, coll.OpScatterv, func(v libimpi.Collectives) error { return v.Scatterv(out, in, int(root)) })
}

//export impi_Allgather
func impi_Allgather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	return allgather("MPI_Allgather", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount,
		recvtype}, comm)
}

//export impi_Iallgather
func impi_Iallgather(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype, comm,
	request uintptr) int32 {
	return allgather("MPI_Iallgather", nonblocking(request), block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, comm)
}

//export impi_Allgather_init
func impi_Allgather_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype, comm,
	info, request uintptr) int32 {
	return allgather("MPI_Allgather_init", persistent(info, request), block{sendbuf, sendcount, sendtype},
		block{recvbuf, recvcount, recvtype}, comm)
}

func allgather(fn string, f form, send, recv block, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	out := k.sendSide(send)
	in := k.perRank(recv, k.members(), recvNames)
	return k.carryOut(f, coll.OpAllgather, func(v libimpi.Collectives) error { return v.Allgather(out, in) })
}

//export impi_Allgatherv
func impi_Allgatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr,
	wide int32) int32 {
	return allgatherv("MPI_Allgatherv", blocking, block{sendbuf, sendcount, sendtype}, blocks{recvbuf, recvcounts,
		displs, recvtype, wide}, comm)
}

//export impi_Iallgatherv
func impi_Iallgatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
	request uintptr, wide int32) int32 {
	return allgatherv("MPI_Iallgatherv", nonblocking(request), block{sendbuf, sendcount, sendtype}, blocks{recvbuf,
		recvcounts, displs, recvtype, wide}, comm)
}

//export impi_Allgatherv_init
func impi_Allgatherv_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
	request uintptr, wide int32) int32 {
	return allgatherv("MPI_Allgatherv_init", persistent(info, request), block{sendbuf, sendcount, sendtype},
		blocks{recvbuf, recvcounts, displs, recvtype, wide}, comm)
}

func allgatherv(fn string, f form, send block, recv blocks, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	out := k.sendSide(send)
	var in coll.VBuf
	k.vbuf(&in, recv, k.members(), recvBlocks)
	return k.carryOut(f, coll.OpAllgatherv, func(v libimpi.Collectives) error { return v.Allgatherv(out, in) })
}

//export impi_Alltoall
func impi_Alltoall(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype,
	comm uintptr) int32 {
	return alltoall("MPI_Alltoall", blocking, block{sendbuf, sendcount, sendtype}, block{recvbuf, recvcount, recvtype},
		comm)
}

//export impi_Ialltoall
func impi_Ialltoall(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype, comm,
	request uintptr) int32 {
	return alltoall("MPI_Ialltoall", nonblocking(request), block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, comm)
}

//export impi_Alltoall_init
func impi_Alltoall_init(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype, comm,
	info, request uintptr) int32 {
	return alltoall("MPI_Alltoall_init", persistent(info, request), block{sendbuf, sendcount, sendtype}, block{recvbuf,
		recvcount, recvtype}, comm)
}

func alltoall(fn string, f form, send, recv block, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	out := k.sendSide(send)
	if !k.inPlace(send.p) {
		k.volume(send.count, int64(k.members()), out.Type, "sendbuf")
	}
	in := k.perRank(recv, k.members(), recvNames)
	return k.carryOut(f, coll.OpAlltoall, func(v libimpi.Collectives) error { return v.Alltoall(out, in) })
}

//export impi_Alltoallv
func impi_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm uintptr,
	wide int32) int32 {
	return alltoallv("MPI_Alltoallv", blocking, blocks{sendbuf, sendcounts, sdispls, sendtype, wide}, blocks{recvbuf,
		recvcounts, rdispls, recvtype, wide}, comm)
}

//export impi_Ialltoallv
func impi_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr, wide int32) int32 {
	return alltoallv("MPI_Ialltoallv", nonblocking(request), blocks{sendbuf, sendcounts, sdispls, sendtype, wide},
		blocks{recvbuf, recvcounts, rdispls, recvtype, wide}, comm)
}

//export impi_Alltoallv_init
func impi_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
	request uintptr, wide int32) int32 {
	return alltoallv("MPI_Alltoallv_init", persistent(info, request), blocks{sendbuf, sendcounts, sdispls, sendtype,
		wide}, blocks{recvbuf, recvcounts, rdispls, recvtype, wide}, comm)
}

func alltoallv(fn string, f form, send, recv blocks, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	out := coll.InPlaceV()
	if !k.inPlace(send.p) {
		k.vbuf(&out, send, k.members(), sendAll)
	}
	var in coll.VBuf
	k.vbuf(&in, recv, k.members(), recvAll)
	return k.carryOut(f, coll.OpAlltoallv, func(v libimpi.Collectives) error { return v.Alltoallv(out, in) })
}

//export impi_Alltoallw
func impi_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm uintptr,
	wide int32) int32 {
	return alltoallw("MPI_Alltoallw", blocking, blocks{sendbuf, sendcounts, sdispls, sendtypes, wide}, blocks{recvbuf,
		recvcounts, rdispls, recvtypes, wide}, comm)
}

//export impi_Ialltoallw
func impi_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr, wide int32) int32 {
	return alltoallw("MPI_Ialltoallw", nonblocking(request), blocks{sendbuf, sendcounts, sdispls, sendtypes, wide},
		blocks{recvbuf, recvcounts, rdispls, recvtypes, wide}, comm)
}

//export impi_Alltoallw_init
func impi_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info,
	request uintptr, wide int32) int32 {
	return alltoallw("MPI_Alltoallw_init", persistent(info, request), blocks{sendbuf, sendcounts, sdispls, sendtypes,
		wide}, blocks{recvbuf, recvcounts, rdispls, recvtypes, wide}, comm)
}

func alltoallw(fn string, f form, send, recv blocks, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	out := coll.InPlaceW()
	if !k.inPlace(send.p) {
		out = k.wbuf(send, k.members(), false, sendTypes)
	}
	in := k.wbuf(recv, k.members(), false, recvTypes)
	return k.carryOut(f, coll.OpAlltoallw, func(v libimpi.Collectives) error { return v.Alltoallw(out, in) })
}
