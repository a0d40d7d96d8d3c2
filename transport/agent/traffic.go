package agent

import (
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// tally is what has passed on a link to a host: whole packets, as they are handed on.
type tally struct {
	packetsOut, packetsIn uint64
	bytesOut, bytesIn     uint64
	acksOut, acksIn       uint64
}

// countAll counts whole packets that go from one link to another.
func countAll(from, to *link, b []byte) {
	for len(b) >= wire.PacketSize {
		p := wire.Packet(b[:wire.PacketSize])
		n := int(p.PayloadLen())
		count(from, to, p.Type(), n)
		b = b[min(len(b), wire.PacketSize+n):]
	}
}

// count counts a packet with a payload of n bytes.
func count(from, to *link, kind uint32, n int) {
	if from.kind == aHost {
		add(&from.tally.packetsIn, &from.tally.bytesIn, &from.tally.acksIn, kind, n)
	}
	if to.kind == aHost {
		add(&to.tally.packetsOut, &to.tally.bytesOut, &to.tally.acksOut, kind, n)
	}
}

func add(packets, bytes, acks *uint64, kind uint32, n int) {
	if kind == wire.PkProtoAck {
		*acks++
		return
	}
	*packets++
	*bytes += uint64(n)
}

// Traffic returns a row for each host that the agent has a connection with. The windows are those of the processes,
// which the agent does not know. Any goroutine may call it; it waits for the loop, which has other things to do.
func (a *Agent) Traffic() (rows []transport.Traffic) {
	a.asking.Add(1)
	defer a.asking.Add(-1)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		if l.kind != aHost {
			continue
		}
		t := &l.tally
		r := transport.Traffic{Ours: a.config.Host, Theirs: l.peer, PacketsOut: t.packetsOut, PacketsIn: t.packetsIn,
			BytesOut: t.bytesOut, BytesIn: t.bytesIn, AcksOut: t.acksOut, AcksIn: t.acksIn,
			Outstanding: transport.OutstandingUnknown, HighWater: a.config.Job.HiWater,
			Silence: transport.SilenceUnknown}
		if l.out.waits() > 0 {
			r.State |= transport.TrafficBlocked
		}
		if l.fd < 0 || l.in.ended {
			r.State |= transport.TrafficEnded
		} else if ago, ok := tcp.LastHeard(l.fd); ok {
			r.Silence = uint32(min(ago.Milliseconds(), int64(transport.SilenceUnknown-1)))
		}
		rows = append(rows, r)
	}
	return rows
}
