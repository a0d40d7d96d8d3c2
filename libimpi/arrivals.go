package libimpi

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
)

// Requests of one-sided communication on their way in. A message in the context of a window is taken when it arrives,
// by whoever polls, and what it asks for is done at once (onesided/serve.go). Those of one origin are taken in order:
// one that is long, and comes piece by piece, holds up those behind it, which wait as unexpected messages do. All
// functions run under the engine's lock.

// arrivals are the requests of a member.
type arrivals struct {
	busy  bool // a long one is on its way
	taken bool // they are being taken: arrived is at work
}

// arrived takes the requests of an origin that are there. One that comes piece by piece may be complete at once, and
// then calls arrived from within: the loop goes on, and does not nest.
func (w *windowEngine) arrived(source int32) {
	ctx, o := w.comm.p2p, &w.origins[source]
	if o.taken {
		return
	}
	o.taken = true
	defer func() { o.taken = false }()
	for !o.busy {
		m := ctx.space.Find(source, anyTag)
		if m == nil {
			return
		}
		ctx.take(m)
		if w.e.watch.on {
			w.e.countReceived(ctx, m.Peer, m.Length)
		}
		if m.Kind == uint8(transport.Data) {
			w.window.Serve(source, m.Payload)
			w.e.giveBack(m)
			continue
		}
		w.receiveRequest(source, m)
	}
}

// receiveRequest takes one that comes piece by piece.
func (w *windowEngine) receiveRequest(source int32, m *message) {
	e := w.e
	if m.Length > onesided.MaxRequest {
		e.breach(m.Peer, "request of one-sided communication that is too long")
		e.giveBack(m)
		return
	}
	w.origins[source].busy = true
	b := coll.Bytes(make([]byte, m.Length))
	r := e.newRecv(w.comm.p2p, b.Base, b.Count, b.Type, int(source), m.Tag).join(&longRequest{w: w, source: source}, 0)
	e.receiveKept(r, m)
}

// longRequest is a request that comes piece by piece.
type longRequest struct {
	nothing
	w      *windowEngine
	source int32
}

// partDone implements compound.
func (l *longRequest) partDone(_ *Engine, message *Request) {
	l.w.origins[l.source].busy = false
	if message.failure() == nil {
		l.w.window.Serve(l.source, bytesAt(message.mem.base, message.mem.count))
	}
	l.w.arrived(l.source)
}
