package tcp

import "time"

// Packets gather in their link and leave in one call, for three reasons:
//
//   - the engine says so: it has many to hand over (Hold, Release);
//   - they are acknowledgements and answers, which leave at the end of the poll they come from;
//   - the program starts many sends in a row and has not waited yet (Post, PostPaced, Posted).
//
// For the last, a burst: the packets of sends between two calls that wait or test (Settle, Poll). The first packets of
// a burst leave at once, since most bursts are short and whoever is waited for should not wait for more. Those that
// follow gather, until they are enough, until the window closes, since the acknowledgements that open it are for them,
// until the program does wait or test, or, since it may compute instead, until the watcher's timer runs out. To set a
// timer costs as much as some packets do, on a virtual machine several times that: so the burst must be long, or the
// one before must have been worth it. And to be woken for nothing costs more: when the timer has run out and the burst
// goes on all the same, the next is set longer, and when the program did compute, as short as at first (linger).
//
// A blocking send of a short message is over when its packet has been copied. So those gather like nonblocking ones, as
// long as they follow each other closely (paceMax): if a program does something else between its sends, then each of
// its messages may be waited for, and too few of them gather to be worth a timer.

const (
	// gatherMax is the longest payload, in bytes, that is copied to leave together with others. To hand over a longer one
	// by itself costs little in comparison, and while others gather a link of 10 Gbit/s has nothing to carry.
	gatherMax = 4 << 10
	// batchMax is how many bytes may gather before they leave.
	batchMax = 64 << 10
	// burstMax is the same in a burst. The receiver is to have something to do meanwhile.
	burstMax = 32 << 10
	// burstMin is how many packets of a burst leave at once, and how many of one must have gathered for the next to have
	// only the first leave so.
	burstMin = 8
	// burstTime is how long packets of a burst gather, if the program computes, and burstTimeMax how long at most, once,
	// in a program that has had longer bursts.
	burstTime    = 50 * time.Microsecond
	burstTimeMax = 8 * burstTime
	// paceMax is the time from the end of one blocking send to the next up to which both belong to one burst. For a
	// packet that leaves alone the sender needs about as long, and in burstTime come enough of them to be worth a timer.
	paceMax = 5 * time.Microsecond
)

// burst is what a link knows of the sends that are being started.
type burst struct {
	turn     uint32 // Host.turn at its beginning
	packets  int    // so far
	gathered int    // of them
	long     bool   // the burst before was worth a timer
}

// Cork lets packets gather until Uncork, so that many leave in one call. Both nest.
func (h *Host) Cork() { h.corked++ }

// Uncork sends what has gathered since Cork.
func (h *Host) Uncork() {
	if h.corked--; h.corked == 0 {
		h.settle(false)
	}
}

// Post lets packets gather until Posted, and perhaps longer. What is sent in between belongs to operations that do not
// block.
func (h *Host) Post() { h.posting = true }

// PostPaced is Post for what is sent by an operation that blocks. It ends the burst, as Settle does, if the one before
// was not such an operation, or was over too long ago.
func (h *Host) PostPaced() {
	now := time.Since(h.born)
	if h.pacedTurn != h.turn || now-h.pacedLast > h.pace {
		h.Settle()
		h.pacedTurn = h.turn
	}
	h.posting, h.paced, h.pacedLast = true, true, now
}

// Posted ends Post. It reports whether anything has gathered: it leaves with Settle, with Poll, or a moment later.
func (h *Host) Posted() bool {
	if h.paced { // the packet has left, or the timer has been set: that takes as long as the pace allows
		h.pacedLast = time.Since(h.born)
	}
	h.posting, h.paced = false, false
	return h.posted
}

// Settle sends what has gathered since Post, and ends the bursts: the program waits for something, or is done with it.
func (h *Host) Settle() {
	h.turn++
	if h.posted && h.corked == 0 {
		h.settle(false)
	}
}

// gathers reports whether the next packet to l is to gather.
func (h *Host) gathers(l *link) bool {
	switch {
	case h.corked > 0:
		return len(l.out) < batchMax
	case !h.posting || l.pipe != nil || len(l.out) >= burstMax:
		return false
	}
	b := &l.burst
	if b.turn != h.turn {
		*b = burst{turn: h.turn, long: b.gathered >= burstMin}
	}
	b.packets++
	if b.packets == 1 || b.packets <= burstMin && !b.long {
		return false
	}
	if !h.posted {
		if !h.expired.IsZero() {
			h.linger, h.expired = relinger(h.linger, time.Since(h.expired)), time.Time{}
		}
		if !h.watch.remind(h.linger) {
			return false
		}
		h.posted = true
	} else {
		h.paced = false // this takes no time, and the clock need not be looked at again
	}
	b.gathered++
	return true
}

// relinger is how long packets gather from now on, after the timer has run out and nothing has been started since then
// for so long: if that is short, the burst was not over yet.
func relinger(linger, since time.Duration) time.Duration {
	if since < linger {
		return min(2*linger, burstTimeMax)
	}
	return burstTime
}

// admits reports whether the window has room for one more packet. If not, what has gathered leaves: its acknowledgement
// makes room.
func (h *Host) admits(l *link, w *window) bool {
	if h.flow.open(w) {
		return true
	}
	h.flow.shut(w)
	if h.posted && h.corked == 0 {
		h.flush(l)
	}
	return false
}

// gather notes that l has something in out for the end of the batch.
func (h *Host) gather(l *link) {
	if !l.dirty {
		l.dirty = true
		h.dirty = append(h.dirty, l)
	}
}

// settle sends what has gathered. A single acknowledgement may wait for company (see acknowledge): for the next
// packet to that host, for what is read there next, or for a few polls that bring nothing; idle says that this one
// did not.
func (h *Host) settle(idle bool) {
	if h.posted {
		h.posted = false
		if h.watch.expired.Swap(false) {
			h.expired = time.Now()
		}
		h.watch.remind(0)
	}
	kept := h.dirty[:0]
	for _, l := range h.dirty {
		if idle {
			l.idle++
		}
		switch {
		case l.off == len(l.out) || l.blocked: // gone already, or epoll's affair
		case l.acks == 1 && l.idle < patient && !h.finishing && !h.watch.armed.Load():
			kept = append(kept, l)
			continue
		default:
			h.flush(l)
		}
		l.dirty = false
	}
	clear(h.dirty[len(kept):])
	h.dirty = kept
	h.watch.owes.Store(len(kept) > 0)
}

// patient is how many polls that bring nothing an acknowledgement waits for company.
const patient = 4
