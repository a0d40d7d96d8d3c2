// Package buffer holds what collective algorithms move: buffers of elements of a datatype, blocks of them for each
// rank, copies between them, and the operations that combine them. It sees one process only.
package buffer

import (
	"github.com/libimpi/libimpi/datatype"
)

// Op is a reduction operation: inout[i] = in[i] op inout[i] for count elements of type t
// (MPI 5.0, 6.9.1: the first operand is the one from the lower rank).
type Op interface {
	Apply(in, inout datatype.Pointer, count int64, t *datatype.Type) error
	Commutative() bool
	// OfProgram tells a function of the program, which is called with no lock held, and on a thread of the program.
	OfProgram() bool
}

// Combine computes inout[i] = in[i] op inout[i] for the elements of inout.
func Combine(op Op, in, inout Buf) error {
	if inout.Count == 0 {
		return nil
	}
	if inout.Type.IsView() || in.Type.IsView() {
		return combineViews(op, in, inout)
	}
	return op.Apply(in.Base, inout.Base, inout.Count, inout.Type)
}

// Error is what an operation returns when an argument is at fault or memory is short.
type Error struct {
	Class int    // MPI error class, a constant of package abi
	Arg   string // the argument at fault, as MPI names it; empty if none is
	Msg   string
}

func (e *Error) Error() string {
	if e.Arg == "" {
		return e.Msg
	}
	return e.Arg + ": " + e.Msg
}
