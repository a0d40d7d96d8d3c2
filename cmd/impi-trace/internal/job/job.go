// Package job is the trace of a job as the analysis and all views see it: ranks, their calls, the two halves of each
// message, and their part in collective operations. It is plain data; package load makes it of a trace.
//
// Times are nanoseconds since the job began, on one clock. A call takes 56 bytes, half a message 32, and a part of a
// collective operation 24, so that 10^7 calls fit into a gigabyte.
package job

// Job is what a trace tells.
type Job struct {
	Program string
	Names   []string // of functions, by Call.Function: MPI_Send
	Classes []Class  // of the same
	Comms   []Comm
	Sites   []Site
	Ranks   []Rank   // by their rank in MPI_COMM_WORLD
	Faults  []string // what of the trace is not there, in words
}

// Comm is a communicator.
type Comm struct {
	Name    string
	Members []int32 // ranks in MPI_COMM_WORLD; nil: some are of another group or job
}

// Site is a line of the program; Line 0: unknown, and File may be a library.
type Site struct {
	File     string
	Function string
	Line     int
}

// Rank is what one process did.
type Rank struct {
	Missing    bool // there is no trace of it
	Machine    string
	Begin, End int64  // when it was in MPI, as far as known
	Calls      []Call // by Start; calls of several threads overlap
	Sends      []Half // in the order of the calls
	Receives   []Half // in the order in which they were posted
	Parts      []Part // in the order of the calls
	HeadLost   bool   // the oldest calls were not kept
	TailLost   bool   // the newest calls were not kept
}

// Call is a call of MPI.
type Call struct {
	Start, End int64
	Bytes      int64 // of its messages, as far as known
	Site       int32 // of Job.Sites; -1: unknown
	Comm       int32 // of Job.Comms; -1: none
	Peer       int32 // rank in MPI_COMM_WORLD of the other side, or of the root; -1: none
	Tag        int32
	Function   uint16 // of Job.Names
	Thread     uint16
}

// Half is one side of a message.
type Half struct {
	Bytes int64
	Call  int32 // of Rank.Calls: the call that began it
	Done  int32 // the call in which it was completed; -1: unknown
	Peer  int32 // rank in MPI_COMM_WORLD of the other side
	Comm  int32
	Tag   int32
	Way   Way
}

// Way is how a message travelled.
type Way uint8

const (
	Unknown     Way = iota
	Eager           // the sender does not wait for the receiver
	Rendezvous      // the sender waits until the receive is there
	Partitioned     // matches other messages of this kind only
)

// Part is what one process did in a collective operation.
type Part struct {
	Call   int32 // the call that began it
	Done   int32 // the call in which it was completed; -1: unknown
	Comm   int32
	Root   int32 // rank in MPI_COMM_WORLD; -1: none, or unknown
	Number int32 // of the operation on its communicator if Numbered
	// Numbered operations have a number from the trace; others are counted.
	Numbered bool
}

// Begin is the first time of all ranks: 0, or later if only a part was loaded.
func (j *Job) Begin() int64 {
	begin := int64(-1)
	for i := range j.Ranks {
		if r := &j.Ranks[i]; !r.Missing && (begin < 0 || r.Begin < begin) {
			begin = r.Begin
		}
	}
	return max(0, begin)
}

// Span is the length of the job.
func (j *Job) Span() int64 {
	end := int64(0)
	for i := range j.Ranks {
		end = max(end, j.Ranks[i].End)
	}
	return max(0, end-j.Begin())
}

// Count is how many calls there are.
func (j *Job) Count() (calls int) {
	for i := range j.Ranks {
		calls += len(j.Ranks[i].Calls)
	}
	return calls
}

// Name is the function of a call.
func (j *Job) Name(c *Call) string { return j.Names[c.Function] }

// Class is what kind of function a call is.
func (j *Job) Class(c *Call) Class { return j.Classes[c.Function] }
