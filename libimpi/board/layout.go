package board

import (
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// What C sees of a communicator's board (gobridge/executor/board.h), in C's memory: z_layout.h is generated from here.

// CBoards is what the bridge says of this job, of predefined types and of predefined operations.
type CBoards struct {
	Looks uint32 // at a word that is awaited, before Go waits; also where C looks for no messages
	Types [CTypes]CBoardType
	Ops   [COps]uint8 // by handle: gobridge/kernel/reduce.h
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
	// Tasks are nonblocking ones that are under way in Go, which then carries out all others, too.
	Tasks   uint32
	Slices  int32            // bytes of a vector from which an Allreduce is made by slices, which is Go's
	Members datatype.Pointer // lines of the segment
	Wide    datatype.Pointer
	Scratch datatype.Pointer // of C, for long results in place, but not of lanes; nil: there was none yet
	Peers   [transport.BoardMembers]CBoardPeer
}

// CBoardPeer is another member.
type CBoardPeer struct {
	Ctl   datatype.Pointer // nil at the own rank
	Local int32            // rank in the machine's segment
}

// COperation is what this member does in an operation: it may show its own contribution, and gets those of some
// members, or the piece for it of each. What it gets is combined, or has a place each.
type COperation struct {
	Request    datatype.Pointer // nil: the call blocks; else Go carries on with what others let wait
	Own        datatype.Pointer // the own contribution, or the first piece of it
	OwnPlan    datatype.Pointer // how it lies there, and then it is published; nil: in one run
	N          int32            // bytes of a contribution
	Publish    int32            // others need the own contribution
	First, End int32            // whose contributions are needed
	At, Take   int32            // from which byte on, and how many
	Combine    datatype.Pointer // they become one; nil: they stay apart
	Count      int64            // elements of what is combined
	To         datatype.Pointer // where the result belongs, or what is for the first member
	Stride     int64            // from there to the next one's
	Plan       datatype.Pointer // how it lies there; nil: in one run
}

// CLane is a persistent operation that C starts.
type CLane struct {
	Board     datatype.Pointer
	Slots     datatype.Pointer // the first member's, of so many bytes each; those of the next one follow
	Bytes     uint64
	Many      uint64 // slots that each member has: a power of two
	Shift     uint64 // bits of the length in the words of its slots
	Starts    uint64 // that are over, or under way in Go, which counts here, too
	Known     uint64 // all others have published so many, as far as is known
	Over      uint64 // a request
	Operation COperation
}

// How many handles of predefined types and operations there may be.
const (
	CTypes = 512
	COps   = 32
)
