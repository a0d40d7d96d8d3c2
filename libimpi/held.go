package libimpi

import (
	"fmt"

	"github.com/libimpi/libimpi/transport"
)

// Unexpected messages take memory of the receiver, and a sender that floods it must not take all. So there is a limit
// for each sender; beyond it messages do not leave until they are matched. Their envelopes do, so that a receive of a
// later message finds it: nothing that MPI promises depends on the room for early ones (MPI 5.0, 3.5).
//
// Inside a machine the receiver counts what it keeps of each sender, and tells it by a flag beside the ring (hold). The
// sender looks at it when it looks for room, and sends everything as long messages are sent: the envelope, and
// the data when it is asked for.
//
// Between machines a process of this library learns the same from acknowledgements (wire.AckHold). To others IMPI has
// no such word. There the sender asks now and then: one message after each askEvery bytes goes as a synchronous one. As
// long as its answer is due, and much more has been sent, all messages are synchronous ones.
//
// Between machines the receiver stops acknowledging in the end, whatever the sender does (restrain.go). Inside one a
// sender that does not care is lost (countIgnored).

const (
	// heldTotal is how many bytes of unexpected messages a process keeps of all senders of its machine together, and of
	// all others, and heldLeast, heldMost the bounds for one of them.
	heldTotal = 256 << 20
	heldLeast = 1 << 20
	heldMost  = 16 << 20
	// recordSize is what the record of a message counts, in bytes.
	recordSize = 256
	// shortEnough is the length up to which a message travels with its envelope when its sender is held, in bytes: it
	// is no more than the record that is kept anyway.
	shortEnough = 256

	// askEvery is the number of bytes, with a record for each message, after which a sender to another client asks for
	// an answer; beyond askMost it waits for it.
	askEvery = heldMost / 2
	askMost  = heldMost
)

// limit is how many bytes a process keeps of one of n senders before it holds it.
func limit(n int) int64 { return int64(min(max(heldTotal/max(n, 1), heldLeast), heldMost)) }

// size is what a kept message counts, in bytes.
func (m *message) size() int64 { return int64(cap(m.payload)) + recordSize }

// count notes that a message is kept.
func (e *Engine) count(m *message) {
	p := e.peer(m.peer)
	p.note(m)
	p.pressure.kept += m.size()
	switch {
	case p.tr == nil:
	case p.pressure.held && p.hold != nil && p.shutter == nil:
		e.countIgnored(p, m)
	case p.local < 0:
		if p.pressure.kept > e.pressure.restrainAt {
			e.restrain(p)
		}
	case p.pressure.kept > e.pressure.heldAt && !p.pressure.held:
		e.hold(p, true)
	}
}

// mostIgnored is how many bytes of messages that are no envelopes a process of this machine may send while it is held.
// One that keeps to the rules sends a ring of them, until it looks.
const mostIgnored = heldMost

// countIgnored counts a message of a held process of this machine, unless it is an envelope.
func (e *Engine) countIgnored(p *peer, m *message) {
	if m.kind == uint8(transport.DataSync) && len(m.payload) <= shortEnough {
		return
	}
	if p.pressure.ignored += m.size(); p.pressure.ignored > mostIgnored {
		e.breach(p.rank, fmt.Sprintf("more than %d bytes of messages after it has been told to wait", mostIgnored))
	}
}

// giveBack gives a kept message back.
func (e *Engine) giveBack(m *message) {
	p := e.peer(m.peer)
	p.pressure.kept -= m.size()
	switch {
	case p.tr == nil:
	case p.local < 0:
		if (p.pressure.held || p.pressure.lookAt > 0) && p.pressure.kept < e.pressure.restrainAt/2 {
			e.relax(p)
		}
	case p.pressure.held && p.pressure.kept < e.pressure.heldAt/2:
		e.hold(p, false)
	}
	e.pressure.messages.put(m)
}

// withhold reports whether a message must not leave without asking: its receiver keeps too many, or has not said for
// long that it does not. Collective messages wait for each other anyway, and go between clients as IMPI has it; where
// nothing else stops them, they are withheld, too.
func (e *Engine) withhold(p *peer, ctx *context) bool {
	if p.hold == nil {
		return p.pressure.unasked > askEvery && (p.pressure.asked == 0 || p.pressure.unasked > askMost) && ctx == ctx.comm.p2p
	}
	return p.hold.Held(e.me, p.rank) && (p.shutter == nil || ctx == ctx.comm.p2p)
}

// hold tells a peer, if it can be told, whether this process keeps too many of its messages.
func (e *Engine) hold(p *peer, on bool) {
	p.pressure.ignored = 0
	if p.pressure.held = on; p.hold != nil {
		p.hold.Hold(e.me, p.rank, on)
	}
}

// envelope makes the first packet of a withheld message.
func (p *peer) envelope(r *Request, h *transport.Header) {
	h.Kind = transport.DataSync
	if p.hold != nil && r.wire.total > shortEnough {
		h.Len = 0
		if p.direct != nil && r.wire.flat {
			h.Addr = uint64(uintptr(r.mem.data))
		}
	}
}

// sent counts a short message to another library that has left.
func (p *peer) sent(n int64) {
	if p.hold == nil {
		p.pressure.unasked += n + recordSize
	}
}

// asks notes that a message to another library has left that asks for an answer.
func (p *peer) asks(r *Request) {
	if r.wire.flat && r.wire.total > int64(p.limits.Eager) {
		p.sharing.offered += r.wire.total
	}
	if p.hold == nil && p.pressure.asked == 0 && r.wire.total <= int64(p.limits.Eager) {
		p.pressure.asked, p.pressure.before = r.id, p.pressure.unasked
	}
}

// answered takes the answer to a synchronous message: what was sent before it counts no more.
func (p *peer) answered(r *Request) {
	if r.wire.flat && r.wire.total > int64(p.limits.Eager) && !r.wire.claims.open() { // once
		p.sharing.offered -= r.wire.total
	}
	if p.pressure.asked == r.id {
		p.pressure.asked, p.pressure.unasked = 0, p.pressure.unasked-p.pressure.before
	}
}
