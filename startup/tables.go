package startup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// Layout of a job's tables: the head, the hosts, the processes; integers big-endian, no padding.
const (
	tablesMagic = 0x494D4A37 // "IMJ7"
	headSize    = 11 * 4
	// address, its family (0, 4 or 6), port, client, first, nprocs, stream, flags, streams, machine, others, key
	hostSize = 16 + 2 + 2 + 6*4 + 8 + 4 + transport.KeySize
	procSize = 16 + 8 + 2*4 // host id, pid, host, client

	flagOutbound = 1   // transport.Host.Outbound
	flagNative   = 2   // transport.Host.Native
	flagSealed   = 4   // transport.Host.Sealed
	flagKey      = 8   // there is a key
	flagSameImpl = 16  // transport.Host.SameImpl
	flagExchange = 32  // transport.Host.Exchange
	flagShort    = 64  // transport.Host.Short
	flagCrowded  = 128 // transport.Host.Crowded
)

// EncodeJob writes a job's tables.
func EncodeJob(j *transport.Job) []byte {
	b := make([]byte, 0, headSize+hostSize*len(j.Hosts)+procSize*len(j.Procs))
	for _, v := range []uint32{tablesMagic, uint32(j.Me), uint32(j.Clients), uint32(len(j.Hosts)), uint32(len(j.Procs)),
		j.MaxDataLen, uint32(j.TagUB), j.AckMark, j.HiWater, uint32(j.XSize), uint32(j.MaxLinear)} {
		b = be.AppendUint32(b, v)
	}
	for _, h := range j.Hosts {
		family, addr := uint16(0), [16]byte{}
		if a := h.Addr.Addr(); a.IsValid() {
			addr, family = a.As16(), 6
			if a.Is4() {
				family = 4
			}
		}
		b = append(b, addr[:]...)
		b = be.AppendUint16(be.AppendUint16(b, family), h.Addr.Port())
		b = be.AppendUint32(be.AppendUint32(be.AppendUint32(b, uint32(h.Client)), uint32(h.First)), uint32(h.NProcs))
		flags := uint32(0)
		if h.Outbound {
			flags |= flagOutbound
		}
		if h.Native {
			flags |= flagNative
		}
		if h.Sealed {
			flags |= flagSealed
		}
		if h.SameImpl {
			flags |= flagSameImpl
		}
		if h.Exchange {
			flags |= flagExchange
		}
		if h.Short {
			flags |= flagShort
		}
		if h.Crowded {
			flags |= flagCrowded
		}
		var key [transport.KeySize]byte
		if copy(key[:], h.Key) > 0 {
			flags |= flagKey
		}
		b = be.AppendUint32(be.AppendUint32(be.AppendUint32(b, h.Stream), flags), h.Streams)
		b = be.AppendUint32(be.AppendUint64(b, h.Machine), h.Others)
		b = append(b, key[:]...)
	}
	for _, p := range j.Procs {
		b = append(b, p.HostID[:]...)
		b = be.AppendUint64(b, uint64(p.PID))
		b = be.AppendUint32(be.AppendUint32(b, uint32(p.Host)), uint32(p.Client))
	}
	return b
}

// DecodeJob reads a job's tables and checks them with checkJob.
func DecodeJob(b []byte) (*transport.Job, error) {
	if len(b) < headSize || be.Uint32(b) != tablesMagic {
		return nil, errors.New("job tables: not of this version")
	}
	at := func(i int) uint32 { return be.Uint32(b[4*i:]) }
	nhosts, nprocs := uint64(at(3)), uint64(at(4))
	if uint64(len(b)) != headSize+hostSize*nhosts+procSize*nprocs {
		return nil, fmt.Errorf("job tables: %d bytes for %d hosts and %d processes", len(b), nhosts, nprocs)
	}
	j := &transport.Job{Me: int32(at(1)), Clients: int32(at(2)), MaxDataLen: at(5), TagUB: int32(at(6)), AckMark: at(7),
		HiWater: at(8), XSize: int32(at(9)), MaxLinear: int32(at(10)), Hosts: make([]transport.Host, nhosts),
		Procs: make([]transport.Proc, nprocs)}
	b = b[headSize:]
	for i := range j.Hosts {
		addr, err := decodeAddr(b)
		if err != nil {
			return nil, fmt.Errorf("job tables: host %d: %w", i, err)
		}
		flags := be.Uint32(b[36:])
		j.Hosts[i] = transport.Host{Addr: addr, Client: int32(be.Uint32(b[20:])), First: int32(be.Uint32(b[24:])),
			NProcs: int32(be.Uint32(b[28:])), Stream: be.Uint32(b[32:]), Outbound: flags&flagOutbound != 0,
			Native: flags&flagNative != 0, Sealed: flags&flagSealed != 0, SameImpl: flags&flagSameImpl != 0,
			Exchange: flags&flagExchange != 0, Short: flags&flagShort != 0, Streams: be.Uint32(b[40:]),
			Machine: be.Uint64(b[44:]), Others: be.Uint32(b[52:]), Crowded: flags&flagCrowded != 0}
		if flags&flagKey != 0 {
			j.Hosts[i].Key = bytes.Clone(b[56:hostSize])
		}
		b = b[hostSize:]
	}
	for i := range j.Procs {
		j.Procs[i] = transport.Proc{HostID: [16]byte(b), PID: int64(be.Uint64(b[16:])), Host: int32(be.Uint32(b[24:])),
			Client: int32(be.Uint32(b[28:]))}
		b = b[procSize:]
	}
	if err := checkJob(j); err != nil {
		return nil, err
	}
	return j, nil
}

func decodeAddr(b []byte) (netip.AddrPort, error) {
	a := netip.AddrFrom16([16]byte(b))
	switch be.Uint16(b[16:]) {
	case 0:
		return netip.AddrPort{}, nil
	case 4:
		if !a.Is4In6() {
			return netip.AddrPort{}, fmt.Errorf("%v is no IPv4 address", a)
		}
		a = a.Unmap()
	case 6:
	default:
		return netip.AddrPort{}, errors.New("unknown kind of address")
	}
	return netip.AddrPortFrom(a, be.Uint16(b[18:])), nil
}

// checkJob reports whether a job's tables agree with each other and keep to IMPI 0.0, 2.3.5 and 3.9. Me may be
// -1, not said. A host without an address is right in a job of one client, where nobody connects to it.
func checkJob(j *transport.Job) error {
	bad := func(format string, args ...any) error { return fmt.Errorf("job tables: "+format, args...) }
	switch {
	case j.Clients < 1 || j.Clients > wire.MaxClients:
		return bad("%d clients", j.Clients)
	case len(j.Procs) < 1 || len(j.Procs) > math.MaxInt32 || len(j.Hosts) < 1 || len(j.Hosts) > math.MaxInt32:
		return bad("%d hosts, %d processes", len(j.Hosts), len(j.Procs))
	case j.Me < -1 || int(j.Me) >= len(j.Procs):
		return bad("we are rank %d of %d", j.Me, len(j.Procs))
	case j.MaxDataLen < 1 || j.TagUB < wire.MinTagUB || j.AckMark < 1 || j.HiWater < j.AckMark || j.XSize < 0 ||
		j.MaxLinear < 0:
		return bad("maxdatalen %d, tag_ub %d, ackmark %d, hiwater %d, xsize %d, maxlinear %d", j.MaxDataLen, j.TagUB,
			j.AckMark, j.HiWater, j.XSize, j.MaxLinear)
	}
	next, client := int32(0), int32(0)
	for i, h := range j.Hosts {
		if h.Client != client && (i == 0 || h.Client != client+1) {
			return bad("host %d is client %d's, after client %d", i, h.Client, client)
		}
		client = h.Client
		if h.First != next || h.NProcs < 0 || int(h.NProcs) > len(j.Procs)-int(next) {
			return bad("host %d has ranks %d and %d more, and %d should follow", i, h.First, h.NProcs, next)
		}
		if h.Stream > math.MaxInt32 {
			return bad("host %d takes continuations of %d bytes", i, h.Stream)
		}
		if h.Streams > wire.MaxStreams {
			return bad("host %d has %d connections", i, h.Streams)
		}
		if j.Clients > 1 && (!h.Addr.IsValid() || h.Addr.Port() == 0) {
			return bad("host %d has no address", i)
		}
		for r := next; r < next+h.NProcs; r++ {
			if p := j.Procs[r]; p.Host != int32(i) || p.Client != h.Client {
				return bad("rank %d says host %d and client %d, and is on host %d of client %d", r, p.Host, p.Client, i, h.Client)
			}
		}
		next += h.NProcs
	}
	if int(next) != len(j.Procs) || client != j.Clients-1 {
		return bad("%d of %d processes on hosts of %d of %d clients", next, len(j.Procs), client+1, j.Clients)
	}
	seen := make(map[wire.ProcID]struct{}, len(j.Procs))
	for r, p := range j.Procs {
		id := wire.ProcID{HostID: p.HostID, PID: p.PID}
		if _, dup := seen[id]; dup {
			return bad("rank %d has the name of another", r)
		}
		seen[id] = struct{}{}
	}
	return nil
}

// OneClient is the job of one client on one host, which needs no server: ranks are places in pids, the system's
// process ids, which must differ.
func OneClient(pids ...uint32) *transport.Job {
	id := wire.EncodeAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	j := &transport.Job{Clients: 1, Hosts: []transport.Host{{NProcs: int32(len(pids))}}, MaxDataLen: wire.DefaultDataLen,
		TagUB: wire.DefaultTagUB, AckMark: wire.DefaultAckMark, HiWater: wire.DefaultHiWater, XSize: wire.DefaultXSize,
		MaxLinear: wire.DefaultMaxLinear}
	for _, pid := range pids {
		j.Procs = append(j.Procs, transport.Proc{HostID: id, PID: wire.ProcPID(0, pid)})
	}
	return j
}
