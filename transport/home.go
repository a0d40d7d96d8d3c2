package transport

import (
	"context"
	"time"
)

// Home is what a process has to itself before it has transports, and where in its machine it is.
type Home struct {
	World []int32 // world ranks of the processes that share this machine's memory, this one's included, by local rank
	Rank  int     // local rank of this process
	Cores int     // that the machine has for all of them

	Lock *uint32 // word of the engine's lock (transport/futex), which others than the engine may take as well
	Bell Bell

	Attention Attention // nil: there is no progress thread
	Boards    Boards    // nil: there are no boards
	Memory    Memory    // nil: none can be shared beyond what transports have

	// InTurn: another process runs only while this one sleeps (transport/fake). A thread that waits does not spin.
	InTurn bool
	Now    func() time.Time // the clock by which what others do is awaited; nil: time.Now
}

// Bell is where the threads of a process sleep, and what wakes them. A thread announces that it is about to sleep,
// looks for the last time at all it waits for, and sleeps; who brings work after that look sees the announcement, and
// rings. So no wake-up is lost.
//
//	v := Bell(); if PrepareSleep(v) { look once more; if there is nothing: Wait(v, timeout); DoneSleep(v) }
type Bell interface {
	// Bell is the bell's value now.
	Bell() uint32
	// PrepareSleep announces a thread that is about to sleep. False: somebody has rung since the bell was v.
	PrepareSleep(v uint32) bool
	// Wait blocks until the bell is no longer v, but not for longer than timeout, nor than the implementation finds
	// good. It may return early. It is called without the engine's lock.
	Wait(v uint32, timeout time.Duration)
	// DoneSleep takes back a PrepareSleep(v) that answered true.
	DoneSleep(v uint32)
	// Wake rings: it wakes all threads of this process that sleep or are about to. It costs a load if there are none.
	Wake()
}

// Attention is what the progress thread sleeps on, which goes on with long messages while the program computes. Who
// brings a part of a long message wakes it, if it is armed.
type Attention interface {
	// Arm asks for the progress thread when something arrives. The caller polls afterwards if Arm answers true: it was
	// not armed before.
	Arm() bool
	// Disarm takes Arm back. A thread that has been alerted finds that there is nothing to do.
	Disarm()
	// Alert wakes the progress thread, if it is armed.
	Alert()
	// AwaitAlert blocks the progress thread until it is wanted; false: it shall end, and another may begin.
	AwaitAlert() bool
	// Nap blocks it for so long, or until it shall end.
	Nap(d time.Duration)
	// Relax says that it has done what it was woken for: it may be armed again.
	Relax()
	// Dismiss ends it.
	Dismiss()
}

// Boards are lines of a machine's memory on which the members of a communicator meet for short collective operations.
type Boards interface {
	// BoardMembers is the largest number of members that a board has.
	BoardMembers() int
	// TakeBoard takes a board for members, by their local ranks and in the order of the communicator, of whom the
	// caller is one, and returns its number, which the caller tells the others; -1 if all are taken.
	TakeBoard(members []int32) int
	// OpenBoard is called by each member, once. Errors: there is no such board, or no memory.
	OpenBoard(number int) (Board, error)
}

// Board is one of them, as a member sees it. What stands on it is the affair of those who write there:
// libimpi/board.go and gobridge/executor/board.h. Members are numbered by their ranks in the communicator. All is zero
// at first.
type Board interface {
	// Slots tells of the slots of each member that have a size: how many there are, of how many bytes, and how many low
	// bits of a slot's word are the length of what it holds; above them is the number of the operation.
	Slots(size SlotSize) (slots, bytes int, shift uint)
	Slot(size SlotSize, member, i int) (word *uint64, payload []byte)
	// ReserveLong sees to the memory of long slots. Each member calls it before it uses one.
	ReserveLong() error
	// LaneEnd is the byte, counted in the memory for lanes, before which a lane ends that begins at one and is for parts
	// of at most n bytes; -1: there is no room for it. OpenLane answers such a lane, for which there is room, and sees to
	// its memory. Each member calls it, with the same arguments.
	LaneEnd(at int, n int64) int
	OpenLane(at int, n int64) (Lane, error)
	// Done is a member's count of completed operations.
	Done(member int) *uint64
	// Vote is one of two places of a member for what the members agree on (libimpi/board/vote.go).
	Vote(member, i int) (word, value *uint64)
	// Wake wakes a process of the machine, by its local rank, if it sleeps.
	Wake(local int)
	// Alert wakes a process's progress thread, if it waits for long transfers.
	Alert(local int)
	// Leave gives the board up. The caller has completed all its operations on it. Members that have died, by number, do
	// not leave by themselves: whoever leaves does it for those that it knows of. It does not block.
	Leave(dead ...int)
}

// SlotSize is a size of the slots of a board.
type SlotSize uint8

// The sizes of slots. Long ones are for pieces of long operations.
const (
	NarrowSlot SlotSize = iota
	WideSlot
	LongSlot
)

// Lane is a part of a board where a persistent operation has slots of its own.
type Lane interface {
	// Slots tells of the slots that each member has there what Board.Slots tells of others.
	Slots() (slots, bytes int, shift uint)
	Slot(member, i int) (word *uint64, payload []byte)
}

// Memory is what the processes of a machine share besides: each part is made by one of them, mapped by others, and gone
// when the last one has let go of it, or ended.
type Memory interface {
	// Share makes so many bytes of memory, all zero, and returns a number by which others find it until Hide. Its
	// address is a multiple of align, a power of two.
	Share(bytes, align int) (mem []byte, id uint64, err error)
	// Hide ends what the number is good for. Who has the memory keeps it.
	Hide(id uint64)
	// Find returns the memory that the process of a local rank shares under a number. It fails where processes keep
	// their descriptors from each other; Share knows that from then on, and makes memory that can be found.
	Find(local int, id uint64, bytes, align int) ([]byte, error)
	// Forget gives up memory of Share or Find, all of it.
	Forget(mem []byte)
	// Ring wakes a process of the machine, by its local rank, if it sleeps.
	Ring(local int)
}

// MaxLocal is the largest number of processes that share a machine's memory.
const MaxLocal = 1 << 16

// BoardMembers is the largest number of members that a board has, BoardWideSlots how many wide slots each has,
// BoardLongest the bytes of a contribution in one of these, and BoardPieces how many slots for pieces at most. A lane
// for contributions that are shorter than a piece by LanePage may have more slots, and take more memory, than one for
// pieces.
const (
	BoardMembers   = 32
	BoardWideSlots = 16
	BoardLongest   = 16 << 10
	BoardPieces    = 16
	LanePage       = 4 << 10
)

// Links are the transports of a process: who is reached by which.
type Links struct {
	Local   Transport // to the other processes of Home.World
	Vendor  Transport // to those of this client, if another MPI library carries what they say; nil: none does
	Network Transport // to all others; nil if there are none

	Syscalls bool // a Poll of Network costs a system call even if it finds nothing
	Others   int  // processes on this machine that carry packets for this one and need a core for it: an agent

	VendorName string // what that library calls itself
	Apart      bool   // it carries everything inside this client: no processes of it share memory

	Meet func() (Meeting, error) // begins a meeting with processes of other jobs; nil: there cannot be any
}

// Open makes the transports of a process. They deliver to r from now on, under the engine's lock, and call wake,
// without it, from threads of their own. It blocks until all peers are connected, or ctx is done.
type Open func(ctx context.Context, r Receiver, wake func()) (Links, error)
