package peer

import (
	"bytes"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// Their server: the client under test and all of ours join it. What the client says to it is not seen, and follows
// from what the server broadcasts. Every client of ours reads the same, and its own contributions back.

// joinTheirs starts their server, and joins our clients.
func (j *Job) joinTheirs() {
	j.theirs = StartServer(j.T, j.Clients, j.Setup.Env)
	for c := range j.Clients {
		if j.ours(c) {
			j.members = append(j.members, j.theirs.Join(c))
		}
	}
}

// admitted awaits the server's answer, which comes when the client under test has come, too.
func (j *Job) admitted() {
	for _, m := range j.members {
		m.SetDeadline(j.T.Deadline()) // a person may take any time
		m.Reads(codec.Impi(int32(j.Clients)))
		j.Main.Connected()
		j.T.StartClock()
		m.SetDeadline(j.T.Deadline())
	}
}

// exchangeAtTheirs submits our contributions to each label in turn, and reads what the server broadcasts.
func (j *Job) exchangeAtTheirs() {
	for _, l := range wire.Labels {
		own := map[int][]byte{}
		for i, m := range j.members {
			own[m.Rank] = j.contribution(l, m.Rank, j.Setup.Others[i])
			m.Say(codec.Coll(uint32(l), own[m.Rank]))
		}
		for i, m := range j.members {
			data := m.broadcast(l, 1<<j.Clients-1)
			share := j.share(l, data, own)
			if i > 0 && !bytes.Equal(share, j.Labels[l]) {
				j.T.Fatalf("client %d is told other values of %v than client %d", m.Rank, l, j.members[0].Rank)
			}
			if i == 0 {
				j.contributed(l, share)
			}
		}
		if l == wire.CNHosts {
			j.layOut()
		}
	}
	for _, m := range j.members {
		m.Say(codec.Command(wire.CmdDone))
	}
	for _, m := range j.members {
		if c := m.command(); c.Cmd != int32(wire.CmdDone) || len(c.Data) != 0 {
			j.T.Fatalf("client %d reads command %#x with %d bytes, must be DONE without", m.Rank, uint32(c.Cmd), len(c.Data))
		}
	}
	j.tables()
}

// share is what the client under test has contributed to a broadcast, in which all stand in the order of their ranks.
func (j *Job) share(l wire.Label, data []byte, own map[int][]byte) []byte {
	lower, higher := []byte(nil), []byte(nil)
	for c := range j.Clients {
		if c < j.Setup.Rank {
			lower = append(lower, own[c]...)
		} else {
			higher = append(higher, own[c]...)
		}
	}
	if !bytes.HasPrefix(data, lower) || !bytes.HasSuffix(data, higher) || len(data) < len(lower)+len(higher) {
		j.T.Fatalf("the server broadcasts for %v % x, must begin with % x and end with % x", l, data, lower, higher)
	}
	return data[len(lower) : len(data)-len(higher)]
}

// command reads the next command that is not a label of the implementation's own invention, which we have not
// submitted.
func (m *Member) command() codec.Cmd {
	for {
		c, err := codec.ReadCmd(m, maxCmd)
		if err != nil {
			m.s.T.Fatalf("no command comes from the server to client %d: %v", m.Rank, err)
		}
		if c.Cmd != int32(wire.CmdColl) || len(c.Data) < 8 || wire.Label(codec.GetU32(c.Data)).Index() >= 0 {
			return c
		}
	}
}

// broadcast reads the values of a label, to which the clients in the mask have contributed.
func (m *Member) broadcast(l wire.Label, mask uint32) []byte {
	c := m.command()
	if c.Cmd != int32(wire.CmdColl) || len(c.Data) < 8 || wire.Label(codec.GetU32(c.Data)) != l {
		m.s.T.Fatalf("client %d reads command %#x % x..., must be COLL with %v", m.Rank, uint32(c.Cmd),
			c.Data[:min(len(c.Data), 8)], l)
	}
	if got := codec.GetU32(c.Data[4:]); got != mask {
		m.s.T.Fatalf("the mask of %v is %#x, must be %#x", l, got, mask)
	}
	return c.Data[8:]
}

// leaveTheirs is FINI of our clients, after which the server ends: that of the client under test must have come.
func (j *Job) leaveTheirs() {
	for _, m := range j.members {
		m.Say(codec.Command(wire.CmdFini))
	}
	for _, m := range j.members {
		m.Closed("after FINI")
	}
	j.theirs.Exit(true)
}
