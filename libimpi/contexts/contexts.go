// Package contexts finds the context ids of new communicators, the same ones in all members.
//
// On a communicator that spans IMPI clients there is a rule (IMPI 0.0, 4.3): each process remembers the largest id it
// has used, the members agree on the maximum m, and the new ids are m+1 and m+2. It may give the same ids to two
// communicators that threads of a process make at the same time; threads that use it have to take turns.
//
// Elsewhere ids are found in blocks. The members of a communicator agree on a block of ids that nobody uses
// (agreement.go); what is made of that communicator, one after the other as MPI demands, takes the next of the block
// without a message, until it is used up. So most duplications are local. In a job of several clients blocks are
// counted apart from IMPI's ids.
//
// Pure: no locks, no messages. The caller finds the maximum of what all processes say.
package contexts

import "errors"

// Kinds of ids, by their high bits. Numbers are counted below Groups.
const (
	Self        = 1 << 63 // MPI_COMM_SELF: outside the space of ids that cross clients (IMPI 0.0, 3.3)
	Partitioned = 1 << 62 // beside each communicator: partitioned communication
	Own         = 1 << 61 // blocks in a job of several clients
	Home        = 1 << 60 // beside each intercommunicator: its local group
	Groups      = 1 << 59 // agreements of groups without a communicator (group.go)
)

// Most is the largest context id two clients may agree on (IMPI 0.0, 4.3).
const Most = 18446744073709551600

// ErrNoneLeft says that all ids have been used.
var ErrNoneLeft = errors.New("no context id left")

// Block are context ids that nobody uses, from Next on below End; a communicator takes two. The zero Block is empty.
type Block struct{ Next, End uint64 }

// BlockSize is for how many communicators a new block is.
const BlockSize = 32

// Empty says whether the block is used up.
func (b Block) Empty() bool { return b.Next == b.End }

// Rest is the block without the ids of its next communicator.
func (b Block) Rest() Block { return Block{b.Next + 2, b.End} }

// IDs is what one process knows of the ids in use.
type IDs struct {
	Largest    uint64 // in use; IMPI's max_cid
	LargestOwn uint64 // the same for blocks, where they are counted apart: here, or in a job that this one has met

	apart    bool
	agreeing []Place // agreements that have begun for all who take part
}

// New is what a process of a job of so many clients knows when MPI_COMM_WORLD has ids 0 and 1; first is the block of
// what is made of that.
func New(clients int) (ids IDs, first Block) {
	if clients > 1 {
		return IDs{Largest: 1, LargestOwn: Own, apart: true}, Block{}
	}
	first = Block{2, 2 * BlockSize}
	return IDs{Largest: first.End - 1, LargestOwn: Own}, first
}

// Offer is what this process contributes to IMPI's choice of an id.
func (ids *IDs) Offer() uint64 { return ids.Largest | 1 }

// Take notes the largest of all contributions and answers the id that follows.
func (ids *IDs) Take(most uint64) (uint64, error) {
	if most >= Most-1 {
		return 0, ErrNoneLeft
	}
	ids.Largest = max(ids.Largest, most+2)
	return most + 1, nil
}
