// Package trace is the format of the files in which processes note their calls of MPI (IMPI_TRACE), a writer and a
// reader of it. It knows nothing of the engine.
//
// A folder has one file for each process, which the process itself maps into its memory and writes, so that a process
// that is killed leaves all calls that had returned. All numbers have the byte order of the machine that wrote them:
//
//	header       HeaderBytes, fixed fields (header.go)
//	definitions  what numbers stand for: names of calls, communicators, mappings; appended (definitions.go)
//	blocks       of BlockBytes each, of one thread each: events, one after the other
//
// A block begins with BlockHeader bytes:
//
//	 0  u32  BlockMagic
//	 4  u32  number of the thread, from 0
//	 8  u64  number of the block, from 1, in the order in which they were begun
//	16  u64  bytes of the block that are used, with this header; written after the bytes
//	24  u64  clock, in ticks, when the block was begun
//	32  i64  CLOCK_MONOTONIC then, in nanoseconds
//	40  u64  the kernel's id of the thread
//	48  u64  bytes of the block before which events were lost; 0: none were (BlockHeader: before the first)
//
// If the room is used up, either no events are noted any more (KeepOldest), or the oldest blocks are used again
// (KeepNewest). An event is a call that has returned; a thread's events stand in the order in which they returned, so
// that of a call inside another one (in a callback) comes first. It is made of words of 64 bits, lowest bits first:
//
//	word 0   call 16 (Definitions.Calls)   site 48: the address to which the call returns, in the program
//	word 1   begin, in ticks
//	word 2   words of the event 16         duration in ticks 48
//	items, each of which begins with a word: kind 8   flags 8   0 16   id 32
//
// The kinds of items, and the words after their first one:
//
//	Send       1  a message begins    id: communicator   peer 32, tag 32   bytes   request
//	Recv       2  a receive is posted id: communicator   peer 32, tag 32   room in bytes   request
//	Got        3  a request or a receive of this call is complete          source 32, tag 32   bytes   request
//	Collective 4  a collective        id: communicator   root 32, op 32    bytes sent   bytes received   request
//	OneSided   5  access to a window  id: window         target 32, 0 32   bytes   request
//	File       6  access to a file    id: file           offset in bytes, or -1   bytes   request
//	Error      7  the call failed     id: its error class
//	Object     8  another object      id: of the kind that flags say (ObjectComm ...)
//	Start      9  a persistent request starts             request
//	Rename    10  a matched message is received           message   request
//	Repeat    11  so many calls that found nothing were made from the same site, one after the other: id
//	Probe     12  looks for a message id: communicator   peer 32, tag 32
//
// Requests are the program's handles. A request of 0 says that what begins in the call also ends in it: a blocking
// call, or a send that was complete at once. A handle that was used before stands for what has begun with it last.
// What a Send or Recv with FlagPersistent describes begins with each Start of its request. A Recv with FlagMatched is
// what MPI_Mprobe found: its request is the message's handle, until a Rename gives it a request's (0: received in the
// call); its peer and tag are those of the message that it took. Got of a request that was a send has neither
// source nor tag. Peers and tags are those of the call, so they may be MPI_ANY_SOURCE, MPI_ANY_TAG or MPI_PROC_NULL,
// and ranks are those in the communicator (of its remote group, if it has one).
//
// The k-th message from a process to another on a communicator with a tag is the k-th receive there that was posted
// and got a message with that source and tag: receives of a source and tag get messages in the order in which they were
// posted. The events of a process in the order of their begin have its sends and receives in that order.
package trace

const (
	Magic       = "impitrac"
	Version     = 1
	mark        = 0x01020304 // read with the wrong byte order, it is another number
	HeaderBytes = 4096
	BlockBytes  = 256 << 10
	BlockMagic  = 0x314b4c42
	BlockHeader = 64
	EventHeader = 24 // bytes of an event without items
)

// Kind is what an item tells.
type Kind uint8

const (
	Send Kind = iota + 1
	Recv
	Got
	Collective
	OneSided
	FileAccess
	Error
	Object
	Start
	Rename
	Repeat
	Probe
	kinds
)

// words is how many words an item of each kind has.
var words = [kinds]int{Send: 4, Recv: 4, Got: 4, Collective: 5, OneSided: 4, FileAccess: 4, Error: 1, Object: 1,
	Start: 2, Rename: 3, Repeat: 1, Probe: 2}

// Flags of items.
const (
	FlagPersistent  = 1 << 0 // Send, Recv, Collective: describes a persistent request
	FlagSynchronous = 1 << 1 // Send: returns, or completes, when the receive has been posted
	FlagBuffered    = 1 << 2 // Send
	FlagReady       = 1 << 3 // Send
	FlagPartitioned = 1 << 4 // Send, Recv
	FlagMatched     = 1 << 5 // Recv
	FlagCancelled   = 1 << 6 // Got
	FlagNonblocking = 1 << 7 // Send, Recv, Collective: may go on after the call

	FlagGet   = 1 << 0 // OneSided, FileAccess: data comes to the process
	FlagPut   = 1 << 1 // OneSided, FileAccess: data goes from it
	FlagReply = 1 << 2 // OneSided: accumulates

	ObjectComm   = 1
	ObjectWindow = 2
	ObjectFile   = 3
)

// None is a root or operation that a call has not.
const None = -1 << 31

// Item is what an event tells of one message, request or object. Which fields count depends on Kind; the others are 0.
type Item struct {
	Kind    Kind
	Flags   uint8
	ID      uint32 // of a communicator, window or file; Error: its class; Repeat: how many calls
	Peer    int32  // Send, Recv, Got, Probe, OneSided; Collective: the root, or None
	Tag     int32  // Send, Recv, Got, Probe; Collective: the operation (Definitions.Ops), or None
	Bytes   int64  // Send, Got, OneSided, FileAccess; Recv: room; Collective: sent
	In      int64  // Collective: received; FileAccess: offset, or -1
	Request uint64 // or message
	From    uint64 // Rename: the message
}

// Event is a call that has returned.
type Event struct {
	Thread     uint32
	Call       uint16
	Site       uint64 // the address to which it returned
	Begin, End int64  // nanoseconds, UTC as rank 0's machine has it (Clock)
	Items      []Item
}

// Keep says which events are kept if not all can be.
type Keep uint32

const (
	KeepOldest Keep = iota
	KeepNewest
)

func (k Keep) String() string {
	if k == KeepNewest {
		return "newest"
	}
	return "oldest"
}
