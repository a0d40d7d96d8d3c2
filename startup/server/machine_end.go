package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// How connections end, and the job with them: in order, because a client dies or does not keep the protocol, because
// time is over, or because the user has had enough.

// end ends the job when every client has finished or died.
func (m *machine) end() {
	if m.phase != running {
		return
	}
	for _, c := range m.clients {
		if !c.fini && !c.dead {
			return
		}
	}
	m.terminate()
}

// Closed says that a connection has ended: by the other side's orderly closing if err is nil.
func (m *machine) Closed(id int, err error) []action {
	c := m.conns[id]
	if c == nil {
		return nil
	}
	if c.stage != gone {
		what := "hung up"
		if err != nil {
			what = fmt.Sprintf("was lost (%v)", err)
			c.broken = true
		}
		if c.will && c.stage == atImpi {
			m.execute(c)
		} else {
			m.broken(c, what)
		}
	}
	delete(m.conns, id)
	return m.take()
}

// Expired says that a connection's time to join is over.
func (m *machine) Expired(id int) []action {
	if c := m.conns[id]; c != nil && c.stage < joined && !c.will {
		missing := [...]string{atAuth: "AUTH", atTLS: "what begins TLS", atKey: "its key", atImpi: "IMPI"}[c.stage]
		m.drop(c, fmt.Sprintf("%s closed: it did not join in time, and never sent %s", c.peer, missing))
	}
	return m.take()
}

// Settled says that the clients have had the time to connect to each other, since all were done.
func (m *machine) Settled() []action {
	m.settled = true
	return m.take()
}

// Stop ends the job from outside: a phase took too long, or the user has had enough.
func (m *machine) Stop(why error) []action {
	if m.phase != over {
		err := fmt.Errorf("%w while %s", why, m.waitingFor())
		m.explain(err)
		m.abort(err)
	}
	return m.take()
}

// withdraw notes that a client will not join: it says LOST instead of IMPI.
func (m *machine) withdraw(c *conn, b []byte) {
	rank, why, ok := wire.ParseLost(b)
	if !ok || rank < 0 || int(rank) >= len(m.clients) || m.clients[rank] != nil {
		m.broken(c, fmt.Sprintf("withdrew client rank %d, which it has not", rank))
		return
	}
	m.withdrawn[int(rank)] = c
	c.rank, c.why, c.blamed = rank, why, rank
	m.drop(c, "")
	m.expectOthers()
}

// will notes of which client the connection's end is the end, and why; without words that was all.
func (m *machine) will(c *conn, b []byte) {
	rank, why, ok := wire.ParseLost(b)
	if !ok || rank < 0 || int(rank) >= len(m.clients) {
		m.broken(c, fmt.Sprintf("has a will for client rank %d, and ranks are 0 to %d", rank, len(m.clients)-1))
		return
	}
	if why == "" {
		m.drop(c, "")
		return
	}
	for _, other := range m.conns { // a client has one will: the newest
		if other != c && other.will && other.stage == atImpi && other.rank == rank {
			m.drop(other, "")
		}
	}
	m.unpend(c) // it says later whether it joins
	c.rank, c.blamed, c.why, c.will = rank, rank, why, true
}

// execute ends the job because the connection of a process has ended that had a will, if its client has not joined.
func (m *machine) execute(c *conn) {
	if m.phase != gathering || m.clients[c.rank] != nil {
		m.drop(c, "")
		return
	}
	what := fmt.Sprintf("has ended (%s)", c.why)
	m.mourn(c, what)
	m.abort(&ClientError{c.rank, c.peer, "before all had joined", what})
}

// expectOthers ends a job that waits for a client which will not join: badly as soon as another client has joined, and
// in order when none of all will.
func (m *machine) expectOthers() {
	switch {
	case len(m.withdrawn) == 0:
	case slices.ContainsFunc(m.clients, func(c *conn) bool { return c != nil }):
		c := m.withdrawn[slices.Min(slices.Collect(maps.Keys(m.withdrawn)))]
		m.mourn(c, "will not join")
		m.abort(&WithdrawnError{c.rank, c.peer, c.why})
	case len(m.withdrawn) == len(m.clients):
		m.terminate()
	}
}

// Remind tells the user whom the job waits for, if it still waits for clients.
func (m *machine) Remind(patience string) []action {
	if m.phase == gathering {
		m.log("still %s%s", m.waitingFor(), patience)
	}
	return m.take()
}

// explain tells the clients why the job ends before it has begun, and blames the first client that is waited for.
func (m *machine) explain(err error) {
	if m.phase >= running {
		return
	}
	first := int64(noMoreLabels)
	missing := -1
	for i, c := range m.clients {
		if c == nil {
			missing = i
			break
		}
		if m.phase == exchanging && c.front < first {
			missing, first = i, c.front
		}
	}
	if missing < 0 {
		return
	}
	said := wire.AppendLost(nil, int32(missing), fmt.Sprintf("the IMPI server: %v", err))
	for _, c := range m.clients {
		if c != nil && c.sameImpl && int(c.rank) != missing {
			m.send(c, said)
		}
	}
}

// waitingFor names the phase and the clients that keep the job in it.
func (m *machine) waitingFor() string {
	var who []string
	first := int64(noMoreLabels)
	for _, c := range m.clients {
		if c != nil {
			first = min(first, c.front)
		}
	}
	for i, c := range m.clients {
		switch {
		case c == nil:
			who = append(who, fmt.Sprint(i))
		case m.phase == exchanging && c.front == first:
			who = append(who, fmt.Sprintf("%d (%s)", i, c.step()))
		case m.phase == running && !c.fini && !c.dead:
			who = append(who, fmt.Sprint(i))
		}
	}
	return fmt.Sprintf("%v: client %s missing", m.phase, strings.Join(who, ", "))
}

// report ends a client because a process of it says why, on a connection of its own. That stays until the job is over,
// which tells the process that the others have heard it.
func (m *machine) report(c *conn, b []byte) {
	rank, why, ok := wire.ParseLost(b)
	if !ok || rank < 0 || int(rank) >= len(m.clients) {
		m.broken(c, fmt.Sprintf("reported client rank %d, and ranks are 0 to %d", rank, len(m.clients)-1))
		return
	}
	m.unpend(c)
	c.stage = reported
	if client := m.clients[rank]; client.stage != gone && !client.fini {
		client.why, client.blamed = why, rank
		m.broken(client, "")
	}
}

// farewell notes why a client is about to end.
func (m *machine) farewell(c *conn, b []byte) {
	rank, text, ok := wire.ParseLost(b)
	if !ok {
		return
	}
	c.why, c.blamed = text, c.rank
	if rank >= 0 && int(rank) < len(m.clients) {
		c.blamed = rank
	}
}

// step returns what a client has last done.
func (c *conn) step() string {
	switch {
	case c.fini:
		return "after FINI"
	case c.done:
		return "after DONE"
	case c.front > 0:
		return fmt.Sprintf("after %v", wire.Label(c.front))
	}
	return "before its first label"
}

// broken ends a connection because of what the text says. If not all have joined the client's rank is free again, and
// the job goes on, unless the client has said that it has ended. In the exchange the job ends. While the job runs it is
// noted that it ends badly, and the others are told.
func (m *machine) broken(c *conn, what string) {
	if c.stage < joined {
		text := ""
		if c.stage > atAuth || what != "hung up" {
			text = fmt.Sprintf("%s %s; closed", c.peer, what)
		}
		m.drop(c, text)
		return
	}
	if c.stage == reported {
		m.drop(c, "")
		return
	}
	if c.why != "" {
		what = fmt.Sprintf("has ended (%s)", c.why)
	}
	switch m.phase {
	case gathering:
		if c.why != "" {
			c.end = what
			m.stamp(c)
			m.mourn(c, what)
			m.abort(&ClientError{c.rank, c.peer, "before all had joined", what})
			return
		}
		m.clients[c.rank] = nil
		m.drop(c, fmt.Sprintf("client %d (%s) %s before all had joined; its rank is free again", c.rank, c.peer, what))
	case exchanging:
		c.end = what
		m.stamp(c)
		m.mourn(c, what)
		m.abort(&ClientError{c.rank, c.peer, c.step(), what})
	case running:
		if !c.fini {
			c.dead, c.end = true, what
			m.stamp(c)
			err := &ClientError{c.rank, c.peer, "before FINI", what}
			m.errs = append(m.errs, err)
			m.log("error: %v", err)
			// A client that has lost its connection with us may still have those with other clients. If it has not,
			// they will notice themselves: unless they are not connected to it yet, and wait for that.
			if c.why != "" || !c.broken || !m.settled {
				m.mourn(c, what)
			}
		}
		m.drop(c, "")
		m.end()
	}
}

// mourn tells the other clients that client c is lost, if they are known to understand the command, and those who have
// proved who they are and are about to join. If c has ended because it had lost another client, they hear the name of
// that one; only that one hears the name of c.
func (m *machine) mourn(c *conn, what string) {
	itself := wire.AppendLost(nil, c.rank, cmp.Or(c.why, c.peer+" "+what))
	blamed := itself
	if c.why != "" && c.blamed != c.rank {
		blamed = wire.AppendLost(nil, c.blamed, fmt.Sprintf("client %d says: %s", c.rank, c.why))
	}
	for _, id := range slices.Sorted(maps.Keys(m.conns)) {
		other := m.conns[id]
		switch {
		case other == c || other.stage < atImpi || other.stage >= reported || other.fini || !other.sameImpl:
		case other.stage >= joined && other.rank == c.blamed:
			m.send(other, itself)
		default:
			m.send(other, blamed)
		}
	}
}

// drop closes a connection, with a line for the user unless text is empty.
func (m *machine) drop(c *conn, text string) {
	if c.stage < joined && text != "" {
		text = m.lines.Fold(text)
	}
	if text != "" {
		m.log("%s", text)
	}
	m.unpend(c)
	c.stage = gone
	c.buf, c.stored = nil, nil
	m.act(action{Do: doClose, Conn: c.id})
}

func (m *machine) unpend(c *conn) {
	if i := slices.Index(m.pending, c); i >= 0 {
		m.pending = slices.Delete(m.pending, i, i+1)
	}
}

// abort ends the job at once.
func (m *machine) abort(err error) {
	m.errs = append(m.errs, err)
	m.log("error: %v", err)
	m.terminate()
}

func (m *machine) terminate() {
	if m.phase == over {
		return
	}
	m.act(action{Do: doHang})
	m.enter(over)
	for _, id := range slices.Sorted(maps.Keys(m.conns)) {
		if c := m.conns[id]; c.stage != gone {
			m.drop(c, "")
		}
	}
	m.act(action{Do: doTerminate})
}
