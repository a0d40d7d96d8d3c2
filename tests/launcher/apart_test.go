package launcher

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

// Clients on machines of their own: network namespaces (network_test.go), between which there is nothing but TCP. Where
// namespaces cannot be made these tests are skipped.

// apart is the number of clients; the server is on a machine of its own, too.
const apart = 3

// start starts the server and clients of two ranks, with the options of each.
func (n *network) start(t *testing.T, settings []option, options [apart]string, file string, args ...string) (server *job, clients []*job) {
	t.Helper()
	at := n.machines[apart]
	at.inside(t, func() { server = startWith(t, settings, "-server", strconv.Itoa(apart)) })
	server.stdout.await("\n", 1)
	address := strings.TrimSpace(server.stdout.String())
	if a, err := netip.ParseAddrPort(address); err != nil || a.Addr() != at.addr {
		t.Fatalf("the server at %v says %q", at.addr, address)
	}
	for i := range apart {
		n.machines[i].inside(t, func() {
			line := words("-client", strconv.Itoa(i), address, options[i], "-n 2", file, args)
			clients = append(clients, startWith(t, settings, line...))
		})
	}
	return server, clients
}

// run runs a job that ends well, and answers what client 0 prints.
func (n *network) run(t *testing.T, settings []option, options [apart]string, file string, args ...string) string {
	t.Helper()
	server, clients := n.start(t, settings, options, file, args...)
	for _, j := range append(clients, server) {
		j.wait().expect(t, 0, "")
	}
	return clients[0].stdout.String()
}

// all gives each client the same options.
func all(options string) [apart]string { return [apart]string{options, options, options} }

// Random messages, from all ranks to all ranks.
var few = []string{"20100", "300"}

func traffic(t *testing.T) string { return program(t, "../pt2pt/traffic") }
func reduce(t *testing.T) string  { return program(t, "../coll/reduce") }

func TestClientsOnMachinesOfTheirOwn(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	n.run(t, with(key), all("-via direct"), traffic(t), few...)
	n.run(t, with(key), all("-via agent"), traffic(t), few...)
	mixed := [apart]string{"-via agent -port 4242", "-via direct", "-via agent -port 4242"} // they are different machines
	if out := n.run(t, with(key), mixed, program(t, "../../examples_c/ring")); !strings.Contains(out, "right") {
		t.Errorf("%q", out)
	}
	n.run(t, with(key), all(""), reduce(t))
}

func TestClientsOnMachinesThatHaveOnlyIPv6(t *testing.T) {
	n := newNetwork(t, ipv6, apart+1)
	n.run(t, with(key), all("-via direct"), traffic(t), few...)
	n.run(t, with(key), all("-via agent"), reduce(t))
}

func TestClientsOnMachinesOfTheirOwnBehindTLS(t *testing.T) {
	for _, f := range []family{ipv4, ipv6} {
		n := newNetwork(t, f, apart+1)
		n.run(t, with("IMPI_AUTH_SECRET=of the job"), all("-via direct -streams 2"), traffic(t), few...)
		n.run(t, with("IMPI_AUTH_TLS=1", "IMPI_AUTH_SECRET=of the job"), all("-via agent -streams 2"), traffic(t), few...)
	}
}

// Client 0 cannot be reached, and all others would connect to it (IMPI 0.0, 2.3.8).
func TestAClientBehindAFirewallConnectsToAll(t *testing.T) {
	for _, inner := range []netip.Addr{ipv4.subnet(0).Addr().Next().Next(), netip.MustParseAddr("192.168.1.2")} {
		n := newNetwork(t, ipv4, apart+1, 0)
		w := newFirewall(t, n, 0, inner)
		n.run(t, with(key), [apart]string{"-outbound -via direct", "-via direct", "-via agent"}, traffic(t), few...)
		n.run(t, with("IMPI_AUTH_SECRET=of the job"), [apart]string{"-outbound -via agent -streams 2", "-via direct -streams 2", "-via agent -streams 2"}, traffic(t), few...)
		select {
		case <-w.refused:
			t.Error("somebody has tried to connect to the client")
		default:
		}
		w.mustHold(t, n, 0)
	}
}

// mustHold makes sure of the firewall itself: nobody can connect to the machine.
func (w *firewall) mustHold(t *testing.T, n *network, i int) {
	t.Helper()
	var l net.Listener
	n.machines[i].inside(t, func() {
		var err error
		if l, err = net.Listen("tcp", net.JoinHostPort(w.inner.String(), "0")); err != nil {
			t.Fatal(err)
		}
	})
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-w.refused
		cancel()
	}()
	other := n.machines[(i+1)%len(n.machines)]
	for _, a := range []netip.Addr{w.inner, w.outer} {
		other.inside(t, func() {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", netip.AddrPortFrom(a, l.Addr().(*net.TCPAddr).AddrPort().Port()).String())
			if err == nil {
				c.Close()
				t.Errorf("a connection to %v gets through", a)
			}
		})
	}
	<-w.refused
}

// A link that goes down says nothing: no connection ends, and nobody sends anything. The first of the others to notice
// ends, and takes along who has not noticed yet.
func TestAClientWhoseLinkGoesDownIsNamed(t *testing.T) {
	const lost = 1
	for _, via := range []string{"direct", "agent"} {
		n := newNetwork(t, ipv4, apart+1)
		server, clients := n.start(t, with(key, "IMPI_SILENCE=2"), all("-via "+via), program(t, "misbehave"), "wait-for-signal", "0")
		for _, j := range clients {
			j.stdout.await("ready", 2)
		}
		n.unplug(t, lost)
		named := fmt.Sprintf("client %d, %v:", lost, n.machines[lost].addr)
		said := ""
		for i, j := range clients {
			r := j.wait()
			if r.code == 0 || !strings.Contains(r.stderr, "is lost") && !strings.Contains(r.stderr, "connection") {
				t.Errorf("%s: client %d: code %d, %q", via, i, r.code, r.stderr)
			}
			if i != lost {
				said += r.stderr
			}
		}
		if !strings.Contains(said, named) || !strings.Contains(said, "nothing has been heard of it") {
			t.Errorf("%s: nobody names client %d: %q", via, lost, said)
		}
		named = fmt.Sprintf("client %d (%v:", lost, n.machines[lost].addr)
		if r := server.wait(); r.code == 0 || !strings.Contains(r.stderr, named) {
			t.Errorf("%s: the server: code %d, %q", via, r.code, r.stderr)
		}
	}
}
