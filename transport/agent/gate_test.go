package agent

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/wire"
)

// gateJob has a client of processes 0 and 1 on the gate, 2 and 3 on two other hosts, and a client of process 4.
func gateJob(same bool) *transport.Job {
	j := &transport.Job{Me: -1, Clients: 2, MaxDataLen: 100, AckMark: 2, HiWater: 4}
	for i, n := range []int32{2, 1, 1, 1} {
		h := transport.Host{Addr: netip.MustParseAddrPort("127.0.0.1:1"), Client: int32(i / 3), First: int32(len(j.Procs)),
			NProcs: n, SameImpl: same || i < 3}
		j.Hosts = append(j.Hosts, h)
		for range n {
			j.Procs = append(j.Procs, transport.Proc{HostID: [16]byte{15: byte(i)}, PID: int64(len(j.Procs)), Host: int32(i),
				Client: h.Client})
		}
	}
	return j
}

// gated is an agent of a host of that client, connected with some hosts. The test plays everybody else.
type gated struct {
	*house
	hosts map[int32]net.Conn
	procs map[int32][2]net.Conn
}

func newGated(t *testing.T, host int32, same bool, connected ...int32) *gated {
	t.Helper()
	return gatedIn(t, gateJob(same), host, connected...)
}

func gatedIn(t *testing.T, job *transport.Job, host int32, connected ...int32) *gated {
	t.Helper()
	g := &gated{house: &house{t: t, job: job, lost: make(chan error, 10), warns: make(chan string, 10)},
		hosts: map[int32]net.Conn{}, procs: map[int32][2]net.Conn{}}
	c := Config{Job: g.job, Host: host, Peers: make([][]int, 4), Gate: new(int32),
		Lost: func(_ int32, err error) { g.lost <- err }, Warn: func(s string) { g.warns <- s }}
	for _, i := range connected {
		fd, conn := tcpPair(t)
		c.Peers[i], g.hosts[i] = []int{fd}, conn
	}
	var pipes [][2]*pipe.End
	for i := range g.job.Hosts[host].NProcs {
		r := g.job.Hosts[host].First + i
		ours, theirs, err := Pipes(g.job, r)
		if err != nil {
			t.Fatal(err)
		}
		pipes = append(pipes, ours)
		var ends [2]net.Conn
		for s, fd := range theirs {
			if fd >= 0 {
				ends[s] = processOf(t, fd)
			}
		}
		g.procs[r] = ends
	}
	var err error
	if g.agent, err = New(c, pipes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.agent.Close)
	return g
}

type passing struct {
	from, to net.Conn
	src, dst int32
}

func (g *gated) pass(list ...passing) {
	g.t.Helper()
	for _, p := range list {
		b := g.packet(transport.Data, p.src, p.dst, strings.Repeat("x", 100))
		p.from.Write(b)
		expect(g.t, p.to, b, "relayed")
	}
}

func TestAGateRelaysForAllHostsOfItsClient(t *testing.T) {
	g := newGated(t, 0, true, 1, 2, 3)
	g.pass(passing{g.hosts[1], g.hosts[3], 2, 4}, passing{g.hosts[3], g.hosts[1], 4, 2},
		passing{g.hosts[2], g.hosts[3], 3, 4}, passing{g.hosts[3], g.hosts[2], 4, 3},
		passing{g.hosts[3], g.procs[1][1], 4, 1}, passing{g.procs[1][1], g.hosts[3], 1, 4},
		passing{g.hosts[1], g.procs[0][1], 2, 0}, passing{g.procs[0][1], g.hosts[2], 0, 3})
}

func TestAHostReachesOtherClientsByItsGate(t *testing.T) {
	g := newGated(t, 1, true, 0, 2)
	g.pass(passing{g.procs[2][1], g.hosts[0], 2, 4}, passing{g.hosts[0], g.procs[2][1], 4, 2},
		passing{g.procs[2][0], g.hosts[0], 2, 0}, passing{g.hosts[0], g.procs[2][0], 0, 2},
		passing{g.procs[2][1], g.hosts[2], 2, 3}, passing{g.hosts[2], g.procs[2][1], 3, 2})
}

func TestWhatIsOnNoWayThroughAGateIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		at, by, src, dst int32
		connected        []int32
	}{
		"between hosts of the client":          {0, 1, 2, 3, []int32{1, 2, 3}},
		"from another host of the client":      {0, 1, 3, 4, []int32{1, 2, 3}},
		"from another client by an inner host": {0, 1, 4, 0, []int32{1, 2, 3}},
		"back to where it comes from":          {0, 3, 4, 4, []int32{1, 2, 3}},
		"not by the gate":                      {1, 2, 4, 2, []int32{0, 2}},
		"through a host that is no gate":       {1, 2, 3, 4, []int32{0, 2}},
		"through it, from the gate":            {1, 0, 4, 3, []int32{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, tt.at, true, tt.connected...)
			g.hosts[tt.by].Write(g.packet(transport.Data, tt.src, tt.dst, ""))
			if err := <-g.lost; !strings.Contains(err.Error(), "protocol error") {
				t.Error(err)
			}
		})
	}
}

// An inner host may bring longer packets for the gate's processes than the other client takes.
func TestAGateRefusesWhatIsTooLongForTheOtherClient(t *testing.T) {
	job := gateJob(true)
	job.Hosts[1].Stream = 300
	g := gatedIn(t, job, 0, 1, 2, 3)
	long := func(dst int32) []byte {
		b := g.packet(transport.Data, 2, dst, strings.Repeat("x", 101))
		wire.Packet(b).SetMsgLen(1000)
		g.hosts[1].Write(b)
		return b
	}
	expect(t, g.procs[0][1], long(0), "relayed")
	long(4)
	if err := <-g.lost; !strings.Contains(err.Error(), "with its destination: pk_len 101, maximum 100") {
		t.Error(err)
	}
}

// Another implementation hears FINI when all processes of the client have said it, and these when it has.
func TestAGateSaysFiniWhenTheOthersOfItsClientHave(t *testing.T) {
	g := newGated(t, 0, false, 1, 2, 3)
	end := func(r int32) {
		for _, c := range g.procs[r] {
			if c != nil {
				c.Write(fini())
			}
		}
	}
	end(0)
	end(1)
	g.hosts[1].Write(fini())
	g.pass(passing{g.hosts[2], g.hosts[3], 3, 4}) // process 3 goes on: nothing else comes before this
	g.hosts[2].Write(fini())
	expect(t, g.hosts[3], fini(), "the other client")
	ack := g.packet(transport.ProtoAck, 4, 2, "")
	g.hosts[3].Write(ack)
	expect(t, g.hosts[1], ack, "host 1, which has not been answered")
	g.hosts[3].Write(fini())
	for _, h := range []int32{1, 2} {
		expect(t, g.hosts[h], fini(), "an inner host")
		gone(t, g.hosts[h], "an inner host that has finished")
		g.hosts[h].Close()
	}
	gone(t, g.hosts[3], "the other client")
	g.hosts[3].Close()
	for r := range int32(2) {
		for _, c := range g.procs[r] {
			if c != nil {
				expect(t, c, fini(), "a process")
				c.Close()
			}
		}
	}
	if !g.agent.Finish(patience) || len(g.lost) > 0 {
		t.Error("not finished")
	}
}

// A host of libimpi is answered at once, and the others go on.
func TestAGateLetsAHostOfItsClientLeave(t *testing.T) {
	g := newGated(t, 0, true, 1, 2, 3)
	g.hosts[1].Write(fini())
	expect(t, g.hosts[1], fini(), "host 1")
	gone(t, g.hosts[1], "host 1")
	g.hosts[3].Write(g.packet(transport.ProtoAck, 4, 2, "")) // for nobody
	g.pass(passing{g.hosts[3], g.hosts[2], 4, 3}, passing{g.hosts[2], g.hosts[3], 3, 4})
}
