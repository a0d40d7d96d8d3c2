// Package transport is the contract between the engine and what moves its packets.
//
// The engine speaks in packets: a header that says which message they belong to, and some bytes of that
// message. The packet types are IMPI's (IMPI 0.0, 3.5), and two more that exist only inside a machine.
// A transport sees packets and never a communicator; it neither matches nor converts. The engine knows this package
// and no transport: package links gives it those that a process has.
//
//	engine -> Transport (this file), and what one can do besides (capabilities.go): shm | tcp, also by an agent |
//	          vendor | fake
//	       -> Home (home.go): the process's lock, bell and boards
//
// shm is rings in shared memory, tcp is IMPI between hosts, fake is a whole world in one process for tests, and package
// conformance is what all of them must pass; vendor is another MPI library inside a client. One thing comes through
// this seam next. One-sided transfers are a capability in capabilities.go beside Reader, by which a Transport moves
// bytes into and out of memory that a peer has offered; without it the engine makes packets of them, whose kinds stand
// below.
//
// Flow, outward:  engine -> Transport.Send -> ring or socket
// Flow, inward:   engine -> Transport.Poll -> Receiver.Deliver, once a packet, on the polling thread
//
// Locking: the engine serialises every call into its transports with one lock, and Deliver and Lost are
// called with that lock held. A transport that must wake the engine from a thread of its own does so by
// the function it was given at creation, never by calling the Receiver.
package transport

// Kind says what a packet is. 0 to 7 are IMPI's pk_type values.
type Kind uint8

const (
	Data      Kind = 0 // a whole short message, or a continuation (Len < MsgLen) of a long one
	DataSync  Kind = 1 // first packet of a long message, or a short one whose sender awaits SyncAck
	ProtoAck  Kind = 2 // flow control: a transport's own affair, never seen by the engine
	SyncAck   Kind = 3 // a DataSync was matched: send the rest, quoting DrqID
	Cancel    Kind = 4
	CancelYes Kind = 5
	CancelNo  Kind = 6
	Fini      Kind = 7 // a transport's own affair
	Taken     Kind = 8 // inside a machine: the receiver has read all of a message, but for Tag parts that it cannot
	Given     Kind = 9 // inside a machine: the sender has written MsgLen bytes more at the Addr of the SyncAck
)

// Header describes one packet. It is a value the caller owns; a transport copies what it needs.
type Header struct {
	Kind   Kind
	Src    int32  // world rank of the process that sends the packet
	Dst    int32  // world rank of the process it goes to
	LSRank int32  // sender's rank in the communicator (in its local group, if that is an intercommunicator)
	Tag    int32  // message tag; SyncAck inside a machine: the claims of the message (Reader.Claims), 0 if none
	CID    uint64 // context id
	MsgLen uint64 // bytes in the whole message, as represented on this transport
	SrqID  uint64 // the sender's request id
	DrqID  uint64 // the receiver's, echoed by continuations; first packet: 0, or what it says of its types (SaysTypes)
	Addr   uint64 // inside a machine, 0 if none: of a send buffer (DataSync), of a receive buffer (SyncAck); or the Offer
	Len    int    // payload bytes in this packet; at most Limits().Packet

	// Of a message, for whoever watches the wire between clients (IMPI 0.0, 3.5: quality of service). No transport
	// delivers them.
	Seq   uint64 // which of the sender's messages it is, counted from 1, whatever its destination
	Count int64  // elements of the sender's datatype
	Dtype uint64 // which datatype of the sender's that is
}

// SaysTypes is set in DrqID of a first packet that says which types its message has. The rest is the engine's. It says
// so to processes of this library only, which do not believe it of others.
const SaysTypes = 1 << 63

// Packer writes the payload of a packet in place: the next len(dst) bytes of a message.
type Packer interface {
	Pack(dst []byte)
}

// Limits are a transport's sizes, in bytes, fixed for its lifetime.
type Limits struct {
	Eager  int // the largest message sent whole in its first packet
	Packet int // the largest payload of any one packet, but for what a Streamer takes

	Bare bool // of a longer message nothing goes in its first packet: continuations cost less, which are not copied
}

// Transport carries packets to the processes it was created for.
//
// Packets from one process to another arrive in the order sent. No method blocks.
type Transport interface {
	Limits() Limits
	// Send puts one packet on its way. It returns false, having done nothing, when there is no room now
	// (ring full, window closed); the engine tries again after a Poll. payload has h.Len bytes, is read
	// before Send returns and is not kept. A packet to a process that is lost is dropped: true.
	Send(h *Header, payload []byte) bool
	// SendFrom is Send with a payload of h.Len bytes that p produces: p.Pack is called once for each
	// piece of room, with pieces that add up to h.Len, and only if the answer is true.
	SendFrom(h *Header, p Packer) bool
	// Poll delivers packets that have arrived and pushes out what is still waiting. It reports whether
	// it did anything. It handles a bounded number of packets. Within Deliver or Lost it does nothing.
	Poll() bool
}

// Placer is a Receiver that tells a transport where the payload of a continuation belongs, so that it need not be
// copied there.
type Placer interface {
	// Place returns h.Len bytes of memory, or nil if the payload is to be delivered from the transport's own, perhaps
	// in pieces. The memory is the transport's to write until it delivers the packet with it.
	Place(h *Header) []byte
}

// Receiver is the engine, as transports see it.
type Receiver interface {
	// Deliver takes one packet. h and payload (h.Len bytes) are valid during the call only. The transport
	// has checked that Src is the process at the other end, Dst one of ours, and Len <= MsgLen where Kind
	// is Data or DataSync; everything else is the engine's to check.
	Deliver(h *Header, payload []byte)
	// Lost says that process peer cannot be reached any more: it died or its connection broke. Once a peer.
	Lost(peer int32, err error)
}
