// Package libimpi is the MPI engine: communicators, groups, requests, matching and progress.
//
// A message's way, outward: Comm.Send or Isend -> start (send.go) -> the peer's queue -> Transport.Send.
// Inward: poll (progress.go) -> Transport.Poll -> Deliver (recv.go) -> matching (package match) -> the receive's
// buffer, or a copy that waits for its receive.
//
// One lock, Engine.mu, guards everything that messages touch. The thread that calls MPI does the work: it
// takes the lock, and while it waits it polls the transports itself. Where sockets are in use, a watcher
// takes the same lock and polls when no thread of the program does.
package libimpi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Engine is the state of one MPI process.
type Engine struct {
	mu   futex.Mutex    // in memory that the bridge's C shares
	bell transport.Bell // on which threads sleep
	home transport.Home

	me     int32
	job    *transport.Job
	jobID  [16]byte // different for all jobs in the world
	memory [16]byte // how data looks in the memory of the job's processes; zero: not the same everywhere
	peers  []peer   // by world rank; others go by peer (guest.go)
	size   int32    // of MPI_COMM_WORLD

	guests  guestTable
	far     []*carrier                        // to guests on other machines; nil: there are none
	leaving []*peer                           // guests that nothing needs any more
	nobody  peer                              // stands for guests that have gone
	begin   func() (transport.Meeting, error) // transport.Links.Meet
	indexer transport.Indexer                 // of local; nil: it has none

	local   carrier // inside the machine
	alone   bool    // no other process shares this machine's memory with this one
	network carrier // to other machines and clients; has no Transport if there are none
	vendor  carrier // to the others of this client if another MPI library carries what they say, else it has none

	vendorName string // of that library
	freeLines  uint64 // of its collective operations, a bit each (vendor.go)
	companions int    // processes of this client, this one among them
	left       uint32 // operations that were left to it
	sleepers   int    // threads that sleep or are about to
	carried    int    // requests for whose sake it is looked after while the program computes
	others     int    // processes on this machine that carry packets for us
	machine    int32  // the lowest world rank of this machine's
	spread     bool   // a client has processes on several machines
	ticks      uint32
	turns      uint32        // Shared.Turns as last seen
	seq        uint64        // messages started to other processes
	budget     time.Duration // how long a wait polls before it sleeps
	nap        uint32        // rounds of a spin loop between two looks at sockets; 0: there are none
	patient    atomic.Bool   // more ranks than cores on this machine: do not spin

	shared *Shared // counters for the bridge's fast path

	requests requestTable
	messages messagePool
	contexts contextTable
	busy     []int32      // peers that have something queued
	flowing  int          // receives to which the rest of a message comes from another machine
	ids      contexts.IDs // that are in use

	heldAt     int64   // bytes of unexpected messages at which their sender is held, if it is in this machine
	restrainAt int64   // and if it is elsewhere
	shut       []int32 // processes whose packets are not acknowledged (restrain.go)
	probes     []probe // that wait

	spareContexts []*context      // of freed communicators (comm.go)
	spares        onesided.Spares // of freed windows
	buffer        attachedBuffer
	world, self   *Comm
	tagUB         int32

	pulling   []*Request        // receives that share their message with the sender, the oldest first (claims.go)
	pullSince time.Time         // since when nothing has come for the first of them; zero: not known
	now       func() time.Time  // Home.Now
	onBoards  []*Task           // operations on boards that are under way
	openBoard func(*Comm) error // Config.OpenBoard
	verifies  atomic.Bool       // compare the calls of collective operations (verify.go)
	noBoards  atomic.Bool       // collective operations go by messages
	direct    bool              // long messages are copied from memory to memory where that can be
	past      bool              // the ring is stored to past the caches
	cost      readCost          // transport.Reader.Cost
	readAll   bool              // never stream what can be read

	ready []*Task // collective operations that can go on (task.go)
	calls []*Task // those whose next step is to call a function of the program
	tasks []*Task // not in use

	mostTasks int // numbers of each kind (task_number.go)

	thread progressThread // goes on with long transfers while the program computes
	files  file.Pool      // accesses that are under way while the program goes on

	last struct { // what WaitAny or TestAny has completed last
		id    uint64 // of a persistent request; 0: of another one
		index int
	}

	watch watch // what tools want to know (counters.go)

	header transport.Header
	reply  transport.Header

	watcher sync.Mutex // held while the socket watcher polls; guards over
	over    bool       // the engine's lock is about to go away

	failed atomic.Pointer[Error] // set once: a peer was lost
	onLost func(*Error)          // tells the job; called without the lock
	onGone func(*Comm)           // Config.OnGone
}

// carrier is a transport with all that it can do; what it cannot do is nil.
type carrier struct {
	transport.Transport
	reader   transport.Reader
	writer   transport.Writer
	streamer transport.Streamer
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
	rank    int32
	tr      transport.Transport // nil for this process itself, and for a guest that is not there
	limits  transport.Limits
	rep     datatype.Rep       // what IMPI mandates; Comm.rep and windowEngine.Rep say what holds
	local   int                // rank in this machine's segment, -1 if the peer is elsewhere
	stream  transport.Streamer // takes continuations without a copy; nil if its transport does not
	longest int                // such a continuation, in bytes; 0: limits.Packet
	direct  transport.Reader   // may read the peer's memory; nil if its transport cannot
	gather  transport.Gatherer // packets to the peer may leave together; nil: there is no gain
	hold    transport.Holder   // tells and hears who keeps too much; nil if the peer would not understand
	shutter transport.Shutter  // may leave what the peer sends unacknowledged; nil if its transport cannot
	guest   *guest             // what is known of a process of another job; nil for the own job's

	// What waits for room, in the order in which it must leave: control packets, first packets, and then the
	// continuations of long messages, a piece of each in turn.
	control controlQueue
	first   requestQueue
	streams requestQueue
	queued  bool // stands in Engine.busy

	// Bounds on unexpected messages (held.go, restrain.go), in bytes.
	kept    int64  // of the peer's, here
	held    bool   // the peer has been told that they are too many
	ignored int64  // of messages that it has sent since as if it did not know
	unasked int64  // sent to the peer, on another client, since the last message before which all is accounted for
	asked   uint64 // the request whose answer is due; 0 if none
	before  int64  // unasked when it was sent
	shut    bool   // what it sends is not acknowledged
	owes    int32  // packets that it will send, elsewhere, because we have asked for them
	lookAt  int64  // kept at which to look whether it is needed, and to shut it
	lapse   time.Duration
	timer   *time.Timer // of the lapse

	// What is kept of the peer and has not been matched (kept.go).
	newest *message
	index  map[uint64]*byID // by request id; nil: nobody has searched long

	slots   uint8  // claims in use for messages from the peer, by slot
	offered int64  // bytes of long messages to the peer that it may read and has not answered
	uses    uint16 // how often any of them has been used
	fresh   freshness
}

// controlQueue is a FIFO of packets without payload. Those that have left stay at its front until they are as many as
// those that wait: a peer may have thousands of answers waiting, and take a few at a time.
type controlQueue struct {
	packets []transport.Header
	left    int
}

func (q *controlQueue) waiting() []transport.Header { return q.packets[q.left:] }

// sent notes that the first n that wait have left.
func (q *controlQueue) sent(n int) {
	if q.left += n; 2*q.left >= len(q.packets) {
		q.packets = q.packets[:copy(q.packets, q.waiting())]
		q.left = 0
	}
}

// requestQueue is a FIFO of sends, linked through Request.next.
type requestQueue struct{ head, tail *Request }

func (q *requestQueue) push(r *Request) {
	r.next = nil
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.next = r
	}
	q.tail = r
}

func (q *requestQueue) pop() *Request {
	r := q.head
	q.head = r.next
	if q.head == nil {
		q.tail = nil
	}
	r.next = nil
	return r
}

// remove takes r out of the queue and reports whether it was there.
func (q *requestQueue) remove(r *Request) bool {
	var before *Request
	for x := q.head; x != nil; before, x = x, x.next {
		if x != r {
			continue
		}
		if before == nil {
			q.head = r.next
		} else {
			before.next = r.next
		}
		if q.tail == r {
			q.tail = before
		}
		r.next = nil
		return true
	}
	return false
}

// contextTable finds a context by id. Ids are dense and grow; a slice serves those below its length and a map
// the rest (MPI_COMM_SELF, and ids that another client's count has driven far ahead).
type contextTable struct {
	low   []*context
	high  map[uint64]*context
	early map[uint64]earlyQueue // messages for those that are not known yet (early.go)
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
