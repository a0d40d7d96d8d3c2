// Package op holds the predefined reduction operations (MPI 5.0, 6.9.2 and 6.9.4).
//
// An operation is a row of kernels, one for each kind of element: a kind is a representation in memory, so that
// MPI_INT, MPI_INT32_T and MPI_INTEGER share one. Apply goes from the handle of the datatype to its kind by one
// load, from the kind to the kernel by another, and runs it. Which datatypes an operation accepts is a matter of
// the group of the type (C integer, logical, ...), which Check and Apply both ask.
package op

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// kernel computes inout[i] = in[i] op inout[i] for n elements that lie one after the other.
type kernel func(in, inout datatype.Pointer, n int64)

// predefined is one predefined operation.
type predefined struct {
	handle  int
	name    string
	groups  group
	kernels [kinds]kernel
}

// Commutative is true of all predefined operations but MPI_REPLACE and MPI_NO_OP.
func (o *predefined) Commutative() bool {
	return o.handle != abi.MPI_REPLACE && o.handle != abi.MPI_NO_OP
}

// Handle is the ABI's value.
func (o *predefined) Handle() int { return o.handle }

// OfProgram implements coll.Op.
func (o *predefined) OfProgram() bool { return false }

// Apply computes inout[i] = in[i] op inout[i] for count elements of type t. The error is that of Check.
func (o *predefined) Apply(in, inout datatype.Pointer, count int64, t *datatype.Type) error {
	c := classify(t)
	if c.group&o.groups == 0 {
		return o.refuse(t)
	}
	if count <= 0 {
		return nil
	}
	switch o.handle {
	case abi.MPI_REPLACE:
		datatype.Copy(inout, count, t, in, count, t)
	case abi.MPI_NO_OP:
	default:
		if count >= longVector && aligned(in, inout, c.kind) && long != nil && long(o.handle, t, inout, in, count) {
			return nil
		}
		o.kernels[c.kind](in, inout, count)
	}
	return nil
}

// LongKernel computes left[i] = left[i] op right[i] by a loop of another language, and answers false if there is none
// for the operation and the type.
type LongKernel func(handle int, t *datatype.Type, left, right datatype.Pointer, count int64) bool

// ApartKernel is LongKernel for elements that begin l and r bytes apart, anywhere in memory.
type ApartKernel func(handle int, t *datatype.Type, left datatype.Pointer, l int64, right datatype.Pointer,
	r, count int64) bool

var apart ApartKernel

// long is used from longVector elements on.
var long LongKernel

const longVector = 128

// SetLongKernel makes k the kernel for vectors that are worth a call; nil: those in Go. It is called before operations
// are applied.
func SetLongKernel(k LongKernel) { long = k }

// SetApartKernel makes k what ApplyApart calls; nil: nothing. It is called before operations are applied.
func SetApartKernel(k ApartKernel) { apart = k }

// ApplyApart is Apply for elements that begin so many bytes apart, anywhere in memory. False: there is no kernel for
// the operation and the type, and nothing has been done.
func ApplyApart(o coll.Op, in datatype.Pointer, from int64, inout datatype.Pointer, to, count int64,
	t *datatype.Type) bool {
	p, is := o.(*predefined)
	return is && p.ApplyApart(in, from, inout, to, count, t)
}

// ApplyApart implements buffer.Apart.
func (o *predefined) ApplyApart(in datatype.Pointer, from int64, inout datatype.Pointer, to, count int64,
	t *datatype.Type) bool {
	return apart != nil && classify(t).group&o.groups != 0 && apart(o.handle, t, inout, to, in, from, count)
}

func (o *predefined) refuse(t *datatype.Type) error {
	what := "a derived datatype"
	if t.Handle() != 0 {
		what = t.Name()
	}
	return &coll.Error{Class: abi.MPI_ERR_OP, Arg: "op", Msg: fmt.Sprintf(
		"%s is not defined for %s (MPI 5.0, 6.9.2): use a type of the groups listed there, or MPI_Op_create", o.name, what)}
}

// Predefined returns the operation with the given ABI handle, nil if there is none.
func Predefined(handle int) coll.Op {
	if o := find(handle); o != nil {
		return o
	}
	return nil
}

// Check returns nil if the predefined operation accepts datatype t, else a *coll.Error of class MPI_ERR_OP.
// MPI_REPLACE and MPI_NO_OP accept every predefined type; that they are for one-sided communication only is
// for the caller to enforce.
func Check(handle int, t *datatype.Type) error {
	o := find(handle)
	if o == nil {
		return &coll.Error{Class: abi.MPI_ERR_OP, Arg: "op", Msg: fmt.Sprintf("%#x is not a predefined operation", handle)}
	}
	if classify(t).group&o.groups == 0 {
		return o.refuse(t)
	}
	return nil
}

func find(handle int) *predefined {
	i := handle - abi.MPI_OP_NULL
	if i <= 0 || i >= len(table) || table[i].handle == 0 {
		return nil
	}
	return &table[i]
}

// table holds the operations at handle - MPI_OP_NULL, with the types of MPI 5.0, 6.9.2. Other libraries let programs
// take the logical operations of MPI_AINT, MPI_OFFSET and MPI_COUNT as well, and so do we.
var table = [abi.MPI_NO_OP - abi.MPI_OP_NULL + 1]predefined{
	abi.MPI_SUM - abi.MPI_OP_NULL:     {abi.MPI_SUM, "MPI_SUM", arithmetic | complexes, sums},
	abi.MPI_PROD - abi.MPI_OP_NULL:    {abi.MPI_PROD, "MPI_PROD", arithmetic | complexes, prods},
	abi.MPI_MIN - abi.MPI_OP_NULL:     {abi.MPI_MIN, "MPI_MIN", arithmetic, mins},
	abi.MPI_MAX - abi.MPI_OP_NULL:     {abi.MPI_MAX, "MPI_MAX", arithmetic, maxs},
	abi.MPI_BAND - abi.MPI_OP_NULL:    {abi.MPI_BAND, "MPI_BAND", bitwise, bands},
	abi.MPI_BOR - abi.MPI_OP_NULL:     {abi.MPI_BOR, "MPI_BOR", bitwise, bors},
	abi.MPI_BXOR - abi.MPI_OP_NULL:    {abi.MPI_BXOR, "MPI_BXOR", bitwise, bxors},
	abi.MPI_LAND - abi.MPI_OP_NULL:    {abi.MPI_LAND, "MPI_LAND", cInteger | logical | multiLanguage, lands},
	abi.MPI_LOR - abi.MPI_OP_NULL:     {abi.MPI_LOR, "MPI_LOR", cInteger | logical | multiLanguage, lors},
	abi.MPI_LXOR - abi.MPI_OP_NULL:    {abi.MPI_LXOR, "MPI_LXOR", cInteger | logical | multiLanguage, lxors},
	abi.MPI_MINLOC - abi.MPI_OP_NULL:  {abi.MPI_MINLOC, "MPI_MINLOC", pairs, minlocs},
	abi.MPI_MAXLOC - abi.MPI_OP_NULL:  {abi.MPI_MAXLOC, "MPI_MAXLOC", pairs, maxlocs},
	abi.MPI_REPLACE - abi.MPI_OP_NULL: {handle: abi.MPI_REPLACE, name: "MPI_REPLACE", groups: anyGroup},
	abi.MPI_NO_OP - abi.MPI_OP_NULL:   {handle: abi.MPI_NO_OP, name: "MPI_NO_OP", groups: anyGroup},
}

// Name is the name of a predefined operation; "" of what is none.
func Name(handle int) string {
	if o := find(handle); o != nil {
		return o.name
	}
	return ""
}
