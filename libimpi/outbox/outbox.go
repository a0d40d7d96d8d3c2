// Package outbox keeps what waits for room on its way to one peer, and decides in which order it leaves:
//
//	the rest of a continuation that the transport has taken a part of   before all else: it is cut in two
//	control packets                                                     in the order in which they were put in
//	first packets of messages                                           likewise, since MPI keeps messages in order
//	continuations of long messages                                      a piece of each in turn
//
// It moves no data: its owner does, behind Sender. The engine's lock guards it.
package outbox

import (
	"iter"

	"github.com/libimpi/libimpi/transport"
)

// Sender moves what is in a Box. R is a message that is being sent.
type Sender[R any] interface {
	// Control hands a control packet to the transport; false if there is no room.
	Control(h *transport.Header) bool
	// First does so with a message's first packet. The message may be complete then, and put into the box no more.
	First(r *R) bool
	// More reports whether there are bytes of a message to send. They may be claimed by this.
	More(r *R) bool
	// Write copies them into the receiver's memory; false if that is not possible, and they go as a piece.
	Write(r *R) bool
	// Piece sends the next continuation; false if there is no room. cut: the transport has taken a part of it.
	Piece(r *R) (sent, cut bool)
	// Rest goes on with a continuation that is cut. It reports whether any of it left, and whether it is cut still.
	Rest(r *R) (left, cut bool)
	// End ends a message of which there is no more to send. It is out of the box.
	End(r *R)
}

// Link is a message's place in a box. It belongs to the message, and is in one queue at a time at most.
type Link[R any] struct {
	next *Link[R]
	of   *R
}

// Box is what waits for one peer. The zero value is empty.
type Box[R any] struct {
	control control
	first   queue[R]
	streams queue[R]
	cut     bool // of the first stream's continuation a part has left
}

// Empty reports whether nothing waits.
func (b *Box[R]) Empty() bool { return b.Passable() && b.streams.head == nil }

// Passable reports whether the first packet of a new message may leave: there is nothing that it would overtake.
func (b *Box[R]) Passable() bool { return b.first.head == nil && b.Controls() == 0 }

// Controls returns the number of control packets that wait.
func (b *Box[R]) Controls() int { return len(b.control.waiting()) }

// PutControl adds a copy of a control packet.
func (b *Box[R]) PutControl(h *transport.Header) { b.control.packets = append(b.control.packets, *h) }

// DropControls throws all control packets away.
func (b *Box[R]) DropControls() { b.control.sent(b.Controls()) }

// PutFirst adds a message whose first packet has not left.
func (b *Box[R]) PutFirst(l *Link[R], r *R) { l.of = r; b.first.push(l) }

// PutStream adds a message of which more is to be sent.
func (b *Box[R]) PutStream(l *Link[R], r *R) { l.of = r; b.streams.push(l) }

// RemoveFirst takes a message out whose first packet has not left, and reports whether it was there.
func (b *Box[R]) RemoveFirst(l *Link[R]) bool { return b.first.remove(l) }

// RemoveStream takes a message out of which more was to be sent, and reports whether it was there.
func (b *Box[R]) RemoveStream(l *Link[R]) bool {
	if b.streams.head == l {
		b.cut = false
	}
	return b.streams.remove(l)
}

// Stream returns the long message whose turn it is, or nil.
func (b *Box[R]) Stream() *R {
	if l := b.streams.head; l != nil {
		return l.of
	}
	return nil
}

// Messages returns all messages that wait, in their order.
func (b *Box[R]) Messages() iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for _, q := range [...]*queue[R]{&b.first, &b.streams} {
			for l := q.head; l != nil; l = l.next {
				if !yield(l.of) {
					return
				}
			}
		}
	}
}

// Flush sends what there is room for, and reports whether anything left.
func (b *Box[R]) Flush(out Sender[R]) bool {
	left := false
	if b.cut {
		if left, b.cut = out.Rest(b.streams.head.of); b.cut {
			return left
		}
		b.nextStream(out)
	}
	return b.flush(out) || left
}

func (b *Box[R]) flush(out Sender[R]) bool {
	sent, control := 0, b.control.waiting()
	for sent < len(control) && out.Control(&control[sent]) {
		sent++
	}
	did := sent > 0
	if did {
		b.control.sent(sent)
	}
	if sent < len(control) {
		return did
	}
	for b.first.head != nil {
		// Out of the queue first: a message that is complete may be made a new one.
		l := b.first.pop()
		if !out.First(l.of) {
			b.first.pushFront(l)
			return did
		}
		did = true
	}
	for b.streams.head != nil {
		r := b.streams.head.of
		if out.More(r) {
			if out.Write(r) { // others have their turn before it claims more
				b.streams.push(b.streams.pop())
				return true
			}
			var sent bool
			if sent, b.cut = out.Piece(r); !sent {
				return did
			}
		}
		did = true
		if b.cut {
			return did
		}
		b.nextStream(out)
	}
	return did
}

// nextStream gives the next long message its turn.
func (b *Box[R]) nextStream(out Sender[R]) {
	if l := b.streams.pop(); out.More(l.of) {
		b.streams.push(l)
	} else {
		out.End(l.of)
	}
}
