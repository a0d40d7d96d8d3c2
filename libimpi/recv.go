package libimpi

import (
	"fmt"
	"math"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
)

// Receiving. A packet comes up from a transport (Deliver), is attributed to its context, matched and stored,
// or kept until its receive is posted (postRecv). All functions run under the engine's lock.

// Deliver implements transport.Receiver.
func (e *Engine) Deliver(h *transport.Header, payload []byte) {
	switch h.Kind {
	case transport.Data:
		if uint64(h.Len) < h.MsgLen {
			e.continuation(h, payload)
			return
		}
		e.arrive(h, payload)
	case transport.DataSync:
		e.arrive(h, payload)
	case transport.SyncAck:
		e.syncAck(h)
	case transport.Taken:
		e.taken(h)
	case transport.Given:
		e.given(h)
	case transport.Cancel:
		e.cancelAsked(h)
	case transport.CancelYes, transport.CancelNo:
		e.cancelAnswered(h)
	}
}

// arrive takes the first packet of a message.
func (e *Engine) arrive(h *transport.Header, payload []byte) {
	if h.MsgLen > math.MaxInt64 {
		e.breach(h.Src, fmt.Sprintf("message of %d bytes", h.MsgLen))
		return
	}
	ctx := e.contexts.find(h.CID)
	if ctx == nil {
		e.keepEarly(h, payload)
		return
	}
	source := e.sourceIn(ctx, h.LSRank, h.Src)
	if source < 0 {
		return
	}
	e.adoptQuick()
	if r := ctx.space.Arrive(source, h.Tag); r != nil {
		e.accept(r, source, h, payload)
		return
	}
	m := e.copyOf(h, payload)
	m.Source, m.External = source, ctx.rep(h.Src) != datatype.Native
	e.keep(ctx, m)
}

// sourceIn is the rank of a process in a context, where a packet says that it is lsrank. The sender's own idea need not
// hold here; the process it is decides. -1: it does not belong there, and is lost for that.
func (e *Engine) sourceIn(ctx *context, lsrank, peer int32) int32 {
	if ctx.comm.isSource(lsrank, peer) {
		return lsrank
	}
	source := ctx.comm.sourceOf(peer)
	if source < 0 {
		e.breach(peer, fmt.Sprintf("message for context %d, to which it does not belong", ctx.cid))
	}
	return source
}

// copyOf makes an unexpected message of the first packet of one. Whose rank it is from is not known yet.
func (e *Engine) copyOf(h *transport.Header, payload []byte) *message {
	m := e.messages.Get(h.Len)
	copy(m.Payload, payload)
	m.Tag, m.LSRank, m.Peer, m.CID = h.Tag, h.LSRank, h.Src, h.CID
	m.Kind = uint8(h.Kind)
	m.Length, m.SrqID, m.Addr, m.Types = int64(h.MsgLen), h.SrqID, h.Addr, h.DrqID
	return m
}

// keep adds a message that found no receive to its context, where a thread may be asleep in a probe.
func (e *Engine) keep(ctx *context, m *message) {
	e.count(m)
	e.settleIn(ctx, m)
}

// settleIn is keep for a message that has been counted.
func (e *Engine) settleIn(ctx *context, m *message) {
	ctx.keep(m)
	if e.watch.on {
		e.noteUnexpected(ctx, m)
	}
	if ctx.serve != nil {
		ctx.serve.arrived(m.Source)
	}
	e.ring()
}

// accept gives a message's first packet to the receive it matched.
func (e *Engine) accept(r *Request, source int32, h *transport.Header, payload []byte) {
	e.matched(r, source, h.Tag, h.Src, int64(h.MsgLen), h.DrqID)
	if h.Kind == transport.Data {
		r.fill(payload)
		e.complete(r)
		return
	}
	e.answer(r, h.Src, h.SrqID, h.Addr, payload)
}

// matched notes in a receive which message it has got, and what that says of its types.
func (e *Engine) matched(r *Request, source, tag, peer int32, length int64, types uint64) {
	rep := r.ctx.rep(peer)
	r.env.peer = peer
	r.setWire(rep)
	r.wire.length, r.wire.stop = length, length
	r.status.Source, r.status.Tag = source, tag
	r.status.Bytes, r.status.External = length, rep != datatype.Native
	if length > r.wire.total {
		r.status.Bytes = r.wire.total
		r.status.Err = truncated(r, length, r.wire.total)
	}
	if e.watch.on {
		e.countReceived(r.ctx, peer, r.status.Bytes)
		e.compareTypes(r, types, e.peer(peer), length, r.wire.total, rep)
	}
}

// answer replies to a DataSync that has been matched and brought the first piece: the message is complete, or is read
// directly from the sender's memory, or its rest is asked for. That is done before the piece is stored: the sender is
// at work meanwhile.
func (e *Engine) answer(r *Request, peer int32, srqid, addr uint64, piece []byte) {
	first := int64(len(piece))
	if first >= r.wire.length {
		r.fill(piece)
		h := e.packet(transport.SyncAck, peer)
		h.SrqID = srqid
		e.sendControl(h)
		e.complete(r)
		return
	}
	r.wire.srqid, r.wire.addr = srqid, addr
	way := e.way(r, first)
	if way == direct.Read && e.readDirect(r, peer, addr, first) {
		r.fill(piece)
		e.sayTaken(peer, srqid, 0)
		e.complete(r)
		return
	}
	if e.isGuest(peer) && e.peer(peer).tr == nil { // what it still sends is of a process that is lost
		r.fill(piece)
		r.status.Err = e.peer(peer).guest.lost
		e.complete(r)
		return
	}
	r.expects = true
	e.await(e.peer(peer))
	if e.peer(peer).local < 0 {
		e.direct.flowing++
	}
	switch way {
	case direct.Later:
		e.direct.pulling = append(e.direct.pulling, r)
		return
	case direct.Read: // it cannot be read after all
		way = direct.Ring
	}
	e.ask(r, first, way)
	r.fill(piece)
}

// ask answers a DataSync by a SyncAck: the sender shall move the rest of the message, share it, or write all of it.
func (e *Engine) ask(r *Request, first int64, way direct.Way) {
	tag := int32(0)
	switch way {
	case direct.Write:
		r.wire.claims.Both = true
	case direct.Share:
		tag = e.openClaims(r, first)
	}
	h := e.packet(transport.SyncAck, r.env.peer)
	h.SrqID, h.DrqID, h.Tag = r.wire.srqid, r.id, tag
	if r.wire.claims.Both {
		h.Addr = uint64(uintptr(r.mem.data))
	}
	e.sendControl(h)
}

// readDirect copies a long message, but for the first bytes, out of the sender's memory.
func (e *Engine) readDirect(r *Request, peer int32, addr uint64, first int64) bool {
	if e.peer(peer).direct == nil || addr == 0 || !r.wire.flat {
		return false
	}
	n := min(r.wire.length, r.wire.total) - first
	return n <= 0 || e.read(r, addr+uint64(first), bytesAt(offset(r.mem.data, first), n))
}

// Place implements transport.Placer: a continuation of a message whose receive is one run of bytes, and has room for
// all of it, belongs there.
func (e *Engine) Place(h *transport.Header) []byte {
	r := e.requests.find(h.DrqID)
	if r == nil || r.kind != recvRequest || r.env.peer != h.Src || !r.expects || !r.wire.flat ||
		int64(h.Len) > min(r.wire.length, r.wire.total)-r.wire.moved {
		return nil
	}
	return r.bytes(int64(h.Len))
}

// continuation takes a further packet of a long message.
func (e *Engine) continuation(h *transport.Header, payload []byte) {
	r := e.requests.find(h.DrqID)
	if r == nil || r.kind != recvRequest || r.env.peer != h.Src || !r.expects ||
		int64(len(payload)) > r.wire.stop-r.wire.moved {
		e.breach(h.Src, "continuation of a message that is not under way")
		return
	}
	r.fill(payload)
	if len(e.direct.pulling) > 0 && e.direct.pulling[0] == r {
		e.direct.pullSince = time.Time{} // it streams
	}
	e.endOfStream(r)
}

// postRecv starts a receive: it takes a message that is already there, or is posted.
func (e *Engine) postRecv(r *Request) {
	e.adoptQuick()
	m := r.ctx.space.Find(r.env.source, r.env.tag)
	if m == nil {
		if r.ctx.comm.foreigners.lost != nil && e.inVain(r) {
			return
		}
		r.ctx.post(r)
		e.invite(r.ctx, r.env.source)
	} else {
		r.ctx.take(m)
		e.receiveKept(r, m)
	}
	e.bringOn(r)
}

// receiveKept gives an unexpected message, already out of its queue, to a receive.
func (e *Engine) receiveKept(r *Request, m *message) {
	if m.Self != nil {
		e.transfer(r, m.Self)
	} else {
		e.matched(r, m.Source, m.Tag, m.Peer, m.Length, m.Types)
		if m.Kind == uint8(transport.Data) {
			r.fill(m.Payload)
			e.complete(r)
		} else {
			e.answer(r, m.Peer, m.SrqID, m.Addr, m.Payload)
		}
	}
	e.giveBack(m)
}

// cancelAsked answers a CANCEL: yes if the message has not been matched, and then it is gone (IMPI 0.0, 3.7.4).
func (e *Engine) cancelAsked(h *transport.Header) {
	reply := transport.Header{Kind: transport.CancelNo, Src: e.me, Dst: h.Src, SrqID: h.SrqID}
	if m := e.peer(h.Src).unmatched.NewestOf(h.SrqID); m != nil {
		e.drop(m)
		reply.Kind = transport.CancelYes
	}
	if e.isGuest(h.Src) && e.peer(h.Src).tr == nil {
		e.breach(h.Src, "cancellation by a process that is not there")
		return
	}
	if e.peer(h.Src).out.Controls() >= maxReplies {
		e.breach(h.Src, fmt.Sprintf("%d answers are waiting for it to read, and it asks for more", maxReplies))
		return
	}
	e.sendControl(&reply)
}

// maxReplies bounds the answers that wait for a peer which asks for cancellations without end and reads nothing.
const maxReplies = 1 << 16

// cancelAnswered takes the receiver's decision on a send that this process wants cancelled.
func (e *Engine) cancelAnswered(h *transport.Header) {
	r := e.requests.find(h.SrqID)
	if r == nil || r.kind != sendRequest || r.env.peer != h.Src || !r.state.cancelAsked {
		e.breach(h.Src, "answer to a cancellation that was not asked for")
		return
	}
	if h.Kind == transport.CancelYes && (!r.expects || r.wire.claims.Open()) {
		e.breach(h.Src, "cancellation of a message that has been received")
		return
	}
	r.state.cancelAsked = false
	p := e.peer(r.env.peer)
	p.came()
	if h.Kind == transport.CancelYes {
		r.expects = false
		p.answered(r)
		p.came()
		r.status.Cancelled = true
		e.complete(r)
		return
	}
	if r.state.ended {
		e.complete(r)
	} else if r.status.Err != nil && r.expects && !r.wire.claims.Open() {
		// One that was given up (guest_loss.go), and that the receiver has dropped with the communicator: had it been
		// matched, that would have been said before.
		r.expects = false
		p.answered(r)
		p.came()
		e.complete(r)
	}
}

// breach reports a peer that does not keep the protocol.
func (e *Engine) breach(peer int32, what string) {
	e.Lost(peer, fmt.Errorf("protocol error: %s", what))
}

// LostPeer is why the first peer was lost; nil: all are there.
func (e *Engine) LostPeer() *Error { return e.loss.failed.Load() }

// LostClient is the client of the first peer that was lost, if that is another client; nil: there is none.
func (e *Engine) LostClient() *int32 {
	if lost := e.loss.failed.Load(); lost != nil {
		return lost.Client
	}
	return nil
}

// Lost implements transport.Receiver: a peer is gone, and with it the job, unless it is of another one.
func (e *Engine) Lost(peer int32, err error) {
	if e.isGuest(peer) {
		if p := e.peer(peer); p != &e.guests.nobody {
			e.guestLost(p, err)
		}
		return
	}
	lost := errorf(abi.MPI_ERR_PROC_ABORTED, "rank %d of MPI_COMM_WORLD is lost: %v", peer, err)
	if c := e.job.Procs[peer].Client; c != e.job.Procs[e.me].Client {
		lost.Client = &c
	}
	if e.loss.failed.CompareAndSwap(nil, lost) {
		if e.watch.observes(PeerLost) {
			e.watch.observer(PeerLost, nil, [5]int64{int64(peer)})
		}
		e.ring()
		if e.loss.onLost != nil {
			go e.loss.onLost(lost)
		}
	}
}
