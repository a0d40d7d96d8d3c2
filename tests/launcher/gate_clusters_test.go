package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Clusters of which other clients can reach one machine only (IMPI_VIA=one).

// hide makes a machine that of those at the network it has ways to some only, for others refuse it as it refuses them.
func (n *network) hide(t *testing.T, i int, but ...int) {
	t.Helper()
	for k := range n.machines {
		if k != i && !slices.Contains(but, k) {
			n.machines[i].ip(t, fmt.Sprintf("route replace unreachable %v", ipv4.subnet(k).Masked()))
			n.machines[k].ip(t, fmt.Sprintf("route replace unreachable %v", ipv4.subnet(i).Masked()))
		}
	}
}

// hiddenClusters starts a server on machine 4, and two clients, on machines 0 and 1, and 2 and 3. Nobody but its
// neighbor can reach machine 1, nor machine 3.
func hiddenClusters(t *testing.T) *network {
	t.Helper()
	n := newNetwork(t, ipv4, 5)
	n.hide(t, 1, 0)
	n.hide(t, 3, 2)
	return n
}

// runHidden runs a program on both clients; settings are those of all, inside those of each client.
func (n *network) runHidden(t *testing.T, settings []string, inside [2][]string, do ...any) (s *job, clients [2]*job) {
	t.Helper()
	n.machines[4].inside(t, func() { s = startWith(t, with(settings...), "-server", "2") })
	s.stdout.await("\n", 1)
	for i := range clients {
		list := append(settings[:len(settings):len(settings)], "IMPI_VIA=one", "IMPI_PORT=7100",
			fmt.Sprintf("IMPI_JOIN=%d@%s", i, strings.TrimSpace(s.stdout.String())))
		clients[i] = n.nodesFrom(t, 2*i, append(list, inside[i]...), do...)
	}
	return s, clients
}

func TestOneMachineOfAClusterRelaysForAll(t *testing.T) {
	n := hiddenClusters(t)
	library, _ := otherMPI(t)
	tls := []string{"IMPI_AUTH_SECRET=of the job", "IMPI_AUTH_TLS=1"}
	byTCP, byLibrary := []string{}, []string{"IMPI_LOCAL=vendor:" + library}
	for _, c := range []struct {
		settings []string
		inside   [2][]string
		do       []string
	}{
		{[]string{key}, [2][]string{byLibrary, byTCP}, words(traffic(t), few)},
		{tls, [2][]string{byTCP, byLibrary}, []string{reduce(t)}},
		{[]string{key, "IMPI_PLAIN=1"}, [2][]string{byTCP, byTCP}, []string{reduce(t)}},
		{tls, [2][]string{byTCP, byTCP}, []string{program(t, "../rma/put_get")}},
		{[]string{key}, [2][]string{byTCP, byTCP}, []string{program(t, "../session/world")}},
	} {
		s, clients := n.runHidden(t, c.settings, c.inside, c.do)
		for _, j := range []*job{clients[0], clients[1], s} {
			j.wait().expect(t, 0, "")
		}
	}
}

// The death of a rank that the other client cannot reach ends both.
func TestADeathBehindOneMachineEndsTheOtherCluster(t *testing.T) {
	n := hiddenClusters(t)
	for _, how := range []string{"raise 3 9", "raise 4 9", "abort 7 42"} {
		s, clients := n.runHidden(t, []string{key}, [2][]string{}, program(t, "misbehave"), how)
		for _, j := range []*job{clients[0], clients[1], s} {
			if r := j.wait(); r.code == 0 {
				t.Errorf("%s: code 0, %q", how, r.stderr)
			}
		}
	}
}

// Without IMPI_VIA=one a rank that has no way to the server says so.
func TestAHiddenMachineNeedsOneThatRelays(t *testing.T) {
	n := hiddenClusters(t)
	r := n.nodesFrom(t, 0, []string{key, "IMPI_JOIN=0@" + n.machines[4].addr.String() + ":7000"},
		program(t, "../coll/scan")).wait()
	if r.code == 0 || !strings.Contains(r.stderr, "cannot join the job: the address of the IMPI server") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}
