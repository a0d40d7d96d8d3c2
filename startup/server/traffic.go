package server

import (
	"errors"
	"math"

	"github.com/libimpi/libimpi/transport/wire"
)

// The traffic between clients does not pass through the server: whoever watches a job sees what the clients say of it.
// The server asks (Ask) libimpi clients while somebody looks, and keeps the last answer of each, whose length is
// bounded. A client is asked again when it has answered, and what it says unasked is thrown away, so neither a client
// that does not answer nor one that says too much costs anything.

// Row is what a host of a client has reported of its traffic with another host, wire.Traffic.
type Row struct {
	Ours        int32  `json:"ours"`
	Theirs      int32  `json:"theirs"`
	PacketsOut  uint64 `json:"packetsOut"`
	PacketsIn   uint64 `json:"packetsIn"`
	BytesOut    uint64 `json:"bytesOut"`
	BytesIn     uint64 `json:"bytesIn"`
	AcksOut     uint64 `json:"acksOut"`
	AcksIn      uint64 `json:"acksIn"`
	Outstanding int64  `json:"outstanding"` // -1: not known
	HighWater   uint32 `json:"highWater"`
	Silence     int64  `json:"silence"` // milliseconds; -1: not known
	Blocked     bool   `json:"blocked"`
	Waits       bool   `json:"waits"`
	Ended       bool   `json:"ended"`
}

// Ask asks the clients for their traffic: those of this library that run, and have answered the question before.
func (m *machine) Ask() []action {
	if m.watched == nil || m.phase != running {
		return m.take()
	}
	for _, c := range m.clients {
		if c.stage == joined && c.sameImpl && !c.fini && !c.asked {
			c.question++
			c.asked = true
			m.send(c, wire.AppendWatch(nil, c.question))
		}
	}
	return m.take()
}

// traffic takes a client's answer. One that makes no sense is dropped, like one that nobody has asked for.
func (m *machine) traffic(c *conn, b []byte) {
	number, all, rows, ok := wire.ParseTraffic(b)
	if !ok || number != c.question || m.watched == nil {
		return
	}
	c.asked = false
	list, err := m.watched.tables.rows(int(c.rank), rows)
	if err != nil {
		return
	}
	c.reported = m.watched.clock()
	c.rows, c.traffic = int(min(all, math.MaxInt32)), list
}

var errNoSuchHost = errors.New("a row of hosts that do not exist, or are not the client's")

// rows checks the rows of a client. Those of hosts that are not in the tables, because there are too many, are left
// out.
func (t *Tables) rows(client int, rows []wire.Traffic) (list []Row, err error) {
	for i := range rows {
		r := &rows[i]
		if r.Ours < 0 || r.Theirs < 0 || int(r.Ours) >= t.AllHosts || int(r.Theirs) >= t.AllHosts || r.Ours == r.Theirs {
			return nil, errNoSuchHost
		}
		if int(r.Ours) >= len(t.Hosts) || int(r.Theirs) >= len(t.Hosts) {
			continue
		}
		if t.Hosts[r.Ours].Client != client {
			return nil, errNoSuchHost
		}
		list = append(list, Row{Ours: r.Ours, Theirs: r.Theirs, PacketsOut: r.PacketsOut, PacketsIn: r.PacketsIn,
			BytesOut: r.BytesOut, BytesIn: r.BytesIn, AcksOut: r.AcksOut, AcksIn: r.AcksIn,
			Outstanding: known(r.Outstanding), HighWater: r.HighWater, Silence: known(r.Silence),
			Blocked: r.State&wire.TrafficBlocked != 0, Waits: r.State&wire.TrafficWaits != 0,
			Ended: r.State&wire.TrafficEnded != 0})
	}
	return list, nil
}

// known is a number of a row, or -1 if the client does not know it.
func known(n uint32) int64 {
	if n == math.MaxUint32 {
		return -1
	}
	return int64(n)
}
