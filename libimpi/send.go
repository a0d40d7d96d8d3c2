package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

// Sending. A send is started (start), its first packet leaves at once or waits in its peer's queue, and what
// follows depends on mode and size:
//
//	short, standard     one Data packet carries everything; done
//	short, synchronous  one DataSync packet; done when SyncAck comes
//	short, withheld     the receiver keeps too much (package pressure): a DataSync packet, with the data or not
//	long                a DataSync packet with the first piece (or none, and the buffer's address); then either
//	                    Taken: the receiver has read all of it, or SyncAck: the rest follows as continuations, or is
//	                    written into the receiver's memory (direct_copies.go)
//
// All functions run under the engine's lock.

// packet is a packet that is about to leave, with nothing in it but this. There is one for all, since the address of a
// new one would escape: the caller fills it and hands it to a transport or to sendControl, which copy it, before it
// calls anything else that sends.
func (e *Engine) packet(kind transport.Kind, dst int32) *transport.Header {
	h := &e.sending.packet
	*h = transport.Header{Kind: kind, Src: e.me, Dst: dst}
	return h
}

// start begins a send that has its comm, ctx, peer, tag, mode and buffer.
func (e *Engine) start(r *Request) {
	if r.env.peer == e.me {
		e.sendSelf(r)
		return
	}
	if r.comm.foreigners.lost != nil && e.inVain(r) {
		return
	}
	p := e.peer(r.env.peer)
	r.setWire(r.ctx.rep(r.env.peer))
	e.sending.seq++
	r.wire.seq = e.sending.seq
	if p.out.Passable() && e.sendFirst(p, r) {
		e.bringOn(r)
		return
	}
	p.out.PutFirst(&r.place, r)
	e.enqueue(r.env.peer, p)
	e.bringOn(r)
}

// enqueue notes that peer p has something that waits for room.
func (e *Engine) enqueue(rank int32, p *peer) {
	if !p.queued {
		p.queued = true
		e.sending.busy = append(e.sending.busy, rank)
		e.shared.Queued = uint32(len(e.sending.busy))
	}
}

// sendFirst hands a message's first packet to the transport; false if there is no room.
func (e *Engine) sendFirst(p *peer, r *Request) bool {
	h := e.packet(transport.Data, r.env.peer)
	h.LSRank, h.Tag, h.CID = r.comm.rank, r.env.tag, r.ctx.cid
	h.MsgLen, h.SrqID = uint64(r.wire.total), r.id
	h.Seq, h.Count, h.Dtype = r.wire.seq, r.declared.elements, r.declared.dtype
	h.Len = int(r.wire.total)
	if r.wire.total > int64(p.limits.Eager) {
		h.Kind = transport.DataSync
		h.Len = int(min(int64(p.limits.Packet), r.wire.total))
		if p.direct != nil {
			// While the receiver copies this piece, the sender learns that it may go on.
			h.Len = p.limits.Eager
			switch {
			case e.withhold(p, r.ctx):
				h.Len = 0
			case !r.wire.flat:
				h.Len = r.wire.cur.Piece(h.Len, h.Len)
			case e.direct.rules.On && p.direct.CanRead(r.env.peer):
				h.Len = e.firstPiece(p, r)
			}
			if r.wire.flat {
				h.Addr = uint64(uintptr(r.mem.data))
			}
		} else if p.hold != nil && e.withhold(p, r.ctx) {
			h.Len = 0
		}
	} else if e.withhold(p, r.ctx) {
		p.envelope(r, h)
	} else if r.mode == modeSynchronous {
		h.Kind = transport.DataSync
	}
	if e.watch.on {
		if !e.pushWatched(p, r, h) {
			return false
		}
	} else if !e.push(p, r, h) {
		return false
	}
	if h.Kind == transport.Data {
		p.sent(r.wire.total)
		e.complete(r)
		return true
	}
	p.asks(r)
	r.expects = true
	e.await(p)
	r.wire.stop = r.wire.total
	return true
}

// pushWatched is push of a first packet while messages are counted, or their types compared.
func (e *Engine) pushWatched(p *peer, r *Request, h *transport.Header) bool {
	if r.buffered.buffer == nil { // otherwise the program's type is known no more
		r.declared.types = e.types(r.ctx, p, r.mem.count, r.mem.typ)
	}
	h.DrqID = r.declared.types
	if !e.push(p, r, h) {
		return false
	}
	e.countSent(r.ctx, p, r.wire.total, int64(h.Len) == r.wire.total)
	return true
}

// push sends a packet with the next h.Len bytes of r.
func (e *Engine) push(p *peer, r *Request, h *transport.Header) bool {
	if r.wire.flat {
		if !p.tr.Send(h, r.bytes(int64(h.Len))) {
			return false
		}
	} else if !p.tr.SendFrom(h, r) {
		return false
	}
	r.wire.moved += int64(h.Len)
	return true
}

// sendPiece sends the next continuation of a long message; false if there is no room.
func (e *Engine) sendPiece(p *peer, r *Request) bool {
	h := e.packet(transport.Data, r.env.peer)
	h.LSRank, h.Tag, h.CID = r.comm.rank, r.env.tag, r.ctx.cid
	h.MsgLen, h.SrqID, h.DrqID = uint64(r.wire.total), r.id, r.wire.drqid
	h.Seq, h.Count, h.Dtype = r.wire.seq, r.declared.elements, r.declared.dtype
	unbuffered := r.wire.flat && p.stream != nil
	h.Len = int(min(r.wire.stop-r.wire.moved, int64(p.piece(r))))
	if uint64(h.Len) == h.MsgLen {
		// The first packet was empty. A continuation is told from a whole message by being shorter.
		h.Len /= 2
	}
	if !unbuffered {
		return e.push(p, r, h)
	}
	taken, ok := p.stream.SendLong(h, r.bytes(int64(h.Len)))
	if ok {
		r.wire.moved += int64(taken)
		r.wire.owed = int64(h.Len - taken)
	}
	return ok
}

// piece is the length of a continuation, in bytes. Inside a machine the receiver stores one while the sender makes the
// next, and pieces are as short as their number allows: what one core has written is in its cache when the other reads
// it.
func (p *peer) piece(r *Request) int {
	switch {
	case p.direct == nil && r.wire.flat && p.stream != nil:
		return max(p.limits.Packet, p.longest)
	case p.direct == nil:
		return p.limits.Packet
	case r.wire.flat:
		return min(direct.Section, p.limits.Packet)
	}
	// Towards the end they are shorter, so that the receiver has little left to store when the sender is done.
	about := min(max(int(r.wire.total-r.wire.moved)/2, direct.Section/2), direct.Section)
	return r.wire.cur.Piece(min(about, p.limits.Packet), p.limits.Packet)
}

// sendControl sends a packet without payload, now or as soon as there is room.
func (e *Engine) sendControl(h *transport.Header) {
	p := e.peer(h.Dst)
	if p.tr == nil || p.out.Controls() == 0 && p.tr.Send(h, nil) { // who is lost hears nothing
		return
	}
	p.out.PutControl(h)
	e.enqueue(h.Dst, p)
}

// flush hands over what waited for room. It reports whether anything left.
func (e *Engine) flush() bool {
	did := false
	kept := e.sending.busy[:0]
	for _, rank := range e.sending.busy {
		p := e.peer(rank)
		if p.out.Flush(outgoing{e}) {
			did = true
		}
		if p.queued = !p.out.Empty(); p.queued {
			kept = append(kept, rank)
		}
	}
	e.sending.busy = kept
	e.shared.Queued = uint32(len(kept))
	if len(kept) == 0 {
		e.ring() // a thread may wait for this: Finish
	}
	return did
}

// outgoing moves what waits for room (outbox.Sender).
type outgoing struct{ e *Engine }

func (o outgoing) Control(h *transport.Header) bool { return o.e.peer(h.Dst).tr.Send(h, nil) }
func (o outgoing) First(r *Request) bool            { return o.e.sendFirst(o.e.peer(r.env.peer), r) }
func (o outgoing) More(r *Request) bool             { return r.wire.moved < r.wire.stop || r.claimMore() }
func (o outgoing) Write(r *Request) bool            { return o.e.write(r) }

// Piece leaves what there is no room for to the receiver.
func (o outgoing) Piece(r *Request) (sent, cut bool) {
	if !o.e.sendPiece(o.e.peer(r.env.peer), r) {
		r.unclaim()
		return false, false
	}
	return true, r.wire.owed > 0
}

// Rest goes on with the continuation under way.
func (o outgoing) Rest(r *Request) (left, cut bool) {
	n := int64(o.e.peer(r.env.peer).stream.SendRest(r.env.peer, r.bytes(r.wire.owed)))
	r.wire.moved += n
	r.wire.owed -= n
	return n > 0, r.wire.owed > 0
}

// End ends the sender's part of a long message: all of it, or all but what the receiver reads.
func (o outgoing) End(r *Request) {
	r.streams = false
	if r.wire.moved == r.wire.total || !r.expects {
		r.expects = false
		o.e.complete(r)
	}
}

// syncAck takes the receiver's word that it has matched a DataSync of ours.
func (e *Engine) syncAck(h *transport.Header) {
	r := e.awaiting(h)
	if r == nil {
		return
	}
	r.wire.drqid = h.DrqID
	if r.wire.moved >= r.wire.total {
		e.complete(r)
		return
	}
	if h.Tag != 0 && !e.joinClaims(r, h.Tag) {
		e.breach(h.Src, "answer that names no claims")
		return
	}
	e.writeTo(r, h.Addr)
	e.stream(r)
}

// taken takes the receiver's word that it reads no more of the buffer.
func (e *Engine) taken(h *transport.Header) {
	r := e.awaiting(h)
	if r != nil {
		e.peer(h.Src).sharing.fresh.Tell(h.MsgLen)
	}
	switch {
	case r == nil:
	case h.Tag < 0 || h.Tag > 0 && !r.wire.claims.Open():
		e.breach(h.Src, "Taken packet that returns sections never claimed")
	case h.Tag > 0:
		r.wire.claims.Again = int64(h.Tag)
		e.stream(r)
	case !r.streams:
		e.complete(r)
	}
}

// stream puts a long message, whose receiver waits for more of it, into the queue of its peer.
func (e *Engine) stream(r *Request) {
	if p := e.peer(r.env.peer); !r.streams {
		r.streams = true
		p.out.PutStream(&r.place, r)
		e.enqueue(r.env.peer, p)
	}
}

// awaiting finds the send that an answer is about: one to that peer whose first packet has left and that has
// not been answered. Anything else is a peer's mistake and is reported as its loss.
func (e *Engine) awaiting(h *transport.Header) *Request {
	r := e.requests.find(h.SrqID)
	if r == nil || r.kind != sendRequest || r.env.peer != h.Src || !r.expects || r.wire.claims.Open() &&
		h.Kind != transport.Taken {
		e.breach(h.Src, "answer to a message that was not sent or has been answered")
		return nil
	}
	r.expects = false
	p := e.peer(h.Src)
	p.answered(r)
	p.came()
	return r
}

// sendSelf delivers a message of this process to itself: directly into a waiting receive, or as an unexpected
// message that holds a copy (short) or refers to the send (long, synchronous).
func (e *Engine) sendSelf(r *Request) {
	r.setWire(r.ctx.rep(e.me))
	source := r.comm.rank
	if e.requests.quick != nil && e.ways.local.loop != nil && e.ways.local.loop.OpenSelf() {
		e.ways.local.loop.TakeSelf() // what the fast path has sent to this process comes first
	}
	e.adoptQuick()
	recv := r.ctx.space.Arrive(source, r.env.tag)
	keepCopy := r.mode != modeSynchronous && r.wire.total <= selfEager && e.peers[e.me].pressure.Kept() < pressure.Total
	if e.watch.on {
		e.countSent(r.ctx, &e.peers[e.me], r.wire.total, recv != nil || keepCopy)
		if r.buffered.buffer == nil {
			r.declared.types = e.types(r.ctx, &e.peers[e.me], r.mem.count, r.mem.typ)
		}
	}
	if recv != nil {
		e.transfer(recv, r)
		return
	}
	n := 0
	if keepCopy {
		n = int(r.wire.total)
	}
	m := e.messages.Get(n)
	m.Source, m.Tag, m.LSRank, m.Peer = source, r.env.tag, source, e.me
	m.Length, m.External, m.Types = r.wire.total, r.wire.rep != datatype.Native, r.declared.types
	if keepCopy {
		if r.wire.flat {
			copy(m.Payload, r.bytes(r.wire.total))
		} else {
			r.Pack(m.Payload)
		}
		e.keep(r.ctx, m)
		e.complete(r)
		return
	}
	m.Self = r
	e.keep(r.ctx, m)
}

// selfEager is the largest message to oneself, in bytes, that is copied aside when no receive waits for it.
const selfEager = 64 << 10

// transfer copies a message from a send to a receive of this process.
func (e *Engine) transfer(recv, send *Request) {
	room, external := recv.mem.size, send.wire.rep != datatype.Native
	if external {
		recv.setWire(send.wire.rep)
		room = recv.wire.total
	}
	recv.status.Source, recv.status.Tag = send.comm.rank, send.env.tag
	recv.status.Bytes, recv.status.External = send.wire.total, external
	if e.watch.on {
		e.countReceived(recv.ctx, e.me, min(send.wire.total, room))
		e.compareTypes(recv, send.declared.types, &e.peers[e.me], send.wire.total, room, send.wire.rep)
	}
	if send.wire.total > room {
		recv.status.Bytes = room
		recv.status.Err = truncated(recv, send.wire.total, room)
	}
	if external && recv.mem.typ.Portable() != send.mem.typ.Portable() {
		convert(recv, send, min(send.wire.total, room))
	} else if send.mem.single && recv.mem.single {
		n := min(send.mem.size, recv.mem.size)
		if n > 0 {
			copy(bytesAt(recv.mem.data, n), bytesAt(send.mem.data, n))
		}
	} else {
		datatype.Copy(recv.mem.base, recv.mem.count, recv.mem.typ, send.mem.base, send.mem.count, send.mem.typ)
	}
	e.complete(send)
	e.complete(recv)
}

// convert copies the first n bytes of a message of which one side may be packed, as external32.
func convert(recv, send *Request, n int64) {
	piece := make([]byte, min(n, 64<<10))
	for n > 0 {
		p := piece[:min(n, int64(len(piece)))]
		if send.wire.flat {
			copy(p, send.bytes(int64(len(p))))
		} else {
			send.Pack(p)
		}
		send.wire.moved += int64(len(p))
		recv.fill(p)
		n -= int64(len(p))
	}
}

func truncated(r *Request, length, room int64) *Error {
	return errorf(abi.MPI_ERR_TRUNCATE,
		"message of %d bytes from rank %d with tag %d does not fit the receive of %d bytes on %s",
		length, r.status.Source, r.status.Tag, room, r.comm.describe())
}
