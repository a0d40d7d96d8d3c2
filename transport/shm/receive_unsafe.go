package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// The way of a packet out of a ring: look at the state word where the next record must be; if it is set, check
// what it says against the ring (the peer may have written anything), copy the header, hand header and
// payload to the Receiver in place, move on. The peer learns the new position each quarter of the ring, and
// is woken then if it sleeps: it may wait for room.

// Poll delivers packets that have arrived, at most batch from each peer.
func (t *Transport) Poll() bool {
	if t.inside {
		return false
	}
	t.discover()
	did := false
	if n := len(t.senders); n == 1 {
		did = t.drain(int(t.senders[0]))
	} else if n > 1 {
		did = t.pollAll(n)
	}
	if t.mourn != 0 {
		did = t.report() || did
	}
	return did
}

func (t *Transport) pollAll(n int) bool {
	t.turn++
	if t.turn >= n {
		t.turn = 0
	}
	did := false
	// A link that fails shortens senders; the last of them may then wait for the next Poll.
	for k := t.turn; k < len(t.senders); k++ {
		did = t.drain(int(t.senders[k])) || did
	}
	for k := 0; k < t.turn && k < len(t.senders); k++ {
		did = t.drain(int(t.senders[k])) || did
	}
	return did
}

// PollFrom delivers the next packet of one local rank, for a receive that knows its source: it is done
// with one as a rule, and need not fetch the cache line after it.
func (t *Transport) PollFrom(src int) bool {
	if t.inside {
		return false
	}
	in := &t.peers[src].in
	if in.ring == nil {
		return t.Poll()
	}
	did := t.take(in, src)
	if t.mourn != 0 {
		did = t.report() || did
	}
	return did
}

// Spin looks at most n times (n > 0) whether the next packet of a peer has come, with a pause after each look, and
// reports whether it has.
func (t *Transport) Spin(peer int32, n uint32) bool {
	src := t.Local(peer)
	if src < 0 {
		return false
	}
	in := &t.peers[src].in
	ring := in.ring // once: whoever holds the lock may close it
	if ring == nil {
		w, bit := &t.inbound[src/64], uint64(1)<<(src%64)
		for ; n > 0 && atomic.LoadUint64(w)&bit == 0; n-- {
			futex.Pause(1)
		}
		return n > 0
	}
	return spinWhile(&(*record)(unsafe.Add(ring, in.read&uint64(in.size-1))).state, 0, n) != 0
}

// drain delivers at most batch packets of a peer. If its ring is closed meanwhile, nothing is found in it any more.
func (t *Transport) drain(src int) bool {
	in := &t.peers[src].in
	n := 0
	for n < batch && in.ring != nil && t.take(in, src) {
		n++
	}
	return n != 0
}

// take delivers the next packet of a ring, if there is one.
func (t *Transport) take(in *inbound, src int) bool {
	ring := uint64(in.size)
	at := in.read & (ring - 1)
	r := (*record)(unsafe.Add(in.ring, at))
	state := atomic.LoadUint32(&r.state)
	if state == 0 {
		return false
	}
	if state == formSkip && at != 0 {
		in.read += ring - at
		at, r = 0, (*record)(in.ring)
		if state = atomic.LoadUint32(&r.state); state == 0 {
			return false
		}
	}
	form, n := state&formMask, uint64(state>>lengthShift)
	size := recordBytes(form, n)
	if n > uint64(in.max) || at+size > ring || !t.decode(r, form, n) {
		t.fail(src, fmt.Errorf("shm: damaged record from %s: state %#x at %d", t.name(src), state, at))
		return false
	}
	if form == formGrowing && uint64(atomic.LoadUint32(&(*growingRecord)(unsafe.Pointer(r)).filled)) < n {
		return false
	}
	h := &t.hdr
	h.Src, h.Dst, h.Len = t.world[src], t.me, int(n)
	t.inside = true
	t.rx.Deliver(h, unsafe.Slice((*byte)(payloadAt(r, form, n)), n))
	t.inside = false
	in.read += size
	if in.read-in.told >= ring/4 {
		t.tell(in)
	}
	return true
}

// decode fills t.hdr with what stands in the record. False: no sender of ours writes this.
func (t *Transport) decode(r *record, form uint32, n uint64) bool {
	h := &t.hdr
	h.Tag, h.CID, h.LSRank = r.tag, r.cid, r.lsrank
	switch form {
	case formGrowing:
		if n <= inlineBytes || uint64(atomic.LoadUint32(&(*growingRecord)(unsafe.Pointer(r)).filled)) > n {
			return false
		}
		fallthrough
	case formShort:
		h.Kind, h.MsgLen, h.SrqID, h.DrqID, h.Addr = transport.Data, n, uint64(r.srqid), 0, 0
		return true
	case formFull:
		f := (*fullRecord)(unsafe.Pointer(r))
		kind := f.kind
		h.Kind, h.MsgLen, h.SrqID, h.DrqID, h.Addr = transport.Kind(kind), f.msgLen, f.srqID, f.drqID, f.addr
		return validKind(kind, n, h.MsgLen)
	}
	return false
}

func validKind(kind uint32, n, msgLen uint64) bool {
	switch kind {
	case uint32(transport.Data), uint32(transport.DataSync):
		return n <= msgLen
	case uint32(transport.SyncAck), uint32(transport.Cancel), uint32(transport.CancelYes),
		uint32(transport.CancelNo), uint32(transport.Taken), uint32(transport.Given):
		return true
	}
	return false
}

// Hold tells a peer whether this process wants no more messages that it has not asked for, see transport.Holder.
func (t *Transport) Hold(_, peer int32, on bool) {
	i := t.Local(peer)
	if i < 0 || t.peers[i].in.ring == nil {
		return
	}
	in := &t.peers[i].in
	hold := uint32(0)
	if on {
		hold = 1
	}
	atomic.StoreUint32(&in.pos.hold, hold)
}

// tell lets the sender reuse what has been consumed.
func (t *Transport) tell(in *inbound) {
	in.told = in.read
	futex.Release64(&in.pos.read, in.read)
	if atomic.LoadUint32(&in.ctl.sleepers)|t.fence != 0 {
		ring(in.ctl)
	}
	alert(in.ctl)
}
