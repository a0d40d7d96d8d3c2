package libimpi

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// A long message inside a machine that is one run of bytes on both sides has two ways to go. The sender streams it
// through the ring: two copies, but on two cores at once, and the quicker way wherever it has been measured. Or the
// receiver reads it out of the sender's memory: that needs nobody but the receiver. So the sender streams, from the
// front, and when nothing comes for a while, because the sender computes, the receiver reads, from the back.
//
// What follows the first packet is cut into sections, and a section is moved by whom has claimed it, in a word that
// both see (transport.Reader):
//
//	bits  0-23  front: sections claimed by the sender
//	bits 24-47  back: sections claimed by the receiver
//	bits 48-63  use: the message, as the SyncAck has named it; under another use there is nothing to claim
//
// The receiver claims a section after it has read it, so that one it cannot read is left to the sender. When all
// sections are claimed and some by the receiver, it says Taken, which the sender awaits; otherwise the sender knows
// from its last claim that everything has left. Each side believes its own count and takes from the word only whether
// something is left.

const (
	// sectionBytes is a piece of a stream in a ring that is large enough, so that what the sender has claimed is there.
	sectionBytes = 32 << 10
	// pullSections is how many the receiver reads at once, under the engine's lock.
	pullSections = 4
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
	back  int64 // receive: how many this process has claimed
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

// giveBack undoes the sender's last claim.
func (c *claims) giveBack() bool {
	for range claimTries {
		w := atomic.LoadUint64(c.word)
		if w>>useShift != c.use || w&claimMask == 0 {
			return false
		}
		if atomic.CompareAndSwapUint64(c.word, w, w-claimFront) {
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

// openClaims lets a receive, matched with a message of which first bytes are here, share the rest with the sender. It
// answers the claims' name in the SyncAck; 0: the sender moves everything.
func (e *Engine) openClaims(r *Request, peer int32, srqid, addr uint64, first int64) int32 {
	p := e.peer(peer)
	if addr == 0 || !r.flat || p.direct == nil || !p.direct.CanRead(peer) || !r.claims.cut(first, r.length) {
		return 0
	}
	slot := 0
	for p.slots>>slot&1 != 0 {
		slot++
	}
	if slot == transport.ClaimSlots {
		return 0
	}
	p.slots |= 1 << slot
	p.uses++
	c := &r.claims
	c.word, c.use, c.slot, c.back = p.direct.Claims(peer, false, slot), uint64(p.uses), slot, 0
	atomic.StoreUint64(c.word, c.use<<useShift)
	r.srqid, r.addr = srqid, addr
	e.pulling = append(e.pulling, r)
	return int32(p.uses)<<8 | int32(slot+1)
}

// joinClaims is the sender's side, when the SyncAck comes; false if the name is none that a receiver gives.
func (e *Engine) joinClaims(r *Request, name int32) bool {
	slot := int(name&0xff) - 1
	p := e.peer(r.peer)
	c := &r.claims
	if !r.flat || p.direct == nil || slot < 0 || slot >= transport.ClaimSlots || name>>24 != 0 || !c.cut(r.moved,
		r.total) {
		return false
	}
	c.word, c.use = p.direct.Claims(r.peer, true, slot), uint64(name>>8)
	r.stop = r.moved
	r.expects = true // Taken may come
	return true
}

// claimMore claims the next section of a stream; false if the receiver has the rest.
func (r *Request) claimMore() bool {
	if !r.claims.open() || !r.claims.take(claimFront, 1) {
		return false
	}
	r.stop = min(r.stop+sectionBytes, r.total)
	return true
}

// unclaim leaves to the receiver a section of which nothing has been sent for want of room.
func (r *Request) unclaim() {
	c := &r.claims
	if c.open() && r.moved < r.stop && (r.moved-c.first)%sectionBytes == 0 && c.giveBack() {
		r.stop = r.moved
	}
}

// pull reads a section of the oldest message that is shared, if its sender does not stream. It answers whether it did.
func (e *Engine) pull() bool {
	if e.pullSince.IsZero() {
		e.pullSince = e.now()
		return false
	}
	if e.now().Sub(e.pullSince) < starving {
		return false
	}
	r := e.pulling[0]
	if !e.pullBack(r) {
		e.stopPulling(r)
		return false
	}
	e.endOfStream(r)
	return true
}

// pullBack reads the last sections that are left. False: there is none, or it cannot be read.
func (e *Engine) pullBack(r *Request) bool {
	c := &r.claims
	k := min(c.left(), pullSections, c.count-c.back)
	lo := c.first + (c.count-c.back-k)*sectionBytes
	if k <= 0 || lo < r.moved {
		return false
	}
	n := min(r.stop, r.total) - lo // nothing of what does not fit
	if n > 0 && !e.peer(r.peer).direct.Read(r.peer, r.addr+uint64(lo), bytesAt(offset(r.data, lo), n)) {
		return false
	}
	if !c.take(claimBack, k) {
		return c.left() > 0
	}
	c.back += k
	r.stop = lo
	return true
}

// stopPulling leaves what is not claimed yet to the sender.
func (e *Engine) stopPulling(r *Request) {
	i := slices.Index(e.pulling, r)
	if i < 0 {
		return
	}
	e.pulling = slices.Delete(e.pulling, i, i+1)
	e.pullSince = time.Time{}
	if r.claims.back > 0 {
		h := &e.reply
		*h = transport.Header{Kind: transport.Taken, Src: e.me, Dst: r.peer, SrqID: r.srqid}
		e.sendControl(h)
	}
}

// endOfStream completes a receive that has got all it asked the sender for, and all that it reads itself.
func (e *Engine) endOfStream(r *Request) {
	if r.moved != r.stop {
		return
	}
	if r.claims.open() {
		e.stopPulling(r)
		e.peer(r.peer).slots &^= 1 << r.claims.slot
		r.claims = claims{}
	}
	if e.peer(r.peer).local < 0 {
		e.flowing--
	}
	r.expects = false
	e.peer(r.peer).came()
	e.complete(r)
}
