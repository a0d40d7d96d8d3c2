package libimpi

import (
	"time"

	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/transport"
)

// What the machine of package protocol gets from the engine. All functions run under the engine's lock.

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
