// Package contexts finds the context ids of new communicators, the same ones in all members.
//
// Ids come in blocks. The first member of a communicator gives the others a block that nobody else can give, since it
// has the first member's own number in it: one message to each of the others, whoever makes communicators at the same
// time (given.go). What is made of that communicator, one after the other as MPI demands, takes the next of the block
// without a message, until it is used up; so most duplications are local. A duplication that does not block gets its
// place in the block when it is called, and waits where that block is still on its way (supply.go).
//
// Two kinds of communicators need everybody's consent:
//
//   - One that spans IMPI clients, if one of these is not libimpi, follows a rule (IMPI 0.0, 4.3): each process
//     remembers the largest id it has used, the members agree on the maximum m, and the new ids are m+1 and m+2
//     (rule.go).
//   - The processes of several jobs have the same numbers. They vote on a block (agreement.go).
//
// Pure: no locks, no messages. The caller finds the maximum of what all processes say.
package contexts

import "errors"

// Kinds of ids, by their high bits. Numbers are counted below Survivors.
const (
	Self        = 1 << 63 // MPI_COMM_SELF: outside the space of ids that cross clients (IMPI 0.0, 3.3)
	Partitioned = 1 << 62 // beside each communicator: partitioned communication
	Own         = 1 << 61 // blocks in a job of several clients
	Home        = 1 << 60 // beside each intercommunicator: its local group
	Groups      = 1 << 59 // agreements of groups without a communicator (group.go)
	Jobs        = 1 << 58 // blocks that processes of several jobs have agreed on
	Subgroups   = 1 << 57 // beside each communicator: MPI_Comm_create_group
	Survivors   = 1 << 56 // beside each communicator: what its members do together although some are lost
)

// ErrNoneLeft says that all ids have been used.
var ErrNoneLeft = errors.New("no context id left")

// Block are context ids that nobody uses, from Next on below End; a communicator takes two. The zero Block is empty.
type Block struct{ Next, End uint64 }

// BlockSize is for how many communicators a new block is.
const BlockSize = 32

// Empty reports whether the block is used up.
func (b Block) Empty() bool { return b.Next == b.End }

// Rest is the block without the ids of its next communicator.
func (b Block) Rest() Block { return Block{b.Next + 2, b.End} }

// IDs is what one process knows of the ids in use.
type IDs struct {
	Largest       uint64 // in use; IMPI's max_cid
	LargestOfJobs uint64 // of the blocks that processes of several jobs have agreed on, here or in a job that was met

	base     uint64 // of the job's blocks
	me, size uint64 // this process among those of the job
	given    uint64 // how many blocks it has given
	choosing bool   // a choice by IMPI's rule is under way
	agreeing []Place
}

// New is what process me, of so many, knows when MPI_COMM_WORLD of a job of so many clients has ids 0 and 1; first is
// the block of what is made of that.
func New(clients, me, size int) (ids IDs, first Block) {
	ids = IDs{Largest: 1, LargestOfJobs: Jobs, me: uint64(me), size: uint64(size)}
	if clients > 1 {
		ids.base = Own // those below are IMPI's
	}
	return ids, Block{ids.base + 2, ids.base + 2*BlockSize}
}
