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
	gate *int32 // Config.Gate
}

// own reports whether a host is of our client.
func (t *table) own(host int32) bool { return t.job.Hosts[host].Client == t.job.Hosts[t.host].Client }

// relays reports whether we are the gate.
func (t *table) relays() bool { return t.gate != nil && *t.gate == t.host }

// hop is the host to which packets for a host go first, and from which those of it come.
func (t *table) hop(host int32) int32 {
	if t.gate == nil || t.relays() || t.own(host) {
		return host
	}
	return *t.gate
}

// group is that of a link.
func (t *table) group(k kind, peer int32) group {
	switch {
	case k == aProcess:
		return ourProcesses
	case t.relays() && t.own(peer):
		return ourHosts
	}
	return otherHosts
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

// answers reports whether the FINI of a link is answered at once: all whom its peer has had to do with by this link are
// of libimpi.
func (t *table) answers(k kind, peer int32) bool {
	all := k == aProcess || t.gate != nil && t.own(peer)
	for i, h := range t.job.Hosts {
		if int32(i) != t.host && (all || int32(i) == peer) && !h.SameImpl {
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

// comes reports whether a link may bring packets of process src.
func (t *table) comes(k kind, peer, src int32) bool {
	host := t.job.Procs[src].Host
	return k == aProcess && src == peer || k == aHost && host != t.host && t.hop(host) == peer
}

// leads reports whether packets from process src to process dst may come by a link.
func (t *table) leads(k kind, src, dst int32) bool {
	from, to := t.job.Procs[src].Host, t.job.Procs[dst].Host
	return (k == aHost) == (to == t.host) || k == aHost && t.relays() && t.own(from) != t.own(to)
}

// route returns the source and the destination of a packet, as world ranks. A packet from another host must come from a
// process there, or by the gate, and be for one of ours; a packet from a process of ours must be its own and be for
// another host. A gate takes packets between the other hosts of its client and other clients, too. After FINI no
// messages may come. Anything else is a violation.
func (t *table) route(p wire.Packet, k kind, peer int32, fini bool) (src, dst int32, err error) {
	from, to := p.Src(), p.Dst()
	src, dst = t.dir.Rank(&from), t.dir.Rank(&to)
	switch {
	case src < 0 || !t.comes(k, peer, src):
		return 0, 0, violated("packet from a process that is not there: host id %x, pid %d", from.HostID, from.PID)
	case dst < 0 || !t.leads(k, src, dst):
		return 0, 0, violated("packet for a process that is not on this way: host id %x, pid %d", to.HostID, to.PID)
	}
	host := t.job.Procs[dst].Host
	if most := max(t.job.MaxDataLen, t.job.Hosts[host].Stream); host != t.host && p.PayloadLen() > most {
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
