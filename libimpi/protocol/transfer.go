package protocol

import (
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/outbox"
	"github.com/libimpi/libimpi/transport/bulk"
)

// role is which end of a message a transfer is.
type role uint8

const (
	none role = iota
	sender
	receiver
)

// Transfer is one end of a message on its way: of a send that has begun, or of a receive that has matched. It belongs
// to a request, whose id it has.
type Transfer struct {
	ID   uint64
	Peer *Peer // the process at the other end; nil before a receive matches

	// The bytes of the message, as Set lays them out.
	Rep    datatype.Rep
	Flat   bool             // they are one run of bytes in memory, as they travel
	Data   datatype.Pointer // where the run begins
	Cursor datatype.Cursor  // otherwise: packs or unpacks them
	Total  int64            // send: bytes of the message; receive: bytes there is room for
	Moved  int64            // bytes handed to the transport, or taken from it

	Length     int64 // receive: bytes of the matched message
	Collective bool  // of a collective operation
	Written    bool  // receive: better written by the sender than read (coll.Writable)
	GivenUp    bool  // send: nobody waits for it but to hear that it is cancelled, or was matched
	Cancelled  bool  // send: the receiver has dropped it

	role    role
	expects bool // the peer owes a packet about this: an answer (send), or the rest of the message (receive)
	streams bool // send: stands in the outbox, with more to send

	cancelling bool // send: CANCEL is under way to the receiver
	ended      bool // send: complete but for the answer to CANCEL

	stop   int64         // bytes, from the front, that go through the transport, as far as is known
	owed   int64         // send: bytes of the continuation under way that the transport has not taken yet
	theirs uint64        // the id of the request at the other end, which answers and continuations quote
	addr   uint64        // receive: of the sender's buffer; 0: it has not named one
	claims direct.Claims // who moves what of a long message
	offer  int64         // send: bytes that the first packet offers
	lent   bool          // the transport has the memory of an offer
	aside  []byte        // receive: where an offer goes first that is to be unpacked, or does not fit
	place  outbox.Link[Transfer]
}

// Set gives the transfer its bytes: total of them, from data on if they are flat; otherwise the caller begins the
// cursor.
func (t *Transfer) Set(rep datatype.Rep, total int64, flat bool, data datatype.Pointer) {
	t.Rep, t.Total, t.Flat, t.Data = rep, total, flat, data
	t.Moved, t.claims = 0, direct.Claims{}
}

// Restart makes the transfer of a persistent request ready for its next message.
func (t *Transfer) Restart() {
	t.Moved, t.Length, t.role = 0, 0, none
	t.expects, t.cancelling, t.ended, t.GivenUp, t.Cancelled = false, false, false, false, false
	t.offer, t.lent, t.aside = 0, false, nil
}

// Match notes which message a receive has got: its sender, and its length in bytes.
func (t *Transfer) Match(from *Peer, length int64) {
	t.role, t.Peer = receiver, from
	t.Length, t.stop = length, length
}

// Expects reports whether the peer owes a packet about the message. Only such a transfer listens to its peer.
func (t *Transfer) Expects() bool { return t.expects }

// Ends reports whether a message that has been moved is complete; false if the answer to a cancellation is due.
func (t *Transfer) Ends() bool {
	if t.cancelling {
		t.ended = true
	}
	return !t.cancelling
}

// Bytes are the next n bytes of a flat transfer.
func (t *Transfer) Bytes(n int64) []byte {
	if n == 0 {
		return nil
	}
	return bytesAt(t.Data, t.Moved, n)
}

// Fill stores the next piece of a matched message. What does not fit is dropped.
func (t *Transfer) Fill(piece []byte) {
	n := min(int64(len(piece)), max(t.Total-t.Moved, 0))
	switch {
	case n == 0:
	case !t.Flat:
		t.Cursor.Unpack(piece[:n])
	default:
		if to := t.Bytes(n); startOf(to) != startOf(piece) { // unless it was placed there
			bulk.Copy(to, piece[:n])
		}
	}
	t.Moved += int64(len(piece))
}
