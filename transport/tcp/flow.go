package tcp

import "github.com/libimpi/libimpi/transport"

// Flow control (IMPI 0.0, 3.6): every ordered pair of processes is a channel of its own. The source counts
// what it sent and stops at the high-water mark; the destination counts what arrived and sends a PROTOACK for
// every ackMark packets, on arrival, whether a receive is posted or not: if it waited for a match, unmatched
// messages would fill the window that the rest of a matched one needs. All packets count but PROTOACK and FINI.
// Both marks are the same in the whole job.
//
// This file counts. host.go asks it before a packet leaves (open, left), inbound.go tells it what has arrived (took,
// acked), and link.go writes the PROTOACKs (acknowledge).
//
// A process that is flooded with messages nobody there waits for has two ways to say so. It may keep its
// acknowledgements back for a time (Shut): a sender that keeps to the protocol then stops at the high-water mark, and
// one that does not is found out. And a process of this library is told, in every acknowledgement (Tell), that it is to
// send no more than the envelopes of its messages.

// window is what one of our processes and one of theirs know about each other, in both directions.
type window struct {
	sent     uint32 // ours to theirs: counted packets not acknowledged yet, at most hiWater
	received uint32 // theirs to ours: counted packets we have not acknowledged yet, less than ackMark unless shut
	shut     bool   // ours acknowledges nothing for a time
	tell     bool   // our acknowledgements say that ours keeps too many messages of theirs
	told     bool   // and their last one said so; of no meaning if theirs is no process of this library
	waits    bool   // packets of ours to theirs wait for an acknowledgement
}

// flow holds the windows of a host: local processes by all of the job.
type flow struct {
	ackMark, hiWater uint32
	first, procs     int32
	windows          []window
	counts           transport.Counts
}

func newFlow(job *transport.Job, me int32) *flow {
	host := job.Hosts[me]
	return &flow{
		ackMark: job.AckMark, hiWater: job.HiWater,
		first: host.First, procs: int32(len(job.Procs)),
		windows: make([]window, int(host.NProcs)*len(job.Procs)),
	}
}

// pair is the window between local process ours and process theirs, both world ranks.
func (f *flow) pair(ours, theirs int32) *window {
	return &f.windows[int(ours-f.first)*int(f.procs)+int(theirs)]
}

// open reports whether one more counted packet may leave.
func (f *flow) open(w *window) bool { return w.sent < f.hiWater }

// left counts a packet that has been sent.
func (f *flow) left(w *window) {
	w.sent++
	w.waits = false
	f.counts.Sent++
}

// shut notes that a packet has to wait for an acknowledgement.
func (f *flow) shut(w *window) {
	if !w.waits {
		w.waits = true
		f.counts.Waits++
	}
}

// took counts a packet that arrived and reports whether a PROTOACK is due for it.
func (f *flow) took(w *window) bool {
	f.counts.Received++
	w.received++
	if w.received < f.ackMark || w.shut {
		return false
	}
	w.received = 0
	return true
}

// overrun reports whether more packets have come than the source may send before the next PROTOACK. As long as all are
// acknowledged on arrival there are never so many.
func (f *flow) overrun(w *window) bool { return w.received > f.hiWater }

// acked handles a PROTOACK. False: it acknowledges more than was sent.
func (f *flow) acked(w *window) bool {
	if w.sent < f.ackMark {
		return false
	}
	w.sent -= f.ackMark
	return true
}
