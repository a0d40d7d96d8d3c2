package tcp

import (
	"fmt"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// What stands before the payload of a packet: IMPI's 128 bytes, or, between two processes of this library that are both
// hosts of their own, the short header of package wire. Nothing else in this package depends on which it is. The
// difference counts where the link sets the pace: a frame of Ethernet carries 1448 bytes.

// headMax is the length of the longest header, in bytes.
const headMax = max(wire.PacketSize, wire.ShortMax)

// short reports whether packets between us and a host have the short header. Both ends find the same in the tables.
func (h *Host) short(host int32) bool {
	x := &h.job.Hosts[host]
	return x.Short && x.NProcs == 1 && h.job.Hosts[h.me].NProcs == 1
}

// headSize is the length of a packet's header, in bytes.
func (l *link) headSize(hd *transport.Header) int {
	if l.short {
		return wire.ShortSize(hd)
	}
	return wire.PacketSize
}

// encode writes the header, of headSize bytes, of a packet that the engine sends.
func (h *Host) encode(l *link, b []byte, hd *transport.Header) {
	most := h.job.MaxDataLen
	if hd.Kind == transport.Data && uint64(hd.Len) < hd.MsgLen {
		most = max(most, h.job.Hosts[l.host].Stream)
	}
	sendable := hd.Kind != transport.ProtoAck && hd.Kind < transport.Fini && hd.Len <= int(most)
	if !sendable || !l.put(b, hd, &h.dir.ids[hd.Src], &h.dir.ids[hd.Dst], false) {
		panic(fmt.Sprintf("tcp: packet of kind %d with %d bytes cannot be sent", hd.Kind, hd.Len))
	}
}

// put writes a header of headSize bytes. hold is for a PROTOACK (wire.AckHold). False: it cannot travel.
func (l *link) put(b []byte, hd *transport.Header, src, dst *wire.ProcID, hold bool) bool {
	if l.short {
		return wire.PutShort(b, hd, hold)
	}
	ok := wire.Packet(b).Encode(hd, src, dst)
	if ok && hold {
		wire.Packet(b).SetReserved(wire.AckHold)
	}
	return ok
}

// appendAck adds a PROTOACK from our process ours to theirs.
func (h *Host) appendAck(l *link, b []byte, ours, theirs int32) []byte {
	ack := transport.Header{Kind: transport.ProtoAck}
	var room [headMax]byte
	n := l.headSize(&ack)
	l.put(room[:n], &ack, &h.dir.ids[ours], &h.dir.ids[theirs], h.flow.pair(ours, theirs).tell)
	return append(b, room[:n]...)
}

// header reads the header at buf[r:], all but Src and Dst. It returns its length in bytes, 0 if it is not all there.
func (in *inbound) header(h *transport.Header) (n int, err error) {
	b := in.buf[in.r:in.w]
	if in.short {
		if n, in.hold, err = wire.ParseShort(b, h); err != nil {
			return 0, fmt.Errorf("%w (short header %x)", err, b[:min(len(b), wire.ShortMax)])
		}
		return n, nil
	}
	if len(b) < wire.PacketSize {
		return 0, nil
	}
	p := wire.Packet(b[:wire.PacketSize:wire.PacketSize])
	if err := p.Decode(h); err != nil {
		return 0, fmt.Errorf("%w (pk_type %d, pk_len %d, pk_msglen %d)", err, p.Type(), p.Len(), p.MsgLen())
	}
	in.hold = p.Reserved() == wire.AckHold
	return wire.PacketSize, nil
}
