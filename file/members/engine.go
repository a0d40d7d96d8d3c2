package members

import (
	"fmt"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/onesided"
)

// Comm is a communicator on which files are opened, as its engine shows it.
type Comm interface {
	fmt.Stringer // names it, for messages
	Size() int
	// Allreduce combines numbers of all members. It is collective, and blocks.
	Allreduce(send, recv coll.Buf, op coll.Op) error
	// Duplicate returns a communicator of the same members that only a file has. It is collective, and blocks.
	Duplicate() (Own, error)
}

// Own is the communicator that the members of a file have for themselves. All of them make collective calls in the same
// order, one goroutine at a time; these block. An error is the loss of a process, unless it says something else.
type Own interface {
	Collectives
	Machines
	Losses
	file.Messages
	// Window makes a window of the members for the shared file pointer. It is collective, and blocks.
	Window(onesided.Config) (Window, error)
	// Discard gives up the communicator, and its window, without a word to the others. Nothing is under way.
	Discard()
}

// Collectives are operations of all members.
type Collectives interface {
	Rank() int
	Size() int
	Barrier() error
	Allgather(send, recv coll.Buf) error
	Allgatherv(send coll.Buf, recv coll.VBuf) error
	// AllWell tells all members whether none of them has an error.
	AllWell(err error) (bool, error)
}

// Machines says who shares memory, which is mapped by the process until it is unmapped.
type Machines interface {
	// Machine is the same number for two members exactly if they can share memory.
	Machine() int64
	// Sharers are the ranks of the members of this machine, in order; none if it has no memory for several processes.
	Sharers() []int
	// Map maps memory that all sharers map, whose address is a multiple of align. Either all of them get it, or all an
	// error. It is collective among them, and blocks. Until Unmap there is no other.
	Map(bytes, align int) ([]byte, error)
	// Unmap gives back what Map has mapped, if it has.
	Unmap()
}

// Losses are those of members, in a job that goes on without them.
type Losses interface {
	// Loss is why the members can do nothing together any more: one is lost, or they are revoked. Nil: they can.
	Loss() error
	// Revocation is Loss if they are revoked, and nil if they are not.
	Revocation() error
	// Leave returns when all members that are not lost have called it, with an error if some are. It is collective. In a
	// job that ends with its first loss it does nothing.
	Leave() error
}

// Window is the window of a shared file pointer (onesided.Window).
type Window interface {
	Base() datatype.Pointer
	// At is the memory of a member, nil if it is not mapped.
	At(rank int) datatype.Pointer
	// Together reports whether all members map it.
	Together() bool
	Lock(rank int, exclusive bool, assert int) error
	Accumulate(origin, result coll.Buf, at onesided.Place, op coll.Op, element *datatype.Type, ask bool) (uint64, error)
	Flush(rank int, local bool, call string) error
}
