package transport

import "time"

// What a Transport can do besides. The engine asks each of its transports for these interfaces once, at the start, and
// does without those it does not find; what it does then is said with each. Unless something else is said, calls come
// under the engine's lock, as all calls of a Transport do, none of them blocks, and peers are world ranks.

// Reader is single copy: a Transport that can copy straight out of another process's memory. Without it long messages
// travel in packets only.
type Reader interface {
	// CanRead reports whether Read works for a process's memory in general.
	CanRead(src int32) bool
	// Read fills dst from address addr of process src. False: not possible, nothing promised about dst.
	Read(src int32, addr uint64, dst []byte) bool
	// Cost is how long Read takes for CostBytes that this process has in its caches, and how long to copy them within the
	// process takes; 0, 0: it cannot read. How far these are apart depends on the kernel and the processor.
	Cost() (read, copied time.Duration)
	// Claims is a word of the memory that this process shares with peer, in which both claim parts of a message
	// from this process to peer (out) or from peer. slot is 0 to ClaimSlots-1. The peer may write anything there.
	Claims(peer int32, out bool, slot int) *uint64
}

// CostBytes is what Reader.Cost is for.
const CostBytes = 64 << 10

// Writer is a Reader that can copy into another process's memory, too: where CanRead says that it can. Without it what
// is put into memory that is not shared goes in packets.
type Writer interface {
	// Write stores src from address addr of process dst on. False: not possible, nothing promised about that memory.
	Write(dst int32, addr uint64, src []byte) bool
	// Move fills the runs here, in the memory of this process, with the bytes of the runs there, in that of peer, in
	// order, or those there with the bytes here if put says so. Both lists have as many bytes in all, each has at most
	// MaxRuns runs, none of which is empty, and they are the transport's to change. False: not possible, nothing promised
	// about the memory that was to be filled. Any thread may call it, without the engine's lock too, once CanRead has
	// said that it works.
	Move(peer int32, here, there []Run, put bool) bool
}

// Run is a run of bytes in the memory of a process.
type Run struct {
	Addr, Len uint64
}

// MaxRuns is how many runs Writer.Move takes at a time.
const MaxRuns = 1024

// ClaimSlots is how many words for claims there are for the messages from one process to another.
const ClaimSlots = 6

// Streamer is streaming: a Transport that takes continuations of long messages without a copy. Without it they go as
// other packets do.
type Streamer interface {
	// Stream is the longest continuation that process dst takes, in bytes, fixed for the transport's lifetime; 0: what
	// Limits().Packet says.
	Stream(dst int32) int
	// SendLong is Send for a continuation, which may be as long as Stream(h.Dst). It returns how many bytes of the
	// payload it has taken. The rest of them must stay as they are, and go to SendRest; until they are gone the
	// transport takes nothing else for the host that the packet goes to.
	SendLong(h *Header, payload []byte) (taken int, ok bool)
	// SendRest takes more of what SendLong has left, from the first byte that has not been taken, and returns how
	// many. What is for a process that is lost is taken.
	SendRest(dst int32, payload []byte) int
}

// Forgetter is a Transport by which several processes may be reached on one way, of which one may be lost while it goes
// on serving the others.
type Forgetter interface {
	// Forget says that a process is lost, as the engine has heard elsewhere: of messages from it and to it no memory is
	// the transport's any more, and nobody calls SendRest for what it owes.
	Forget(peer int32)
}

// Offerer is a Transport that moves the first bytes of a long message from the sender's memory to the receiver's as
// soon as the receiver has matched its envelope. Without it they are sent when SyncAck has come. At either end the
// memory is the transport's until it calls Releaser.Released. Where the Receiver is no Releaser, nothing is offered.
type Offerer interface {
	// Offers is the most bytes that may be offered to process dst now; 0: nothing, since too much of what has been offered
	// has not been fetched.
	Offers(dst int32) int
	// Offer is Send for a DataSync packet without payload, and offers the first bytes of its message, as many as Offers
	// allows. The packet that is delivered has an Offer in Addr. When the bytes have left, perhaps before anybody fetches
	// them, Released(h.SrqID) is called.
	Offer(h *Header, payload []byte) bool
	// Fetch receives what process src has offered in a packet that has been delivered, once for each of them. into has as
	// many bytes as the offer. Then Released(id) is called. into is nil if nobody wants them, and then it is not.
	Fetch(src int32, o Offer, into []byte, id uint64)
}

// Releaser is a Receiver whose messages may be offered.
type Releaser interface {
	// Released returns the memory of an Offer or a Fetch: all of it has left, or is there. It is called within Poll.
	Released(id uint64)
}

// Offer is what a sender offers of a message: its bytes, more than 0, in a slot that the transport chooses.
type Offer uint64

// NewOffer is the offer of some bytes in a slot, 0 to 255.
func NewOffer(slot int, bytes int64) Offer { return Offer(bytes)<<8 | Offer(slot) }

// Slot and Bytes are what the offer says.
func (o Offer) Slot() int    { return int(o & 0xff) }
func (o Offer) Bytes() int64 { return int64(o >> 8) }

// Holder is hold and release: a Transport by which a receiver tells a sender that it keeps too many of its messages.
// The sender then sends envelopes only. Without it the engine asks its peers for answers now and then
// (libimpi/pressure).
type Holder interface {
	// Hold tells process peer whether me, a process of this transport, wants no more messages that it has not asked
	// for. It costs no packet: the peer sees the flag the next time it uses this transport. For a peer from which
	// nothing has come it does nothing.
	Hold(me, peer int32, on bool)
	// Held returns what peer has told me last, as far as that has come.
	Held(me, peer int32) bool
}

// Shutter is a Transport whose peers stop sending when nothing is acknowledged. Without it, and where a peer does not
// mind being held, nothing bounds the messages that it makes the engine keep.
type Shutter interface {
	// Shut keeps back the acknowledgements of what peer sends to me, or gives those that are due.
	Shut(me, peer int32, on bool)
}

// Gatherer is a Transport for which several packets that leave together cost less than one after the other. Cork and
// Uncork nest, and enclose what is known to leave together. Post and PostPaced announce one send of the program, and
// Posted ends it; what gathers by them leaves with Settle, with Poll, or a moment later by itself.
type Gatherer interface {
	Cork()
	Uncork()
	// Post: what is sent until Posted belongs to an operation that does not block.
	Post()
	// PostPaced: it belongs to one that blocks, and gathers with others that follow closely.
	PostPaced()
	// Posted reports whether anything has gathered that Settle would send.
	Posted() bool
	// Settle sends what has gathered: the program waits, or looks whether something is done.
	Settle()
}

// Waker is wake-up: a Transport whose traffic does not ring this process's bell, but can make a thread of its own
// call the function wake that it was given at its creation. A Transport without it rings the bell (Bell) of its
// process whenever Poll would do something.
type Waker interface {
	// Arm promises that traffic which no call of Poll has seen, or will see, leads to a call of wake. A thread calls it
	// after its last Poll and before it sleeps; any thread may, with the engine's lock or without. The promise holds for
	// good, or until Rest (Rester).
	Arm()
}

// Rester is a Waker that costs something while it is armed.
type Rester interface {
	// Rest says that nobody waits any more for whom Arm was called.
	Rest()
}

// Spinner is a Transport that can look for the next packet of one process for less than a Poll costs.
type Spinner interface {
	// Spin looks at most n times (n > 0) whether a packet of src has come, with a pause after each look, and returns
	// whether one has. It is called without the engine's lock, while another thread may be in Poll.
	Spin(src int32, n uint32) bool
}

// Examiner is a Transport that does not hear of a peer's death by itself.
type Examiner interface {
	// CheckPeers looks for peers that have died, delivers what they still sent, and reports them by Lost. It is called
	// when a thread has slept for long and nothing came, and reports whether it delivered or reported anything.
	CheckPeers() bool
}

// Departer is a Transport that knows which processes have come to their end in order.
type Departer interface {
	// Departed reports whether a process of the own job, to which there is this way, has ended its use of it in order, as
	// far as is known. What it has sent may be still on its way.
	Departed(peer int32) bool
}

// Loop is a Transport by which others than the engine (the bridge's fast path) may send packets to this very process.
type Loop interface {
	// OpenSelf reports whether such packets are possible, and makes them so if it can.
	OpenSelf() bool
	// TakeSelf delivers all of them that have been sent.
	TakeSelf()
}

// Counter is a Transport that counts what it carries, for tools.
type Counter interface {
	// Counts are what it has carried since its creation.
	Counts() Counts
}

// Counts are packets that count for flow control (all but acknowledgements and FINI), how often packets from one
// process to another began to wait for an acknowledgement, and segments that TCP has sent again.
type Counts struct{ Sent, Received, Waits, Retransmitted uint64 }

// Collective is a Transport by which all the processes that it serves, and this one, carry out collective operations as
// a whole. Without it, and where other processes take part, the engine makes them of messages (package coll).
type Collective interface {
	// Lines is how many lines there are. Operations of one line follow each other: every process begins the same ones in
	// the same order, the next one when the one before is over for it. Those of different lines have no order.
	Lines() int
	// Begin begins an operation on a line, from 0 on. o, and the memory in it, are the transport's until it calls o.Over:
	// once, in Begin or in Poll, under the engine's lock. An error ends the operation for this process only. After the
	// loss of a process an operation may never be over.
	Begin(line int, o *Operation)
}

// Operation is a collective operation of a Collective. All processes have the same Kind, Root, Count, Type and Op.
type Operation struct {
	Kind     OperationKind
	Root     int    // world rank; of a broadcast or a reduction to one process
	Send     []byte // the own vector; nil: it is in Recv
	Recv     []byte // the message of a broadcast, else where the result goes, if this process gets it
	Count    int    // elements of a vector
	Type, Op int    // of a reduction, predefined ones, as the ABI of MPI 5.0 numbers them
	Over     func(err error)
}

// OperationKind says which operation it is.
type OperationKind uint8

const (
	Barrier OperationKind = iota
	Bcast
	Reduce
	Allreduce
)

// Finisher is a Transport with connections that must end in order. One without it is simply used no more.
type Finisher interface {
	// Finish ends the use of all connections in order. It is called when all processes that the transport serves are
	// done and everything has been sent; no Deliver or Lost comes from it. It blocks until every peer has finished,
	// too, or until the deadline. The error names those that have not, or have terminated abnormally meanwhile.
	Finish(deadline time.Time) error
	// Abort ends the use of all connections so that the peers see that this process has not finished.
	Abort()
}
