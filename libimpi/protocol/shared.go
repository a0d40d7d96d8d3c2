package protocol

import (
	"math/bits"
	"slices"
	"time"

	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
)

// Long messages inside the machine, from memory to memory: what package direct decides, carried out with packets,
// reads and writes.
//
//	Accept -> direct.Rules.Way -> Read:  the receiver reads all, and says Taken
//	                           -> Share: openClaims, and its name in the SyncAck; then the sender writes (claimMore,
//	                                     write) or streams, and the receiver reads (Pull)
//	                           -> Write: the SyncAck names the address alone
//	                           -> Later: stands in pulling without claims
//	                           -> Ring:  the sender streams
//
// The sender tells the receiver what it has written (Given); what it cannot write goes through the ring.

// starving is how long a receiver waits for the next piece of a stream before it reads a section itself: longer than a
// sender that is in MPI ever takes.
const starving = 20 * time.Microsecond

// freeSlot is the first slot for claims of messages from the peer that is not in use; transport.ClaimSlots: there is
// none.
func (p *Peer) freeSlot() int { return bits.TrailingZeros8(^p.slots) }

// offers reports whether this process has about so many bytes for the peer to read, as well.
func (p *Peer) offers(bytes int64) bool {
	t := p.out.Stream()
	return p.offered >= bytes/2 || t != nil && t.claims.Into != 0 && t.Total-t.Moved >= bytes/2
}

// openClaims lets a receive, matched with a message of which first bytes are here, share the rest with the sender. It
// returns the claims' name in the SyncAck; 0: the sender moves everything.
func (m *Machine) openClaims(t *Transfer, first int64) int32 {
	p := t.Peer
	slot := p.freeSlot()
	if !t.claims.Cut(first, t.Length) {
		return 0
	}
	p.slots |= 1 << slot
	p.uses++
	c := &t.claims
	c.Give(m.Memory.Claims(p.Rank, false, slot), p.uses, slot)
	c.Both = first == 0 && m.Rules.Writes && t.Length <= t.Total
	m.pulling = append(m.pulling, t)
	return int32(p.uses)<<8 | int32(slot+1)
}

// joinClaims is the sender's side, when the SyncAck comes; false if the name is none that a receiver gives.
func (m *Machine) joinClaims(t *Transfer, name int32) bool {
	slot := int(name&0xff) - 1
	c := &t.claims
	if !t.Flat || !t.Peer.Near || slot < 0 || slot >= transport.ClaimSlots || name>>24 != 0 || !c.Cut(t.Moved, t.Total) {
		return false
	}
	c.Join(m.Memory.Claims(t.Peer.Rank, true, slot), uint16(name>>8))
	t.stop = t.Moved
	t.expects = true // Taken may come
	return true
}

// writeTo notes where a message is to be written: the receiver's address of it, 0 if it has not named one.
func (m *Machine) writeTo(t *Transfer, into uint64) {
	if p := t.Peer; t.Flat && p.Near && m.Rules.Writes && m.Memory.CanRead(p.Rank) {
		t.claims.Into = into
	}
}

// claimMore claims the next sections of a stream; false if the receiver has the rest.
func (t *Transfer) claimMore() bool {
	c := &t.claims
	if !c.Open() {
		return false
	}
	n := int64(1)
	switch {
	case c.Into == 0:
	case t.Moved == c.First():
		n = c.Begin()
	default:
		n = c.Share()
	}
	if !c.TakeFront(n) {
		if n, c.Again = c.Again, 0; n == 0 {
			return false
		}
	}
	t.stop = min(t.stop+n*direct.Section, t.Total)
	return true
}

// write copies what is claimed of a message into the receiver's memory, and tells it. False: that is not possible.
func (m *Machine) write(t *Transfer) bool {
	c, n := &t.claims, t.stop-t.Moved
	if c.Into == 0 {
		return false
	}
	if !m.Memory.Write(t.Peer.Rank, c.Into+uint64(t.Moved), t.Bytes(n)) {
		c.Into = 0
		return false
	}
	t.Moved += n
	h := m.Packet(transport.Given, t.Peer.Rank)
	h.DrqID, h.MsgLen = t.theirs, uint64(n)
	m.Control(t.Peer, h)
	return true
}

// unclaim leaves to the receiver the sections of which nothing has been sent for want of room: this process may go away
// and compute.
func (t *Transfer) unclaim() {
	c := &t.claims
	n := (t.stop - t.Moved + direct.Section - 1) / direct.Section
	if c.Open() && n > 0 && (t.Moved-c.First())%direct.Section == 0 && c.GiveBack(n) {
		t.stop = t.Moved
	}
}

// Pulls reports whether there is a message that this process may read.
func (m *Machine) Pulls() bool { return len(m.pulling) > 0 }

// Pull reads a message that is not shared since too many others are, or some of the oldest one that is, if its sender
// writes into memory, too, or does not stream. It reports whether it did anything. There must be one (Pulls).
func (m *Machine) Pull() bool {
	if i := slices.IndexFunc(m.pulling, func(t *Transfer) bool { return !t.claims.Open() }); i >= 0 {
		m.pullWhole(m.pulling[i])
		return true
	}
	t := m.pulling[0]
	if !t.claims.Both && !m.starves() {
		return false
	}
	if m.pullBack(t) {
		m.endOfStream(t)
	}
	return true // a message of which nothing is left makes way for the next, before this thread may sleep
}

// shareNext shares another message with a peer, which has to do with one less, if that pays.
func (m *Machine) shareNext(p *Peer) {
	i := slices.IndexFunc(m.pulling, func(t *Transfer) bool { return t.Peer == p && !t.claims.Open() })
	if i < 0 || m.pulling[i].Length <= direct.Most*direct.Section {
		return
	}
	t := m.pulling[i]
	m.pulling = slices.Delete(m.pulling, i, i+1)
	m.ask(t, 0, direct.Share)
}

// pullWhole reads a message that has no claims; if it cannot, the sender gets it.
func (m *Machine) pullWhole(t *Transfer) {
	m.stopPulling(t, 0)
	if !m.readRest(t, 0) {
		m.ask(t, 0, direct.Ring)
		return
	}
	m.sayTaken(t, 0)
	t.Moved = t.stop
	m.endOfStream(t)
}

// starves reports whether nothing has come for long of the message that is waited for first.
func (m *Machine) starves() bool {
	if m.pullSince.IsZero() {
		m.pullSince = m.Memory.Now()
		return false
	}
	return m.Memory.Now().Sub(m.pullSince) >= starving
}

// pullBack reads the last sections that are left. False: there is none, or it cannot be read, and the sender gets it.
func (m *Machine) pullBack(t *Transfer) bool {
	c := &t.claims
	k := c.Share()
	if c.Both && t.Peer.offers(t.stop-t.Moved) {
		k = min(c.Left(), direct.Most)
	}
	lo, k := c.Last(k)
	if k <= 0 || lo < t.Moved || !c.TakeBack(k) {
		m.stopPulling(t, 0)
		return false
	}
	n := min(t.stop, t.Total) - lo // nothing of what does not fit
	if n > 0 && !m.read(t, lo, n) {
		m.stopPulling(t, k)
		return false
	}
	c.Back += k
	t.stop = lo
	return true
}

// stopPulling leaves to the sender what is not claimed yet, and the last so many sections that are.
func (m *Machine) stopPulling(t *Transfer, again int64) {
	i := slices.Index(m.pulling, t)
	if i < 0 {
		return
	}
	m.pulling = slices.Delete(m.pulling, i, i+1)
	m.pullSince = time.Time{}
	if t.claims.Back+again > 0 {
		m.sayTaken(t, again)
	}
}

// readRest copies a long message, but for the first bytes, out of the sender's memory.
func (m *Machine) readRest(t *Transfer, first int64) bool {
	if !t.Peer.Near || t.addr == 0 || !t.Flat {
		return false
	}
	n := min(t.Length, t.Total) - first
	return n <= 0 || m.read(t, first, n)
}

// read copies n bytes of a message, from byte at on, out of its sender's memory.
func (m *Machine) read(t *Transfer, at, n int64) bool {
	rank, addr, dst := t.Peer.Rank, t.addr+uint64(at), bytesAt(t.Data, at, n)
	if !m.Rules.Times(len(dst), t.Length, t.Collective) {
		return m.Memory.Read(rank, addr, dst)
	}
	start := m.Memory.Now()
	ok := m.Memory.Read(rank, addr, dst)
	t.Peer.Fresh.Note(&m.Rules, len(dst), m.Memory.Now().Sub(start))
	return ok
}

// sayTaken tells a sender that what was to be read of its message has been read, but for so many sections.
func (m *Machine) sayTaken(t *Transfer, again int64) {
	h := m.Packet(transport.Taken, t.Peer.Rank)
	h.SrqID, h.Tag, h.MsgLen = t.theirs, int32(again), t.Peer.Fresh.Found()
	m.Control(t.Peer, h)
}
