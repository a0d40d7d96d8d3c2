package libimpi

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
//	answer (recv.go) -> direct.Rules.Way -> Read:  the receiver reads all, and says Taken
//	                                     -> Share: openClaims, and its name in the SyncAck; then the sender writes
//	                                               (claimMore, write) or streams, and the receiver reads (pull)
//	                                     -> Write: the SyncAck names the address alone
//	                                     -> Later: stands in pulling without claims
//	                                     -> Ring:  the sender streams
//
// The sender tells the receiver what it has written (Given); what it cannot write goes through the ring.

// starving is how long a receiver waits for the next piece of a stream before it reads a section itself: longer than a
// sender that is in MPI ever takes.
const starving = 20 * time.Microsecond

// way decides how the rest of a message goes, of which first bytes are here.
func (e *Engine) way(r *Request, first int64) direct.Way {
	p := e.peer(r.env.peer)
	m := direct.Message{Length: r.wire.length, Room: r.wire.total, First: first, Readable: e.canPull(r)}
	if m.Readable {
		m.Written, m.Slot = r.written, p.freeSlot() < transport.ClaimSlots
		m.Crowded, m.Waiting = e.waiting.patient.Load(), e.thread.Inside() > 0
		m.Offers = p.offers(m.Length)
	}
	return e.direct.rules.Way(&m)
}

// canPull reports whether the message that a receive has matched can be read from the sender's memory.
func (e *Engine) canPull(r *Request) bool {
	p := e.peer(r.env.peer)
	return r.wire.addr != 0 && r.wire.flat && p.direct != nil && p.direct.CanRead(r.env.peer)
}

// freeSlot is the first slot for claims of messages from the peer that is not in use; transport.ClaimSlots: there is
// none.
func (p *peer) freeSlot() int { return bits.TrailingZeros8(^p.sharing.slots) }

// openClaims lets a receive, matched with a message of which first bytes are here, share the rest with the sender. It
// returns the claims' name in the SyncAck; 0: the sender moves everything.
func (e *Engine) openClaims(r *Request, first int64) int32 {
	p := e.peer(r.env.peer)
	slot := p.freeSlot()
	if !r.wire.claims.Cut(first, r.wire.length) {
		return 0
	}
	p.sharing.slots |= 1 << slot
	p.sharing.uses++
	c := &r.wire.claims
	c.Give(p.direct.Claims(r.env.peer, false, slot), p.sharing.uses, slot)
	c.Both = first == 0 && e.direct.rules.Writes && r.wire.length <= r.wire.total
	e.direct.pulling = append(e.direct.pulling, r)
	return int32(p.sharing.uses)<<8 | int32(slot+1)
}

// joinClaims is the sender's side, when the SyncAck comes; false if the name is none that a receiver gives.
func (e *Engine) joinClaims(r *Request, name int32) bool {
	slot := int(name&0xff) - 1
	p := e.peer(r.env.peer)
	c := &r.wire.claims
	if !r.wire.flat || p.direct == nil || slot < 0 || slot >= transport.ClaimSlots || name>>24 != 0 || !c.Cut(r.wire.moved,
		r.wire.total) {
		return false
	}
	c.Join(p.direct.Claims(r.env.peer, true, slot), uint16(name>>8))
	r.wire.stop = r.wire.moved
	r.expects = true // Taken may come
	return true
}

// writeTo notes where a message is to be written: the receiver's address of it, 0 if it has not named one.
func (e *Engine) writeTo(r *Request, into uint64) {
	if p := e.peer(r.env.peer); r.wire.flat && p.direct != nil && e.direct.rules.Writes &&
		p.direct.CanRead(r.env.peer) {
		r.wire.claims.Into = into
	}
}

// claimMore claims the next sections of a stream; false if the receiver has the rest.
func (r *Request) claimMore() bool {
	c := &r.wire.claims
	if !c.Open() {
		return false
	}
	n := int64(1)
	switch {
	case c.Into == 0:
	case r.wire.moved == c.First():
		n = c.Begin()
	default:
		n = c.Share()
	}
	if !c.TakeFront(n) {
		if n, c.Again = c.Again, 0; n == 0 {
			return false
		}
	}
	r.wire.stop = min(r.wire.stop+n*direct.Section, r.wire.total)
	return true
}

// write copies what is claimed of a message into the receiver's memory, and tells it. False: that is not possible.
func (e *Engine) write(r *Request) bool {
	c, n := &r.wire.claims, r.wire.stop-r.wire.moved
	if c.Into == 0 {
		return false
	}
	if !e.ways.local.writer.Write(r.env.peer, c.Into+uint64(r.wire.moved), r.bytes(n)) {
		c.Into = 0
		return false
	}
	r.wire.moved += n
	h := e.packet(transport.Given, r.env.peer)
	h.DrqID, h.MsgLen = r.wire.drqid, uint64(n)
	e.sendControl(h)
	return true
}

// given takes the sender's word that it has written the next part of a message.
func (e *Engine) given(h *transport.Header) {
	r := e.requests.find(h.DrqID)
	if r == nil || r.kind != recvRequest || r.env.peer != h.Src || !r.expects || !r.wire.claims.Both ||
		h.MsgLen > uint64(r.wire.stop-r.wire.moved) {
		e.breach(h.Src, "part of a message that is not under way")
		return
	}
	r.wire.moved += int64(h.MsgLen)
	e.endOfStream(r)
}

// offers reports whether this process has about so many bytes for the peer to read, as well.
func (p *peer) offers(bytes int64) bool {
	r := p.out.Stream()
	return p.sharing.offered >= bytes/2 || r != nil && r.wire.claims.Into != 0 && r.wire.total-r.wire.moved >= bytes/2
}

// unclaim leaves to the receiver the sections of which nothing has been sent for want of room: this process may go away
// and compute.
func (r *Request) unclaim() {
	c := &r.wire.claims
	n := (r.wire.stop - r.wire.moved + direct.Section - 1) / direct.Section
	if c.Open() && n > 0 && (r.wire.moved-c.First())%direct.Section == 0 && c.GiveBack(n) {
		r.wire.stop = r.wire.moved
	}
}

// pull reads a message that is not shared since too many others are, or some of the oldest one that is, if its sender
// writes into memory, too, or does not stream. It reports whether it did anything.
func (e *Engine) pull() bool {
	if i := slices.IndexFunc(e.direct.pulling, func(r *Request) bool { return !r.wire.claims.Open() }); i >= 0 {
		e.pullWhole(e.direct.pulling[i])
		return true
	}
	r := e.direct.pulling[0]
	if !r.wire.claims.Both && !e.starves() {
		return false
	}
	if e.pullBack(r) {
		e.endOfStream(r)
	}
	return true // a message of which nothing is left makes way for the next, before this thread may sleep
}

// shareNext shares another message with a peer, which has to do with one less, if that pays.
func (e *Engine) shareNext(peer int32) {
	i := slices.IndexFunc(e.direct.pulling, func(r *Request) bool { return r.env.peer == peer && !r.wire.claims.Open() })
	if i < 0 || e.direct.pulling[i].wire.length <= direct.Most*direct.Section {
		return
	}
	r := e.direct.pulling[i]
	e.direct.pulling = slices.Delete(e.direct.pulling, i, i+1)
	e.ask(r, 0, direct.Share)
}

// pullWhole reads a message that has no claims; if it cannot, the sender gets it.
func (e *Engine) pullWhole(r *Request) {
	e.stopPulling(r, 0)
	if !e.readDirect(r, r.env.peer, r.wire.addr, 0) {
		e.ask(r, 0, direct.Ring)
		return
	}
	e.sayTaken(r.env.peer, r.wire.srqid, 0)
	r.wire.moved = r.wire.stop
	e.endOfStream(r)
}

// starves reports whether nothing has come for long of the message that is waited for first.
func (e *Engine) starves() bool {
	if e.direct.pullSince.IsZero() {
		e.direct.pullSince = e.direct.now()
		return false
	}
	return e.direct.now().Sub(e.direct.pullSince) >= starving
}

// pullBack reads the last sections that are left. False: there is none, or it cannot be read, and the sender gets it.
func (e *Engine) pullBack(r *Request) bool {
	c, p := &r.wire.claims, e.peer(r.env.peer)
	k := c.Share()
	if c.Both && p.offers(r.wire.stop-r.wire.moved) {
		k = min(c.Left(), direct.Most)
	}
	lo, k := c.Last(k)
	if k <= 0 || lo < r.wire.moved || !c.TakeBack(k) {
		e.stopPulling(r, 0)
		return false
	}
	n := min(r.wire.stop, r.wire.total) - lo // nothing of what does not fit
	if n > 0 && !e.read(r, r.wire.addr+uint64(lo), bytesAt(offset(r.mem.data, lo), n)) {
		e.stopPulling(r, k)
		return false
	}
	c.Back += k
	r.wire.stop = lo
	return true
}

// stopPulling leaves to the sender what is not claimed yet, and the last so many sections that are.
func (e *Engine) stopPulling(r *Request, again int64) {
	i := slices.Index(e.direct.pulling, r)
	if i < 0 {
		return
	}
	e.direct.pulling = slices.Delete(e.direct.pulling, i, i+1)
	e.direct.pullSince = time.Time{}
	if r.wire.claims.Back+again > 0 {
		e.sayTaken(r.env.peer, r.wire.srqid, again)
	}
}

// endOfStream completes a receive that has got all it asked the sender for, and all that it reads itself.
func (e *Engine) endOfStream(r *Request) {
	if r.wire.moved != r.wire.stop {
		return
	}
	if r.wire.claims.Open() {
		e.stopPulling(r, 0)
		e.peer(r.env.peer).sharing.slots &^= 1 << r.wire.claims.Slot
		r.wire.claims = direct.Claims{}
		e.shareNext(r.env.peer)
	}
	if e.peer(r.env.peer).local < 0 {
		e.direct.flowing--
	}
	r.expects = false
	e.peer(r.env.peer).came()
	e.complete(r)
}

// read copies a part of a message out of its sender's memory.
func (e *Engine) read(r *Request, addr uint64, dst []byte) bool {
	p := e.peer(r.env.peer)
	if !e.direct.rules.Times(len(dst), r.wire.length, r.ctx == r.comm.coll) {
		return p.direct.Read(p.rank, addr, dst)
	}
	start := e.direct.now()
	ok := p.direct.Read(p.rank, addr, dst)
	p.sharing.fresh.Note(&e.direct.rules, len(dst), e.direct.now().Sub(start))
	return ok
}

// sayTaken tells a peer that what was to be read of its message has been read, but for so many sections.
func (e *Engine) sayTaken(peer int32, srqid uint64, again int64) {
	h := e.packet(transport.Taken, peer)
	h.SrqID, h.Tag, h.MsgLen = srqid, int32(again), e.peer(peer).sharing.fresh.Found()
	e.sendControl(h)
}

// firstPiece is how many bytes of a message that its receiver can read go with its first packet: none, so that it is
// read, or some if the ring serves better.
func (e *Engine) firstPiece(p *peer, r *Request) int {
	if !p.sharing.fresh.Ring(&e.direct.rules, r.wire.total, r.ctx == r.comm.coll, e.waiting.patient.Load()) {
		return 0
	}
	return int(min(r.wire.total, direct.Section, int64(p.limits.Packet)))
}
