package trace

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// What differs from run to run is made the same: H_PORT becomes 1, 2, ... by host, and P_PID, and the pids in
// packets, 1, 2, ... by process.

var be = binary.BigEndian

// label reads a COLL. data is a part of unit.
func label(unit []byte, fromServer bool) (l wire.Label, mask uint32, data []byte, ok bool) {
	c, ok := wire.ParseCmd(unit)
	if !ok || c.Cmd != wire.CmdColl {
		return 0, 0, nil, false
	}
	if fromServer {
		return wire.ParseChdr(unit[wire.CmdSize:])
	}
	l, data, ok = wire.ParseColl(unit[wire.CmdSize:])
	return l, 0, data, ok
}

// trace is what was recorded, normalised and in order: the server's connections, then those between hosts.
func (r *recorder) trace() *Trace {
	var t Trace
	for name, units := range r.streams {
		t.Streams = append(t.Streams, Stream{name, units})
	}
	slices.SortFunc(t.Streams, func(a, b Stream) int {
		if x, y := strings.HasPrefix(a.Name, "host"), strings.HasPrefix(b.Name, "host"); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	n := normal{port: map[uint32]uint32{}, pid: map[int64]int64{}}
	for _, s := range t.Streams {
		if strings.HasPrefix(s.Name, "server") {
			n.learn(s.Units)
		}
	}
	for _, s := range t.Streams {
		for i, u := range s.Units {
			if strings.HasPrefix(s.Name, "host") {
				n.packet(u)
			} else if i > 0 {
				n.command(u, strings.HasPrefix(s.Name, "server"))
			}
		}
	}
	return &t
}

// normal holds what stands for what.
type normal struct {
	port map[uint32]uint32
	pid  map[int64]int64
}

// learn numbers ports and pids in the order in which the server broadcasts them.
func (n normal) learn(units [][]byte) {
	for _, u := range units[1:] {
		l, _, data, ok := label(u, true)
		if !ok {
			continue
		}
		for i := 0; l == wire.HPort && 4*i+4 <= len(data); i++ {
			n.port[be.Uint32(data[4*i:])] = uint32(i + 1)
		}
		for i := 0; l == wire.PPID && 8*i+8 <= len(data); i++ {
			n.pid[int64(be.Uint64(data[8*i:]))] = int64(i + 1)
		}
	}
}

func (n normal) command(u []byte, fromServer bool) {
	l, _, data, ok := label(u, fromServer)
	if !ok {
		return
	}
	for i := 0; l == wire.HPort && 4*i+4 <= len(data); i++ {
		be.PutUint32(data[4*i:], n.port[be.Uint32(data[4*i:])])
	}
	for i := 0; l == wire.PPID && 8*i+8 <= len(data); i++ {
		be.PutUint64(data[8*i:], uint64(n.pid[int64(be.Uint64(data[8*i:]))]))
	}
}

func (n normal) packet(u []byte) {
	if len(u) < wire.PacketSize {
		return
	}
	p := wire.Packet(u)
	src, dst := p.Src(), p.Dst()
	src.PID, dst.PID = n.pid[src.PID], n.pid[dst.PID]
	p.SetSrc(src)
	p.SetDst(dst)
}
