package wire

import "net/netip"

// ProcID names a process in packets (IMPI_Proc, 3.2): the pair its client published as P_IPV6 and P_PID.
// HostID is an identity and not an address: it is copied and compared byte for byte, never interpreted.
type ProcID struct {
	HostID [16]byte
	PID    int64
}

// ProcPID is the p_pid a client publishes for a process: with its own rank above the system's pid, two
// clients on one machine cannot publish the same name.
func ProcPID(client int32, pid uint32) int64 {
	return (int64(client)+1)<<32 + int64(pid)
}

// EncodeAddr is an address as H_IPV6 and P_IPV6 carry it: IPv4 as ::ffff:a.b.c.d. A zone is lost.
func EncodeAddr(a netip.Addr) [16]byte { return a.As16() }

// DecodeAddr reads an address from H_IPV6. IPv4 is accepted in both forms that exist, ::ffff:a.b.c.d and
// ::a.b.c.d, and comes out as IPv4; :: and ::1 stay what they are.
func DecodeAddr(b [16]byte) netip.Addr {
	a := netip.AddrFrom16(b)
	if a.Is4In6() {
		return a.Unmap()
	}
	for _, x := range b[:12] {
		if x != 0 {
			return a
		}
	}
	if a.IsUnspecified() || a.IsLoopback() {
		return a
	}
	return netip.AddrFrom4([4]byte(b[12:]))
}

// HandshakeSize is the length of the first message on a socket between hosts, in bytes (2.3.8).
const HandshakeSize = 4

// PutHandshake writes the connecting host's global rank: all it says before its first packet.
func PutHandshake(b []byte, host int32) { be.PutUint32(b[:HandshakeSize], uint32(host)) }

// Handshake reads the global rank that a connecting host claims. It returns false if b is short or the rank impossible.
func Handshake(b []byte) (host int32, ok bool) {
	if len(b) < HandshakeSize {
		return 0, false
	}
	host = int32(be.Uint32(b))
	return host, host >= 0
}
