// Package coll holds the collective algorithms: straight-line code against a small interface.
//
//	bcast.go, allreduce.go, ...  an operation: its entry point (Allreduce), and the functions of its algorithms
//	bind.go        which of them a call takes, as package choose says
//	pieces.go      long operations of oversubscribed ranks on a board
//	levels.go      which ranks are on the same machine, and the views that follow from it
//	machines.go    operations over several machines, by one rank of each
//	lanes.go       the same by all ranks of each; alltoall_machines.go and alltoall_factor.go are for alltoall
//	direct.go      operations of few ranks that are far from each other
//	record.go      nonblocking and persistent operations
//
// An algorithm sees a communicator as Comm: ranks, messages between them, and steps on its own memory. It does not know
// what carries them, nor when they happen: a Comm may do each step at once (a blocking operation), or record it for
// later (Recorder: nonblocking and persistent operations). So an algorithm never looks at data that has come; where it
// has to, it goes on in a function that it gives to Then.
//
// The engine runs an algorithm on the calling thread; tests run it for 1 to 32 ranks on goroutines (colltest). Messages
// of one call travel in the communicator's collective context. All ranks call the operations of one communicator in
// the same order, so that a tag needs to tell apart only messages of one call between the same two ranks, and
// recorded operations from others (Recorder).
package coll

import (
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/datatype"
)

// What algorithms move (package buffer).
type (
	Buf  = buffer.Buf
	VBuf = buffer.VBuf
	WBuf = buffer.WBuf
	Op   = buffer.Op
)

// InPlace, InPlaceV and InPlaceW stand for MPI_IN_PLACE.
func InPlace() Buf   { return buffer.InPlace() }
func InPlaceV() VBuf { return buffer.InPlaceV() }
func InPlaceW() WBuf { return buffer.InPlaceW() }

// Bytes is p as a buffer of MPI_BYTE, Numbers one of MPI_INT64_T.
func Bytes(p []byte) Buf    { return buffer.Bytes(p) }
func Numbers(p []int64) Buf { return buffer.Numbers(p) }

// Copy moves the data of src to dst. Source and destination may have different types of equal signature.
func Copy(dst, src Buf) error { return buffer.Copy(dst, src) }

// Pack writes the data of b to dst, which must have room for it, and Unpack reads it back.
func Pack(dst []byte, b Buf, rep datatype.Rep) error   { return buffer.Pack(dst, b, rep) }
func Unpack(b Buf, src []byte, rep datatype.Rep) error { return buffer.Unpack(b, src, rep) }

// Req names a message under way that was started by Isend or Irecv.
type Req = board.Req

// Comm is a communicator as an algorithm sees it. It is used by one goroutine at a time. Errors are those of
// the engine (truncation, a lost peer); an algorithm returns the first one at once.
type Comm interface {
	Rank() int
	Size() int
	// Send blocks until the buffer may be reused, Recv until the message is there. Rank to, rank from
	// differ from Rank().
	Send(b Buf, to, tag int) error
	Recv(b Buf, from, tag int) error
	// Isend and Irecv start a message, Wait ends the given ones; each Req is waited for exactly once.
	Isend(b Buf, to, tag int) (Req, error)
	Irecv(b Buf, from, tag int) (Req, error)
	Wait(reqs ...Req) error
	Local
}

// Writable is a Comm where a rank can leave it to the sender of a message to write it to where it belongs.
type Writable interface {
	// IrecvWritten is Irecv into memory that the sender has in its caches, since it has just read it there.
	IrecvWritten(b Buf, from, tag int) (Req, error)
}

// Local are the steps that an algorithm takes on its rank's own memory, in order with its messages.
type Local interface {
	// Copy moves data; source and destination may have different types of equal signature.
	Copy(dst, src Buf) error
	// Combine computes inout[i] = in[i] op inout[i] for the elements of inout.
	Combine(op Op, in, inout Buf) error
	// Pack writes the data of src to dst, which has room for it, and Unpack reads it back.
	Pack(dst []byte, src Buf, rep datatype.Rep) error
	Unpack(dst Buf, src []byte, rep datatype.Rep) error
	// Then calls f when all steps before it are done. f may take further steps; they come before those that follow.
	Then(f func() error) error
	// Scratch returns working memory, which the algorithm gives back with Done.
	Scratch() *Scratch
}

// Tags of messages inside one call. Messages between two ranks are received in the order in which they are
// sent, and so they only serve to notice ranks that call different operations.
const (
	tagBarrier = 1 + iota
	tagBcast
	tagGather
	tagScatter
	tagAllgather
	tagAlltoall
	tagReduce
	tagAllreduce
	tagReduceScatter
	tagScan
	tagNeighborCollect
	tagNeighborSwap
	tagNeighborDeal

	tagVerify   = 256 // added to those above
	tagNeighbor = 300 // and two more for each further dimension of a grid; IMPI 0.0 uses none of them
)
