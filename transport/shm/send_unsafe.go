package shm

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bulk"
	"github.com/libimpi/libimpi/transport/futex"
)

// The way of a packet into a ring:
//
//  1. reserve finds contiguous room for the record, behind a skip record if the end of the ring is too near,
//     and for the state word after it. The peer's position is read only when the last one known does not do.
//  2. The header and the payload are written in place.
//  3. publish clears the state word after the record, then stores the record's own, released. The peer
//     polls that very word: for a small message one cache line changes hands.
//  4. If the peer sleeps, ring its bell (bell.go); if it computes, a long message wakes its progress thread.

// Send puts one packet on its way, see transport.Transport. A packet to a process already lost is swallowed.
func (t *Transport) Send(h *transport.Header, payload []byte) bool {
	payload = payload[:h.Len]
	form := formOf(h)
	dst := t.Local(h.Dst)
	if dst < 0 {
		return true // a guest that is none any more
	}
	if form == formShort && len(payload) <= inlineBytes {
		if o := &t.peers[dst].out; o.ring != nil && o.tail+2*lineBytes <= o.limit {
			t.sendLine(o, h, payload)
			return true
		}
	}
	o, r := t.place(h, form, dst)
	if r.to == nil {
		return r.swallow
	}
	bulk.Store(unsafe.Slice((*byte)(payloadAt(r.to, form, uint64(h.Len))), h.Len), payload)
	t.publish(o, r, form, h.Len)
	return true
}

// sendLine is steps 2 to 4 for a record of one line, for which there is room: it never needs a skip record.
func (t *Transport) sendLine(o *outbound, h *transport.Header, payload []byte) {
	t.clearAt(o, o.tail+lineBytes)
	r := (*record)(unsafe.Add(o.ring, o.tail&t.mask))
	r.tag, r.cid, r.lsrank, r.srqid = h.Tag, h.CID, h.LSRank, uint32(h.SrqID)
	if len(payload) == 8 {
		*(*[8]byte)(r.body[:]) = [8]byte(payload)
	} else {
		copy(r.body[:], payload)
	}
	futex.Release32(&r.state, formShort|uint32(len(payload))<<lengthShift)
	o.tail += lineBytes
	if atomic.LoadUint32(&o.ctl.sleepers)|t.fence != 0 {
		ring(o.ctl)
	}
}

// SendFrom is Send with a payload that p produces, in one call of Pack (none if h.Len is 0).
func (t *Transport) SendFrom(h *transport.Header, p transport.Packer) bool {
	form := formOf(h)
	dst := t.Local(h.Dst)
	if dst < 0 {
		return true
	}
	o, r := t.place(h, form, dst)
	if r.to == nil {
		return r.swallow
	}
	if h.Len != 0 {
		t.pack(unsafe.Slice((*byte)(payloadAt(r.to, form, uint64(h.Len))), h.Len), p)
	}
	t.publish(o, r, form, h.Len)
	return true
}

// pack stores what p produces in a ring. Where stores past the caches are the better way, p packs aside first, into
// this core's cache.
func (t *Transport) pack(dst []byte, p transport.Packer) {
	if len(dst) < bulk.Least || bulk.Crowded.Load() || !bulk.Past() {
		p.Pack(dst)
		return
	}
	if t.aside == nil {
		t.aside = make([]byte, maxPacket)
	}
	src := t.aside[:len(dst)]
	p.Pack(src)
	bulk.StoreForAll(dst, src)
}

func formOf(h *transport.Header) uint32 {
	if h.Kind == transport.Data && uint64(h.Len) == h.MsgLen && h.SrqID>>32|h.DrqID|h.Addr == 0 {
		return formShort
	}
	return formFull
}

// room is a place for a record.
type room struct {
	to      *record
	skip    *record // where a skip record goes, or nil
	grow    uint64  // how far the tail moves
	swallow bool    // without room: nobody will read this
}

// place finds room for a packet to a peer and writes all of its header but the state.
func (t *Transport) place(h *transport.Header, form uint32, dst int) (*outbound, room) {
	if uint64(h.Len) > t.max {
		panic(fmt.Sprintf("shm: a packet of %d bytes, the limit is %d", h.Len, t.limits.Packet))
	}
	o := &t.peers[dst].out
	if o.ring == nil && !t.open(dst) {
		return o, room{swallow: t.link(dst).reported}
	}
	r := t.reserve(o, dst, recordBytes(form, uint64(h.Len)))
	if r.to == nil {
		return o, r
	}
	r.to.tag, r.to.cid, r.to.lsrank = h.Tag, h.CID, h.LSRank
	if form == formShort {
		r.to.srqid = uint32(h.SrqID)
	} else {
		f := (*fullRecord)(unsafe.Pointer(r.to))
		f.kind, f.msgLen, f.srqID, f.drqID, f.addr = uint32(h.Kind), h.MsgLen, h.SrqID, h.DrqID, h.Addr
	}
	return o, r
}

func (t *Transport) reserve(o *outbound, dst int, need uint64) room {
	at := o.tail & t.mask
	skip := uint64(0)
	if t.ring-at < need {
		skip = t.ring - at
	}
	if o.tail+skip+need+lineBytes > o.limit && !t.refresh(o, dst, skip+need+lineBytes) {
		return room{swallow: t.gone(dst)}
	}
	r := room{grow: skip + need}
	if skip != 0 {
		r.skip = (*record)(unsafe.Add(o.ring, at))
		at = 0
	}
	r.to = (*record)(unsafe.Add(o.ring, at))
	return r
}

// gone reports whether nobody will ever read what is sent to a peer.
func (t *Transport) gone(dst int) bool {
	return t.link(dst).reported || dst >= len(t.links) && t.seg.guests[dst-len(t.links)].left() == leftInOrder
}

// refresh reads how far the peer has come and reports whether there is room for need bytes now.
func (t *Transport) refresh(o *outbound, dst int, need uint64) bool {
	read := atomic.LoadUint64(&o.pos.read)
	if read > o.tail || o.tail-read > t.ring || read+t.ring < o.limit {
		t.fail(dst, fmt.Errorf("shm: %s says it has read %d bytes of %d", t.name(dst), read, o.tail))
		return false
	}
	if atomic.LoadUint32(&o.pos.hold) != 0 {
		o.limit = o.tail
	} else {
		o.limit = read + t.ring
	}
	return o.tail+need <= read+t.ring
}

// Held reports whether a peer wants no more messages that it has not asked for (Hold). It is noticed when the room
// known to be in the ring has been used up: at most the ring is sent before.
func (t *Transport) Held(_, peer int32) bool {
	i := t.Local(peer)
	if i < 0 {
		return false
	}
	o := &t.peers[i].out
	return o.tail >= o.limit && o.ring != nil && atomic.LoadUint32(&o.pos.hold) != 0
}

func (t *Transport) publish(o *outbound, r room, form uint32, n int) {
	state := form | uint32(n)<<lengthShift
	t.clearAt(o, o.tail+r.grow)
	if r.skip != nil {
		r.to.state = state
		futex.Release32(&r.skip.state, formSkip)
	} else {
		futex.Release32(&r.to.state, state)
	}
	o.tail += r.grow
	if atomic.LoadUint32(&o.ctl.sleepers)|t.fence != 0 {
		ring(o.ctl)
	}
	if form == formFull {
		alert(o.ctl)
	}
}

// clearAt clears the state word of the line at a position: the end of what the peer will find.
func (t *Transport) clearAt(o *outbound, at uint64) {
	(*record)(unsafe.Add(o.ring, at&t.mask)).state = 0
}

// OpenSelf makes a ring from this rank to itself ready, for a fast path that treats messages to oneself like all
// others. It reports whether there is one. Poll delivers what it holds.
func (t *Transport) OpenSelf() bool {
	return t.peers[t.seg.rank].out.ring != nil || t.open(t.seg.rank)
}

// TakeSelf delivers all that this rank has written to itself, as long as no packet is being delivered.
func (t *Transport) TakeSelf() {
	if t.peers[t.seg.rank].out.ring == nil || t.inside {
		return
	}
	t.discover()
	for t.drain(t.seg.rank) {
	}
}

// open makes the ring to a local rank ready on first use.
func (t *Transport) open(dst int) bool {
	if t.link(dst).err != nil {
		return false
	}
	if err := t.seg.openOut(dst); err != nil {
		t.fail(dst, err)
		return false
	}
	return true
}

// payloadAt is where a record's payload of n bytes begins.
func payloadAt(r *record, form uint32, n uint64) unsafe.Pointer {
	if form == formShort && n <= inlineBytes {
		return unsafe.Pointer(&r.body)
	}
	return unsafe.Add(unsafe.Pointer(r), lineBytes)
}

// discover opens the rings of peers that have begun to send.
func (t *Transport) discover() {
	for w := range t.inbound {
		for fresh := atomic.LoadUint64(&t.inbound[w]) &^ t.seen[w]; fresh != 0; fresh &= fresh - 1 {
			bit := bits.TrailingZeros64(fresh)
			t.seen[w] |= 1 << bit
			t.welcome(w*64 + bit)
		}
	}
}

func (t *Transport) welcome(src int) {
	if src >= t.seg.n || t.links[src].err != nil {
		return
	}
	if err := t.seg.openIn(src); err != nil {
		t.fail(src, err)
		return
	}
	t.senders = append(t.senders, int32(src))
}
