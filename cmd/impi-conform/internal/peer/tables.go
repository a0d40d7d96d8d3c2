package peer

import (
	"bytes"
	"fmt"
	"net"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// What our clients contribute to the labels (2.3.5), and what follows for all from what all have contributed.

// layOut makes the tables of hosts and processes, now that the client's hosts are known, and listens for ours.
func (j *Job) layOut() {
	k := 0
	for c := range j.Clients {
		var n []int
		if j.ours(c) {
			n = j.Setup.Others[k]
			k++
		} else {
			n = make([]int, codec.GetU32(j.labelsOf(c)[wire.CNHosts])) // not known before H_NPROCS
		}
		for _, procs := range n {
			h := Host{Client: c, N: procs}
			var l net.Listener
			if j.ours(c) {
				at := fmt.Sprintf("127.0.%d.1:0", len(j.Hosts)+1)
				if j.Setup.IPv6 {
					at = "[::1]:0"
				}
				l = j.listen(at)
				h.Addr = l.Addr().String()
			}
			j.listeners = append(j.listeners, l)
			j.Hosts = append(j.Hosts, h)
		}
	}
}

func def[N uint32 | int32](v, d N) N {
	if v == 0 {
		return d
	}
	return v
}

func word(v *int32) []byte {
	if v == nil {
		return codec.I32(-1)
	}
	return codec.I32(*v)
}

// pid is the P_PID of the process i of one of our clients.
func pid(client, i int) uint64 { return uint64(1000*(client+1) + i) }

// contribution is what one of our clients submits.
func (j *Job) contribution(l wire.Label, c int, hosts []int) (b []byte) {
	procs := 0
	for _, n := range hosts {
		procs += n
	}
	s := &j.Setup
	switch l {
	case wire.CVersion:
		if s.Versions == nil {
			return codec.U32(0, 0)
		}
		return codec.U32(s.Versions...)
	case wire.CNHosts:
		return codec.U32(uint32(len(hosts)))
	case wire.CNProcs:
		return codec.U32(uint32(procs))
	case wire.CDataLen:
		return codec.U32(def(s.DataLen, 65536))
	case wire.CTagUB:
		return codec.I32(def(s.TagUB, wire.MaxTagUB))
	case wire.CCollXSize:
		return word(s.XSize)
	case wire.CCollMaxLinear:
		return word(s.MaxLinear)
	}
	i := 0
	for h, host := range j.Hosts {
		if host.Client != c {
			continue
		}
		switch l {
		case wire.HIPv6:
			b = append(b, j.listeners[h].Addr().(*net.TCPAddr).IP.To16()...)
		case wire.HPort:
			b = append(b, codec.U32(uint32(j.listeners[h].Addr().(*net.TCPAddr).Port))...)
		case wire.HNProcs:
			b = append(b, codec.U32(uint32(host.N))...)
		case wire.HAckMark:
			b = append(b, codec.U32(def(s.AckMark, 10))...)
		case wire.HHiWater:
			b = append(b, codec.U32(def(s.HiWater, 20))...)
		case wire.PIPv6, wire.PPID:
			for range host.N {
				switch {
				case l == wire.PPID:
					b = append(b, codec.U64(pid(c, i))...)
				case s.HostID != nil:
					b = append(b, s.HostID[:]...)
				default:
					b = append(b, j.listeners[h].Addr().(*net.TCPAddr).IP.To16()...)
				}
				i++
			}
		}
	}
	return b
}

// tables negotiates the values and makes the tables complete, by the rules of 2.3.5 (notes A.3).
func (j *Job) tables() {
	j.negotiate()
	hosts := make([]int, j.Clients) // of each client, so far
	for h := range j.Hosts {
		host := &j.Hosts[h]
		if !j.ours(host.Client) {
			j.theirHost(host, hosts[host.Client])
			hosts[host.Client]++
		}
		for range host.N {
			j.Procs = append(j.Procs, Proc{Host: h, Client: host.Client})
		}
	}
	counts := make([]int, j.Clients)
	var ids []codec.ID
	var theirs []int
	for r := range j.Procs {
		p := &j.Procs[r]
		j.name(p, counts[p.Client])
		counts[p.Client]++
		ids = append(ids, p.ID)
		if !j.Ours(r) {
			theirs = append(theirs, r)
		}
	}
	for _, x := range j.tested() {
		if n := counts[x.Setup.Rank]; n != x.Setup.Procs {
			j.T.Fatalf("H_NPROCS adds up to %d, C_NPROCS is %d", n, x.Setup.Procs)
		}
	}
	j.T.Events().Processes(ids, func(rank int) bool { return !j.Ours(rank) })
	j.T.Events().Negotiated(j.AckMark, j.HiWater)
	j.players.Expect(theirs, len(j.Procs))
}

// negotiate finds the values that hold for all.
func (j *Job) negotiate() {
	s := &j.Setup
	j.Own = codec.GetU32(j.Labels[wire.CDataLen])
	j.DataLen = def(s.DataLen, 65536)
	for _, x := range j.tested() {
		j.DataLen = min(j.DataLen, codec.GetU32(x.Labels[wire.CDataLen]))
	}
	j.AckMark, j.HiWater = def(s.AckMark, 10), def(s.HiWater, 20)
	j.XSize, j.MaxLinear = int(wire.DefaultXSize), int(wire.DefaultMaxLinear)
	if x := s.XSize; x != nil && *x >= 0 {
		j.XSize = int(*x)
	}
	if x := s.MaxLinear; x != nil && *x >= 0 {
		j.MaxLinear = int(*x)
	}
}

// possible says what the values of a label of the client under test must be, "" if they can be what they are.
func (j *Job) possible(l wire.Label) (must string) {
	s := &j.Setup
	for i, v := range numbers(j.Labels[l]) {
		signed := int32(v)
		switch {
		case l == wire.CDataLen && v < 1, l == wire.HAckMark && v < 1:
			return "at least 1"
		case l == wire.CTagUB && signed < 32767:
			return "at least 32767"
		case l == wire.CCollXSize && !agrees(signed, s.XSize, wire.DefaultXSize),
			l == wire.CCollMaxLinear && !agrees(signed, s.MaxLinear, wire.DefaultMaxLinear):
			return "what the others have contributed, or -1 for the default"
		case l == wire.HPort && (v < 1 || v > 65535):
			return "between 1 and 65535"
		case l == wire.HHiWater && v < numbers(j.Labels[wire.HAckMark])[i]:
			return "at least ackmark, " + wire.HAckMark.Text(j.Labels[wire.HAckMark])
		}
	}
	return ""
}

// numbers are what a label of 4 bytes each has.
func numbers(b []byte) (list []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		list = append(list, codec.GetU32(b))
	}
	return list
}

// agrees reports whether a value is the same as that of the others; -1 and nil are the default.
func agrees(v int32, others *int32, byDefault int32) bool {
	if v == -1 {
		v = byDefault
	}
	if others == nil || *others == -1 {
		others = &byDefault
	}
	return v == *others
}

// theirHost completes host number i of a client under test.
func (j *Job) theirHost(host *Host, i int) {
	labels := j.labelsOf(host.Client)
	u32 := func(l wire.Label) uint32 { return codec.GetU32(labels[l][4*i:]) }
	host.N = int(u32(wire.HNProcs))
	if host.N > j.procsOf(host.Client) {
		j.T.Fatalf("H_NPROCS adds up to more than C_NPROCS")
	}
	ip := net.IP(labels[wire.HIPv6][16*i:][:16])
	if ip[10] == 0 && ip[11] == 0 && bytes.Equal(ip[:10], make([]byte, 10)) && !ip.IsLoopback() {
		ip = ip[12:] // ::a.b.c.d
	}
	host.Addr = net.JoinHostPort(ip.String(), fmt.Sprint(u32(wire.HPort)))
	j.AckMark, j.HiWater = min(j.AckMark, u32(wire.HAckMark)), min(j.HiWater, u32(wire.HHiWater))
}

// name completes process number i of a client.
func (j *Job) name(p *Proc, i int) {
	if !j.ours(p.Client) {
		if i >= j.procsOf(p.Client) {
			j.T.Fatalf("H_NPROCS adds up to more than C_NPROCS")
		}
		labels := j.labelsOf(p.Client)
		copy(p.ID.HostID[:], labels[wire.PIPv6][16*i:])
		p.ID.PID = int64(codec.GetU64(labels[wire.PPID][8*i:]))
		return
	}
	p.ID.PID = int64(pid(p.Client, i))
	if id := j.Setup.HostID; id != nil {
		p.ID.HostID = *id
	} else {
		copy(p.ID.HostID[:], j.listeners[p.Host].Addr().(*net.TCPAddr).IP.To16())
	}
}
