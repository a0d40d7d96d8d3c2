package server

import "github.com/libimpi/libimpi/transport/wire"

// What clients of libimpi ask each other while the job runs (wire.CmdAsk) passes through here. The server keeps the
// number of each client's last question and who has still to answer it, so that a client gets from each of the others
// one answer of bounded length for each of its questions.

// asks passes a question on to all other clients that can answer, and tells the one who asks who they are.
func (m *machine) asks(c *conn, b []byte) {
	_, number, what, ok := wire.ParseAsking(b)
	if !ok || m.phase != running {
		return
	}
	c.inquiry, c.awaited = number, 0
	for _, d := range m.clients {
		if d != c && d.answers() {
			c.awaited |= 1 << d.rank
			m.send(d, wire.AppendAsk(nil, c.rank, number, what))
		}
	}
	m.send(c, wire.AppendTold(nil, c.rank, number, wire.AppendClients(nil, c.awaited)))
}

// answers reports whether a client may be asked.
func (c *conn) answers() bool {
	return c != nil && c.stage == joined && c.sameImpl && !c.fini && !c.dead
}

// owes reports whether an answer of a client is awaited.
func (m *machine) owes(c *conn) bool {
	for _, d := range m.clients {
		if d != nil && d.awaited&(1<<c.rank) != 0 {
			return true
		}
	}
	return false
}

// told passes an answer on to the one who has asked. One that nobody awaits is dropped.
func (m *machine) told(c *conn, b []byte) {
	rank, number, answer, ok := wire.ParseAsking(b)
	if !ok || rank < 0 || int(rank) >= len(m.clients) {
		return
	}
	d := m.clients[rank]
	if !d.answers() || d.inquiry != number || d.awaited&(1<<c.rank) == 0 {
		return
	}
	d.awaited &^= 1 << c.rank
	c.buf = nil // an answer may have been long
	m.send(d, wire.AppendTold(nil, c.rank, number, answer))
}
