// Package pressure bounds what a process keeps of messages that nobody has asked for.
//
// Unexpected messages take memory of the receiver, and a sender that floods it must not take all. So there is a limit
// for each sender; beyond it messages do not leave until they are matched. Their envelopes do, so that a receive of a
// later message finds it: nothing that MPI promises depends on the room for early ones (MPI 5.0, 3.5).
//
// Inside a machine the receiver counts what it keeps of each sender, and tells it by a flag beside the ring (Hold). The
// sender looks at it when it looks for room, and sends everything as long messages are sent: the envelope, and
// the data when it is asked for. A sender that does not care is lost (ignored).
//
// Between machines a process of this library learns the same from acknowledgements (wire.AckHold). To others IMPI has
// no such word. There the sender asks now and then: one message after each askEvery bytes goes as a synchronous one. As
// long as its answer is due, and much more has been sent, all messages are synchronous ones (MustAsk).
//
// Where even envelopes are too much, and with every process of another library, the receiver stops acknowledging what
// is sent, so that its sender stops at the high-water mark (IMPI 0.0, 3.6). That must not stop what somebody waits for:
// behind the flood there may be the message that ends it. So packets are acknowledged as long as this process needs
// anything from there: a receive that one of the messages could match is posted, a probe looks for one, an answer or
// the rest of a long message is due.
//
//	kept > RestrainAt   -> told; beyond twice of it, and not needed: shut
//	somebody needs it   -> Reopen, until more comes that nobody needs
//	kept < RestrainAt/2 -> all is as before
//
// A sender may also wait for the answer to a CANCEL that is queued behind its own flood, of which the receiver knows
// nothing. So what is shut is reopened briefly after 1, 2, 4 ... seconds.
package pressure

import (
	"fmt"
	"slices"
	"time"
)

const (
	// Total is how many bytes of unexpected messages a process keeps of all senders of its machine together, and of all
	// others, and Least, Most the bounds for one of them.
	Total = 256 << 20
	Least = 1 << 20
	Most  = 16 << 20
	// Record is what the record of a message counts, in bytes.
	Record = 256
	// Short is the length up to which a message travels with its envelope when its sender is held, in bytes: it is no
	// more than the record that is kept anyway.
	Short = 256
	// Ignored is how many bytes of messages that are no envelopes a process of this machine may send while it is held.
	// One that keeps to the rules sends a ring of them, until it looks.
	Ignored = Most

	// askEvery is the number of bytes, with a record for each message, after which a sender to another client asks for
	// an answer; beyond askMost it waits for it.
	askEvery = Most / 2
	askMost  = Most
)

// Limit is how many bytes a process keeps of one of n senders before it holds it.
func Limit(n int) int64 { return int64(min(max(Total/max(n, 1), Least), Most)) }

// firstLapse is after what time what is shut is reopened for a moment; each time after that is twice as long.
const firstLapse = time.Second

// Actions are what a process does to keep its bounds, and what it has to know. They are called under the lock that
// guards the Bounds.
type Actions interface {
	// Hold tells a peer whether this process keeps too many of its messages.
	Hold(rank int32, on bool)
	// Shut leaves what a peer sends unacknowledged, or acknowledges it.
	Shut(rank int32, on bool)
	// Needs reports whether something is awaited from a peer. It may take long.
	Needs(rank int32) bool
	// Breach says that a peer breaks the rules, and how: it is lost.
	Breach(rank int32, what string)
	// Later calls Bounds.Reopen after a while, under the lock, unless stop is called before.
	Later(p *Peer, after time.Duration) (stop func())
}

// Where is where a peer is.
type Where uint8

const (
	Nowhere   Where = iota // it is this process itself, or lost: what is kept of it is counted, and nothing else
	Here                   // on this machine
	Elsewhere              // on another one, or in another client
)

// Peer is what this process knows of the messages of one other, and it of this one's, in bytes.
type Peer struct {
	Rank  int32
	Where Where
	Hears bool // it understands Hold
	Shuts bool // Shut can be used

	kept    int64  // of the peer's, here
	held    bool   // the peer has been told that they are too many
	ignored int64  // of messages that it has sent since as if it did not know
	unasked int64  // sent to the peer since the last message before which all is accounted for
	asked   uint64 // the request whose answer is due; 0 if none
	before  int64  // unasked when it was sent
	shut    bool   // what it sends is not acknowledged
	owes    int32  // packets that it will send, from elsewhere, because we have asked for them
	lookAt  int64  // kept at which to look whether it is needed, and to shut it
	lapse   time.Duration
	stop    func() // ends the lapse under way
}

// Bounds are those of a process. The zero value is of no use: HeldAt and RestrainAt are set, and Do.
type Bounds struct {
	HeldAt     int64 // bytes at which a peer of this machine is held
	RestrainAt int64 // and one that is elsewhere
	Do         Actions
	shut       []*Peer
}

// Kept is how many bytes are kept of the peer's messages.
func (p *Peer) Kept() int64 { return p.kept }

// Held reports whether the peer has been told that it sends too much.
func (p *Peer) Held() bool { return p.held }

// IsShut reports whether what the peer sends is not acknowledged.
func (p *Peer) IsShut() bool { return p.shut }

// Due is how many packets of the peer are awaited.
func (p *Peer) Due() int32 { return p.owes }

// Asking is the request whose answer is due; 0 if none.
func (p *Peer) Asking() uint64 { return p.asked }

// Keep notes that a message of n bytes is kept. envelope says that it has come without data, or with little.
func (b *Bounds) Keep(p *Peer, n int64, envelope bool) {
	p.kept += n
	switch {
	case p.Where == Nowhere:
	case p.held && p.Hears && !p.Shuts:
		if !envelope {
			b.ignored(p, n)
		}
	case p.Where == Elsewhere:
		if p.kept > b.RestrainAt {
			b.restrain(p)
		}
	case p.kept > b.HeldAt && !p.held:
		b.hold(p, true)
	}
}

// ignored counts a message of a held process of this machine.
func (b *Bounds) ignored(p *Peer, n int64) {
	if p.ignored += n; p.ignored > Ignored {
		b.Do.Breach(p.Rank, fmt.Sprintf("more than %d bytes of messages after it has been told to wait", Ignored))
	}
}

// Drop notes that a message of n bytes is kept no more.
func (b *Bounds) Drop(p *Peer, n int64) {
	p.kept -= n
	switch {
	case p.Where == Nowhere:
	case p.Where == Elsewhere:
		if (p.held || p.lookAt > 0) && p.kept < b.RestrainAt/2 {
			b.relax(p)
		}
	case p.held && p.kept < b.HeldAt/2:
		b.hold(p, false)
	}
}

func (b *Bounds) hold(p *Peer, on bool) {
	p.ignored = 0
	if p.held = on; p.Hears {
		b.Do.Hold(p.Rank, on)
	}
}

// restrain is called for a process that is elsewhere, of which more than RestrainAt bytes are kept.
func (b *Bounds) restrain(p *Peer) {
	if p.Hears && !p.held {
		b.hold(p, true)
	}
	if !p.Shuts || p.shut || p.kept < p.lookAt {
		return
	}
	if p.lookAt = max(p.lookAt, 2*b.RestrainAt); p.kept < p.lookAt {
		return
	}
	if p.owes > 0 || b.Do.Needs(p.Rank) {
		p.lookAt = p.kept + b.RestrainAt/8 // to look costs a walk through all communicators
		return
	}
	p.shut = true
	b.shut = append(b.shut, p)
	b.Do.Shut(p.Rank, true)
	p.lapse = max(2*p.lapse, firstLapse)
	p.stop = b.Do.Later(p, p.lapse)
}

// Reopen acknowledges what a process has sent, and will send.
func (b *Bounds) Reopen(p *Peer) {
	if !p.shut {
		return
	}
	p.shut = false
	p.stop()
	b.shut = slices.DeleteFunc(b.shut, func(q *Peer) bool { return q == p })
	b.Do.Shut(p.Rank, false)
}

// relax ends all restraint: few messages of a process are left.
func (b *Bounds) relax(p *Peer) {
	b.Reopen(p)
	p.lookAt, p.lapse = 0, 0
	if p.held {
		b.hold(p, false)
	}
}

// Invite reopens all processes of which a message is wanted.
func (b *Bounds) Invite(wanted func(rank int32) bool) {
	for _, p := range slices.Clone(b.shut) {
		if wanted(p.Rank) {
			b.Reopen(p)
		}
	}
}

// AnyShut reports whether any process is shut.
func (b *Bounds) AnyShut() bool { return len(b.shut) > 0 }

// Await notes that a process will send something because it has been asked.
func (b *Bounds) Await(p *Peer) {
	if p.Where == Elsewhere {
		p.owes++
		b.Reopen(p)
	}
}

// Came notes that it has done so.
func (p *Peer) Came() {
	if p.Where == Elsewhere {
		p.owes--
	}
}

// MustAsk reports whether a message to a process of another library must not leave without asking for an answer: it has
// not said for long that it keeps few.
func (p *Peer) MustAsk() bool { return p.unasked > askEvery && (p.asked == 0 || p.unasked > askMost) }

// Sent counts a short message of n bytes to a process of another library.
func (p *Peer) Sent(n int64) { p.unasked += n + Record }

// Asks notes that a short message to such a process has left whose answer is due. request is not 0.
func (p *Peer) Asks(request uint64) {
	if p.asked == 0 {
		p.asked, p.before = request, p.unasked
	}
}

// Answered takes the answer to a message: what was sent before it counts no more.
func (p *Peer) Answered(request uint64) {
	if p.asked == request {
		p.asked, p.unasked = 0, p.unasked-p.before
	}
}
