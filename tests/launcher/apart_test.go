package launcher

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Clients on machines of their own: network namespaces (network_test.go), between which there is nothing but TCP. Where
// namespaces cannot be made these tests are skipped.

// apart is the number of clients; the server is on a machine of its own, too.
const apart = 3

// start starts the server and clients of two ranks, with the options of each.
func (n *network) start(t *testing.T, settings []option, options [apart]string, file string,
	args ...string) (server *job, clients []*job) {
	t.Helper()
	at := n.machines[apart]
	at.inside(t, func() { server = startWith(t, settings, "-server", strconv.Itoa(apart)) })
	server.stdout.await("\n", 1)
	address := strings.TrimSpace(server.stdout.String())
	if a, err := netip.ParseAddrPort(address); err != nil || a.Addr() != at.addr {
		t.Fatalf("the server at %v says %q", at.addr, address)
	}
	return server, n.startClients(t, [apart]string{address, address, address}, settings, options, file, args...)
}

// startClients starts a client on each machine, which meets the others at an address of the server's.
func (n *network) startClients(t *testing.T, at [apart]string, settings []option, options [apart]string, file string,
	args ...string) (clients []*job) {
	t.Helper()
	for i := range apart {
		n.machines[i].inside(t, func() {
			line := words("-client", strconv.Itoa(i), at[i], options[i], "-n 2", file, args)
			clients = append(clients, startWith(t, settings, line...))
		})
	}
	return clients
}

// run runs a job that ends well, and returns what client 0 prints.
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
	n.run(t, with(key), all("-via agent"), reduce(t))
	mixed := [apart]string{"-via agent -port 4242", "-via direct", "-via agent -port 4242"} // they are different machines
	if out := n.run(t, with(key), mixed, program(t, "../../examples_c/ring")); !strings.Contains(out, "right") {
		t.Errorf("%q", out)
	}
}

func TestClientsOnMachinesThatHaveOnlyIPv6(t *testing.T) {
	n := newNetwork(t, ipv6, apart+1)
	n.run(t, with(key), all("-via direct"), traffic(t), few...)
	n.run(t, with(key), all("-via agent"), traffic(t), few...)
}

// Where a client listens is of the family by which it has found the server.
func TestClientsThatMeetTheServerOverIPv4AndOverIPv6(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	for i := range n.machines {
		n.number(t, i, ipv6)
	}
	var server *job
	n.machines[apart].inside(t, func() { server = startWith(t, with(key), "-server", strconv.Itoa(apart)) })
	server.stdout.await("\n", 1)
	four := netip.MustParseAddrPort(strings.TrimSpace(server.stdout.String()))
	six := netip.AddrPortFrom(ipv6.addr(apart), four.Port()).String()
	clients := n.startClients(t, [apart]string{four.String(), six, four.String()}, with(key),
		[apart]string{"-via direct", "-via direct", "-via agent"}, program(t, "negotiate"))
	for _, j := range append(clients, server) {
		j.wait().expect(t, 0, "")
	}
}

func TestClientsOnMachinesOfTheirOwnBehindTLS(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	n.run(t, with("IMPI_AUTH_SECRET=of the job"), all("-via direct -streams 2"), traffic(t), few...)
	n = newNetwork(t, ipv6, apart+1)
	n.run(t, with("IMPI_AUTH_TLS=1", "IMPI_AUTH_SECRET=of the job"), all("-via agent -streams 2"), traffic(t), few...)
}

// Client 0 cannot be reached, and all others would connect to it (IMPI 0.0, 2.3.8).
func TestAClientBehindAFirewallConnectsToAll(t *testing.T) {
	direct := [apart]string{"-outbound -via direct", "-via direct", "-via agent"}
	agents := [apart]string{"-outbound -via agent -streams 2", "-via direct -streams 2", "-via agent -streams 2"}
	secret := with("IMPI_AUTH_SECRET=of the job")
	for _, tt := range []struct {
		f        family
		inner    netip.Addr // the firewall translates it if it is another one
		settings []option
		options  [apart]string
	}{
		{ipv4, ipv4.addr(0), with(key), direct},
		{ipv4, netip.MustParseAddr("192.168.1.2"), secret, agents},
		{ipv6, ipv6.addr(0), secret, agents},
		{ipv6, netip.MustParseAddr("fd99::2"), with(key), direct},
	} {
		t.Run(fmt.Sprint(tt.inner), func(t *testing.T) {
			t.Parallel() // they wait most of the time
			n := newNetwork(t, tt.f, apart+1, 0)
			w := newFirewall(t, n, 0, tt.inner)
			n.run(t, tt.settings, tt.options, program(t, "negotiate"))
			select {
			case <-w.refused:
				t.Error("somebody has tried to connect to the client")
			default:
			}
			w.mustHold(t, n, 0)
		})
	}
}

// A laptop behind a firewall, as the client of the highest rank, steers a solver: nobody has to connect to it.
func TestALaptopBehindAFirewallSteersASolver(t *testing.T) {
	n := newNetwork(t, ipv4, 2, 1)
	w := newFirewall(t, n, 1, netip.MustParseAddr("192.168.1.2"))
	var s, solver, laptop *job
	n.machines[0].inside(t, func() { s = startWith(t, with(key), "-server", "2") })
	s.stdout.await("\n", 1)
	address := strings.TrimSpace(s.stdout.String())
	n.machines[0].inside(t, func() {
		solver = startWith(t, with(key), words("-client 0", address, "-via direct -n 2", steering(t, "solve"))...)
	})
	do := steering(t, "steer")
	n.machines[1].inside(t, func() {
		laptop = startProgram(t, append(with(key, "IMPI_JOIN=1@"+address), commands()), do[0], do[1:]...)
	})
	r := laptop.wait()
	r.expect(t, 0, "")
	expectReplies(t, r.stdout)
	solver.wait().expect(t, 0, "")
	s.wait().expect(t, 0, "")
	select {
	case <-w.refused:
		t.Error("somebody has tried to connect to the laptop")
	default:
	}
	w.mustHold(t, n, 1)
}

// Client 0 listens, as it is told, at an address to which the others have no route.
func TestAClientAtAnAddressWithoutARouteConnectsToAll(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	hidden := netip.MustParseAddr("192.168.1.2")
	n.machines[0].ip(t, fmt.Sprintf("addr add %v/32 dev lo", hidden))
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("localhost slots=2 addr="+hidden.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server, clients := n.start(t, with(key), [apart]string{"-v -outbound -via agent -hostfile " + hosts, "-via direct",
		"-via agent"}, program(t, "negotiate"))
	if r := clients[0].wait(); r.code != 0 || !strings.Contains(r.stderr, "is listening at "+hidden.String()) {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	for _, j := range append(clients[1:], server) {
		j.wait().expect(t, 0, "")
	}
}

// shell writes a remote shell that knows the machines by the names m0, m1 and so on.
func (n *network) shell(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skipf("no way into a namespace for a shell: %v", err)
	}
	text := "#!/bin/sh\ncase $1 in\n"
	for i, m := range n.machines {
		text += fmt.Sprintf("m%d) ns=/proc/%d/fd/%d ;;\n", i, os.Getpid(), m.ns.Fd())
	}
	text += "*) exit 255 ;;\nesac\nshift\nexec nsenter --net=$ns sh -c \"$*\"\n"
	file := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// A client of two machines, whose launcher is on the first, and one of one; and a job of several machines and no
// server.
func TestAClientOfSeveralMachinesOfTheirOwn(t *testing.T) {
	for _, f := range []family{ipv4, ipv6} {
		n := newNetwork(t, f, apart+1)
		several := " -rsh " + n.shell(t) + " -host localhost:1,m3:2 -n 3 "
		for _, via := range []string{"-via direct", "-via agent"} {
			var server, a, b *job
			n.machines[2].inside(t, func() { server = startWith(t, with(key), words("-server 2")...) })
			server.stdout.await("\n", 1)
			address := strings.TrimSpace(server.stdout.String())
			n.machines[0].inside(t, func() {
				a = startWith(t, with(key), words("-client 0", address, via, several, traffic(t), few)...)
			})
			n.machines[1].inside(t, func() {
				b = startWith(t, with(key), words("-client 1", address, via, "-n 2", traffic(t), few)...)
			})
			for _, j := range []*job{a, b, server} {
				j.wait().expect(t, 0, "")
			}
		}
		var alone *job
		n.machines[0].inside(t, func() {
			alone = startWith(t, nil, words("-rsh", n.shell(t), "-host localhost:2,m1:1,m3:2 -n 5", traffic(t), few)...)
		})
		alone.wait().expect(t, 0, "")
	}
}

// Rank 0 of all is not where the launcher is.
func TestStandardInputReachesAMachineOfItsOwn(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	data := strings.Repeat("a line of it\n", 1<<16)
	var j *job
	n.machines[0].inside(t, func() {
		j = startWith(t, []option{stdin(strings.NewReader(data))},
			words("-rsh", n.shell(t), "-host m1,m2 -n 2", sh("wc -c"))...)
	})
	r := j.wait()
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, strconv.Itoa(len(data))) || !strings.Contains("\n"+r.stdout, "\n0\n") {
		t.Errorf("%q", r.stdout)
	}
}

// One command on the server's machine starts the clients on all others.
func TestAnApplicationFileStartsClientsOnMachinesOfTheirOwn(t *testing.T) {
	for _, f := range []family{ipv4, ipv6} {
		n := newNetwork(t, f, apart+1)
		list := appFile(t, "m0 -client 0 $hostport -np 2 "+program(t, "negotiate"),
			"m1 -client 1 $hostport -via agent -np 2 "+program(t, "negotiate"), "m2 -np 1 "+program(t, "negotiate"))
		for _, settings := range [][]option{nil, with("IMPI_AUTH_SECRET=one for all", "IMPI_AUTH_TLS=1")} {
			var j *job
			n.machines[apart].inside(t, func() {
				j = startWith(t, settings, words("-server 3 -rsh", n.shell(t), "-file", list)...)
			})
			r := j.wait()
			if r.expect(t, 0, ""); r.stdout != "tagub 2147483647\n" {
				t.Errorf("%q", r.stdout)
			}
		}
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
	other.inside(t, func() { // to the address that others know; to another there is no way at all
		c, err := new(net.Dialer).DialContext(ctx, "tcp",
			netip.AddrPortFrom(w.outer, l.Addr().(*net.TCPAddr).AddrPort().Port()).String())
		if err == nil {
			c.Close()
			t.Errorf("a connection to %v gets through", w.outer)
		}
	})
	<-w.refused
}

// A link that goes down says nothing: no connection ends, and nobody sends anything. The first of the others to notice
// ends, and takes along who has not noticed yet, but does not take the blame.
func TestAClientWhoseLinkGoesDownIsNamed(t *testing.T) {
	const lost = 1
	const secret = "IMPI_AUTH_SECRET=of the job"
	const late = 6 * time.Second // a third more than the bound for this silence (alive.Limit, and a look)
	for _, tt := range []struct {
		via, how string
		proof    []string
		back     time.Duration // when the link is up again; 0: never
	}{
		{"direct", "wait-for-signal", []string{key}, 0},
		{"agent", "talk", []string{key}, late},
		{"agent -streams 3", "wait-for-signal", []string{secret}, 0},
		{"direct -streams 2", "talk", []string{secret, "IMPI_AUTH_TLS=1"}, late},
	} {
		t.Run(tt.via, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			via := tt.via
			n := newNetwork(t, ipv4, apart+1)
			server, clients := n.start(t, with(append(tt.proof, "IMPI_SILENCE=2")...), all("-via "+via), program(t, "misbehave"),
				tt.how, "0")
			for _, j := range clients {
				j.stdout.await("ready", 2)
			}
			n.unplug(t, lost)
			if tt.back > 0 {
				time.Sleep(tt.back)
				n.plug(t, lost)
			}
			for i, j := range clients {
				r := j.wait()
				said, _, _ := strings.Cut(r.stderr, "\n")
				t.Logf("%s: client %d: %s", via, i, r.stderr)
				if i == lost { // by what it can know, all others are
					heard := strings.Contains(said, "nothing has been heard of it") || strings.Contains(said, "connection")
					if r.code == 0 || !heard {
						t.Errorf("%s: client %d: code %d, %q", via, i, r.code, r.stderr)
					}
					continue
				}
				// By its own rank or agent, by the server, or by the other client, which has told the server.
				first := firstClient.FindStringSubmatch(said)
				if r.code == 0 || len(first) < 2 || first[1] != strconv.Itoa(lost) {
					t.Errorf("%s: client %d: code %d, %q", via, i, r.code, r.stderr)
				}
			}
			named := fmt.Sprintf("client %d", lost)
			if r := server.wait(); r.code == 0 || !strings.Contains(r.stderr, named) {
				t.Errorf("%s: the server: code %d, %q", via, r.code, r.stderr)
			}
		})
	}
}

// A link that is down for less than the silence that is allowed costs time, and nothing else: also if there is
// something to send meanwhile, and the kernel may not send it again as often as it would have to.
func TestAClientWhoseLinkIsUpAgainInTimeIsNotLost(t *testing.T) {
	const cut, silence = 4 * time.Second, 5 * time.Second
	const secret = "IMPI_AUTH_SECRET=of the job"
	for _, tt := range []struct {
		via   string
		proof []string
		busy  bool // rank 0 sends while the link is down
	}{
		{"direct", []string{key}, true},
		{"agent", []string{key}, false},
		{"agent -streams 3", []string{secret}, true},
		{"direct -streams 2", []string{secret, "IMPI_AUTH_TLS=1"}, true},
	} {
		t.Run(tt.via, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			n := newNetwork(t, ipv4, apart+1)
			for _, m := range n.machines {
				m.set(t, "ipv4/tcp_retries2", "3") // 2.4 s, if none waits longer than a second
			}
			in, out := io.Pipe()
			settings := append(with(append(tt.proof, "IMPI_SILENCE=5")...), stdin(in))
			server, clients := n.start(t, settings, all("-via "+tt.via), program(t, "misbehave"), "hear", "0")
			for _, j := range clients {
				j.stdout.await("ready", 2)
			}
			began := time.Now()
			n.unplug(t, 1)
			if tt.busy {
				out.Close()
			}
			time.Sleep(cut)
			n.plug(t, 1)
			down := time.Since(began)
			out.Close()
			for _, j := range append(clients, server) {
				if r := j.wait(); down < silence && (r.code != 0 || r.stderr != "") {
					t.Errorf("%s: code %d, %q, after %v without a link", tt.via, r.code, r.stderr, down)
				}
			}
		})
	}
}

// firstClient finds the first client that a line names.
var firstClient = regexp.MustCompile(`client ([0-9]+)`)

// Before the job has started, all that there is of a client is its connection to the server, on which nothing travels.
func TestALostServerOrClientIsNoticedBeforeTheJobStarts(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	file := program(t, "misbehave")
	settings := with(key, "IMPI_SILENCE=2")
	begin := func(rank int, at string) (j *job) {
		n.machines[rank].inside(t, func() {
			j = startWith(t, settings, words("-v -client", strconv.Itoa(rank), at, "-n 1", file, "not 0")...)
		})
		j.stderr.await("is waiting for the others", 1)
		return j
	}
	var server *job
	n.machines[apart].inside(t, func() { server = startWith(t, settings, "-server", strconv.Itoa(apart)) })
	server.stdout.await("\n", 1)
	address := strings.TrimSpace(server.stdout.String())
	a := begin(0, address)
	n.unplug(t, 0)
	server.stderr.await("its rank is free again", 1)
	// Which error the kernel tells when the time is up depends on what it has heard of the network meanwhile.
	if text := server.stderr.String(); !regexp.MustCompile(`client 0 \(.*(timed out|is unreachable)`).MatchString(text) {
		t.Errorf("%q", text)
	}
	if r := a.wait(); r.code != 1 || !strings.Contains(r.stderr, "IMPI server "+address+", joining as client 0") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	b := begin(1, address)
	n.unplug(t, apart)
	if r := b.wait(); r.code != 1 || !strings.Contains(r.stderr, "IMPI server "+address+", joining as client 1") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	server.signal(syscall.SIGTERM)
	server.wait()
}

// Processes of one machine that have to connect to each other, and cannot.
func TestALoopbackThatIsDownIsSaidAtOnce(t *testing.T) {
	n := newNetwork(t, ipv4, 1)
	m := n.machines[0]
	m.ip(t, "link set lo down")
	start := func(line string) (j *job) {
		m.inside(t, func() { j = startWith(t, with("IMPI_AUTH_NONE=1"), words(line)...) })
		return j
	}
	file := program(t, "misbehave")
	for _, line := range []string{
		"-clients 2 -n 2 " + file,
		"-clients 2 -via agent -n 2 " + file,
		"-server 2 -host 127.0.0.1",
		"-client 0 127.0.0.1:4000 -n 1 " + file,
		"-client 0 " + m.addr.String() + ":4000 -n 1 " + file,
		"-n 1 " + program(t, "../processes/spawn"),
	} {
		r := start(line).wait()
		if r.code == 0 || messages(r.stderr) != 1 || !strings.Contains(r.stderr, "(ip link set lo up)") {
			t.Errorf("%s: code %d, %q", line, r.code, r.stderr)
		}
	}
	start("-n 2 "+file+" not 0").wait().expect(t, 0, "") // by shared memory alone
}
