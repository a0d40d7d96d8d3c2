package protocol

import (
	"time"

	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
)

// Accept answers a DataSync that a receive has matched (Transfer.Match) and that brought the first piece: the message
// is complete, or is read directly from the sender's memory, or its rest is asked for. That is done before the piece is
// stored: the sender is at work meanwhile. theirs is the id of the sender's request, and addr the address of its
// buffer, or an offer, or 0.
func (m *Machine) Accept(t *Transfer, theirs, addr uint64, piece []byte) {
	first := int64(len(piece))
	t.theirs, t.addr = theirs, addr
	if t.Peer.Offers != nil && addr != 0 {
		m.fetch(t, transport.Offer(addr))
		return
	}
	if first >= t.Length {
		t.Fill(piece)
		h := m.Packet(transport.SyncAck, t.Peer.Rank)
		h.SrqID = theirs
		m.Control(t.Peer, h)
		m.Do.Done(t)
		return
	}
	way := m.way(t, first)
	if way == direct.Read && m.readRest(t, first) {
		t.Fill(piece)
		m.sayTaken(t, 0)
		m.Do.Done(t)
		return
	}
	t.expects = true
	m.await(t.Peer)
	if t.Peer.Elsewhere {
		m.flowing++
	}
	switch way {
	case direct.Later:
		m.pulling = append(m.pulling, t)
		return
	case direct.Read: // it cannot be read after all
		way = direct.Ring
	}
	m.ask(t, first, way)
	t.Fill(piece)
}

// way decides how the rest of a message goes, of which first bytes are here.
func (m *Machine) way(t *Transfer, first int64) direct.Way {
	p := t.Peer
	of := direct.Message{Length: t.Length, Room: t.Total, First: first,
		Readable: t.addr != 0 && t.Flat && p.Near && m.Memory.CanRead(p.Rank)}
	if of.Readable {
		of.Written, of.Slot = t.Written, p.freeSlot() < transport.ClaimSlots
		of.Crowded, of.Waiting = m.Memory.Busy()
		of.Offers = p.offers(of.Length)
	}
	return m.Rules.Way(&of)
}

// ask answers a DataSync by a SyncAck: the sender shall move the rest of the message, share it, or write all of it.
func (m *Machine) ask(t *Transfer, first int64, way direct.Way) {
	tag := int32(0)
	switch way {
	case direct.Write:
		t.claims.Both = true
	case direct.Share:
		tag = m.openClaims(t, first)
	}
	h := m.Packet(transport.SyncAck, t.Peer.Rank)
	h.SrqID, h.DrqID, h.Tag = t.theirs, t.ID, tag
	if t.claims.Both {
		h.Addr = addressAt(t.Data)
	}
	m.Control(t.Peer, h)
}

// coming finds the receive that a packet brings the next n bytes for; nil if there is none, or not for so many.
func (m *Machine) coming(h *transport.Header, n uint64) *Transfer {
	t := m.Do.Find(h.DrqID)
	if !t.is(receiver, h.Src) || !t.expects || t.aside != nil || n > uint64(t.stop-t.Moved) {
		return nil
	}
	return t
}

// continuation takes a further packet of a long message.
func (m *Machine) continuation(h *transport.Header, payload []byte) {
	t := m.coming(h, uint64(len(payload)))
	if t == nil {
		m.Do.Breach(h.Src, "continuation of a message that is not under way")
		return
	}
	t.Fill(payload)
	if len(m.pulling) > 0 && m.pulling[0] == t {
		m.pullSince = time.Time{} // it streams
	}
	m.endOfStream(t)
}

// Place returns where the payload of a continuation belongs, if its receive is one run of bytes and has room for all of
// it; otherwise nil (transport.Placer).
func (m *Machine) Place(h *transport.Header) []byte {
	t := m.Do.Find(h.DrqID)
	if !t.is(receiver, h.Src) || !t.expects || t.aside != nil || !t.Flat || int64(h.Len) > min(t.Length, t.Total)-t.Moved {
		return nil
	}
	return t.Bytes(int64(h.Len))
}

// given takes the sender's word that it has written the next part of a message.
func (m *Machine) given(h *transport.Header) {
	t := m.coming(h, h.MsgLen)
	if t == nil || !t.claims.Both {
		m.Do.Breach(h.Src, "part of a message that is not under way")
		return
	}
	t.Moved += int64(h.MsgLen)
	m.endOfStream(t)
}

// endOfStream completes a receive that has got all it asked the sender for, and all that it reads itself.
func (m *Machine) endOfStream(t *Transfer) {
	if t.Moved != t.stop || t.lent {
		return
	}
	p := t.Peer
	if t.claims.Open() {
		m.stopPulling(t, 0)
		p.slots &^= 1 << t.claims.Slot
		t.claims = direct.Claims{}
		m.shareNext(p)
	}
	if p.Elsewhere {
		m.flowing--
	}
	t.expects = false
	p.came()
	m.Do.Done(t)
}
