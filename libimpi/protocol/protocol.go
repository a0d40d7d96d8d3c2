// Package protocol is how a message that does not go in one packet gets from a send to a receive: a machine into which
// packets go, and out of which packets come. It has no lock, no clock and no transport; its owner, the engine, lends it
// these behind Engine and Memory, and does the matching.
//
//	short, standard     one Data packet has everything, and the machine has no part in it
//	short, synchronous  one DataSync packet; done when SyncAck comes
//	short, withheld     the receiver keeps too much (package pressure): a DataSync packet, with the data or not
//	long                a DataSync packet with the first piece (or none, and the buffer's address); then either
//	                    Taken: the receiver has read all of it, or SyncAck: the rest follows as continuations, or is
//	                    written into the receiver's memory (shared.go); where the transport can do that, the first
//	                    piece goes when the receiver fetches it (offers.go)
//	cancelled           a Cancel packet; CancelYes if the message had not been matched, else CancelNo
//
// The sender's side is sender.go, the receiver's receiver.go. The engine's lock guards everything.
package protocol

import (
	"iter"
	"slices"
	"time"

	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/outbox"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

// Engine is what the machine needs of its owner.
type Engine interface {
	// Control hands a packet without payload to the transport to h.Dst; false if there is no room. What is for a process
	// that is lost is dropped: true.
	Control(h *transport.Header) bool
	// First sends the first packet of a message (Open, Opened); false if there is no room.
	First(t *Transfer) bool
	// Push sends the next h.Len bytes of a message as a continuation. h has its length and the receiver's id; the rest of
	// it is the engine's to fill. Push returns how many of the bytes the transport has taken, and false if there is no
	// room.
	Push(t *Transfer, h *transport.Header) (taken int64, ok bool)
	// Rest hands over more of what Push has left, and returns how many bytes of it have been taken.
	Rest(t *Transfer, payload []byte) int64
	// Find returns the transfer of the request with an id, or nil.
	Find(id uint64) *Transfer
	// Done ends a message, of which everything has been moved or which has been cancelled.
	Done(t *Transfer)
	// Breach reports a process that does not keep the protocol.
	Breach(rank int32, what string)
}

// Memory is how the machine gets at the memory of processes on this machine, and what it has to know for that.
type Memory interface {
	// CanRead reports whether the memory of a process can be read and written in general.
	CanRead(rank int32) bool
	// Read fills dst from an address of a process; false: that is not possible.
	Read(rank int32, addr uint64, dst []byte) bool
	// Write stores src at an address of a process; false: that is not possible.
	Write(rank int32, addr uint64, src []byte) bool
	// Claims is a word that this process shares with another one (transport.Reader).
	Claims(rank int32, out bool, slot int) *uint64
	// Busy reports whether ranks outnumber cores, and whether a thread of the program waits in MPI.
	Busy() (crowded, waiting bool)
	// Now is the time, for durations alone.
	Now() time.Time
}

// Machine is the protocol of one process with all others. Set what is exported before the first message.
type Machine struct {
	Do     Engine
	Memory Memory
	Me     int32            // this process's rank
	Bounds *pressure.Bounds // on what is kept for whom
	Rules  direct.Rules     // which way long messages go inside the machine
	Queued *uint32          // gets the number of peers that have something waiting for room

	packet    transport.Header
	busy      []*Peer     // that have something waiting for room
	flowing   int         // receives to which the rest of a message comes from another machine
	pulling   []*Transfer // receives that share their message with the sender, the oldest first
	pullSince time.Time   // since when nothing has come for the first of them; zero: not known
}

// Peer is a process as the machine sees it.
type Peer struct {
	Rank      int32
	Limits    transport.Limits
	Near      bool              // its memory may be read
	Elsewhere bool              // it is not on this machine
	Holds     bool              // it says whether it keeps too much
	Streams   bool              // it gets continuations of flat messages without a copy
	Longest   int               // such a continuation, in bytes; 0: Limits.Packet
	Offers    transport.Offerer // moves what is offered of flat messages; nil: nothing is
	Pressure  pressure.Peer
	Fresh     direct.Freshness // of what it and this process exchange

	out     outbox.Box[Transfer] // what waits for room
	queued  bool                 // stands in Machine.busy
	slots   uint8                // claims in use for messages from the peer, by slot
	uses    uint16               // how often any of them has been used
	offered int64                // bytes of long messages to the peer that it may read and has not answered
}

// Waits reports whether something for the peer waits for room, and Passable whether the first packet of a new message
// may leave: there is nothing that it would overtake.
func (p *Peer) Waits() bool    { return p.queued }
func (p *Peer) Passable() bool { return p.out.Passable() }

// Controls returns the number of control packets that wait for room, and DropControls throws them away.
func (p *Peer) Controls() int { return p.out.Controls() }
func (p *Peer) DropControls() { p.out.DropControls() }

// Messages returns the messages to the peer that wait for room, or have more to send.
func (p *Peer) Messages() iter.Seq[*Transfer] { return p.out.Messages() }

// Packet is a packet that is about to leave, with nothing in it but this. There is one for all, since the address of a
// new one would escape: the caller fills it and hands it to a transport or to Control, which copy it, before it does
// anything else that sends.
func (m *Machine) Packet(kind transport.Kind, dst int32) *transport.Header {
	h := &m.packet
	*h = transport.Header{Kind: kind, Src: m.Me, Dst: dst}
	return h
}

// Step takes a packet that is about a message under way, from the process h.Src. Packets that are none such are for the
// engine: it matches the first ones of messages (Accept), and looks for those that are to be cancelled.
func (m *Machine) Step(h *transport.Header, payload []byte) {
	switch h.Kind {
	case transport.Data:
		m.continuation(h, payload)
	case transport.SyncAck:
		m.syncAck(h)
	case transport.Taken:
		m.taken(h)
	case transport.Given:
		m.given(h)
	case transport.CancelYes, transport.CancelNo:
		m.cancelAnswered(h)
	}
}

// Control sends a packet without payload, now or as soon as there is room.
func (m *Machine) Control(p *Peer, h *transport.Header) {
	if p.out.Controls() == 0 && m.Do.Control(h) {
		return
	}
	p.out.PutControl(h)
	m.enqueue(p)
}

// Waits reports whether something waits for room.
func (m *Machine) Waits() bool { return len(m.busy) > 0 }

// Busy returns the peers that have something waiting for room.
func (m *Machine) Busy() []*Peer { return m.busy }

// Flows reports whether something comes from another machine, or waits for room.
func (m *Machine) Flows() bool { return m.flowing > 0 || len(m.busy) > 0 }

// enqueue notes that a peer has something waiting for room.
func (m *Machine) enqueue(p *Peer) {
	if !p.queued {
		p.queued = true
		m.busy = append(m.busy, p)
		*m.Queued = uint32(len(m.busy))
	}
}

// Flush hands over what waited for room. It reports whether anything left.
func (m *Machine) Flush() bool {
	did := false
	kept := m.busy[:0]
	for _, p := range m.busy {
		if p.out.Flush(outgoing{m}) {
			did = true
		}
		if p.queued = !p.out.Empty(); p.queued {
			kept = append(kept, p)
		}
	}
	clear(m.busy[len(kept):])
	m.busy = kept
	*m.Queued = uint32(len(kept))
	return did
}

// Drop forgets a message that can no longer complete: the process at the other end is gone.
func (m *Machine) Drop(t *Transfer) {
	switch t.role {
	case sender:
		t.Peer.out.RemoveFirst(&t.place)
		t.Peer.out.RemoveStream(&t.place)
	case receiver:
		if t.expects {
			m.stopReading(t)
		}
	}
	t.streams, t.expects, t.cancelling, t.owed = false, false, false, 0
	t.claims = direct.Claims{}
	t.lent, t.aside = false, nil
}

// stopReading ends a receive in the middle of its message.
func (m *Machine) stopReading(t *Transfer) {
	m.stopPulling(t, 0)
	if t.claims.Open() {
		t.Peer.slots &^= 1 << t.claims.Slot
	}
	if t.Peer.Elsewhere {
		m.flowing--
	}
}

// await notes that a process will send something because it has been asked, and came that it has done so.
func (m *Machine) await(p *Peer) {
	if p.Elsewhere {
		p.Pressure.Where = pressure.Elsewhere
		m.Bounds.Await(&p.Pressure)
	}
}

func (p *Peer) came() {
	if p.Elsewhere {
		p.Pressure.Where = pressure.Elsewhere
		p.Pressure.Came()
	}
}

// Idle returns what is wrong with a machine that should have nothing under way with its peers; empty: nothing. It is
// for tests.
func (m *Machine) Idle(peers ...*Peer) string {
	switch {
	case m.flowing != 0:
		return "messages flow"
	case len(m.pulling) != 0:
		return "receives are being read"
	case slices.ContainsFunc(peers, func(p *Peer) bool { return !p.out.Empty() || p.slots != 0 || p.offered != 0 }):
		return "something waits for room, is shared or offered"
	}
	return ""
}
