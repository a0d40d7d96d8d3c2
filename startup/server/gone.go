package server

import (
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/transport/wire"
)

// Ranks without which clients go on. A client says so of its own. If ranks of two clients cannot reach each other, each
// may say that the other is gone, and this is the one place that both hear: one of them is, for all.

// Sides decides who goes on of two that cannot reach each other: clients, or machines of one client. The first that
// says so does, unless it yields, with all that is on its side, so that a network that is cut leaves one side whole.
// The zero value is ready.
type Sides struct{ won map[[2]int]bool } // who has won, and against whom

// Wins reports whether accuser goes on, and not accused. What was decided once holds.
func (s *Sides) Wins(accuser, accused int, yields bool) bool {
	if s.won == nil {
		s.won = map[[2]int]bool{}
	}
	this, other := [2]int{accuser, accused}, [2]int{accused, accuser}
	if !s.won[this] && !s.won[other] {
		s.won[this], s.won[other] = !yields, yields
	}
	return s.won[this]
}

// losesRanks tells all other clients that know the command that a client goes on without some of its ranks.
func (m *machine) losesRanks(c *conn, b []byte) {
	_, ranks, text, ok := wire.ParseGone(b)
	if !ok || m.phase != running {
		return
	}
	c.buf = nil // there may have been many
	if ranks = c.buries(ranks); len(ranks) > 0 {
		m.tellGone(c, c, ranks, text)
	}
}

// suspects decides about ranks of a client that a rank of another cannot reach, or that break the protocol.
func (m *machine) suspects(c *conn, b []byte) {
	s, ok := wire.ParseSuspicion(b)
	if !ok || m.phase != running || s.Client < 0 || int(s.Client) >= len(m.clients) || s.Client == c.rank ||
		c.gone[s.By] {
		return
	}
	c.buf = nil
	lost, ranks := m.clients[s.Client], s.Ranks
	text := fmt.Sprintf("rank %d of client %d says: %s", s.By, c.rank, s.Text)
	if !s.Breach && !m.sides.Wins(int(c.rank), int(s.Client), false) {
		lost, ranks = c, []int32{s.By}
		text = fmt.Sprintf("it cannot reach client %d, which goes on", s.Client)
	}
	if lost.fini { // it needs nobody, and nobody needs it
		for part := range slices.Chunk(ranks, wire.GoneMost) {
			m.send(c, wire.AppendGone(nil, lost.rank, part, text))
		}
		return
	}
	if ranks = lost.buries(ranks); len(ranks) > 0 {
		m.log("client %d: the clients go on without ranks %v of it: %s", lost.rank, ranks, text)
		m.tellGone(nil, lost, ranks, text)
	}
}

// mostGone bounds how many lost ranks of a client are remembered.
const mostGone = 1 << 20

// buries notes ranks of a client that are lost, and returns those that were not known to be.
func (c *conn) buries(ranks []int32) (fresh []int32) {
	if c.gone == nil {
		c.gone = map[int32]bool{}
	}
	for _, r := range ranks {
		if !c.gone[r] && len(c.gone) < mostGone {
			c.gone[r] = true
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// tellGone tells all clients that know the command, but one (nil: none), of ranks that are lost.
func (m *machine) tellGone(except, of *conn, ranks []int32, text string) {
	for _, d := range m.clients {
		if d == except || !d.answers() {
			continue
		}
		for part := range slices.Chunk(ranks, wire.GoneMost) {
			m.send(d, wire.AppendGone(nil, of.rank, part, text))
		}
	}
}
