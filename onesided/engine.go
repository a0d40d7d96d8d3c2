package onesided

import (
	"fmt"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Engine is what a window needs of the engine of its process, which has one for each window. Members of the window
// are named by their ranks in it.
//
// One lock, the engine's, guards what messages touch: Carrier, Requests and Peers are called under it, but for what
// says otherwise, and so are Window.Serve and the functions that end messages. It comes after all other locks: it may
// be taken while Window.mu or the accumulate lock of a target (words_unsafe.go) is held, and not the other way round.
type Engine struct {
	Done uint64 // the request of everything that is complete
	Members
	Machine
	Progress
	Carrier
	Requests
	Peers
}

// Members are the processes that have the window. All of them make collective calls, in the same order; these block,
// and are called without the lock.
type Members interface {
	fmt.Stringer // names them, for messages
	// Comm is what algorithms see of a communicator that only the window has.
	Comm() coll.Comm
	// Allgather gathers len(own) numbers of each member, in the order of ranks; all has room for them. Collective.
	Allgather(own, all []uint64) error
	// Barrier returns when all members have called it. Collective.
	Barrier() error
	// Agree returns when all members that are not lost have called it, at all of them with an error if some are lost.
	// It is for windows that are Config.Tolerant. Collective.
	Agree() error
	// ReduceScatter returns the sum of what all members give for this one: own has a number for each. It returns when all
	// members have called it. Collective.
	ReduceScatter(own []uint64) (uint64, error)
	// Sharers are the members of this machine; their Ranks are empty if it has no memory for several processes.
	Sharers() *Sharers
}

// Machine is what the words of a window need of the engine. Its functions are called without the lock.
type Machine interface {
	// Await returns when the word is at least so large, and makes progress until then. Errors: the job has failed, or
	// inVain returns one, which is asked under the engine's lock when members are lost or the window is revoked.
	Await(word *uint64, least uint64, inVain func() error) error
	// Wake wakes a member of the window, by its rank, if it sleeps. The word that it may wait for has been stored.
	Wake(rank int)
	// Relax lets others go on, who may hold a lock that is held for moments only, and makes progress. Errors: the job has
	// failed.
	Relax() error
}

// Progress is the engine's lock, and how a thread waits for what others do.
type Progress interface {
	Lock()
	Unlock()
	// WaitFor makes progress until the condition holds, or the job has failed. Lock held, given up while waiting.
	WaitFor(c Condition)
	// Poll makes progress for a thread of the program that waits for nothing. Lock held, given up while functions of
	// the program are called.
	Poll()
	// Turn is Poll for a thread that does not have the lock.
	Turn()
	// Ring wakes threads of this process that sleep in WaitFor: what they wait for may hold now.
	Ring()
	// Failure is that of the job, which ends all use of the window; nil: it goes on. Members may be lost nevertheless
	// (Window.Lost). With the lock or without.
	Failure() error
}

// Condition is what a thread waits for.
type Condition interface {
	// Holds is called under the lock, again and again.
	Holds() bool
}

// Space is where a message between two members travels. Those of one origin in a space arrive in order.
type Space uint8

const (
	Asks Space = iota // requests, with tag 0: each goes to the target's Window.Serve
	Data              // long puts, and what is sent back, by tags: each is received by Receive
)

// Carrier carries messages between members, without a copy of what is long: memory stays as it is until the end. The
// end of a message is told by a function, nil if nobody is interested, which may be called at once. whole says that as
// much was received as there was room for.
type Carrier interface {
	// SendShort sends a message if it is short and can leave at once; then it has its end, too. False: Send does.
	SendShort(on Space, b Buf, to int, tag int32) bool
	Send(on Space, b Buf, to int, tag int32, end func(whole bool, err error))
	// Receive receives a message of Data.
	Receive(b Buf, from int, tag int32, end func(whole bool, err error))
	// Post says that what is sent to a member until Posted belongs to one call: messages of several calls may leave
	// together.
	Post(to int)
	Posted(to int)
	// Cork says that what is sent to a member until Uncork leaves together. The lock is kept, and they do not nest.
	Cork(to int)
	Uncork()
}

// Requests are those of the program, for calls that answer one.
type Requests interface {
	// NewRequest is a request under way.
	NewRequest() uint64
	// Complete ends it, with an error or nil.
	Complete(request uint64, err error)
	// Away says that the program goes on while messages may be under way.
	Away()
}

// Peers are the other members, one by one.
type Peers interface {
	// Serve makes what others ask for go to w.Serve from now on, with what has come already; nil ends that. Called
	// without the lock.
	Serve(w *Window)
	// Rep is how data looks on its way to and from a member.
	Rep(rank int) datatype.Rep
	// Breach says that a member breaks the rules, and how: it is lost.
	Breach(rank int, what string)
	// Reaches tells whether Move can read and write a member's memory in general.
	Reaches(rank int) bool
	// Move is transport.Writer's for a member that is reached: with the lock or without.
	Move(rank int, here, there []transport.Run, put bool) bool
}
