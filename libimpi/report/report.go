// Package report has what a process tells about itself when somebody asks why a job does not go on: which of its
// threads are blocked, in which calls and for what, and which messages, windows, files and collective operations are
// under way. It is plain data, which travels as JSON:
//
//	Engine.State (libimpi), to which the bridge adds calls and arguments -> Encode -> the link to the launcher
//	the launcher -> Parse, which trusts nothing -> tables, and the search for deadlocks
//
// A rank is one of the communicator that stands beside it; World is the same process in MPI_COMM_WORLD. Peers and tags
// may be MPI's constants (MPI_ANY_SOURCE, MPI_ANY_TAG), or None.
package report

const (
	// Most bounds each list. Beside a list of a Process stands how many there are.
	Most = 64
	// MostBytes bounds a report, encoded.
	MostBytes = 1 << 20
	// None is a peer or a tag that a wait or a message does not have, or that is not known. It is no rank, no tag and no
	// constant of MPI.
	None = -1 << 31
)

// Process is what one process tells.
type Process struct {
	Rank    int    `json:"rank"` // in MPI_COMM_WORLD
	PID     int    `json:"pid"`
	Machine string `json:"machine,omitempty"`

	// Threads are blocked in MPI, the first one for longest. A thread that has waited for less than some milliseconds
	// is not among them: it polls.
	Threads     []Thread `json:"threads,omitempty"`
	ThreadCount int      `json:"threadCount,omitempty"`
	// Computing reports that no thread is blocked. LastCall is the call that the process's first thread has made last, if
	// that has started MPI. It may still be in it.
	Computing bool   `json:"computing,omitempty"`
	LastCall  string `json:"lastCall,omitempty"`

	Sends           []Message    `json:"sends,omitempty"` // begun, and not complete
	SendCount       int          `json:"sendCount,omitempty"`
	Receives        []Message    `json:"receives,omitempty"` // posted, and not complete
	ReceiveCount    int          `json:"receiveCount,omitempty"`
	Unexpected      []Message    `json:"unexpected,omitempty"` // arrived, and not received
	UnexpectedCount int          `json:"unexpectedCount,omitempty"`
	Windows         []Window     `json:"windows,omitempty"`
	WindowCount     int          `json:"windowCount,omitempty"`
	Files           []File       `json:"files,omitempty"` // with accesses that the program has not completed
	FileCount       int          `json:"fileCount,omitempty"`
	Collectives     []Collective `json:"collectives,omitempty"` // nonblocking and persistent ones, under way
	CollectiveCount int          `json:"collectiveCount,omitempty"`
	Comms           []Comm       `json:"comms,omitempty"` // of what stands above

	// Moves counts what has come for blocked threads of this process, or woken them, and the ends of their waits. If all
	// processes of a job have told twice, the second time after all have told once, that all their threads are Settled,
	// every Moves was the same both times, and as many packets were received between machines as were sent, both times,
	// then nothing is under way that could end a wait.
	Moves uint64 `json:"moves"`
	// Sent are packets to other machines and clients, and 1 more if any wait inside the process. Received are those that
	// have come as a whole.
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
	// Open says what may end a wait although all processes are blocked, in words for users: a request that the program
	// itself completes, a port at which another job may connect, a file. Empty: nothing may.
	Open string `json:"open,omitempty"`
}

// Kind is what a thread waits for.
type Kind string

// What threads wait for.
const (
	ForRequests   Kind = "requests"   // all of Waits
	ForAny        Kind = "any"        // one of Waits
	ForMessage    Kind = "message"    // a probe, for a message from Peer with Tag
	ForMembers    Kind = "members"    // the other members of Comm, in a collective operation
	ForWindow     Kind = "window"     // a synchronization of a window, or requests of it
	ForFile       Kind = "file"       // an access to a file
	ForRoom       Kind = "room"       // attached buffers
	ForConnection Kind = "connection" // processes of another job
	ForEnd        Kind = "end"        // what is left to do at the end of MPI
)

// Thread is one that is blocked.
type Thread struct {
	Call string `json:"call,omitempty"` // "MPI_Recv"
	Args []Arg  `json:"args,omitempty"` // those that are known, in the order of the call's arguments
	For  Kind   `json:"for"`

	// Comm is 1 more than Comm.ID; 0: none, or not known, or several. Peer and Tag are those of what it waits for, if that
	// is one message.
	Comm  uint64 `json:"comm,omitempty"`
	Peer  int    `json:"peer"`
	World int    `json:"world"`
	Tag   int    `json:"tag"`
	// Routine and Number say which collective operation it is: as Collective has them.
	Routine string    `json:"routine,omitempty"`
	Number  uint64    `json:"number,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`  // of the longest buffer of a collective operation; 0: not known
	Object  string    `json:"object,omitempty"` // the window or file
	Waits   []Message `json:"waits,omitempty"`  // the requests that are not done
	// WaitCount is how many these are, among the first Most, and Requests how many the call was given.
	WaitCount int `json:"waitCount,omitempty"`
	Requests  int `json:"requests,omitempty"`

	Since int64 `json:"since"` // nanoseconds it has waited
	// Settled reports that the thread sleeps, and nothing has come since it has looked for the last time.
	Settled bool `json:"settled,omitempty"`

	// Site is the line of the program that made the call ("solver.c:118"), and Returns the addresses that lead there, the
	// innermost first, which whoever knows the process's memory makes it from. Either may be missing.
	Site    string    `json:"site,omitempty"`
	Returns []Address `json:"returns,omitempty"`
}

// Arg is an argument of a call.
type Arg struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Address is one of the program's code.
type Address struct {
	File   string `json:"file,omitempty"` // the program or library
	Offset uint64 `json:"offset"`         // in that file's addresses; in memory if File is ""
}

// Message is a message of this process, or a request for something else.
type Message struct {
	Kind  string `json:"kind"` // send, ssend, bsend, recv, or: collective, file, window, psend, precv, general, compound
	Comm  uint64 `json:"comm,omitempty"`
	Peer  int    `json:"peer"`
	World int    `json:"world"`
	Tag   int    `json:"tag"`
	Bytes int64  `json:"bytes"` // receive: the room for it
	Count int64  `json:"count,omitempty"`
	Type  string `json:"type,omitempty"`
	// State is how far it has come: posted, asked (a send that waits for its receive), flows, held (no packet has left),
	// unready (a partitioned send, of which the program has not marked Missing partitions as ready).
	State   string `json:"state,omitempty"`
	Missing int    `json:"missing,omitempty"`
	// Routine is the collective operation that it is of; empty: it is the program's own message.
	Routine string `json:"routine,omitempty"`
	// Internal says that it is a message that the library sends for another call.
	Internal bool `json:"internal,omitempty"`
}

// Collective is an operation under way.
type Collective struct {
	Comm    uint64 `json:"comm,omitempty"`
	Routine string `json:"routine"` // MPI_Ibcast
	Number  uint64 `json:"number"`  // of those of its form on the communicator: the same at all members
	Board   bool   `json:"board,omitempty"`
	Missing int    `json:"missing,omitempty"` // messages that its step waits for
}

// Window is a window in an epoch.
type Window struct {
	Name    string `json:"name,omitempty"`
	Comm    uint64 `json:"comm,omitempty"`
	Epoch   string `json:"epoch"`             // in words
	Targets []int  `json:"targets,omitempty"` // that are locked, or of the group, as ranks of Comm
}

// File is an open file.
type File struct {
	Name    string `json:"name,omitempty"`
	Pending int    `json:"pending"` // accesses
}

// Comm is a communicator.
type Comm struct {
	// ID is the context: the same at all members. Communicators without common members may have the same one.
	ID     uint64 `json:"id"`
	Name   string `json:"name,omitempty"`
	Rank   int    `json:"rank"`
	Size   int    `json:"size"`             // of the local group
	Remote int    `json:"remote,omitempty"` // of the remote group of an intercommunicator
	// Members are ranks in MPI_COMM_WORLD of the group that messages name, the remote one of an intercommunicator: runs
	// of numbers that follow one another. Processes of other jobs have numbers above those of this one.
	Members []Run `json:"members,omitempty"`
}

// Run is Count numbers from First.
type Run struct {
	First int `json:"first"`
	Count int `json:"count"`
}
