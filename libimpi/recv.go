package libimpi

import (
	"fmt"
	"math"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Receiving. A packet comes up from a transport (Deliver), is attributed to its context, matched and stored,
// or kept until its receive is posted (postRecv). All functions run under the engine's lock.

// Deliver implements transport.Receiver.
func (e *Engine) Deliver(h *transport.Header, payload []byte) {
	if e.loss.some && e.peer(h.Src).lost != nil {
		return // what it still had to say before others said that it is lost
	}
	switch h.Kind {
	case transport.Data:
		if uint64(h.Len) < h.MsgLen {
			e.protocol.Step(h, payload)
			return
		}
		e.arrive(h, payload)
	case transport.DataSync:
		e.arrive(h, payload)
	case transport.Cancel:
		e.cancelAsked(h)
	default:
		e.protocol.Step(h, payload)
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
	if ctx.closed {
		return // the sender hears of that, too
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
	e.take(r, h.Kind, h.SrqID, h.Addr, payload)
}

// matched notes in a receive which message it has got, and what that says of its types.
func (e *Engine) matched(r *Request, source, tag, peer int32, length int64, types uint64) {
	rep := r.ctx.rep(peer)
	r.env.peer = peer
	r.setWire(rep)
	r.wire.Match(&e.peer(peer).Peer, length)
	r.status.Source, r.status.Tag = source, tag
	r.status.Bytes, r.status.External = length, rep != datatype.Native
	if length > r.wire.Total {
		r.status.Bytes = r.wire.Total
		r.status.Err = truncated(r, length, r.wire.Total)
	}
	if e.watch.on {
		e.countReceived(r.ctx, peer, r.status.Bytes)
		e.compareTypes(r, types, e.peer(peer), length, r.wire.Total, rep)
	}
}

// take stores what has come of a message with its first packet, and asks for the rest.
func (e *Engine) take(r *Request, kind transport.Kind, srqid, addr uint64, piece []byte) {
	switch lost := e.lostOf(r.env.peer); {
	case kind == transport.Data:
		r.wire.Fill(piece)
		e.complete(r)
	case lost != nil && int64(len(piece)) < r.wire.Length:
		r.wire.Fill(piece)
		r.status.Err = lost
		e.complete(r)
	default:
		e.protocol.Accept(&r.wire, srqid, addr, piece)
	}
}

// lostOf is why a process is gone; nil if it is not.
func (e *Engine) lostOf(number int32) *Error {
	if p := e.peer(number); p.tr == nil {
		return p.lost
	}
	return nil
}

// postRecv starts a receive: it takes a message that is already there, or is posted.
func (e *Engine) postRecv(r *Request) {
	e.adoptQuick()
	m := r.ctx.space.Find(r.env.source, r.env.tag)
	if m == nil {
		if r.ctx.comm.losses.first != nil && e.inVain(r) {
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
		e.take(r, transport.Kind(m.Kind), m.SrqID, m.Addr, m.Payload)
	}
	e.giveBack(m)
}

// cancelAsked answers a CANCEL: yes if the message has not been matched, and then it is gone (IMPI 0.0, 3.7.4).
func (e *Engine) cancelAsked(h *transport.Header) {
	p, kind, id := e.peer(h.Src), transport.CancelNo, h.SrqID
	if m := p.unmatched.NewestOf(id); m != nil {
		if p.Offers != nil && m.Addr != 0 { // the sender's memory is free when it has been fetched
			p.Offers.Fetch(h.Src, transport.Offer(m.Addr), nil, 0)
		}
		e.drop(m)
		kind = transport.CancelYes
	}
	if e.lostOf(h.Src) != nil {
		e.breach(h.Src, "cancellation by a process that is not there")
		return
	}
	if p.Controls() >= maxReplies {
		e.breach(h.Src, fmt.Sprintf("%d answers are waiting for it to read, and it asks for more", maxReplies))
		return
	}
	reply := e.protocol.Packet(kind, h.Src)
	reply.SrqID = id
	e.protocol.Control(&p.Peer, reply)
}

// maxReplies bounds the answers that wait for a peer which asks for cancellations without end and reads nothing.
const maxReplies = 1 << 16

// breach reports a peer that does not keep the protocol.
func (e *Engine) breach(peer int32, what string) {
	e.goWithout(peer, fmt.Errorf("protocol error: %s", what), true)
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

// Lost implements transport.Receiver: a peer is gone, and with it the job, unless that goes on.
func (e *Engine) Lost(peer int32, err error) { e.goWithout(peer, err, false) }

// goWithout goes on without a peer that cannot be reached, or does not keep the protocol (breach), or ends the job.
func (e *Engine) goWithout(peer int32, err error, breach bool) {
	if e.noteLost(peer, err) {
		e.condemn(peer, breach, err)
		e.tellSurvivors()
	}
}

// noteLost notes that a peer is gone, and reports whether that is news with which the job goes on.
func (e *Engine) noteLost(peer int32, err error) bool {
	switch p := e.peer(peer); {
	case p.lost != nil:
		return false
	case e.isGuest(peer):
		lost := errorf(abi.MPI_ERR_PROC_ABORTED, "%v, a process of another job, is lost: %v", p.guest.Identity, err)
		lost.Class = e.classOfLoss()
		e.lose(p, lost)
	case e.job.FaultTolerant:
		e.observeLoss(peer)
		e.lose(p, errorf(abi.MPIX_ERR_PROC_FAILED, "rank %d of MPI_COMM_WORLD is lost: %v", peer, err))
	default:
		e.endJob(peer, err)
		return false
	}
	return true
}

// condemn has a process of a job that goes on without it ended, since this process does not listen to it any more: all
// have to take the same ones for lost.
func (e *Engine) condemn(world int32, breach bool, why error) {
	if e.loss.condemn != nil && e.job.FaultTolerant && !e.isGuest(world) {
		go e.loss.condemn(world, breach, why)
	}
}

// endJob ends the job, of which a process is lost.
func (e *Engine) endJob(peer int32, err error) {
	lost := errorf(abi.MPI_ERR_PROC_ABORTED, "rank %d of MPI_COMM_WORLD is lost: %v", peer, err)
	if c := e.job.Procs[peer].Client; c != e.job.Procs[e.me].Client {
		lost.Client = &c
	}
	if e.loss.failed.CompareAndSwap(nil, lost) {
		e.observeLoss(peer)
		e.ring()
		if e.loss.onLost != nil {
			go e.loss.onLost(lost)
		}
	}
}

// observeLoss tells a tool that a process of the job is lost.
func (e *Engine) observeLoss(peer int32) {
	if e.watch.observes(PeerLost) {
		e.watch.observer(PeerLost, nil, [5]int64{int64(peer)})
	}
}
