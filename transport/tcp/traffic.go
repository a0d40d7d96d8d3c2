package tcp

import (
	"time"

	"github.com/libimpi/libimpi/transport"
)

// tally is what a link has carried. It grows under the engine's lock, beside the window of the pair.
type tally struct {
	packetsOut, packetsIn uint64
	bytesOut, bytesIn     uint64
	acksOut, acksIn       uint64
}

// left counts a packet with a payload of n bytes that has been sent.
func (h *Host) left(l *link, w *window, n int) {
	h.flow.left(w)
	l.tally.packetsOut++
	l.tally.bytesOut += uint64(n)
}

// took counts a packet that has arrived, or begun to arrive, and reports whether a PROTOACK is due for it.
func (in *inbound) took(n int) bool {
	in.tally.packetsIn++
	in.tally.bytesIn += uint64(n)
	return in.flow.took(in.pair)
}

// Traffic implements transport.Observable. It looks at the windows of all pairs.
func (h *Host) Traffic() (rows []transport.Traffic) {
	for _, l := range h.links {
		if l == nil {
			continue
		}
		t := &l.tally
		r := transport.Traffic{Ours: h.me, Theirs: l.host, PacketsOut: t.packetsOut, PacketsIn: t.packetsIn,
			BytesOut: t.bytesOut, BytesIn: t.bytesIn, AcksOut: t.acksOut, AcksIn: t.acksIn,
			HighWater: h.flow.hiWater, Silence: transport.SilenceUnknown}
		if l.left > 0 {
			r.PacketsIn-- // it has begun
		}
		x := h.job.Hosts[l.host]
		for theirs := x.First; theirs < x.First+x.NProcs; theirs++ {
			for ours := h.flow.first; ours < h.flow.first+h.job.Hosts[h.me].NProcs; ours++ {
				w := h.flow.pair(ours, theirs)
				r.Outstanding = max(r.Outstanding, w.sent)
				if w.waits {
					r.State |= transport.TrafficWaits
				}
			}
		}
		if l.blocked || l.full {
			r.State |= transport.TrafficBlocked
		}
		if l.closed() {
			r.State |= transport.TrafficEnded
		} else if ago, ok := l.heard(); ok {
			r.Silence = uint32(min(ago.Milliseconds(), int64(transport.SilenceUnknown-1)))
		}
		rows = append(rows, r)
	}
	return rows
}

// heard is when the other end was heard of last, by the socket that has been silent longest.
func (l *link) heard() (ago time.Duration, ok bool) {
	if l.many == nil {
		return LastHeard(l.fd)
	}
	l.many.Each(func(_, fd int) {
		if a, known := LastHeard(fd); known && a >= ago {
			ago, ok = a, true
		}
	})
	return ago, ok
}
