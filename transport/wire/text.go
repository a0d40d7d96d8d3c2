package wire

import (
	"fmt"
	"math/bits"
	"net/netip"
	"strings"
)

// What travels, in words: for whoever reads a trace. Nothing here is on the way of a message.

var packetNames = [...]string{"DATA", "DATASYNC", "PROTOACK", "SYNCACK", "CANCEL", "CANCELYES", "CANCELNO", "FINI"}

// Text is a packet's header on one line: the fields that packets of its type use, and any other that is not 0.
// p has at least PacketSize bytes.
func (p Packet) Text() string {
	t := p.Type()
	if t > PkFini {
		return fmt.Sprintf("pk_type %d, which does not exist", t)
	}
	var b strings.Builder
	b.WriteString(packetNames[t])
	field := func(used bool, name string, value any) {
		if used || value != uint64(0) && value != uint32(0) && value != int32(0) && value != int64(0) {
			fmt.Fprintf(&b, ", %s %v", name, value)
		}
	}
	if t != PkFini || p.Src() != (ProcID{}) || p.Dst() != (ProcID{}) {
		fmt.Fprintf(&b, " from %v to %v", p.Src(), p.Dst())
	}
	first := t == PkData && uint64(p.Len()) == p.MsgLen() || t == PkDataSync
	field(t <= PkDataSync, "pk_len", p.Len())
	field(t <= PkDataSync, "pk_msglen", p.MsgLen())
	field(t != PkProtoAck && t != PkFini, "srqid", p.SrqID())
	field(t == PkSyncAck || t == PkData && !first, "drqid", p.DrqID())
	field(t <= PkDataSync, "lsrank", p.LSRank())
	field(t <= PkDataSync, "tag", p.Tag())
	field(t <= PkDataSync, "cid", p.CID())
	field(false, "seqnum", p.SeqNum())
	field(false, "count", p.Count())
	field(false, "dtype", p.Dtype())
	field(false, "reserved", p.Reserved())
	return b.String()
}

// String is the process's host id, as an address, and its pid.
func (id ProcID) String() string {
	return fmt.Sprintf("%v/%d", netip.AddrFrom16(id.HostID).Unmap(), id.PID)
}

// Text is a command with its payload on one line. fromServer tells which of the two directions it goes.
func (c Cmd) Text(payload []byte, fromServer bool) string {
	switch c.Cmd {
	case CmdAuth:
		if mask, ok := ParseClientAuth(payload); ok {
			return fmt.Sprintf("AUTH, mask %#x", mask)
		}
	case CmdImpi:
		if n, ok := ParseImpi(payload); ok {
			return fmt.Sprintf("IMPI, %s %d", map[bool]string{false: "rank", true: "size"}[fromServer], n)
		}
	case CmdColl:
		if fromServer {
			if l, mask, data, ok := ParseChdr(payload); ok {
				return fmt.Sprintf("COLL, %v of %s: %s", l, members(mask), l.Text(data))
			}
		} else if l, data, ok := ParseColl(payload); ok {
			return fmt.Sprintf("COLL, %v: %s", l, l.Text(data))
		}
	case CmdDone, CmdFini:
		if len(payload) == 0 {
			return c.Cmd.String()
		}
	}
	return fmt.Sprintf("%v, %d bytes: %x", c.Cmd, len(payload), payload)
}

// Text is the server's choice of a method.
func (s ServerAuth) Text() string {
	return fmt.Sprintf("authentication method %d, %d bytes follow", s.Which, s.Len)
}

// members names the clients in a mask.
func members(mask uint32) string {
	if mask == 0 {
		return "no client"
	}
	var b strings.Builder
	b.WriteString("client")
	for ; mask != 0; mask &= mask - 1 {
		fmt.Fprintf(&b, " %d", bits.TrailingZeros32(mask))
	}
	return b.String()
}

// Text is what a label carries: its elements, or the bare bytes if they are none.
func (l Label) Text(data []byte) string {
	_, size, ok := l.Shape()
	if !ok || len(data)%size != 0 {
		return fmt.Sprintf("%d bytes: %x", len(data), data)
	}
	var b strings.Builder
	for ; len(data) > 0; data = data[size:] {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch l {
		case CVersion:
			v, _ := ParseVersion(data)
			b.WriteString(v.String())
		case HIPv6, PIPv6:
			b.WriteString(netip.AddrFrom16([16]byte(data)).Unmap().String())
		case PPID:
			fmt.Fprint(&b, int64(be.Uint64(data)))
		case CTagUB, CCollXSize, CCollMaxLinear:
			fmt.Fprint(&b, int32(be.Uint32(data)))
		default:
			fmt.Fprint(&b, be.Uint32(data))
		}
	}
	return b.String()
}
