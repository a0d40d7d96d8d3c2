package startup

import (
	"bytes"
	"net/netip"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// asClients is the job in which the implementation runs the server: the tester's clients join, contribute all labels in
// lock-step, and end.
func (f Form) asClients(t *conform.T) {
	s := peer.StartServer(t, f.Clients, f.env())
	var list []*peer.Member
	for rank := range f.Clients {
		list = append(list, f.join(s, rank))
	}
	for _, m := range list {
		m.Reads(codec.Impi(int32(f.Clients)))
	}
	for _, l := range wire.Labels {
		var all []byte
		for rank, m := range list {
			data := f.contribution(l, rank)
			m.Say(codec.Coll(uint32(l), data))
			all = append(all, data...)
		}
		for _, m := range list {
			m.Reads(codec.Broadcast(uint32(l), uint32(1<<f.Clients-1), all))
		}
	}
	s.Finish(list)
}

// join authenticates and says the rank.
func (f Form) join(s *peer.Server, rank int) *peer.Member {
	if f.Auth == Key {
		return s.Join(rank)
	}
	m := s.Dial()
	m.Rank = rank
	m.Say(codec.Auth(wire.AuthNoneMask))
	m.Reads(codec.I32(wire.AuthNone, 0))
	m.Say(codec.Impi(int32(rank)))
	return m
}

// contribution is what a client of the tester's submits. Its hosts are on this machine; nobody connects to them.
func (f Form) contribution(l wire.Label, rank int) []byte {
	each := func(n int, b []byte) []byte { return bytes.Repeat(b, n) }
	loopback := netip.MustParseAddr("127.0.0.1").As16()
	switch procs := f.Hosts * f.Procs; l {
	case wire.CVersion:
		return codec.U32(0, 0)
	case wire.CNHosts:
		return codec.U32(uint32(f.Hosts))
	case wire.CNProcs:
		return codec.U32(uint32(procs))
	case wire.CDataLen:
		return codec.U32(uint32(number(f.DataLen, int64(wire.DefaultDataLen))))
	case wire.CTagUB:
		return codec.I32(int32(number(f.TagUB, int64(wire.MaxTagUB))))
	case wire.CCollXSize:
		return codec.I32(int32(number(f.XSize, -1)))
	case wire.CCollMaxLinear:
		return codec.I32(int32(number(f.MaxLinear, -1)))
	case wire.HIPv6:
		return each(f.Hosts, loopback[:])
	case wire.HPort:
		return each(f.Hosts, codec.U32(1))
	case wire.HNProcs:
		return each(f.Hosts, codec.U32(uint32(f.Procs)))
	case wire.HAckMark:
		return each(f.Hosts, codec.U32(uint32(number(f.AckMark, int64(wire.DefaultAckMark)))))
	case wire.HHiWater:
		return each(f.Hosts, codec.U32(uint32(number(f.HiWater, int64(wire.DefaultHiWater)))))
	case wire.PIPv6:
		return each(procs, loopback[:])
	}
	var pids []uint64
	for i := range f.Hosts * f.Procs {
		pids = append(pids, uint64(1000*(rank+1)+i))
	}
	return codec.U64(pids...)
}
