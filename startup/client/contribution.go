package client

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// Contribution is what a client tells the others of itself. Default makes one.
type Contribution struct {
	Hosts     []Host         // in order: the order of their processes in MPI_COMM_WORLD
	Versions  []wire.Version // ascending, from 0.0; nil: 0.0
	DataLen   uint32         // bytes of payload in a packet that we accept; 0: wire.DefaultDataLen
	TagUB     int32          // 0: wire.DefaultTagUB
	XSize     int32          // bytes; wire.Unset: the default; 0 is a value
	MaxLinear int32          // clients; wire.Unset: the default; 0 is a value
	// Own is what goes beyond IMPI 0.0; nil: nothing does. Connect sets Mesh, and draws Nonce if it is zero.
	Own *wire.Own
}

// Host is one owner of sockets. Its listening socket must be open: others may connect before Connect returns.
type Host struct {
	Addr    netip.AddrPort // where others connect
	AckMark uint32         // packets; 0: wire.DefaultAckMark, or HiWater if that is less
	HiWater uint32         // packets, at least AckMark; 0: wire.DefaultHiWater
	Procs   []Proc
	Machine wire.Machine // said if Contribution.Own is
}

// Proc is one process.
type Proc struct {
	HostID [16]byte // zero: the address of its host
	PID    uint32   // the system's pid; published as wire.ProcPID(client rank, PID)
}

// Default is a contribution that leaves everything to the defaults, and does not go beyond IMPI 0.0.
func Default(hosts ...Host) Contribution {
	return Contribution{Hosts: hosts, XSize: wire.Unset, MaxLinear: wire.Unset}
}

// complete puts the defaults in place and refuses what no peer could accept.
func (c Contribution) complete() (Contribution, error) {
	if len(c.Versions) == 0 {
		c.Versions = []wire.Version{{}}
	}
	if c.DataLen == 0 {
		c.DataLen = wire.DefaultDataLen
	}
	if c.TagUB == 0 {
		c.TagUB = wire.DefaultTagUB
	}
	if len(c.Hosts) == 0 {
		return c, errors.New("an IMPI client needs at least one host")
	}
	hosts := make([]Host, len(c.Hosts))
	nprocs := 0
	for i, h := range c.Hosts {
		if h.AckMark == 0 {
			h.AckMark = wire.DefaultAckMark
			if h.HiWater > 0 {
				h.AckMark = min(h.AckMark, h.HiWater)
			}
		}
		if h.HiWater == 0 {
			h.HiWater = max(wire.DefaultHiWater, h.AckMark)
		}
		if h.HiWater < h.AckMark {
			return c, fmt.Errorf("host %d: hiwater %d must be at least ackmark %d", i, h.HiWater, h.AckMark)
		}
		if !h.Addr.IsValid() || h.Addr.Port() == 0 || h.Addr.Addr().IsUnspecified() {
			return c, fmt.Errorf("host %d: nobody can connect to %v", i, h.Addr)
		}
		nprocs += len(h.Procs)
		hosts[i] = h
	}
	c.Hosts = hosts
	if nprocs == 0 {
		return c, errors.New("an IMPI client needs at least one process")
	}
	return c, c.checkValues()
}

func (c Contribution) checkValues() error {
	for i, v := range c.Versions {
		if i == 0 && v != (wire.Version{}) || i > 0 && !c.Versions[i-1].Less(v) {
			return fmt.Errorf("the versions %v must ascend from 0.0", c.Versions)
		}
	}
	if c.TagUB < wire.MinTagUB {
		return fmt.Errorf("TAGUB %d must be at least %d", c.TagUB, wire.MinTagUB)
	}
	if c.XSize < wire.Unset || c.MaxLinear < wire.Unset {
		return fmt.Errorf("XSIZE %d and MAXLINEAR %d must be at least 0, or -1 for the default", c.XSize, c.MaxLinear)
	}
	return nil
}

// machines encodes what HMachine carries.
func (c Contribution) machines() (b []byte) {
	for _, h := range c.Hosts {
		b = h.Machine.Append(b)
	}
	return b
}

// values encodes a complete contribution, in the order of wire.Labels.
func (c Contribution) values(rank int32) *[wire.NLabels][]byte {
	v := new([wire.NLabels][]byte)
	at := func(l wire.Label) *[]byte { return &v[l.Index()] }
	u32 := func(l wire.Label, x uint32) { *at(l) = be.AppendUint32(*at(l), x) }
	for _, version := range c.Versions {
		*at(wire.CVersion) = version.Append(*at(wire.CVersion))
	}
	nprocs := 0
	for _, h := range c.Hosts {
		nprocs += len(h.Procs)
		addr := wire.EncodeAddr(h.Addr.Addr())
		*at(wire.HIPv6) = append(*at(wire.HIPv6), addr[:]...)
		u32(wire.HPort, uint32(h.Addr.Port()))
		u32(wire.HNProcs, uint32(len(h.Procs)))
		u32(wire.HAckMark, h.AckMark)
		u32(wire.HHiWater, h.HiWater)
		for _, p := range h.Procs {
			id := p.HostID
			if id == ([16]byte{}) {
				id = addr
			}
			*at(wire.PIPv6) = append(*at(wire.PIPv6), id[:]...)
			*at(wire.PPID) = be.AppendUint64(*at(wire.PPID), uint64(wire.ProcPID(rank, p.PID)))
		}
	}
	u32(wire.CNHosts, uint32(len(c.Hosts)))
	u32(wire.CNProcs, uint32(nprocs))
	u32(wire.CDataLen, c.DataLen)
	u32(wire.CTagUB, uint32(c.TagUB))
	u32(wire.CCollXSize, uint32(c.XSize))
	u32(wire.CCollMaxLinear, uint32(c.MaxLinear))
	return v
}

// AddressTowards returns the address of this machine that a route to the server uses: other clients can reach the
// server, so the same way most likely leads to us. Nothing is sent.
func AddressTowards(address string) (netip.Addr, error) {
	c, err := net.Dial("udp", address)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("the address of the IMPI server, %s: %w", address, err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// ParsePorts reads a port, or a range of them: 7000, 7000-7999.
func ParsePorts(text string) (first, last int, err error) {
	from, to, isRange := strings.Cut(strings.ReplaceAll(text, ":", "-"), "-")
	if !isRange {
		to = from
	}
	first, wrong := strconv.Atoi(from)
	last, failed := strconv.Atoi(to)
	switch {
	case wrong != nil || failed != nil || first < 0 || last > 65535:
		return 0, 0, fmt.Errorf("%.40q is not a port from 0 to 65535, or two with a dash", text)
	case last < first:
		return 0, 0, fmt.Errorf("the range %s ends before it begins", text)
	}
	return first, last, nil
}
