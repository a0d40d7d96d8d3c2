package protocol

import (
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

// Begin begins a send to a peer: its first packet leaves now, or waits for room in the peer's outbox.
func (m *Machine) Begin(t *Transfer, to *Peer) {
	t.role, t.Peer = sender, to
	if to.out.Passable() && m.Do.First(t) {
		return
	}
	to.out.PutFirst(&t.place, t)
	m.enqueue(to)
}

// Open makes h, a Data packet that would carry a whole message, what its first packet is: a DataSync packet if the
// message is long, synchronous, or withheld from a receiver that keeps too much.
func (m *Machine) Open(t *Transfer, h *transport.Header, synchronous, withheld bool) {
	t.offer = 0
	switch p := t.Peer; {
	case t.Total > int64(p.Limits.Eager):
		h.Kind = transport.DataSync
		m.openLong(t, h, withheld)
		if p.Offers != nil && t.Flat && !withheld {
			t.makeOffer(h, synchronous)
		}
	case withheld:
		h.Kind = transport.DataSync
		if p.Holds && t.Total > pressure.Short {
			h.Len = 0
			if p.Near && t.Flat {
				h.Addr = addressAt(t.Data)
			}
		}
	case synchronous:
		h.Kind = transport.DataSync
	}
}

// openLong says how much of a long message its first packet has.
func (m *Machine) openLong(t *Transfer, h *transport.Header, withheld bool) {
	p := t.Peer
	h.Len = int(min(int64(p.Limits.Packet), t.Total))
	if !p.Near {
		if withheld && p.Holds || t.Flat && p.Limits.Bare {
			h.Len = 0
		}
		return
	}
	// While the receiver copies this piece, the sender learns that it may go on.
	h.Len = p.Limits.Eager
	switch {
	case withheld:
		h.Len = 0
	case !t.Flat:
		h.Len = t.Cursor.Piece(h.Len, h.Len)
	case m.Rules.On && m.Memory.CanRead(p.Rank):
		h.Len = m.firstPiece(t)
	}
	if t.Flat {
		h.Addr = addressAt(t.Data)
	}
}

// firstPiece is how many bytes of a message that its receiver can read go with its first packet: none, so that it is
// read, or some if the ring serves better.
func (m *Machine) firstPiece(t *Transfer) int {
	crowded, _ := m.Memory.Busy()
	if !t.Peer.Fresh.Ring(&m.Rules, t.Total, t.Collective, crowded) {
		return 0
	}
	return int(min(t.Total, direct.Section, int64(t.Peer.Limits.Packet)))
}

// Opened notes that a message's first packet has left, a DataSync.
func (m *Machine) Opened(t *Transfer) {
	p := t.Peer
	long := t.Total > int64(p.Limits.Eager)
	if t.Flat && long {
		p.offered += t.Total
	}
	if !p.Holds && !long {
		p.Pressure.Asks(t.ID)
	}
	if t.offer > 0 {
		t.lent, t.Moved = true, t.offer
	}
	t.expects = true
	m.await(p)
	t.stop = t.Total
}

// answered takes the answer to a message.
func (m *Machine) answered(t *Transfer) {
	t.expects = false
	p := t.Peer
	if t.Flat && t.Total > int64(p.Limits.Eager) && !t.claims.Open() { // once
		p.offered -= t.Total
	}
	p.Pressure.Answered(t.ID)
	p.came()
}

// awaiting finds the send that an answer is about: one to that process whose first packet has left and that has not
// been answered. Anything else is the process's mistake.
func (m *Machine) awaiting(h *transport.Header) *Transfer {
	t := m.Do.Find(h.SrqID)
	if !t.is(sender, h.Src) || !t.expects || t.claims.Open() && h.Kind != transport.Taken {
		m.Do.Breach(h.Src, "answer to a message that was not sent or has been answered")
		return nil
	}
	m.answered(t)
	return t
}

// is reports whether this is an end of a message from or to a process.
func (t *Transfer) is(role role, rank int32) bool {
	return t != nil && t.role == role && t.Peer != nil && t.Peer.Rank == rank
}

// syncAck takes the receiver's word that it has matched a DataSync of ours.
func (m *Machine) syncAck(h *transport.Header) {
	t := m.awaiting(h)
	if t == nil {
		return
	}
	t.theirs = h.DrqID
	if t.Moved >= t.Total {
		m.sent(t)
		return
	}
	if h.Tag != 0 && !m.joinClaims(t, h.Tag) {
		m.Do.Breach(h.Src, "answer that names no claims")
		return
	}
	m.writeTo(t, h.Addr)
	m.stream(t)
}

// taken takes the receiver's word that it reads no more of the buffer.
func (m *Machine) taken(h *transport.Header) {
	t := m.awaiting(h)
	if t != nil {
		t.Peer.Fresh.Tell(h.MsgLen)
	}
	switch {
	case t == nil:
	case h.Tag < 0 || h.Tag > 0 && !t.claims.Open():
		m.Do.Breach(h.Src, "Taken packet that returns sections never claimed")
	case h.Tag > 0:
		t.claims.Again = int64(h.Tag)
		m.stream(t)
	case !t.streams:
		m.sent(t)
	}
}

// stream puts a long message, whose receiver waits for more of it, into the outbox of its peer.
func (m *Machine) stream(t *Transfer) {
	if !t.streams {
		t.streams = true
		t.Peer.out.PutStream(&t.place, t)
		m.enqueue(t.Peer)
	}
}

// outgoing moves what waits for room (outbox.Sender).
type outgoing struct{ *Machine }

func (m outgoing) Control(h *transport.Header) bool { return m.Do.Control(h) }
func (m outgoing) First(t *Transfer) bool           { return m.Do.First(t) }
func (m outgoing) More(t *Transfer) bool            { return t.Moved < t.stop || t.claimMore() }
func (m outgoing) Write(t *Transfer) bool           { return m.write(t) }

// Piece leaves what there is no room for to the receiver.
func (m outgoing) Piece(t *Transfer) (sent, cut bool) {
	if !m.sendPiece(t) {
		t.unclaim()
		return false, false
	}
	return true, t.owed > 0
}

// Rest goes on with the continuation under way.
func (m outgoing) Rest(t *Transfer) (left, cut bool) {
	n := m.Do.Rest(t, t.Bytes(t.owed))
	t.Moved += n
	t.owed -= n
	return n > 0, t.owed > 0
}

// End ends the sender's part of a long message: all of it, or all but what the receiver reads.
func (m outgoing) End(t *Transfer) {
	t.streams = false
	if t.Moved == t.Total || !t.expects {
		t.expects = false
		m.sent(t)
	}
}

// sendPiece sends the next continuation of a long message; false if there is no room.
func (m *Machine) sendPiece(t *Transfer) bool {
	h := m.Packet(transport.Data, t.Peer.Rank)
	h.MsgLen, h.DrqID = uint64(t.Total), t.theirs
	h.Len = int(min(t.stop-t.Moved, int64(t.piece())))
	if uint64(h.Len) == h.MsgLen {
		// The first packet was empty. A continuation is told from a whole message by being shorter.
		h.Len /= 2
	}
	n := int64(h.Len)
	taken, ok := m.Do.Push(t, h)
	if ok {
		t.Moved += taken
		t.owed = n - taken
	}
	return ok
}

// piece is the length of a continuation, in bytes. Inside a machine the receiver stores one while the sender makes the
// next, and pieces are as short as their number allows: what one core has written is in its cache when the other reads
// it.
func (t *Transfer) piece() int {
	p := t.Peer
	switch {
	case !p.Near && t.Flat && p.Streams:
		return max(p.Limits.Packet, p.Longest)
	case !p.Near:
		return p.Limits.Packet
	case t.Flat:
		return min(direct.Section, p.Limits.Packet)
	}
	// Towards the end they are shorter, so that the receiver has little left to store when the sender is done.
	about := min(max(int(t.Total-t.Moved)/2, direct.Section/2), direct.Section)
	return t.Cursor.Piece(min(about, p.Limits.Packet), p.Limits.Packet)
}

// Cancel cancels a send (IMPI 0.0, 3.7.4). It returns true if that is all, since the first packet has not left;
// otherwise the receiver is asked, unless it has matched the message.
func (m *Machine) Cancel(t *Transfer) bool {
	if t.role != sender { // not begun, or all of it has left
		return false
	}
	if m.TakeBack(t) {
		return true
	}
	if t.expects {
		t.cancelling = true
		m.await(t.Peer)
		h := m.Packet(transport.Cancel, t.Peer.Rank)
		h.SrqID = t.ID
		m.Control(t.Peer, h)
	}
	return false
}

// TakeBack takes back a send whose first packet has not left. It reports whether that is so.
func (m *Machine) TakeBack(t *Transfer) bool { return t.Peer.out.RemoveFirst(&t.place) }

// Cancelling reports whether the receiver has been asked to drop a message, and has not answered.
func (t *Transfer) Cancelling() bool { return t.cancelling }

// Unmatched reports whether a message has left that its receiver has not matched, as far as is known here, and has not
// been asked to drop.
func (t *Transfer) Unmatched() bool {
	return t.role == sender && t.expects && !t.streams && !t.cancelling && !t.claims.Open()
}

// cancelAnswered takes the receiver's decision on a send that this process wants cancelled.
func (m *Machine) cancelAnswered(h *transport.Header) {
	t := m.Do.Find(h.SrqID)
	if !t.is(sender, h.Src) || !t.cancelling {
		m.Do.Breach(h.Src, "answer to a cancellation that was not asked for")
		return
	}
	if h.Kind == transport.CancelYes && (!t.expects || t.claims.Open()) {
		m.Do.Breach(h.Src, "cancellation of a message that has been received")
		return
	}
	t.cancelling = false
	t.Peer.came()
	switch {
	case h.Kind == transport.CancelYes:
		m.answered(t)
		t.Cancelled = true
		m.sent(t)
	case t.ended:
		m.Do.Done(t)
	case t.offer > 0:
		m.gone(t)
	case t.GivenUp && t.expects && !t.claims.Open():
		// The receiver has dropped it with the communicator: had it been matched, that would have been said before.
		m.answered(t)
		m.sent(t)
	}
}
