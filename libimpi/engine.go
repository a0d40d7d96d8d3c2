// Package libimpi is the MPI engine: communicators, groups, requests, matching and progress.
//
// A message's way, outward: Comm.Send or Isend -> start (send.go) -> the peer's outbox -> Transport.Send. What follows
// the first packet of a long one is package protocol's.
// Inward: poll (progress.go) -> Transport.Poll -> Deliver (recv.go) -> matching (package match) -> the receive's
// buffer, or a copy that waits for its receive.
//
// The thread that calls MPI does the work: it takes the engine's lock, and while it waits it polls the transports
// itself. Where sockets are in use, a watcher takes the same lock and polls when no thread of the program does.
//
// # Locks
//
// A thread takes locks in this order, and never one that stands before another it holds:
//
//	gobridge: starting     start and end of MPI take turns; held while a process joins its job, or leaves it
//	gobridge: tables       of attributes, handles, infos, error handlers, ports and tools: each guards its own table for
//	                       the time of a look; functions of the program are not called under one
//	onesided.Window.mu     the epochs of a window, and its tables of memory
//	file.File.mu           the view of a file and the position in it
//	accumulate locks       of a target, in shared memory: held while elements are combined there
//	waiting.watcher        held while the socket watcher, or a timer, is in the engine; who ends the engine takes it and
//	                       says that it is over
//	Engine.mu              everything that messages touch: all fields of Engine, Comm, Request, Task and peer that do not
//	                       say otherwise
//	locks of transports    each has its own; they call Deliver under none of them, but under Engine.mu, as Poll is
//
// Engine.mu is a word in memory that C shares: the fast path takes the same lock for the time of a short message. It is
// held for as long as a poll or a copy of some hundred kilobytes takes; waitFor gives it up between two polls while it
// spins, and while it sleeps. Only the end of the job holds it for as long as other clients need to part
// (finishRemote), when no other thread of the program may be in MPI. Functions of the program are called without it
// (callProgram). What may be read without it is atomic, and says so; what is set before the engine has a second thread
// (New to Open) is never written again.
package libimpi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/libimpi/survive"
	"github.com/libimpi/libimpi/libimpi/unexpected"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Engine is the state of one MPI process. Engine.mu guards all of it that is not atomic, or never written after the
// start. State stands in groups, by subject.
type Engine struct {
	mu     futex.Mutex    // in memory that the bridge's C shares
	bell   transport.Bell // on which threads sleep
	home   transport.Home
	shared *Shared // counters for the bridge's fast path

	me       int32
	job      *transport.Job
	peers    []peer // by world rank; others go by peer (guest.go)
	position position
	guests   guestTable // processes of other jobs

	ways     carriers // the transports
	waiting  waitState
	requests requestTable
	contexts contextTable
	protocol protocol.Machine
	sent     uint64 // messages started to other processes
	pressure pressure.Bounds
	messages unexpected.Pool[Request]
	now      func() time.Time

	collectives collectiveState
	thread      background.Thread // goes on with long transfers while the program computes
	files       file.Pool         // accesses that are under way while the program goes on
	spares      onesided.Spares   // of freed windows

	predefined predefined
	watch      watch // what tools want to know (counters.go)
	loss       loss
	windows    []*Window // that are open
	caller     Caller    // of the program's threads
}

// position is where the process stands in its job, its client and its machine. Never written after the start.
type position struct {
	jobID      [16]byte // different for all jobs in the world
	memory     [16]byte // how data looks in the memory of the job's processes; zero: not the same everywhere
	size       int32    // of MPI_COMM_WORLD
	machine    int32    // the lowest world rank of this machine's
	companions int      // processes of this client, this one among them
	others     int      // processes on this machine that carry packets for us
	spread     bool     // a client has processes on several machines
	alone      bool     // no other process shares this machine's memory with this one
}

// carriers are the transports. A carrier of one that is missing has no Transport.
type carriers struct {
	local   carrier // inside the machine
	network carrier // to other machines and clients
	vendor  carrier // to the others of this client that share no memory with this one, by another MPI library
	library struct {
		name      string // of that library
		apart     bool   // it carries all that is said inside this client
		freeLines uint64 // of its collective operations, a bit each (vendor.go)
		left      uint32 // operations that were left to it
		carried   int    // requests for whose sake it is looked after while the program computes
	}
}

// waitState is what threads that wait for something have to know (progress.go).
type waitState struct {
	sleepers int          // threads that sleep or are about to
	timed    atomic.Bool  // their sleep is added up
	asleep   atomic.Int64 // nanoseconds, since then
	ticks    uint32
	turns    uint32        // Shared.Turns as last seen
	budget   time.Duration // how long a wait polls before it sleeps
	nap      uint32        // rounds of a spin loop between two looks at sockets; 0: there are none
	offers   uint32        // polls between two offers of the core (progress.go)
	patient  atomic.Bool   // more ranks than cores on this machine: do not spin
	probes   []probe       // that wait
	blocked  []*blocked    // threads that wait and have slept (blocked.go)
	unused   []*blocked    // memory for others
	moves    uint64        // what has come for them, and waits of theirs that are over

	watcher sync.Mutex // held while the socket watcher polls; guards over
	over    bool       // the engine's lock is about to go away
}

// collectiveState are the collective operations under way, and what decides how they go.
type collectiveState struct {
	onBoards  []*Task           // operations on boards that are under way
	ready     []*Task           // operations that can go on (task.go)
	calls     []*Task           // those whose next step is to call a function of the program
	idle      []*Task           // tasks that are not in use
	mostTasks int               // numbers of each kind (collective.go)
	openBoard func(*Comm) error // Config.OpenBoard
	verifies  atomic.Bool       // compare the calls of collective operations (verify.go)
	checks    atomic.Uint32     // all that is checked: a checks.Set
	noBoards  atomic.Bool       // collective operations go by messages
}

// predefined is what MPI predefines.
type predefined struct {
	world, self *Comm
	tagUB       int32
	buffer      attachedBuffer // of MPI_Buffer_attach
}

// loss is that of peers.
type loss struct {
	failed atomic.Pointer[Error] // set once: a peer was lost, which ends the job
	some   bool                  // a process is lost and the job goes on, a communicator is revoked, or others say so
	onLost func(*Error)          // tells the job; called without the lock
	onGone func(*Comm)           // Config.OnGone

	condemn    func(int32, bool, error) // Config.Condemn
	survivors  []*survivors             // of all communicators that have needed them
	retired    []*survivors             // those of communicators that have been freed, the oldest first
	early      survive.EarlyWords
	operations uint64 // that survivors have begun
	unsettled  int    // of these, how many are under way
}

// carrier is a transport with all that it can do; what it cannot do is nil.
type carrier struct {
	transport.Transport
	reader   transport.Reader
	writer   transport.Writer
	streamer transport.Streamer
	offerer  transport.Offerer
	holder   transport.Holder
	shutter  transport.Shutter
	gatherer transport.Gatherer
	waker    transport.Waker
	rester   transport.Rester
	spinner  transport.Spinner
	examiner transport.Examiner
	loop     transport.Loop
	finisher transport.Finisher
	counter  transport.Counter

	collective transport.Collective
}

// carry finds out what a transport can do. tr may be nil.
func carry(tr transport.Transport) carrier {
	c := carrier{Transport: tr}
	c.reader, _ = tr.(transport.Reader)
	c.writer, _ = tr.(transport.Writer)
	c.streamer, _ = tr.(transport.Streamer)
	c.offerer, _ = tr.(transport.Offerer)
	c.holder, _ = tr.(transport.Holder)
	c.shutter, _ = tr.(transport.Shutter)
	c.gatherer, _ = tr.(transport.Gatherer)
	c.waker, _ = tr.(transport.Waker)
	c.rester, _ = tr.(transport.Rester)
	c.spinner, _ = tr.(transport.Spinner)
	c.examiner, _ = tr.(transport.Examiner)
	c.loop, _ = tr.(transport.Loop)
	c.finisher, _ = tr.(transport.Finisher)
	c.counter, _ = tr.(transport.Counter)
	c.collective, _ = tr.(transport.Collective)
	return c
}

// connected reports whether there is a transport at all.
func (c *carrier) connected() bool { return c.Transport != nil }

// Shared is what the bridge's fast path, in C, wants to know of the engine. The engine's lock guards it.
type Shared struct {
	UnderWay uint32 // requests that are not complete: somebody has to poll for them
	Queued   uint32 // peers with packets that wait for room: sends must not overtake them
	Gathered uint32 // not 0: something waits to leave until the program waits or tests
	Turns    uint32 // not the engine's: how often the fast path has completed requests
}

// hasWork says, without the lock, whether somebody had better poll. It need not be up to date.
//
//go:norace
func (s *Shared) hasWork() bool { return s.UnderWay|s.Queued != 0 }

// sentRequest is the id of the request that stands for every send that is complete already.
const sentRequest = 1<<32 | 1

// peer is one process of MPI_COMM_WORLD as a message's destination.
type peer struct {
	protocol.Peer
	tr      transport.Transport // nil for this process itself, and for one that is not there
	rep     datatype.Rep        // what IMPI mandates; Comm.rep and windowEngine.Rep say what holds
	local   int                 // rank in this machine's segment, -1 if the peer is elsewhere
	stream  transport.Streamer  // takes continuations without a copy; nil if its transport does not
	direct  transport.Reader    // may read the peer's memory; nil if its transport cannot
	gather  transport.Gatherer  // packets to the peer may leave together; nil: there is no gain
	hold    transport.Holder    // tells and hears who keeps too much; nil if the peer would not understand
	shutter transport.Shutter   // may leave what the peer sends unacknowledged; nil if its transport cannot
	guest   *guest              // what is known of a process of another job; nil for the own job's
	lost    *Error              // nil: it is there
	certain bool                // all take it for lost, or will (isSettled in loss.go)

	unmatched unexpected.Kept[Request]
}

// contextTable finds a context by id. Ids are dense and grow; a slice serves those below its length and a map
// the rest (MPI_COMM_SELF, and ids that another client's count has driven far ahead).
type contextTable struct {
	low   []*context
	high  map[uint64]*context
	early unexpected.Early[Request] // messages for those that are not known yet (context.go)
	spare []*context                // of freed communicators (comm.go)
	ids   contexts.IDs              // that are in use
}

const lowContexts = 1 << 16

func (t *contextTable) find(cid uint64) *context {
	if cid < uint64(len(t.low)) {
		return t.low[cid]
	}
	return t.high[cid]
}

func (t *contextTable) add(c *context) {
	if c.cid >= lowContexts {
		if t.high == nil {
			t.high = make(map[uint64]*context)
		}
		t.high[c.cid] = c
		return
	}
	for uint64(len(t.low)) <= c.cid {
		t.low = append(t.low, nil)
	}
	t.low[c.cid] = c
}

func (t *contextTable) drop(cid uint64) {
	if cid < uint64(len(t.low)) {
		t.low[cid] = nil
		return
	}
	delete(t.high, cid)
}

// all calls f with each context.
func (t *contextTable) all(f func(*context)) {
	for _, c := range t.low {
		if c != nil {
			f(c)
		}
	}
	for _, c := range t.high {
		f(c)
	}
}
