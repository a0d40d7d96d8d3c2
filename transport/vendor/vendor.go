// Package vendor carries packets between the processes of one client by another MPI library, that of the machine's
// vendor: inside the client its fabric is used, between clients IMPI. The package sees the library as the interface
// MPI; gobridge/vendor has the real one, and the tests have one in memory.
//
// A packet is a message of the library with a header of fixed layout (packet.go) and the payload behind it. A long
// continuation is two messages: a packet without its payload, and the payload straight out of the user's buffer, which
// the receiver takes to where the engine says. An offer is a packet, and the first bytes of its message straight out of
// the user's memory under a tag of their own: the receiver takes them when it has matched the packet.
//
//	outward:  Send -> a buffer -> MPI.Isend              SendLong -> packet, then MPI.Isend of the user's memory
//	          Offer -> packet, then MPI.Isend of the user's memory; Poll -> MPI.Test -> Released
//	inward:   MPI.Post of a buffer; Poll -> MPI.Testany -> Deliver
//	                  or MPI.Improbe -> MPI.Imrecv -> a buffer -> Deliver
//	                  and of a long one: MPI.Improbe -> MPI.Imrecv to Placer.Place -> Deliver
//	          Fetch -> MPI.Irecv of the user's memory; Poll -> MPI.Test -> Released
//	together: Begin -> MPI.Begin of a nonblocking collective operation; Poll -> MPI.Test -> Over
//
// Flow control: a process has at most window packets under way to another that have not been acknowledged, so that the
// library never buffers more than that for a receiver that does not read. Each packet acknowledges what has come from
// its destination, and a packet of kind ProtoAck does where no other leaves.
//
// Locking: the engine's lock guards all but Arm and the watcher (watch.go). An error of the library is the end for all
// peers, because nobody can say what still works; a packet that breaks the rules is the end of its sender only.
//
//	vendor.go   the interface MPI, and the Transport
//	packet.go   packets as bytes
//	send.go     outward
//	ahead.go    receives that are posted ahead
//	receive.go  inward
//	offers.go   what envelopes offer
//	together.go collective operations
//	watch.go    waking up: the library cannot
//	finish.go   the end
package vendor

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
)

// MPI is the other library, as one process sees it: messages and collective operations on communicators that are used
// for nothing else, whose members are the processes of the client. None of its methods blocks, and one thread at a time
// calls them. An error says that the library has failed and is not to be used any more, but for a collective operation.
type MPI interface {
	// Isend begins to send b to the process of a rank. b stays as it is until Test has answered true for the request.
	// Done: that is so already.
	Isend(b []byte, to, tag int) (Request, error)
	// Improbe takes a message with a tag that has come from a process, or from Any, out of the library's queue. Messages
	// of one process and tag come in the order sent. false: there is none.
	Improbe(from, tag int) (Message, bool, error)
	// Imrecv begins to receive a message of Improbe into b, which has as many bytes as the message.
	Imrecv(m Message, b []byte) (Request, error)
	// Irecv begins to receive the next message of a process with a tag into b, which has as many bytes.
	Irecv(b []byte, from, tag int) (Request, error)
	// Post posts receive number at, 0 to Posts-1, of a message of a process with a tag, into b. It matches messages as a
	// call of Improbe would that is repeated, in order with these calls. The number is free again when Testany has
	// returned it, or after Withdraw.
	Post(at int, b []byte, from, tag int) error
	// Testany looks for one of the first n posted receives that is done, and returns its number and the bytes it got;
	// those that are free it leaves out. A message that is longer than the receive's memory is an error.
	Testany(n int) (at, bytes int, ok bool, err error)
	// Withdraw cancels posted receive number at, which no message has met.
	Withdraw(at int) error
	// Test reports whether a request is done, which is of no use any more then.
	Test(r Request) (bool, error)
	// Begin begins a collective operation on one of Communicators communicators. Its root is a rank of the library.
	Begin(communicator int, o *transport.Operation) (Request, error)
}

// Communicators is how many there are for collective operations. The first one is the transport's own.
const Communicators = 8

// Request is an operation of the library that is under way.
type Request uintptr

// Done is the request of what is complete.
const Done Request = 0

// Message is one that has come and belongs to whoever has taken it.
type Message struct {
	Handle uintptr // the library's
	From   int     // rank
	Len    int     // bytes
}

// Any is for a message of any process.
const Any = -1

// The tags. Those of one kind of message have the same, so that they come in the order sent.
const (
	tagPacket = 1
	tagLong   = 2 // the payload of a long continuation
	tagOffer  = 3 // and slots-1 more: what is offered, by slot
)

const (
	// maxPacket is the most bytes of a payload that is copied. From about that length on, two copies take longer than what
	// an offer costs, a packet more. And for packets that the library sends by a rendezvous of its own each waits for the
	// one before it to be received, since one receive is posted.
	maxPacket = 32 << 10
	maxStream = 4 << 20 // of one that is not

	// maxOffer is the most bytes of an offer. It goes in pieces: longer ones take MPICH 4 and Open MPI 4 several times as
	// long over TCP, and while they are on their way, the answer that the rest of the message waits for has come.
	maxOffer                = offerPieces * offerPiece
	offerPieces, offerPiece = 8, 128 << 10

	slots     = 64 // for offers to one process, as many as packets
	window    = 64 // packets under way to one process that it has not acknowledged
	ackEvery  = window / 2
	keep      = 32               // buffers for later
	maxUnsent = keep * bufferLen // bytes of packets to one process that the library has not sent, but for the last
	bufferLen = headerLen + maxPacket
)

// Config says how to make a Transport.
type Config struct {
	MPI      MPI
	World    []int32 // world rank of each process, by its rank in the library; all different
	Rank     int     // of this process in the library
	Near     []int32 // world ranks that need no library: they send nothing by it, nor does this process to them
	Receiver transport.Receiver
	Wake     func() // calls the engine from the watcher's goroutine
}

// Transport carries packets to the other processes of the client.
type Transport struct {
	mpi    MPI
	rx     transport.Receiver
	placer transport.Placer   // nil: rx is none
	owner  transport.Releaser // nil: rx is none
	me     int32
	rank   int

	peers []*peer         // by rank; of ourselves: nil
	index map[int32]*peer // by world rank

	posts    []post // receives of packets, posted ahead (ahead.go)
	spent    int    // the number of the one to be posted before the next look; -1: none
	unposted int    // processes for which there is none
	looks    uint

	free     [][]byte // buffers of bufferLen bytes
	sending  []*peer  // those with packets that the library has not sent yet
	arriving []*peer  // those of which something has come that is not complete
	together []under  // collective operations
	moving   []moving // of offers, at either end
	looked   int      // the one of them to be looked at next
	owing    []*peer  // those that an acknowledgement may have to go to
	mourned  []*peer  // those that are lost and not yet reported

	inside    bool
	finishing bool // nothing is delivered any more
	silent    bool // and nothing sent
	over      bool // the library is not called any more
	header    transport.Header
	first     arrival // the packet that has just come

	posted []uint32 // messages sent, by rank
	taken  uint32   // messages taken
	counts transport.Counts

	watch watch
	wake  func()

	polls, worked atomic.Uint32 // calls of Poll, and those that have done something: for the watcher
}

var (
	_ transport.Transport = (*Transport)(nil)
	_ transport.Streamer  = (*Transport)(nil)
	_ transport.Offerer   = (*Transport)(nil)
	_ transport.Holder    = (*Transport)(nil)
	_ transport.Shutter   = (*Transport)(nil)
	_ transport.Waker     = (*Transport)(nil)
	_ transport.Rester    = (*Transport)(nil)
	_ transport.Counter   = (*Transport)(nil)
	_ transport.Finisher  = (*Transport)(nil)

	_ transport.Collective = (*Transport)(nil)
)

// peer is another process of the client.
type peer struct {
	world int32
	rank  int

	sent, acked uint32 // packets to it, and those of them that it has acknowledged
	sending     []outgoing
	unsent      int     // bytes of these
	stuck       bool    // the engine has been told that there is no room
	long        Request // of a long payload, which comes before all else
	ack         bool    // an acknowledgement is among sending
	leaving     uint64  // slots of what is offered to it and has not left
	unfetched   uint64  // and of what it has not fetched
	itsFetched  uint64  // its fetched, as it has told last
	held        bool    // it wants no more that it has not asked for

	came     uint32 // packets from it that have been delivered
	told     uint32 // those of them that have been acknowledged
	arriving []arrival
	offered  [slots]int32 // bytes that it offers and that have not been fetched, by slot
	fetched  uint64       // slots, each of them changed with each fetch
	hold     bool         // we want no more
	shut     bool         // nothing is acknowledged
	news     bool         // it has to hear of hold or shut
	owes     bool         // it is among owing

	silent bool // nothing comes from it
	posted bool // a receive of its packets is posted ahead
	awaits bool // that receive is among arriving

	err error // it is lost
}

// outgoing is a packet that the library has not sent yet.
type outgoing struct {
	request Request
	buffer  []byte
	ack     bool
}

// New makes the transport of a process.
func New(c Config) (*Transport, error) {
	t := &Transport{mpi: c.MPI, rx: c.Receiver, rank: c.Rank, wake: c.Wake, spent: -1,
		index: make(map[int32]*peer, len(c.World)), peers: make([]*peer, len(c.World)), posted: make([]uint32, len(c.World))}
	if c.Rank < 0 || c.Rank >= len(c.World) {
		return nil, fmt.Errorf("vendor: rank %d of %d", c.Rank, len(c.World))
	}
	t.placer, _ = c.Receiver.(transport.Placer)
	t.owner, _ = c.Receiver.(transport.Releaser)
	t.me = c.World[c.Rank]
	t.watch.kick, t.watch.ended = make(chan struct{}, 1), make(chan struct{})
	for r, w := range c.World {
		if t.index[w] != nil || w == t.me && r != c.Rank {
			return nil, fmt.Errorf("vendor: world rank %d twice", w)
		}
		if r != c.Rank {
			p := &peer{world: w, rank: r, silent: slices.Contains(c.Near, w)}
			t.peers[r], t.index[w] = p, p
			if !p.silent {
				t.unposted++
			}
		}
	}
	return t, nil
}

// Limits implements transport.Transport.
func (t *Transport) Limits() transport.Limits {
	return transport.Limits{Eager: maxPacket, Packet: maxPacket, Bare: true}
}

// Counts implements transport.Counter. What the library sends again it does not say.
func (t *Transport) Counts() transport.Counts { return t.counts }

// buffer is one for a packet, and release gives it back.
func (t *Transport) buffer() []byte {
	n := len(t.free)
	if n == 0 {
		return make([]byte, bufferLen)
	}
	b := t.free[n-1]
	t.free = t.free[:n-1]
	return b
}

func (t *Transport) release(b []byte) {
	if len(t.free) < keep {
		t.free = append(t.free, b[:bufferLen])
	}
}

// fail notes the loss of a process, which the next Poll reports: Send must not call the Receiver.
func (t *Transport) fail(p *peer, err error) {
	if p.err == nil {
		p.err = err
		t.mourned = append(t.mourned, p)
	}
}

// broken notes that the library has failed: all are lost.
func (t *Transport) broken(err error) {
	for _, p := range t.peers {
		if p != nil {
			t.fail(p, err)
		}
	}
}

// report tells the engine of losses.
func (t *Transport) report() bool {
	if len(t.mourned) == 0 || t.finishing {
		return false
	}
	lost := t.mourned
	t.mourned = nil
	for _, p := range lost {
		t.rx.Lost(p.world, p.err)
	}
	return true
}
