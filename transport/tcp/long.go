package tcp

import (
	"errors"

	"github.com/libimpi/libimpi/transport"
)

// Continuations of long messages leave straight from the sender's memory. What the kernel does not take stays there and
// is owed: until the engine has given it (SendRest) nothing else goes to that host, but what stands before it in out.

var _ transport.Streamer = (*Host)(nil)

// Stream is the longest continuation, in bytes, that the host of process dst takes.
func (h *Host) Stream(dst int32) int { return int(h.job.Hosts[h.job.Procs[dst].Host].Stream) }

// SendLong is as transport.Streamer says. A packet to a process that is lost is dropped: all of it is taken.
func (h *Host) SendLong(hd *transport.Header, payload []byte) (taken int, ok bool) {
	l, w := h.route(hd)
	if l.closed() {
		return hd.Len, true
	}
	if l.blocked || l.owed > 0 || !h.admits(l, w) {
		return 0, false
	}
	head := l.head[:l.headSize(hd)]
	h.encode(l, head, hd)
	waiting := len(l.out) - l.off
	n, errno := h.sendParts(l, l.out[l.off:], head, payload[:hd.Len])
	if errno != 0 {
		return hd.Len, h.refused(l, errno)
	}
	if n <= waiting { // not a byte of it went
		l.off += n
		h.block(l)
		return 0, false
	}
	n -= waiting
	l.out, l.off, l.acks = l.out[:0], 0, 0
	h.left(l, w, hd.Len)
	if n < len(head) {
		l.out = append(l.out, head[n:]...)
		n = len(head)
	}
	taken = n - len(head)
	if l.owed = hd.Len - taken; l.owed > 0 {
		l.owes = hd.Dst
		h.block(l)
	}
	return taken, true
}

// SendRest is as transport.Streamer says.
func (h *Host) SendRest(dst int32, payload []byte) int {
	l := h.links[h.job.Procs[dst].Host]
	if l.closed() {
		return len(payload)
	}
	if l.blocked || l.owed == 0 {
		return 0
	}
	payload = payload[:l.owed]
	waiting := len(l.out) - l.off
	n, errno := h.sendParts(l, l.out[l.off:], payload, nil)
	if errno != 0 {
		if h.refused(l, errno) {
			return len(payload)
		}
		return 0
	}
	if n < waiting {
		l.off += n
		h.block(l)
		return 0
	}
	n -= waiting
	l.out, l.off = l.out[:0], 0
	if l.owed -= n; l.owed > 0 {
		h.block(l)
		return n
	}
	if len(l.late) > 0 {
		l.out, l.late = l.late, l.out
		h.gather(l)
		if h.corked == 0 {
			h.settle(false)
		}
	}
	return n
}

var _ transport.Forgetter = (*Host)(nil)

// errForgotten is why a connection is closed by which nobody can be reached who is there.
var errForgotten = errors.New("its processes are lost")

// Forget is as transport.Forgetter says. In place of what is owed to the process go zeros, which nobody reads: behind
// them come packets for others of its host. What is still to come of a continuation goes aside.
func (h *Host) Forget(peer int32) {
	host := h.job.Procs[peer].Host
	l := h.links[host]
	if l == nil || l.ended {
		return
	}
	if l.forgotten++; l.forgotten == h.job.Hosts[host].NProcs {
		h.giveUp(l, errForgotten)
		return
	}
	if l.after != incomplete && l.whole != nil && l.long.Src == peer {
		l.whole = make([]byte, len(l.whole))
	}
	if l.owed == 0 || l.owes != peer || l.broken != nil {
		return
	}
	l.maxOut += l.owed // it was not counted among what may wait
	clear(l.reserve(l.owed))
	l.owed = 0
	l.out, l.late = append(l.out, l.late...), l.late[:0]
}
