package libimpi

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// A long message inside a machine that is one run of bytes on both sides has two ways to go.
//
// Where the kernel copies between processes about as quickly as they copy themselves (transport.Reader), both sides
// copy at once, from memory to memory: the sender writes into the receiver's buffer, from the front, and the receiver
// reads out of the sender's, from the back. The first packet is empty then. Two processes that send each other about as
// much read all of it, each by itself (peer.offers): both are busy anyway, and what one has read is in its own caches.
// For the same reason an algorithm may have the sender write all of what goes to memory that it has just read there
// (coll.Writable): its SyncAck names an address and no claims.
// Medium messages whose data has just been written go through the ring even so (fresh.go).
//
// Elsewhere the sender streams through the ring: two copies, but on two cores at once. When nothing comes for a while,
// because the sender computes, the receiver reads, from the back.
//
// What follows the first packet is cut into sections, and a section is moved by whom has claimed it, in a word that
// both see (transport.Reader):
//
//	bits  0-23  front: sections claimed by the sender
//	bits 24-47  back: sections claimed by the receiver
//	bits 48-63  use: the message, as the SyncAck has named it; under another use there is nothing to claim
//
// The sender tells the receiver what it has written (Given); what it cannot write goes through the ring. When all
// sections are claimed and some by the receiver, it says Taken, which the sender awaits, and how many of its own it
// could not read, which the sender has to move after all; otherwise the sender knows from its last claim that
// everything has left. Each side believes its own count and takes from the word only whether something is left.

const (
	// sectionBytes is a piece of a stream in a ring that is large enough, so that what the sender has claimed is there.
	sectionBytes = 32 << 10
	// shareSections is how many one side copies at once at most, under the engine's lock.
	shareSections = 8
	// swapBytes is the longest message that is read in one go because as much goes the other way, and swapLater if no
	// thread of the program waits in MPI.
	swapBytes = 4 << 20
	swapLater = 256 << 10
	// crowdBytes is the longest one that is where ranks outnumber cores.
	crowdBytes = 256 << 10
	// starving is how long a receiver waits for the next piece of a stream before it reads a section itself: longer
	// than a sender that is in MPI ever takes.
	starving = 20 * time.Microsecond

	claimBits  = 24
	claimMask  = 1<<claimBits - 1
	claimFront = 1
	claimBack  = 1 << claimBits
	useShift   = 2 * claimBits
	// claimTries bounds the fight for the word: a peer that writes nonsense there cannot hold us.
	claimTries = 1000
)

// claims are the sections of one message, as one of its processes sees them. The zero value has none.
type claims struct {
	word  *uint64
	use   uint64
	count int64 // of sections
	first int64 // byte of the message where they begin
	slot  int
	back  int64  // receive: how many this process has claimed, and read
	both  bool   // receive: the sender may write into the buffer, and this process need not wait before it reads
	into  uint64 // send: the address of the receiver's buffer, to write to; 0: the ring it is
	again int64  // send: sections that the receiver could not read, behind those that this process has claimed
}

func (c *claims) open() bool { return c.word != nil }

// left is how many sections nobody has claimed.
func (c *claims) left() int64 { return c.remaining(atomic.LoadUint64(c.word)) }

func (c *claims) remaining(w uint64) int64 {
	if w>>useShift != c.use {
		return 0
	}
	return max(0, c.count-int64(w&claimMask)-int64(w>>claimBits&claimMask))
}

// take claims the next n sections of one end.
func (c *claims) take(end uint64, n int64) bool {
	for range claimTries {
		w := atomic.LoadUint64(c.word)
		if c.remaining(w) < n {
			return false
		}
		if atomic.CompareAndSwapUint64(c.word, w, w+uint64(n)*end) {
			return true
		}
	}
	return false
}

// giveBack undoes the sender's last claim, of n sections.
func (c *claims) giveBack(n int64) bool {
	for range claimTries {
		w := atomic.LoadUint64(c.word)
		if w>>useShift != c.use || int64(w&claimMask) < n {
			return false
		}
		if atomic.CompareAndSwapUint64(c.word, w, w-uint64(n)*claimFront) {
			return true
		}
	}
	return false
}

// cut divides bytes first to length into sections; false if they are too many.
func (c *claims) cut(first, length int64) bool {
	c.first, c.count = first, (length-first+sectionBytes-1)/sectionBytes
	return c.count <= claimMask
}

// canPull reports whether the message that a receive has matched can be read from the sender's memory.
func (e *Engine) canPull(r *Request) bool {
	p := e.peer(r.env.peer)
	return r.wire.addr != 0 && r.wire.flat && p.direct != nil && p.direct.CanRead(r.env.peer)
}

// freeSlot is the first slot for claims of messages from the peer that is not in use; transport.ClaimSlots: there is
// none.
func (p *peer) freeSlot() int { return bits.TrailingZeros8(^p.sharing.slots) }

// readsAlone reports whether a message is read at once, and all of it, as soon as it has been matched.
func (e *Engine) readsAlone(r *Request, peer int32, first int64) bool {
	switch {
	case e.direct.readAll:
		return true
	case first > 0 || r.wire.flat && r.wire.length > r.wire.total:
		return false
	case e.waiting.patient.Load(): // the sender would have to be woken, for what does not take long
		return r.wire.length <= crowdBytes
	}
	return !r.written && (r.wire.length <= sectionBytes || r.wire.length <= e.swapLimit() &&
		e.peer(peer).offers(r.wire.length))
}

// swapLimit is the longest message that is read in one go because as much goes the other way. What the program does not
// wait for, the progress thread may go on with, in parts.
func (e *Engine) swapLimit() int64 {
	if e.thread.Inside() > 0 {
		return swapBytes
	}
	return swapLater
}

// leaves reports whether a message, matched and of which first bytes are here, is left to the sender to write.
func (e *Engine) leaves(r *Request, first int64) bool {
	return r.written && first == 0 && r.wire.length <= min(r.wire.total, swapBytes) && !e.waiting.patient.Load() &&
		e.ways.local.writer != nil &&
		e.canPull(r)
}

// openClaims lets a receive, matched with a message of which first bytes are here, share the rest with the sender. It
// returns the claims' name in the SyncAck; 0: the sender moves everything.
func (e *Engine) openClaims(r *Request, first int64) int32 {
	p := e.peer(r.env.peer)
	slot := p.freeSlot()
	if !e.canPull(r) || slot == transport.ClaimSlots || !r.wire.claims.cut(first, r.wire.length) {
		return 0
	}
	p.sharing.slots |= 1 << slot
	p.sharing.uses++
	c := &r.wire.claims
	c.word, c.use, c.slot, c.back = p.direct.Claims(r.env.peer, false, slot), uint64(p.sharing.uses), slot, 0
	atomic.StoreUint64(c.word, c.use<<useShift)
	c.both = first == 0 && e.ways.local.writer != nil && r.wire.length <= r.wire.total
	e.direct.pulling = append(e.direct.pulling, r)
	return int32(p.sharing.uses)<<8 | int32(slot+1)
}

// joinClaims is the sender's side, when the SyncAck comes; false if the name is none that a receiver gives.
func (e *Engine) joinClaims(r *Request, name int32) bool {
	slot := int(name&0xff) - 1
	p := e.peer(r.env.peer)
	c := &r.wire.claims
	if !r.wire.flat || p.direct == nil || slot < 0 || slot >= transport.ClaimSlots || name>>24 != 0 || !c.cut(r.wire.moved,
		r.wire.total) {
		return false
	}
	c.word, c.use = p.direct.Claims(r.env.peer, true, slot), uint64(name>>8)
	r.wire.stop = r.wire.moved
	r.expects = true // Taken may come
	return true
}

// writeTo notes where a message is to be written: the receiver's address of it, 0 if it has not named one.
func (e *Engine) writeTo(r *Request, into uint64) {
	if p := e.peer(r.env.peer); r.wire.flat && p.direct != nil && e.ways.local.writer != nil &&
		p.direct.CanRead(r.env.peer) {
		r.wire.claims.into = into
	}
}

// share is how many sections one side claims at once: half of those that are left, within bounds.
func (c *claims) share() int64 { return max(1, min(shareSections, (c.left()+1)/2)) }

// claimMore claims the next sections of a stream; false if the receiver has the rest.
func (r *Request) claimMore() bool {
	c := &r.wire.claims
	if !c.open() {
		return false
	}
	n := int64(1)
	switch {
	case c.into == 0:
	case r.wire.moved == c.first: // the receiver has half of them: what is shorter is over when both have copied once
		n = max(1, min(shareSections, c.left()))
	default:
		n = c.share()
	}
	if !c.take(claimFront, n) {
		if n, c.again = c.again, 0; n == 0 {
			return false
		}
	}
	r.wire.stop = min(r.wire.stop+n*sectionBytes, r.wire.total)
	return true
}

// write copies what is claimed of a message into the receiver's memory, and tells it. False: that is not possible.
func (e *Engine) write(r *Request) bool {
	c, n := &r.wire.claims, r.wire.stop-r.wire.moved
	if c.into == 0 {
		return false
	}
	if !e.ways.local.writer.Write(r.env.peer, c.into+uint64(r.wire.moved), r.bytes(n)) {
		c.into = 0
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
	if r == nil || r.kind != recvRequest || r.env.peer != h.Src || !r.expects || !r.wire.claims.both ||
		h.MsgLen > uint64(r.wire.stop-r.wire.moved) {
		e.breach(h.Src, "part of a message that is not under way")
		return
	}
	r.wire.moved += int64(h.MsgLen)
	e.endOfStream(r)
}

// offers reports whether this process has about so many bytes for the peer to read, as well.
func (p *peer) offers(bytes int64) bool {
	r := p.streams.head
	return p.sharing.offered >= bytes/2 || r != nil && r.wire.claims.into != 0 && r.wire.total-r.wire.moved >= bytes/2
}

// unclaim leaves to the receiver the sections of which nothing has been sent for want of room.
func (r *Request) unclaim() {
	c := &r.wire.claims
	n := (r.wire.stop - r.wire.moved + sectionBytes - 1) / sectionBytes
	if c.open() && n > 0 && (r.wire.moved-c.first)%sectionBytes == 0 && c.giveBack(n) {
		r.wire.stop = r.wire.moved
	}
}

// pull reads a message that is not shared since too many others are, or some of the oldest one that is, if its sender
// writes into memory, too, or does not stream. It reports whether it did anything.
func (e *Engine) pull() bool {
	if i := slices.IndexFunc(e.direct.pulling, func(r *Request) bool { return !r.wire.claims.open() }); i >= 0 {
		e.pullWhole(e.direct.pulling[i])
		return true
	}
	r := e.direct.pulling[0]
	if !r.wire.claims.both && !e.starves() {
		return false
	}
	if e.pullBack(r) {
		e.endOfStream(r)
	}
	return true // a message of which nothing is left makes way for the next, before this thread may sleep
}

// shareNext shares another message with a peer, which has to do with one less, if that pays.
func (e *Engine) shareNext(peer int32) {
	i := slices.IndexFunc(e.direct.pulling, func(r *Request) bool { return r.env.peer == peer && !r.wire.claims.open() })
	if i < 0 || e.direct.pulling[i].wire.length <= shareSections*sectionBytes {
		return
	}
	r := e.direct.pulling[i]
	e.direct.pulling = slices.Delete(e.direct.pulling, i, i+1)
	e.ask(r, 0)
}

// pullWhole reads a message that has no claims; if it cannot, the sender gets it.
func (e *Engine) pullWhole(r *Request) {
	e.stopPulling(r, 0)
	if !e.readDirect(r, r.env.peer, r.wire.addr, 0) {
		e.ask(r, 0)
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
	k := c.share()
	if c.both && p.offers(r.wire.stop-r.wire.moved) {
		k = min(c.left(), shareSections)
	}
	k = min(k, c.count-c.back)
	lo := c.first + (c.count-c.back-k)*sectionBytes
	if k <= 0 || lo < r.wire.moved || !c.take(claimBack, k) {
		e.stopPulling(r, 0)
		return false
	}
	n := min(r.wire.stop, r.wire.total) - lo // nothing of what does not fit
	if n > 0 && !e.read(r, r.wire.addr+uint64(lo), bytesAt(offset(r.mem.data, lo), n)) {
		e.stopPulling(r, k)
		return false
	}
	c.back += k
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
	if r.wire.claims.back+again > 0 {
		e.sayTaken(r.env.peer, r.wire.srqid, again)
	}
}

// endOfStream completes a receive that has got all it asked the sender for, and all that it reads itself.
func (e *Engine) endOfStream(r *Request) {
	if r.wire.moved != r.wire.stop {
		return
	}
	if r.wire.claims.open() {
		e.stopPulling(r, 0)
		e.peer(r.env.peer).sharing.slots &^= 1 << r.wire.claims.slot
		r.wire.claims = claims{}
		e.shareNext(r.env.peer)
	}
	if e.peer(r.env.peer).local < 0 {
		e.direct.flowing--
	}
	r.expects = false
	e.peer(r.env.peer).came()
	e.complete(r)
}
