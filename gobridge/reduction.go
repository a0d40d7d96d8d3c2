package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Reduction operations (MPI 5.0, 6.9). An operation of the program is a C function that is called for runs of
// elements with the handle of their datatype.
type operation struct {
	fn      uintptr
	wide    bool // MPI_User_function_c, or with a state: 64-bit counts
	commute bool
	state   *state // MPIX_User_function_x: what it is called with; nil: none
}

// userOp is an operation as the algorithms see it, for one call: it knows the handle under which the program
// knows the datatype.
type userOp struct {
	*operation
	handle uintptr
}

// Commutative implements coll.Op.
func (o *userOp) Commutative() bool { return o.commute }

// OfProgram implements coll.Op.
func (o *userOp) OfProgram() bool { return true }

// Apply implements coll.Op. The function is called with no lock held.
func (o *userOp) Apply(in, inout unsafe.Pointer, count int64, t *datatype.Type) error {
	most := int64(math.MaxInt32)
	wide := C.int(0)
	if o.wide {
		most, wide = math.MaxInt64, 1
	}
	h := o.handle
	if typeOf(h) == nil { // the program has freed the type since: it gets a handle for this call
		h = handleOfType(t)
		defer endType(h)
	}
	if o.state != nil {
		C.impi_call_op_x(C.uintptr_t(o.fn), C.uintptr_t(uintptr(in)), C.uintptr_t(uintptr(inout)), C.int64_t(count),
			C.uintptr_t(h), C.uintptr_t(o.state.extra))
		return nil
	}
	for count > 0 {
		n := min(count, most)
		// As numbers: the memory may be Go's, which does not move and which the caller holds on to.
		C.impi_call_op(C.uintptr_t(o.fn), C.uintptr_t(uintptr(in)), C.uintptr_t(uintptr(inout)), C.int64_t(n),
			C.uintptr_t(h), wide)
		in, inout = unsafe.Add(in, n*t.Extent()), unsafe.Add(inout, n*t.Extent())
		count -= n
	}
	return nil
}

// op looks an operation up and checks that it is defined on the datatype.
func (k *check) op(h, dt uintptr, t *datatype.Type) coll.Op {
	if o := ops.Find(h); o != nil && o.state.hold() {
		k.user = &userOp{o, dt}
		return k.user
	}
	o := op.Predefined(int(h))
	switch {
	case h == abi.MPI_OP_NULL:
		k.set(abi.MPI_ERR_OP, "argument op is MPI_OP_NULL")
	case o == nil:
		k.isNot(abi.MPI_ERR_OP, "an operation", "op", h)
	case h == abi.MPI_REPLACE || h == abi.MPI_NO_OP:
		k.set(abi.MPI_ERR_OP, "argument op is for one-sided communication only")
	case t != nil && k.err == nil:
		if err := op.Check(int(h), t.Plain()); err != nil {
			k.err = libimpi.AsError(err)
		}
	}
	return o
}

//export impi_Op_create
func impi_Op_create(user_fn uintptr, commute int32, opOut uintptr, wide int32) int32 {
	k := check{fn: "MPI_Op_create"}
	if !k.notStarted() {
		k.result(user_fn, "user_fn")
		k.result(opOut, "op")
	}
	if k.err != nil {
		return k.fail()
	}
	return k.answer(ops.Add(&operation{fn: user_fn, wide: wide != 0, commute: commute != 0}), opOut)
}

//export impi_Op_create_x
func impi_Op_create_x(user_fn_x, destructor_fn uintptr, commute int32, extra_state, opOut uintptr) int32 {
	k := check{fn: "MPIX_Op_create_x"}
	if !k.notStarted() {
		k.result(user_fn_x, "user_fn_x")
		k.result(opOut, "op")
	}
	if k.err != nil {
		return k.fail()
	}
	s := (&extension{extra_state, destructor_fn}).state()
	s.holdHandle()
	return k.answer(ops.Add(&operation{fn: user_fn_x, wide: true, commute: commute != 0, state: s}), opOut)
}

// letGo ends the use that a call has made of an operation; an operation that goes on after the call keeps it until
// nothing refers to it.
func (k *check) letGo(later bool) {
	switch {
	case k.user == nil || k.user.state == nil:
	case later:
		runtime.AddCleanup(k.user, (*state).collected, k.user.state)
	default:
		k.user.state.release()
	}
}

//export impi_Op_free
func impi_Op_free(opHandle uintptr) int32 {
	k := check{fn: "MPI_Op_free"}
	if k.result(opHandle, "op"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](opHandle)
	o := ops.Find(h)
	if !ops.Drop(h) {
		k.set(abi.MPI_ERR_OP, "argument op (%#x) is not an operation that can be freed", h)
		return k.fail()
	}
	put[uintptr](opHandle, abi.MPI_OP_NULL)
	if o != nil {
		o.state.releaseHandle()
		endUnused()
	}
	return 0
}

//export impi_Op_commutative
func impi_Op_commutative(opHandle, commute uintptr) int32 {
	k := check{fn: "MPI_Op_commutative"}
	if k.notStarted() {
		return k.fail()
	}
	var is bool
	if o := ops.Find(opHandle); o != nil {
		is = o.commute
	} else if o := op.Predefined(int(opHandle)); o != nil {
		is = o.Commutative()
	} else {
		k.isNot(abi.MPI_ERR_OP, "an operation", "op", opHandle)
	}
	if k.result(commute, "commute"); k.err != nil {
		return k.fail()
	}
	putFlag(commute, is)
	return 0
}

//export impi_Reduce_local
func impi_Reduce_local(inbuf, inoutbuf uintptr, count int64, datatype, opHandle uintptr) int32 {
	k := check{fn: "MPI_Reduce_local"}
	if k.notStarted() {
		return k.fail()
	}
	k.count(count, "count")
	from, to, of := k.bothTypes(datatype, "datatype")
	o := k.op(opHandle, of, to)
	defer k.letGo(false)
	k.buffer(inbuf, count, from, "inbuf")
	k.buffer(inoutbuf, count, to, "inoutbuf")
	if k.err != nil {
		return k.fail()
	}
	err := coll.AtOnce{}.Combine(o, coll.Buf{Base: at(inbuf), Count: count, Type: from},
		coll.Buf{Base: at(inoutbuf), Count: count, Type: to})
	return k.done(err)
}

//export impi_Op_fromint
func impi_Op_fromint(op int32) uintptr { return fromIntOr(&ops, op, abi.MPI_OP_NULL) }

// Global reductions (MPI 5.0, 6.9 to 6.11).

// vectors are the arguments of a reduction: count elements at either address.
type vectors struct {
	sendbuf, recvbuf uintptr
	count            int64
	dt, op           uintptr
}

// reduction checks the arguments of a reduction. result says whether recvbuf is significant, inPlace whether sendbuf
// may be MPI_IN_PLACE here.
func (k *check) reduction(a vectors, result, inPlace bool) (send, recv coll.Buf, o coll.Op) {
	k.count(a.count, "count")
	t, to, of := k.bothTypes(a.dt, "datatype")
	o = k.op(a.op, of, t)
	recv = coll.Buf{Count: a.count, Type: to}
	if to != nil {
		k.bytes = a.count * to.Size()
	}
	if result {
		k.buffer(a.recvbuf, a.count, to, "recvbuf")
		recv.Base = at(a.recvbuf)
	}
	if a.sendbuf == abi.MPI_IN_PLACE && inPlace {
		return coll.InPlace(), recv, o
	}
	k.buffer(a.sendbuf, a.count, t, "sendbuf")
	if k.err == nil && a.sendbuf == a.recvbuf && result && a.count > 0 && t.Size() > 0 {
		k.set(abi.MPI_ERR_BUFFER, "arguments sendbuf and recvbuf are the same; use MPI_IN_PLACE")
	}
	return coll.Buf{Base: at(a.sendbuf), Count: a.count, Type: t}, recv, o
}

// between reports whether the communicator, if it is one, is an intercommunicator.
func (k *check) between() bool { return k.err == nil && k.c.Inter() }

//export impi_Reduce
func impi_Reduce(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32, comm uintptr) int32 {
	return reduce("MPI_Reduce", blocking, vectors{sendbuf, recvbuf, count, datatype, op}, root, comm)
}

//export impi_Ireduce
func impi_Ireduce(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32, comm,
	request uintptr) int32 {
	return reduce("MPI_Ireduce", nonblocking(request), vectors{sendbuf, recvbuf, count, datatype, op}, root, comm)
}

//export impi_Reduce_init
func impi_Reduce_init(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32, comm, info,
	request uintptr) int32 {
	return reduce("MPI_Reduce_init", persistent(info, request), vectors{sendbuf, recvbuf, count, datatype, op}, root,
		comm)
}

func reduce(fn string, f form, a vectors, root int32, comm uintptr) int32 {
	var k check
	k.rooted(fn, comm, root)
	isRoot := k.isRoot(root)
	if k.between() && root < 0 {
		a.sendbuf = abi.MPI_IN_PLACE // not looked at
		if !isRoot {
			return k.carryOut(f, coll.OpReduce, func(v libimpi.Collectives) error {
				return v.Reduce(coll.Buf{}, coll.Buf{}, nil, int(root))
			})
		}
	}
	send, recv, o := k.reduction(a, isRoot, isRoot)
	return k.carryOut(f, coll.OpReduce, func(v libimpi.Collectives) error { return v.Reduce(send, recv, o, int(root)) })
}

//export impi_Allreduce
func impi_Allreduce(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return allreduce("MPI_Allreduce", blocking, vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Iallreduce
func impi_Iallreduce(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	return allreduce("MPI_Iallreduce", nonblocking(request), vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Allreduce_init
func impi_Allreduce_init(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	return allreduce("MPI_Allreduce_init", persistent(info, request), vectors{sendbuf, recvbuf, count, datatype, op},
		comm)
}

func allreduce(fn string, f form, a vectors, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	send, recv, o := k.reduction(a, true, !k.between())
	return k.carryOut(f, coll.OpAllreduce, func(v libimpi.Collectives) error { return v.Allreduce(send, recv, o) })
}

//export impi_Scan
func impi_Scan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return scan("MPI_Scan", blocking, vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Iscan
func impi_Iscan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	return scan("MPI_Iscan", nonblocking(request), vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Scan_init
func impi_Scan_init(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	return scan("MPI_Scan_init", persistent(info, request), vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

func scan(fn string, f form, a vectors, comm uintptr) int32 {
	var k check
	send, recv, o := k.prefix(fn, a, comm)
	return k.carryOut(f, coll.OpScan, func(v libimpi.Collectives) error { return v.Scan(send, recv, o) })
}

//export impi_Exscan
func impi_Exscan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	return exscan("MPI_Exscan", blocking, vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Iexscan
func impi_Iexscan(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	return exscan("MPI_Iexscan", nonblocking(request), vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

//export impi_Exscan_init
func impi_Exscan_init(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	return exscan("MPI_Exscan_init", persistent(info, request), vectors{sendbuf, recvbuf, count, datatype, op}, comm)
}

func exscan(fn string, f form, a vectors, comm uintptr) int32 {
	var k check
	send, recv, o := k.prefix(fn, a, comm)
	return k.carryOut(f, coll.OpExscan, func(v libimpi.Collectives) error { return v.Exscan(send, recv, o) })
}

// prefix checks the arguments of what goes by the order of ranks: there is none between two groups.
func (k *check) prefix(fn string, a vectors, comm uintptr) (send, recv coll.Buf, o coll.Op) {
	k.collective(fn, comm)
	k.intra()
	return k.reduction(a, true, true)
}

//export impi_Reduce_scatter_block
func impi_Reduce_scatter_block(sendbuf, recvbuf uintptr, recvcount int64, datatype, op, comm uintptr) int32 {
	return reduceScatterBlock("MPI_Reduce_scatter_block", blocking, vectors{sendbuf, recvbuf, recvcount, datatype, op},
		comm)
}

//export impi_Ireduce_scatter_block
func impi_Ireduce_scatter_block(sendbuf, recvbuf uintptr, recvcount int64, datatype, op, comm, request uintptr) int32 {
	return reduceScatterBlock("MPI_Ireduce_scatter_block", nonblocking(request), vectors{sendbuf, recvbuf, recvcount,
		datatype, op}, comm)
}

//export impi_Reduce_scatter_block_init
func impi_Reduce_scatter_block_init(sendbuf, recvbuf uintptr, recvcount int64, datatype, op, comm, info,
	request uintptr) int32 {
	return reduceScatterBlock("MPI_Reduce_scatter_block_init", persistent(info, request), vectors{sendbuf, recvbuf,
		recvcount, datatype, op}, comm)
}

func reduceScatterBlock(fn string, f form, a vectors, comm uintptr) int32 {
	var k check
	k.collective(fn, comm)
	if k.count(a.count, "recvcount"); k.err == nil && a.count > 0 {
		k.volume(a.count, int64(max(k.c.Size(), k.c.Ranks())), typeOf(a.dt), "recvbuf")
	}
	send, recv, o := k.reduction(a, true, !k.between())
	return k.carryOut(f, coll.OpReduceScatterBlock, func(v libimpi.Collectives) error {
		return v.ReduceScatterBlock(send, recv, o)
	})
}

//export impi_Reduce_scatter
func impi_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm uintptr, wide int32) int32 {
	return reduceScatter("MPI_Reduce_scatter", blocking, vectors{sendbuf, recvbuf, 0, datatype, op}, recvcounts, comm,
		wide)
}

//export impi_Ireduce_scatter
func impi_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request uintptr, wide int32) int32 {
	return reduceScatter("MPI_Ireduce_scatter", nonblocking(request), vectors{sendbuf, recvbuf, 0, datatype, op},
		recvcounts, comm, wide)
}

//export impi_Reduce_scatter_init
func impi_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request uintptr,
	wide int32) int32 {
	return reduceScatter("MPI_Reduce_scatter_init", persistent(info, request), vectors{sendbuf, recvbuf, 0, datatype,
		op}, recvcounts, comm, wide)
}

func reduceScatter(fn string, f form, a vectors, recvcounts, comm uintptr, wide int32) int32 {
	var k check
	k.collective(fn, comm)
	if k.err != nil {
		return k.fail()
	}
	n := k.c.Size()
	if k.array(recvcounts, n, "recvcounts"); k.err != nil {
		return k.fail()
	}
	counts := k.integers(recvcounts, n, wide != 0)
	if k.counts(counts, "recvcounts"); k.err != nil {
		return k.fail()
	}
	k.total(counts, typeOf(a.dt), "sendbuf")
	a.count = counts[k.c.Rank()]
	send, recv, o := k.reduction(a, true, !k.c.Inter())
	return k.carryOut(f, coll.OpReduceScatter, func(v libimpi.Collectives) error {
		return v.ReduceScatter(send, recv, counts, o)
	})
}
