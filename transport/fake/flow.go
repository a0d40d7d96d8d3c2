package fake

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/transport"
)

// flow is what is under way from one process to another, in the order sent.
type flow struct {
	queue   []packet
	last    int  // when the last of it is there
	refused bool // the sender has been told that there is no room, and is woken when there is
	hold    bool // the receiver wants no more that it has not asked for
	came    bool // something has been delivered
	claims  [transport.ClaimSlots]uint64
}

type packet struct {
	h       transport.Header
	payload []byte
	due     int  // the turn at which it is there
	missing int  // bytes that the sender still has
	last    bool // the end of a link in order
}

func (w *World) flow(src, dst int32) *flow { return w.flows[int(src)*len(w.procs)+int(dst)] }

// whole reports whether the first packet has all its bytes.
func (f *flow) whole() bool { return len(f.queue) > 0 && f.queue[0].missing == 0 }

// begun reports whether a packet is cut in two and half of it still with the sender.
func (f *flow) begun() bool { return len(f.queue) > 0 && f.queue[len(f.queue)-1].missing > 0 }

// due reports whether a packet for the process is there.
func (p *proc) due() bool {
	for src := range p.w.procs {
		if f := p.w.flow(int32(src), p.index); f.whole() && f.queue[0].due <= p.w.now {
			return true
		}
	}
	return false
}

// admit finds room for a packet. gone: its destination is lost, and nobody reads it.
func (p *proc) admit(to int32) (f *flow, gone bool) {
	w, dst := p.w, p.named(to).index
	f = w.flow(p.index, dst)
	switch n := len(f.queue); {
	case p.lost[dst] != nil, w.procs[dst].names[p.index] == unknown:
		return f, true
	case f.begun(), n >= w.o.Room, n > 0 && w.rng.IntN(4) == 0:
		f.refused = true
		return nil, false
	}
	return f, false
}

// put puts a packet on its way.
func (w *World) put(f *flow, h *transport.Header, payload []byte, missing int) {
	late := 0
	if w.o.Late > 0 {
		late = w.rng.IntN(w.o.Late + 1)
	}
	f.last = max(f.last, w.now+late)
	f.queue = append(f.queue, packet{h: *h, payload: payload, due: f.last, missing: missing})
}

// Forge puts a packet on its way from one process to another that says what the caller wants.
func (w *World) Forge(from, to int, h transport.Header, payload []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(w.flow(int32(from), int32(to)), &h, slices.Clone(payload), 0)
}

// batch is the most packets of one flow that a Poll delivers.
const batch = 4

// poll delivers what is there for p of those that within speaks of, some of each.
func (p *proc) poll(way way) bool {
	if p.inside {
		return false
	}
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		w.now++
	}
	p.inside = true
	did := false
	for _, src := range w.rng.Perm(len(w.procs)) {
		if q := w.procs[src]; q == p || p.names[src] == unknown || p.wayTo(q) != way {
			continue
		}
		f := w.flow(int32(src), p.index)
		for range 1 + w.rng.IntN(batch) {
			if !f.whole() || f.queue[0].due > w.now {
				break
			}
			p.take(f, int32(src), way)
			did = true
		}
		if err := p.lost[src]; err != nil && !p.told[src] && !f.whole() {
			p.told[src], f.queue = true, nil
			w.trace.note(lost, uint64(src), uint64(p.index))
			name := p.names[src]
			w.mu.Unlock()
			p.rx.Lost(name, err)
			w.mu.Lock()
			did = true
		}
	}
	p.inside = false
	return did
}

// take delivers the first packet of a flow, without the lock.
func (p *proc) take(f *flow, src int32, way way) {
	w := p.w
	k := f.queue[0]
	network := way != inMemory
	if err := p.check(&k, src, network); err != nil {
		p.lost[src], f.queue = err, nil
		return
	}
	f.queue[0].payload = nil
	f.queue = f.queue[1:]
	f.came = true
	if f.refused {
		f.refused = false
		w.procs[src].bell++
	}
	if k.last {
		p.cut(src)
		return
	}
	h := &k.h // but for its address, which is one of this very process, and never twice the same
	w.trace.note(taken, uint64(h.Kind), uint64(h.Src), uint64(h.Dst), uint64(h.Tag), h.CID, h.MsgLen,
		h.SrqID, h.DrqID, uint64(h.Len))
	split := 0
	if network && continues(&k.h) && w.rng.IntN(3) == 0 {
		split = w.rng.IntN(k.h.Len)
	}
	k.h.Src, k.h.Dst = p.names[src], p.rank
	w.mu.Unlock()
	p.deliver(k.h, k.payload, split)
	w.mu.Lock()
}

func continues(h *transport.Header) bool {
	return h.Kind == transport.Data && uint64(h.Len) < h.MsgLen && h.Len > 0
}

// deliver hands a packet to the engine: a continuation where it belongs, if the engine says so, or else in two pieces.
func (p *proc) deliver(h transport.Header, payload []byte, split int) {
	if p.placer != nil && continues(&h) {
		if to := p.placer.Place(&h); to != nil {
			p.rx.Deliver(&h, to[:copy(to, payload)])
			return
		}
	}
	if split > 0 {
		first := h
		first.Len = split
		p.rx.Deliver(&first, payload[:split])
		h.Len -= split
	}
	p.rx.Deliver(&h, payload[split:])
}

var errForged = errors.New("fake: a packet that no process sends")

// check returns what is wrong with a packet.
func (p *proc) check(k *packet, src int32, network bool) error {
	h, most := &k.h, p.w.o.Packet
	if network && continues(h) {
		most = max(most, p.w.o.Stream)
	}
	switch {
	case k.last:
		return nil
	case h.Src != src, h.Dst != p.index, h.Len != len(k.payload), h.Len > most:
		return fmt.Errorf("%w: %+v with %d bytes", errForged, *h, len(k.payload))
	}
	switch h.Kind {
	case transport.Data, transport.DataSync:
		if uint64(h.Len) > h.MsgLen {
			return errForged
		}
	case transport.Taken, transport.Given:
		if network {
			return errForged
		}
	case transport.SyncAck, transport.Cancel, transport.CancelYes, transport.CancelNo:
	default:
		return errForged
	}
	return nil
}
