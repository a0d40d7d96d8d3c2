package agent

import (
	"fmt"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// table says which packets may come from where (IMPI 0.0, 3.2 and 3.5).
type table struct {
	job  *transport.Job
	dir  *tcp.Directory
	host int32
}

// violation is what a peer must not do. It ends the link.
type violation struct{ text string }

func (v *violation) Error() string { return "protocol error: " + v.text }

func violated(format string, args ...any) error { return &violation{fmt.Sprintf(format, args...)} }

// longest is the longest continuation, in bytes, that a link may bring. For a host it is what was agreed on with that
// host. For a process of ours it is the largest of what was agreed on with any host; route compares the packet with the
// limit of its own destination.
func (t *table) longest(k kind, peer int32) uint32 {
	most := t.job.MaxDataLen
	for i, h := range t.job.Hosts {
		if int32(i) != t.host && (k == aProcess || int32(i) == peer) {
			most = max(most, h.Stream)
		}
	}
	return most
}

// answers reports whether the FINI of a link is answered at once: all whom its peer has had to do with are of libimpi.
func (t *table) answers(k kind, peer int32) bool {
	for i, h := range t.job.Hosts {
		if int32(i) != t.host && (k == aProcess || int32(i) == peer) && !h.SameImpl {
			return false
		}
	}
	return true
}

// length is how many bytes the packet has whose header is at the beginning of p. most is the longest continuation, in
// bytes. A header that announces more than was agreed on, or is of no known type, is a violation and ends the link,
// since nothing tells where the next packet begins.
func (t *table) length(p wire.Packet, most uint32) (int, error) {
	var h transport.Header
	if err := p.Decode(&h); err != nil {
		return 0, violated("%v (pk_type %d, pk_len %d, pk_msglen %d)", err, p.Type(), p.Len(), p.MsgLen())
	}
	if h.Kind != transport.Data || uint64(h.Len) == h.MsgLen {
		most = t.job.MaxDataLen
	}
	if uint64(h.Len) > uint64(most) {
		return 0, violated("packet longer than the agreed maximum: pk_len %d, maximum %d", h.Len, most)
	}
	return wire.PacketSize + h.Len, nil
}

// route returns the source and the destination of a packet, as world ranks. A packet from another host must come from a
// process there and be for one of ours; a packet from a process of ours must be its own and be for another host. After
// FINI no messages may come. Anything else is a violation.
func (t *table) route(p wire.Packet, k kind, peer int32, fini bool) (src, dst int32, err error) {
	from, to := p.Src(), p.Dst()
	src, dst = t.dir.Rank(&from), t.dir.Rank(&to)
	switch {
	case src < 0 || k == aHost && t.job.Procs[src].Host != peer || k == aProcess && src != peer:
		return 0, 0, violated("packet from a process that is not there: host id %x, pid %d", from.HostID, from.PID)
	case dst < 0 || (k == aHost) != (t.job.Procs[dst].Host == t.host):
		return 0, 0, violated("packet for a process that is not on this way: host id %x, pid %d", to.HostID, to.PID)
	}
	if most := max(t.job.MaxDataLen, t.job.Hosts[t.job.Procs[dst].Host].Stream); k == aProcess && p.PayloadLen() > most {
		return 0, 0, violated("packet longer than was agreed on with its destination: pk_len %d, maximum %d", p.Len(), most)
	}
	if fini {
		switch p.Type() {
		case wire.PkData, wire.PkDataSync, wire.PkCancel:
			return 0, 0, violated("message packet after FINI (pk_type %d)", p.Type())
		}
	}
	return src, dst, nil
}
