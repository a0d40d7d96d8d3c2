package coll

import (
	"math"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/transport"
)

// Operations that another MPI library carries out as a whole, where that is what carries the messages of the ranks. It
// gets memory without gaps: a broadcast is one of bytes, packed if need be, and a reduction is one of predefined
// operations and C's own types, which are the same at all ranks.

// Vendored is a Comm whose ranks may leave operations to such a library. Those that are recorded it does not get.
type Vendored interface {
	// Vendor reports whether among, the Comm itself or a View of it, may leave its operations to the library: the same
	// at all ranks of among, which may have to send each other messages to find out.
	Vendor(among Comm) bool
	// Leave carries out an operation of those for whom Vendor has said yes. Its root is a rank of the Comm.
	Leave(o transport.Operation) error
}

// ByVendor reports whether a Comm may leave its operations to a library.
func ByVendor(c Comm) bool {
	v, ok := c.(Vendored)
	return ok && v.Vendor(c)
}

// leavable reports whether the library combines such a vector.
func leavable(vector Buf, op Op) bool {
	h, ok := op.(interface{ Handle() int })
	return ok && !op.OfProgram() && h.Handle() >= abi.MPI_SUM && h.Handle() <= abi.MPI_LXOR &&
		vector.Count <= math.MaxInt32 && slices.Contains(leavableTypes, vector.Type.Plain().Handle())
}

// leavableTypes are those that every library has and combines.
var leavableTypes = []int{abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_FLOAT, abi.MPI_LONG, abi.MPI_UNSIGNED,
	abi.MPI_UNSIGNED_LONG, abi.MPI_INT64_T, abi.MPI_UINT64_T, abi.MPI_INT32_T, abi.MPI_UINT32_T, abi.MPI_LONG_LONG,
	abi.MPI_UNSIGNED_LONG_LONG,
	abi.MPI_SHORT, abi.MPI_UNSIGNED_SHORT, abi.MPI_SIGNED_CHAR, abi.MPI_UNSIGNED_CHAR, abi.MPI_INT8_T, abi.MPI_UINT8_T,
	abi.MPI_INT16_T, abi.MPI_UINT16_T}

func barrierVendor(c Comm) error {
	return c.(Vendored).Leave(transport.Operation{Kind: transport.Barrier})
}

func bcastVendor(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	isRoot := c.Rank() == root
	m, err := s.flat(c, b, isRoot)
	if err != nil {
		return err
	}
	if err := c.(Vendored).Leave(transport.Operation{Kind: transport.Bcast, Root: root, Recv: m.Mem()}); err != nil {
		return err
	}
	return unflat(c, b, m, isRoot)
}

func (s *Scratch) reduceVendor(c Comm, own, recv Buf, op Op, root int) error {
	if own.Type.IsView() || recv.Type.IsView() {
		return s.flatVendor(c, own, recv, c.Rank() == root, func(own, recv Buf) error {
			return s.reduceVendor(c, own, recv, op, root)
		})
	}
	o := combination(transport.Reduce, own, op)
	o.Root = root
	if c.Rank() == root {
		resultIn(&o, recv)
	}
	return c.(Vendored).Leave(o)
}

func (s *Scratch) allreduceVendor(c Comm, own, acc Buf, op Op) error {
	if own.Type.IsView() || acc.Type.IsView() {
		return s.flatVendor(c, own, acc, true, func(own, acc Buf) error { return s.allreduceVendor(c, own, acc, op) })
	}
	o := combination(transport.Allreduce, own, op)
	resultIn(&o, acc)
	return c.(Vendored).Leave(o)
}

// flatVendor lets an operation have copies of vectors that are views: the library knows nothing of these. gets says
// that the rank gets the result.
func (s *Scratch) flatVendor(c Comm, own, recv Buf, gets bool, run func(own, recv Buf) error) error {
	flat, err := s.Typed(own.Count, own.Type)
	if err != nil {
		return err
	}
	if err := c.Copy(flat, own); err != nil {
		return err
	}
	if err := run(flat, flat); err != nil || !gets {
		return err
	}
	return c.Copy(recv, flat)
}

// combination is a reduction of which this rank does not get the result.
func combination(kind transport.OperationKind, own Buf, op Op) transport.Operation {
	return transport.Operation{Kind: kind, Send: memory(own), Count: int(own.Count), Type: own.Type.Handle(),
		Op: op.(interface{ Handle() int }).Handle()}
}

// resultIn has this rank get the result of a reduction in a vector, which may be its own one.
func resultIn(o *transport.Operation, result Buf) {
	if o.Recv = memory(result); &o.Recv[0] == &o.Send[0] {
		o.Send = nil
	}
}

// memory is a vector without gaps.
func memory(b Buf) []byte {
	m, _ := buffer.Contiguous(b)
	return m.Mem()
}
