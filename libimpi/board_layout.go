package libimpi

import (
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// What C sees of a communicator's board (gobridge/executor/board.h), in C's memory: z_layout.h is generated from here.

// CBoards is what the bridge says of this job, of predefined types and of predefined operations.
type CBoards struct {
	Looks uint32 // at a word that is awaited, before Go waits; also where C looks for no messages
	Types [CTypes]CBoardType
	Ops   [cOps]uint8 // by handle: gobridge/kernel/reduce.h
}

// CBoardType is a predefined type, by handle.
type CBoardType struct {
	Element uint8  // gobridge/kernel/reduce.h
	Ops     uint16 // 1<<op: the operation is defined on the type
}

// CBoard is a board as this member sees it. Nothing guards it: collective operations on a communicator are begun one
// after the other.
type CBoard struct {
	Comm       uint64
	Rank, Size int32
	Begun      uint64 // operations that this member has begun
	Known      uint64 // all members have completed so many, as far as is known
	// Left is the last one that C has begun and left to Go, which begins it again if it is Begun.
	Left      uint64
	WideUsers [transport.BoardWideSlots]uint64 // the last one to use each wide slot
	// PieceUsers are the last ones to use the places for pieces.
	PieceUsers [transport.BoardPieces]uint64
	Places     uint64 // of them
	// Tasks are nonblocking ones that are under way in Go, which then carries out all others, too.
	Tasks   uint32
	Slices  int32                        // bytes of a vector from which an Allreduce is made by slices, which is Go's
	Missed  CCall                        // a call that C has not made since nobody has laid it out
	Laid    [CLaidCalls]datatype.Pointer // calls that were laid out
	Members datatype.Pointer             // lines of the segment
	Wide    datatype.Pointer
	Pieces  datatype.Pointer
	Scratch datatype.Pointer // of C, for long results in place, but not of lanes; nil: there was none yet
	Peers   [transport.BoardMembers]CBoardPeer
}

// CBoardPeer is another member.
type CBoardPeer struct {
	Ctl   datatype.Pointer // nil at the own rank
	Local int32            // rank in the machine's segment
	Pid   int32            // of the process whose memory C reads; 0: it does not
}

// CTurn is what this member does in an operation: it may show its own part, and gets those of some members, or the
// piece for it of each. What it gets is combined, or has a place each.
type CTurn struct {
	Request    datatype.Pointer // nil: the call blocks; else Go carries on with what others let wait
	Own        datatype.Pointer // the own part, or the first piece of it
	OwnPlan    datatype.Pointer // how it lies there, and then it is published; nil: in one run
	N          int32            // bytes of a part
	Publish    int32            // others need the own part
	First, End int32            // whose parts are needed
	At, Take   int32            // from which byte on, and how many
	Combine    datatype.Pointer // they become one; nil: they stay apart
	Count      int64            // elements of what is combined
	To         datatype.Pointer // where the result belongs, or what is for the first member
	Stride     int64            // from there to the next one's
	Plan       datatype.Pointer // how it lies there; nil: in one run
}

// CLane is a persistent operation that C starts.
type CLane struct {
	Board  datatype.Pointer
	Slots  datatype.Pointer // the first member's, of so many bytes each; those of the next one follow
	Laid   datatype.Pointer // the exchange that is started; nil: Turn is
	Bytes  uint64
	Many   uint64 // slots that each member has: a power of two
	Shift  uint64 // bits of the length in the words of its slots
	Starts uint64 // that are over, or under way in Go, which counts here, too
	Known  uint64 // all others have published so many, as far as is known
	Over   uint64 // a request
	Turn   CTurn
}

// CCall is a call: the names by which the shim notes it, and its arguments in their order.
type CCall struct {
	Names datatype.Pointer
	Args  [CLaidArgs]uint64
}

// CLaid is a call that was laid out (coll.Laid). C makes it again when the arguments and what their lists say
// are the same. That of a lane has no call, lists or list.
type CLaid struct {
	Call      CCall
	Lists     [CLaidLists]CLaidList
	Head      datatype.Pointer // the list with which the part begins
	HeadBytes uint64           // 0: no part is shown
	Used      uint64           // bytes of the part, and PieceMark
	Out, In   datatype.Pointer // blocks that go to the part, and that are taken
	Outs, Ins int32
	Said      uint64 // bytes of the list that stand beside the length, too, if the part stands in a wide slot
	Wide      int32  // it does
	Stays     int32  // others read blocks of this rank
	Turn      CTurn  // of a reduction, which has nothing else; N is 0 in others
}

// CLaidList is an array among the arguments, and what it said.
type CLaidList struct {
	Program, Was datatype.Pointer
	Bytes        uint64 // 0: there is none
}

// CLaidBlock is a block (coll.LaidBlock) of at most N bytes, or of exactly so many if it does not lie in one run, or is
// a lane's.
type CLaidBlock struct {
	Mem, Own datatype.Pointer
	Plan     datatype.Pointer // how all of it lies there; nil: in one run
	N        int64
	At       int32
	From     int32
	Entry    int32
	Tag      int32
}

const (
	CTypes     = 512
	cOps       = 32
	CLaidArgs  = 10 // the most that such a function has
	CLaidLists = 6
	CLaidCalls = 8 // that a communicator remembers
)
