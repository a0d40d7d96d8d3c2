package libimpi

import (
	"slices"
	"time"

	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/transport"
)

// What the machine of package protocol, and the bounds of package pressure, get from the engine. All functions run
// under the engine's lock.

// messageEngine is the engine as that machine sees it (protocol.Engine).
type messageEngine struct{ *Engine }

func (e messageEngine) Control(h *transport.Header) bool {
	tr := e.peer(h.Dst).tr
	return tr == nil || tr.Send(h, nil) // who is lost hears nothing
}

func (e messageEngine) First(t *protocol.Transfer) bool { return e.sendFirst(e.requests.find(t.ID)) }

func (e messageEngine) Push(t *protocol.Transfer, h *transport.Header) (taken int64, ok bool) {
	r, p := e.requests.find(t.ID), e.peer(h.Dst)
	r.describe(h)
	if t.Flat && p.stream != nil {
		n, ok := p.stream.SendLong(h, t.Bytes(int64(h.Len)))
		return int64(n), ok
	}
	n := int64(h.Len)
	return n, e.push(p, r, h)
}

func (e messageEngine) Rest(t *protocol.Transfer, payload []byte) int64 {
	return int64(e.peer(t.Peer.Rank).stream.SendRest(t.Peer.Rank, payload))
}

func (e messageEngine) Find(id uint64) *protocol.Transfer {
	if r := e.requests.find(id); r != nil {
		return &r.wire
	}
	return nil
}

func (e messageEngine) Done(t *protocol.Transfer) {
	r := e.requests.find(t.ID)
	if t.Cancelled {
		r.status.Cancelled = true
	}
	e.complete(r)
}

func (e messageEngine) Breach(rank int32, what string) { e.breach(rank, what) }

// memoryEngine is how it gets at other processes' memory (protocol.Memory).
type memoryEngine struct{ *Engine }

func (e memoryEngine) CanRead(rank int32) bool { return e.peer(rank).direct.CanRead(rank) }

func (e memoryEngine) Read(rank int32, addr uint64, dst []byte) bool {
	return e.peer(rank).direct.Read(rank, addr, dst)
}

func (e memoryEngine) Write(rank int32, addr uint64, src []byte) bool {
	return e.ways.local.writer.Write(rank, addr, src)
}

func (e memoryEngine) Claims(rank int32, out bool, slot int) *uint64 {
	return e.peer(rank).direct.Claims(rank, out, slot)
}

func (e memoryEngine) Busy() (crowded, waiting bool) {
	return e.waiting.patient.Load(), e.thread.Inside() > 0
}

func (e memoryEngine) Now() time.Time { return e.now() }

// Place implements transport.Placer.
func (e *Engine) Place(h *transport.Header) []byte { return e.protocol.Place(h) }

// Released implements transport.Releaser.
func (e *Engine) Released(id uint64) { e.protocol.Released(id) }

// What the engine does to bound what is kept of unexpected messages (package pressure).

// count notes that a message is kept.
func (e *Engine) count(m *message) {
	p := e.peer(m.Peer)
	p.unmatched.Note(m)
	p.Pressure.Where = p.where()
	envelope := m.Kind == uint8(transport.DataSync) && len(m.Payload) <= pressure.Short
	e.pressure.Keep(&p.Pressure, sizeOf(m), envelope)
}

// giveBack gives a kept message back.
func (e *Engine) giveBack(m *message) {
	p := e.peer(m.Peer)
	p.Pressure.Where = p.where()
	e.pressure.Drop(&p.Pressure, sizeOf(m))
	e.messages.Put(m)
}

// sizeOf is what a kept message counts, in bytes.
func sizeOf(m *message) int64 { return int64(cap(m.Payload)) + pressure.Record }

// where is where a process is.
func (p *peer) where() pressure.Where {
	switch {
	case p.tr == nil:
		return pressure.Nowhere
	case p.local < 0:
		return pressure.Elsewhere
	}
	return pressure.Here
}

// withhold reports whether a message must not leave without asking: its receiver keeps too many, or has not said for
// long that it does not. Collective messages wait for each other anyway, and go between clients as IMPI has it; where
// nothing else stops them, they are withheld, too.
func (e *Engine) withhold(p *peer, ctx *context) bool {
	if p.hold == nil {
		return p.Pressure.MustAsk() && ctx == ctx.comm.p2p
	}
	return p.hold.Held(e.me, p.Rank) && (p.shutter == nil || ctx == ctx.comm.p2p)
}

// sent counts a short message to another library that has left.
func (p *peer) sent(n int64) {
	if p.hold == nil {
		p.Pressure.Sent(n)
	}
}

// invite has all go on whose message a receive or probe of this context and source takes.
func (e *Engine) invite(ctx *context, source int32) {
	if e.pressure.AnyShut() {
		e.pressure.Invite(func(rank int32) bool { return ctx.takes(source, rank) })
	}
}

// takes reports whether a receive from source may get a message of process rank of MPI_COMM_WORLD.
func (c *context) takes(source, rank int32) bool {
	r := c.comm.sourceOf(rank)
	return r >= 0 && (source == anySource || source == r)
}

// probe is one that waits: a message of context ctx from source, perhaps MPI_ANY_SOURCE, would end it.
type probe struct {
	ctx    *context
	source int32
}

// seek waits, as a probe does, until find finds a message, or in vain (Comm.without).
func (e *Engine) seek(ctx *context, source, tag int32, find func() bool) {
	if find() {
		return
	}
	e.waiting.probes = append(e.waiting.probes, probe{ctx, source})
	e.invite(ctx, source)
	e.waitFor(func() bool { return find() || ctx.comm.losses.first != nil && ctx.comm.without(source) != nil }, anyPeer,
		cause{what: report.ForMessage, comm: ctx.comm, source: source, tag: tag})
	i := slices.Index(e.waiting.probes, probe{ctx, source})
	e.waiting.probes = slices.Delete(e.waiting.probes, i, i+1)
}

// actions are the engine's (pressure.Actions).
type actions struct{ e *Engine }

// Hold tells a peer.
func (a actions) Hold(rank int32, on bool) { a.e.peer(rank).hold.Hold(a.e.me, rank, on) }

// Shut shuts a peer out, or lets it in.
func (a actions) Shut(rank int32, on bool) { a.e.peer(rank).shutter.Shut(a.e.me, rank, on) }

// Needs reports whether a probe or a posted receive may take a message of a process.
func (a actions) Needs(rank int32) bool {
	if slices.ContainsFunc(a.e.waiting.probes, func(x probe) bool { return x.ctx.takes(x.source, rank) }) {
		return true
	}
	needed := false
	a.e.contexts.all(func(c *context) { needed = needed || c.awaits(rank) })
	return needed
}

// awaits reports whether a receive is posted that a message of process rank may match.
func (c *context) awaits(rank int32) bool {
	if c.space.Waiting() == 0 {
		return false
	}
	r := c.comm.sourceOf(rank)
	return r >= 0 && c.space.Awaits(r)
}

// Breach says that a peer breaks the rules.
func (a actions) Breach(rank int32, what string) { a.e.breach(rank, what) }

// Later reopens what is shut, for a moment. The timer's thread may come when all is over.
func (a actions) Later(p *pressure.Peer, after time.Duration) (stop func()) {
	timer := time.AfterFunc(after, func() {
		e := a.e
		e.waiting.watcher.Lock()
		defer e.waiting.watcher.Unlock()
		if e.waiting.over {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.pressure.Reopen(p)
	})
	return func() { timer.Stop() }
}
