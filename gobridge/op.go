package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Reduction operations (MPI 5.0, 6.9). An operation of the program is a C function that is called for runs of
// elements with the handle of their datatype.
type operation struct {
	fn      uintptr
	wide    bool // MPI_User_function_c: 64-bit counts
	commute bool
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
	if o := ops.Find(h); o != nil {
		return &userOp{o, dt}
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
		if err := op.Check(int(h), t); err != nil {
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

//export impi_Op_free
func impi_Op_free(opHandle uintptr) int32 {
	k := check{fn: "MPI_Op_free"}
	if k.result(opHandle, "op"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](opHandle)
	if !ops.Drop(h) {
		k.set(abi.MPI_ERR_OP, "argument op (%#x) is not an operation that can be freed", h)
		return k.fail()
	}
	put[uintptr](opHandle, abi.MPI_OP_NULL)
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
	t := k.typ(datatype, "datatype")
	o := k.op(opHandle, datatype, t)
	k.buffer(inbuf, count, t, "inbuf")
	k.buffer(inoutbuf, count, t, "inoutbuf")
	if k.err != nil {
		return k.fail()
	}
	if count > 0 {
		if err := o.Apply(at(inbuf), at(inoutbuf), count, t); err != nil {
			return k.failed(err)
		}
	}
	return 0
}

//export impi_Op_toint
func impi_Op_toint(op uintptr) int32 { return handle.Int(op) }

//export impi_Op_fromint
func impi_Op_fromint(op int32) uintptr { return fromIntOr(&ops, op, abi.MPI_OP_NULL) }
