package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

// Sending. A send is started (start). Its first packet leaves at once or waits in the peer's outbox; if it has all of a
// standard message, that is it. What follows otherwise is package protocol's.
//
// All functions run under the engine's lock.

// start begins a send that has its comm, ctx, peer, tag, mode and buffer.
func (e *Engine) start(r *Request) {
	if r.comm.losses.first != nil && e.inVain(r) {
		return
	}
	if r.env.peer == e.me {
		e.sendSelf(r)
		return
	}
	r.setWire(r.ctx.rep(r.env.peer))
	e.sent++
	r.declared.seq = e.sent
	e.protocol.Begin(&r.wire, &e.peer(r.env.peer).Peer)
	e.bringOn(r)
}

// sendFirst hands a message's first packet to the transport; false if there is no room.
func (e *Engine) sendFirst(r *Request) bool {
	p := e.peer(r.env.peer)
	h := e.protocol.Packet(transport.Data, r.env.peer)
	r.describe(h)
	h.Len = int(r.wire.Total)
	e.protocol.Open(&r.wire, h, r.mode == modeSynchronous, e.withhold(p, r.ctx))
	if e.watch.on {
		if !r.declared.copied { // otherwise the program's type is known no more
			r.declared.types = e.types(r.ctx, p, r.mem.count, r.mem.typ)
		}
		h.DrqID = r.declared.types
	}
	whole := int64(h.Len) == r.wire.Total
	if !e.push(p, r, h) {
		return false
	}
	r.wire.Moved = int64(h.Len)
	if e.watch.on {
		e.countSent(r.ctx, p, r.wire.Total, whole)
	}
	if h.Kind != transport.Data {
		e.protocol.Opened(&r.wire)
		return true
	}
	p.sent(r.wire.Total)
	e.complete(r)
	return true
}

// describe says in a packet which message it is of.
func (r *Request) describe(h *transport.Header) {
	h.LSRank, h.Tag, h.CID = r.comm.rank, r.env.tag, r.ctx.cid
	h.MsgLen, h.SrqID = uint64(r.wire.Total), r.id
	h.Seq, h.Count, h.Dtype = r.declared.seq, r.declared.elements, r.declared.dtype
}

// push sends a packet with the next h.Len bytes of r.
func (e *Engine) push(p *peer, r *Request, h *transport.Header) bool {
	if h.Kind == transport.DataSync && r.wire.Offered() != nil {
		return p.Offers.Offer(h, r.wire.Offered())
	}
	if r.wire.Flat {
		return p.tr.Send(h, r.wire.Bytes(int64(h.Len)))
	}
	return p.tr.SendFrom(h, r)
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
	keepCopy := r.mode != modeSynchronous && r.wire.Total <= selfEager && e.peers[e.me].Pressure.Kept() < pressure.Total
	if e.watch.on {
		e.countSent(r.ctx, &e.peers[e.me], r.wire.Total, recv != nil || keepCopy)
		if !r.declared.copied {
			r.declared.types = e.types(r.ctx, &e.peers[e.me], r.mem.count, r.mem.typ)
		}
	}
	if recv != nil {
		e.transfer(recv, r)
		return
	}
	n := 0
	if keepCopy {
		n = int(r.wire.Total)
	}
	m := e.messages.Get(n)
	m.Source, m.Tag, m.LSRank, m.Peer = source, r.env.tag, source, e.me
	m.Length, m.External, m.Types = r.wire.Total, r.wire.Rep != datatype.Native, r.declared.types
	if keepCopy {
		if r.wire.Flat {
			copy(m.Payload, r.wire.Bytes(r.wire.Total))
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
	room, external := recv.mem.size, send.wire.Rep != datatype.Native
	if external {
		recv.setWire(send.wire.Rep)
		room = recv.wire.Total
	}
	recv.status.Source, recv.status.Tag = send.comm.rank, send.env.tag
	recv.status.Bytes, recv.status.External = send.wire.Total, external
	if e.watch.on {
		e.countReceived(recv.ctx, e.me, min(send.wire.Total, room))
		e.compareTypes(recv, send.declared.types, &e.peers[e.me], send.wire.Total, room, send.wire.Rep)
	}
	if send.wire.Total > room {
		recv.status.Bytes = room
		recv.status.Err = truncated(recv, send.wire.Total, room)
	}
	if external && recv.mem.typ.Portable() != send.mem.typ.Portable() {
		convert(recv, send, min(send.wire.Total, room))
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
		if send.wire.Flat {
			copy(p, send.wire.Bytes(int64(len(p))))
		} else {
			send.Pack(p)
		}
		send.wire.Moved += int64(len(p))
		recv.wire.Fill(p)
		n -= int64(len(p))
	}
}

func truncated(r *Request, length, room int64) *Error {
	return errorf(abi.MPI_ERR_TRUNCATE,
		"message of %d bytes from rank %d with tag %d does not fit the receive of %d bytes on %s",
		length, r.status.Source, r.status.Tag, room, r.comm.describe())
}
