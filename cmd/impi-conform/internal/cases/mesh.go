package cases

import (
	"bytes"
	"net"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// mesh: who connects to whom, and who is let in (2.3.8, notes B.4).
var mesh = []conform.Case{
	{Name: "mesh/lowest", Rule: "2.3.8", Needs: conform.Client,
		About: "the lowest hosts accept all connections",
		Run:   func(t t) { peer.Start(t, setup{Procs: 2, Others: [][]int{{1, 1}, {2}}}).Finish() }},
	{Name: "mesh/middle", Rule: "2.3.8", Needs: conform.Client,
		About: "hosts in the middle connect to the lower and accept the higher",
		Run:   func(t t) { peer.Start(t, setup{Rank: 1, Procs: 2, Others: [][]int{{1, 1}, {2}}}).Finish() }},
	{Name: "mesh/highest", Rule: "2.3.8", Needs: conform.Client,
		About: "the highest hosts connect to all others",
		Run:   func(t t) { peer.Start(t, setup{Rank: 2, Procs: 2, Others: [][]int{{1, 1}, {2}}}).Finish() }},
	{Name: "mesh/listens-in-time", Rule: "2.3.8", Needs: conform.Client,
		About: "the client listens before it submits H_PORT, and a connection that comes before DONE is good",
		Run: func(t t) {
			j := peer.Begin(t, setup{Others: two})
			j.Join()
			j.ExchangeUntil(wire.HPort)
			j.Submit(wire.HPort)
			ip := net.IP(j.Labels[wire.HIPv6])
			port := codec.GetU32(j.Labels[wire.HPort])
			c, err := j.DialEarly(1, 0, &net.TCPAddr{IP: ip, Port: int(port)})
			if err != nil {
				t.Fatalf("H_PORT has come and nobody listens: %v", err)
			}
			if _, err := c.Write(codec.U32(1)); err != nil {
				t.Fatalf("the client hangs up on a connection that came early: %v", err)
			}
			j.Resume(wire.HPort)
			j.Adopt(1, 0, c)
			j.Finish()
		}},
	{Name: "mesh/bytewise", Rule: "2.3.8", Needs: conform.Client,
		About: "a host's rank comes byte by byte",
		Run: func(t t) {
			j := upToMesh(t, setup{Others: two})
			c := j.Dial(1, 0)
			for _, b := range codec.U32(1) {
				c.Write([]byte{b})
			}
			j.Adopt(1, 0, c)
			j.Finish()
		}},
	{Name: "mesh/rank-and-packets", Rule: "2.3.8", Needs: conform.Client,
		About: "a host's rank and its first packets come at once",
		Run: func(t t) {
			j := upToMesh(t, setup{Others: two}, "recv 1 5 100", "recv 1 6 10")
			c := j.Dial(1, 0)
			b := append(codec.U32(1), j.Data(1, 0, 5, 100).Bytes()...)
			c.Write(append(b, j.Data(1, 0, 6, 10).Bytes()...))
			j.Adopt(1, 0, c)
			j.Sent(1, 0, 2)
			j.Line(0, "recv 1 6 10")
			j.Finish()
		}},
	{Name: "mesh/impossible-ranks", Rule: "2.3.8", Needs: conform.Client,
		About: "who says it is a host that does not exist, the host itself or a lower one is turned away; the mesh forms",
		Run: func(t t) {
			j := upToMesh(t, setup{Rank: 1, Others: [][]int{{1}, {1}}})
			for _, rank := range []uint32{0, 1, 3, 1 << 31, 1<<32 - 1} {
				turnedAway(t, j, 1, codec.U32(rank))
			}
			j.Mesh()
			j.Finish()
		}},
	{Name: "mesh/same-client", Rule: "2.3.8", Needs: conform.Client,
		About: "who says it is another host of the same client, and is not, does not stop the mesh",
		Run: func(t t) {
			j := upToMesh(t, setup{Procs: 2, Others: two})
			if len(j.Hosts) == 3 {
				c := j.Dial(-1, 0)
				c.Write(codec.U32(1))
			}
			j.Mesh()
			j.Finish()
		}},
	{Name: "mesh/twice", Rule: "2.3.8", Needs: conform.Client,
		About: "of two connections of the same host one is turned away, and the other used",
		Run: func(t t) {
			j := upToMesh(t, setup{Others: [][]int{{1}, {1}}})
			c := [2]*events.Conn{j.Dial(1, 0), j.Dial(1, 0)}
			c[0].Write(codec.U32(1))
			c[1].Write(codec.U32(1))
			j.Either(1, 0, c)
			j.Connect(2, 0)
			j.Finish()
		}},
	{Name: "mesh/one-connection", Rule: "2.3.8", Needs: conform.Client,
		About: "with a client that has no labels of its own a host makes one connection, whatever more it could make",
		Run: func(t t) {
			j := peer.Start(t, setup{Rank: 1, Others: two})
			j.Finish()
			t.Check(!j.Knocks(0), "a second connection comes")
		}},
	{Name: "mesh/strangers", Rule: "2.3.8", Needs: conform.Client,
		About: "200 connections that say nothing, or hang up within the rank, do not keep the mesh from forming",
		Run: func(t t) {
			j := upToMesh(t, setup{Others: two})
			for i := range 200 {
				c := j.Dial(-1, 0)
				if i%2 == 0 {
					c.Write(codec.U32(1)[:i/2%4])
					c.Close()
				}
			}
			j.Mesh()
			j.Finish()
		}},
	{Name: "mesh/source-address", Rule: "2.3.8, notes B.4", Needs: conform.Client,
		About: "a host connects from the address that it published: some identify it by that",
		Run: job(setup{Rank: 1, Others: two}, nil, func(t t, j *peer.Job) {
			from := j.Link(0, 1).Conn.RemoteAddr().(*net.TCPAddr).IP
			t.Check(from.Equal(net.IP(j.Labels[wire.HIPv6])), "it connects from %v and published %v", from,
				net.IP(j.Labels[wire.HIPv6]))
		})},
	{Name: "mesh/ipv6", Rule: "2.3.5 H_IPV6", Needs: conform.IPv6,
		About: "everybody has an IPv6 address: the server, the client and the others, the client being the lowest, in the " +
			"middle and the highest",
		Run: func(t t) {
			for rank := range 3 {
				j := peer.Start(t, setup{Rank: rank, Others: [][]int{{1}, {1}}, IPv6: true}, "barrier")
				j.Play(j.World(), wire.WorldCID, peer.Barrier(j.Comm(j.World())))
				j.Finish()
			}
		}},
	{Name: "mesh/ipv4-compatible", Rule: "2.3.5 H_IPV6", Needs: conform.Client,
		About: "an IPv4 address in the form ::a.b.c.d is understood",
		Run: func(t t) {
			peer.Start(t, setup{Rank: 1, Others: two, Contribute: func(l wire.Label, _ int, b []byte) []byte {
				if l == wire.HIPv6 {
					return append(make([]byte, 12), b[12:]...)
				}
				return b
			}}).Finish()
		}},
	{Name: "mesh/host-id", Rule: "3.2", Needs: conform.Client,
		About: "P_IPV6 is a name and no address: any 16 bytes, copied as they are into every packet",
		Run: func(t t) {
			id := [16]byte(bytes.Repeat([]byte{0xfe, 0x01}, 8))
			j := peer.Start(t, setup{Others: two, HostID: &id}, "recv 1 5 10", "send 1 6 10")
			j.Send(j.Data(1, 0, 5, 10))
			j.Message(0, 1, 6, 10)
			j.Finish()
		}},
}

// upToMesh starts a job up to the connecting of the hosts.
func upToMesh(t t, s setup, steps ...string) *peer.Job {
	j := peer.Begin(t, s, steps...)
	j.Join()
	j.Exchange()
	return j
}

// turnedAway connects to a host of the client, says something, and must be hung up on.
func turnedAway(t t, j *peer.Job, host int, say []byte) {
	c := j.Dial(-1, host)
	c.Write(say)
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("who says % x is answered", say)
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Fatalf("who says % x is not turned away", say)
	}
}
