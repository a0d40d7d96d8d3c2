package tcp

import "fmt"

// A receiver that keeps too much restrains its senders (flow.go). What it says goes with acknowledgements, or is that
// there are none; so it costs no packet.

// Shut keeps back the acknowledgements of what process theirs sends to ours, a process of this host, or sends those
// that have become due meanwhile.
func (h *Host) Shut(ours, theirs int32, on bool) {
	w := h.flow.pair(ours, theirs)
	w.shut = on
	l := h.links[h.job.Procs[theirs].Host]
	if on || w.received < h.flow.ackMark || l == nil || l.closed() {
		return
	}
	h.Cork()
	for w.received >= h.flow.ackMark {
		w.received -= h.flow.ackMark
		if err := h.acknowledge(l, ours, theirs); err != nil {
			h.end(l, fmt.Errorf("protocol error: %w", err))
			break
		}
		l.acks = 0 // it has waited long enough
	}
	h.Uncork()
}

// Hold lets acknowledgements to theirs, a process of this library, say from now on whether ours keeps too many of its
// messages.
func (h *Host) Hold(ours, theirs int32, held bool) { h.flow.pair(ours, theirs).tell = held }

// Held returns what process theirs, of this library, has let us know last by Hold.
func (h *Host) Held(ours, theirs int32) bool { return h.flow.pair(ours, theirs).told }

// openAll ends every Shut: nobody keeps messages any more.
func (h *Host) openAll() {
	for i := range h.flow.windows {
		if h.flow.windows[i].shut {
			n := int32(len(h.job.Procs))
			h.Shut(h.flow.first+int32(i)/n, int32(i)%n, false)
		}
	}
}
