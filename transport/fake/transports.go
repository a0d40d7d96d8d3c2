package fake

import (
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// link is a transport that can do nothing but carry packets.
type link struct {
	p   *proc
	way way
}

// way is how two processes reach each other.
type way uint8

const (
	inMemory    way = iota // Local
	overNetwork            // Network
	toGuests               // Guests
)

// wayTo is how p reaches q.
func (p *proc) wayTo(q *proc) way {
	switch {
	case p.job != q.job && !p.w.o.Near:
		return toGuests
	case p.job == q.job && p.machine != q.machine:
		return overNetwork
	}
	return inMemory
}

// Local is the transport inside a machine: besides, it reads memory, and holds.
type Local struct{ link }

// Network is the transport between machines: besides, it streams, holds, and has an end.
type Network struct{ link }

// Guests is the transport to processes of other jobs on other machines: besides, it holds.
type Guests struct{ link }

var (
	_ transport.Transport = (*link)(nil)
	_ transport.Reader    = (*Local)(nil)
	_ transport.Writer    = (*Local)(nil)
	_ transport.Holder    = (*Local)(nil)
	_ transport.Streamer  = (*Network)(nil)
	_ transport.Holder    = (*Network)(nil)
	_ transport.Finisher  = (*Network)(nil)
	_ transport.Parter    = (*Local)(nil)
	_ transport.Parter    = (*Guests)(nil)
	_ transport.Bell      = (*proc)(nil)
)

// Limits implements transport.Transport.
func (l *link) Limits() transport.Limits {
	return transport.Limits{Eager: l.p.w.o.Eager, Packet: l.p.w.o.Packet}
}

// Poll implements transport.Transport.
func (l *link) Poll() bool { return l.p.poll(l.way) }

// Departed implements transport.Departer: the process's body has ended.
func (l *link) Departed(peer int32) bool {
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	q := l.p.named(peer)
	return q != nil && q.over && !q.dead
}

// Send implements transport.Transport.
func (l *link) Send(h *transport.Header, payload []byte) bool {
	return l.send(h, func() []byte { return slices.Clone(payload[:h.Len]) })
}

// SendFrom implements transport.Transport: it packs in pieces of any length.
func (l *link) SendFrom(h *transport.Header, p transport.Packer) bool {
	return l.send(h, func() []byte {
		payload := make([]byte, h.Len)
		for rest := payload; len(rest) > 0; {
			n := 1 + l.p.w.rng.IntN(len(rest))
			p.Pack(rest[:n])
			rest = rest[n:]
		}
		return payload
	})
}

func (l *link) send(h *transport.Header, payload func() []byte) bool {
	l.mustCarry(h, l.p.w.o.Packet)
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	f, gone := l.p.admit(h.Dst)
	if f != nil && !gone {
		w.put(f, l.p.addressed(h), payload(), 0)
	}
	return f != nil
}

// addressed is a header with processes by their indexes, as it is under way.
func (p *proc) addressed(h *transport.Header) *transport.Header {
	packed := *h
	packed.Src, packed.Dst = p.index, p.named(h.Dst).index
	return &packed
}

// mustCarry stops an engine that breaks the contract.
func (l *link) mustCarry(h *transport.Header, most int) {
	p := l.p
	q := p.named(h.Dst)
	if h.Src != p.rank || q == nil || q == p || p.wayTo(q) != l.way || h.Len > most {
		panic(fmt.Sprintf("fake: process %d sends what this transport does not carry: %+v", p.rank, *h))
	}
}

// CanRead implements transport.Reader.
func (n *Local) CanRead(src int32) bool {
	q := n.p.named(src)
	return !n.p.w.o.NoRead && q != nil && q.job == n.p.job && q.machine == n.p.machine
}

// Cost implements transport.Reader. All reads are quick, or none is worth it.
func (n *Local) Cost() (read, copied time.Duration) {
	if n.p.w.o.Quick {
		return time.Minute, time.Minute
	}
	return time.Hour, time.Minute
}

// Read implements transport.Reader.
func (n *Local) Read(src int32, addr uint64, dst []byte) bool {
	if n.p.w.o.Sealed || !n.CanRead(src) || n.p.lost[n.p.named(src).index] != nil {
		return false
	}
	read(addr, dst)
	return true
}

// Write implements transport.Writer.
func (n *Local) Write(dst int32, addr uint64, src []byte) bool {
	if n.p.w.o.Sealed || !n.CanRead(dst) || n.p.lost[n.p.named(dst).index] != nil {
		return false
	}
	write(addr, src)
	return true
}

// Move implements transport.Writer.
func (n *Local) Move(peer int32, here, there []transport.Run, put bool) bool {
	if !n.CanRead(peer) {
		return false
	}
	for len(here) > 0 && len(there) > 0 {
		a, b := &here[0], &there[0]
		part := min(a.Len, b.Len)
		if put {
			read(a.Addr, at(b.Addr, part))
		} else {
			read(b.Addr, at(a.Addr, part))
		}
		*a, *b = transport.Run{Addr: a.Addr + part, Len: a.Len - part}, transport.Run{Addr: b.Addr + part, Len: b.Len - part}
		if a.Len == 0 {
			here = here[1:]
		}
		if b.Len == 0 {
			there = there[1:]
		}
	}
	return true
}

// Claims implements transport.Reader.
func (n *Local) Claims(peer int32, out bool, slot int) *uint64 {
	q := n.p.named(peer)
	if out {
		return &n.p.w.flow(n.p.index, q.index).claims[slot]
	}
	return &n.p.w.flow(q.index, n.p.index).claims[slot]
}

// Hold implements transport.Holder.
func (n *Local) Hold(_, peer int32, on bool) { n.p.hold(peer, on) }

// Held implements transport.Holder.
func (n *Local) Held(_, peer int32) bool { return n.p.held(peer) }

// Hold implements transport.Holder.
func (f *Network) Hold(_, peer int32, on bool) { f.p.hold(peer, on) }

// Held implements transport.Holder.
func (f *Network) Held(_, peer int32) bool { return f.p.held(peer) }

// Hold implements transport.Holder.
func (g *Guests) Hold(_, peer int32, on bool) { g.p.hold(peer, on) }

// Held implements transport.Holder.
func (g *Guests) Held(_, peer int32) bool { return g.p.held(peer) }

func (p *proc) hold(peer int32, on bool) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if q := p.named(peer); q != nil && p.w.flow(q.index, p.index).came {
		p.w.flow(q.index, p.index).hold = on
	}
}

func (p *proc) held(peer int32) bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	q := p.named(peer)
	return q != nil && p.w.flow(p.index, q.index).hold
}

// Stream implements transport.Streamer.
func (f *Network) Stream(int32) int { return f.p.w.o.Stream }

// SendLong implements transport.Streamer: it takes any part of a continuation.
func (f *Network) SendLong(h *transport.Header, payload []byte) (taken int, ok bool) {
	f.mustCarry(h, max(f.p.w.o.Stream, f.p.w.o.Packet))
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	q, gone := f.p.admit(h.Dst)
	if q == nil || gone {
		return h.Len, gone
	}
	taken = w.rng.IntN(h.Len + 1)
	w.put(q, f.p.addressed(h), append(make([]byte, 0, h.Len), payload[:taken]...), h.Len-taken)
	return taken, true
}

// SendRest implements transport.Streamer.
func (f *Network) SendRest(dst int32, payload []byte) int {
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	to := f.p.named(dst).index
	q := w.flow(f.p.index, to)
	if f.p.lost[to] != nil {
		return len(payload)
	}
	if !q.begun() {
		return 0
	}
	if len(q.queue) > 1 && w.rng.IntN(3) == 0 {
		q.refused = true
		return 0
	}
	k := &q.queue[len(q.queue)-1]
	n := min(k.missing, len(payload), 1+w.rng.IntN(k.missing))
	k.payload = append(k.payload, payload[:n]...)
	k.missing -= n
	return n
}

// Finish implements transport.Finisher. There is nothing to wait for.
func (f *Network) Finish(time.Time) error { return nil }

// Abort implements transport.Finisher: the process is lost to all others.
func (f *Network) Abort() { f.p.w.Kill(int(f.p.index)) }
