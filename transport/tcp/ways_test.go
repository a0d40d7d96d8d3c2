package tcp

import (
	"net/netip"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// The connections that IMPI 0.0 does not know: between machines of one client, and against the usual direction.

// talk sends one message over every pair of processes that linked says has a socket, and nobody else has one.
func talk(t *testing.T, es []*engine, linked func(a, b int32) bool) {
	t.Helper()
	job := es[0].host.job
	want := make([]int, len(es))
	for s, sp := range job.Procs {
		for d, dp := range job.Procs {
			if sp.Host != dp.Host && linked(sp.Host, dp.Host) {
				es[sp.Host].put(t, transport.Header{Kind: transport.Data, Src: int32(s), Dst: int32(d), MsgLen: 2}, "hi")
				want[dp.Host]++
			}
		}
	}
	for i, e := range es {
		e.await(t, want[i])
		for j, l := range e.host.links {
			if (i != j && linked(int32(i), int32(j))) != (l != nil) {
				t.Errorf("hosts %d and %d: connected %v", i, j, l != nil)
			}
		}
	}
}

func TestMachinesOfOneClientAreConnectedIfTheyAreApart(t *testing.T) {
	all := []bool{true, true, true, true}
	es := connect(t, layout{{1, 2, 1}, {1}}, nil, Options{Apart: all})
	talk(t, es, func(a, b int32) bool { return true })
}

func TestAHostThatNobodyReachesConnectsItself(t *testing.T) {
	nowhere := netip.MustParseAddrPort("127.0.0.1:1") // reserved: nobody listens there
	for out := range int32(3) {
		es := connect(t, layout{{1}, {2}, {1}}, func(j *transport.Job) {
			j.Hosts[out].Outbound = true
			j.Hosts[out].Addr = nowhere
		}, Options{})
		talk(t, es, func(a, b int32) bool { return true })
		for _, e := range es {
			e.mu.Lock()
			e.host.Abort()
			e.mu.Unlock()
		}
	}
}

// Machines that have both: one has met the server over IPv6, the other over IPv4.
func TestAHostConnectsToOneOfTheOtherFamily(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, func(j *transport.Job) {
		j.Hosts[1].Addr = netip.MustParseAddrPort("[::1]:1") // it listens for nobody
	}, Options{})
	talk(t, es, func(a, b int32) bool { return true })
}
