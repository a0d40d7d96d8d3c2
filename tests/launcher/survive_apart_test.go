package launcher

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// Clients of two ranks on machines of their own, and a server on another, in a fault-tolerant job of which the ranks of
// client 1, 2 and 3, are lost.

// tolerant starts the clients, whose ranks 2 and 3 are waited for, and returns when all are ready.
func (n *network) tolerant(t *testing.T, via string, settings ...string) (server *job, clients []*job) {
	t.Helper()
	server, clients = n.start(t, with(append(settings, key)...), all("-with-ft ulfm -via "+via), program(t, "survive"),
		"2", "3", "wait")
	for _, j := range clients {
		j.stdout.await("ready", 2)
	}
	return server, clients
}

// goOn checks that both ranks of a client have survived, and what it says of ranks 2 and 3; "": if they end before it
// knows more than they do, nothing.
func (j *job) goOn(t *testing.T, said string) {
	t.Helper()
	r := j.wait()
	if r.code != 0 || strings.Count(r.stdout, "survived\n") != 2 || strings.Count(r.stdout, "\n") != 4 {
		t.Errorf("%q: code %d, %q (%s)", j.cmd.Args[1:], r.code, r.stdout, r.stderr)
	}
	all := strings.Contains(r.stderr, said) && strings.Contains(r.stderr, "the job goes on without rank")
	if said != "" && !all {
		t.Errorf("%q: %q, want %q", j.cmd.Args[1:], r.stderr, said)
	}
}

func TestALauncherThatIsKilledTakesItsRanksAlongAndNoOthers(t *testing.T) {
	for via, said := range map[string]string{"direct": "", "agent": "impirun: client 1 is lost: "} {
		n := newNetwork(t, ipv4, apart+1)
		server, clients := n.tolerant(t, via)
		clients[1].signal(syscall.SIGKILL)
		clients[0].goOn(t, said)
		clients[2].goOn(t, said)
		clients[1].wait()
		server.wait()
	}
}

// The server goes first: that ends nothing, and what happens later is noticed all the same.
func TestLossesAreNoticedWithoutTheServer(t *testing.T) {
	for _, via := range []string{"direct", "agent"} {
		n := newNetwork(t, ipv4, apart+1)
		server, clients := n.tolerant(t, via)
		server.signal(syscall.SIGKILL)
		server.wait()
		clients[1].signal(syscall.SIGKILL)
		clients[0].goOn(t, "") // by their own connections
		clients[2].goOn(t, "")
		clients[1].wait()
	}
}

// Of a rank behind an agent that dies without the server, other clients hear by the others of its client: no connection
// ends.
func TestTheLossOfOneRankIsNoticedWithoutTheServer(t *testing.T) {
	n := newNetwork(t, ipv4, apart+1)
	server, clients := n.start(t, with(key), all("-with-ft ulfm -via agent"), program(t, "survive"), "2", "2", "tell")
	clients[1].stdout.await("process", 1)
	server.signal(syscall.SIGKILL)
	server.wait()
	for _, j := range []*job{clients[0], clients[2]} {
		j.stdout.await("ready", 2)
	}
	var pid int
	_, text, _ := strings.Cut(clients[1].stdout.String(), "process ")
	if _, err := fmt.Sscan(text, &pid); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	clients[0].goOn(t, "")
	clients[2].goOn(t, "")
	if r := clients[1].wait(); r.code != 0 || strings.Count(r.stdout, "survived\n") != 1 {
		t.Errorf("client 1: code %d, %q (%s)", r.code, r.stdout, r.stderr)
	}
}

// A network that is cut leaves one side, whoever speaks first.
func TestANetworkThatIsCutLeavesOneSide(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T){
		"direct": func(t *testing.T) { cutOffAClient(t, "direct") },
		"agent":  func(t *testing.T) { cutOffAClient(t, "agent") },
		"nodes":  cutOffAMachine,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			cut(t)
		})
	}
}

// Between clients the server decides: of the client, if it is the first to find it silent, or of the client's ranks, if
// those of others tell it before. The other side ends when it finds that it reaches nobody.
func cutOffAClient(t *testing.T, via string) {
	n := newNetwork(t, ipv4, apart+1)
	server, clients := n.tolerant(t, via, "IMPI_SILENCE=1")
	n.unplug(t, 1)
	clients[0].goOn(t, " lost: ")
	clients[2].goOn(t, " lost: ")
	if r := clients[1].wait(); r.code == 0 || !strings.Contains(r.stderr, "may go on without this client") {
		t.Errorf("client 1: code %d, %q", r.code, r.stderr)
	}
	server.wait()
}

// Between machines of one client the first launcher does: that one is given up which the others cannot reach, though
// the launcher can.
func cutOffAMachine(t *testing.T) {
	n := newNetwork(t, ipv4, apart)
	var j *job
	n.machines[0].inside(t, func() {
		j = startWith(t, with("IMPI_SILENCE=1"), words("-with-ft ulfm -rsh", n.shell(t),
			"-host localhost:1,m1:1,m2:2 -n 4", program(t, "survive"), "2 3 wait")...)
	})
	j.stdout.await("ready", 4)
	n.unplug(t, 2)
	r := j.wait()
	if r.code != 0 || strings.Count(r.stdout, "survived\n") != 2 || strings.Count(r.stdout, "\n") != 6 {
		t.Errorf("code %d, %q (%s)", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "nothing has been heard of it") || strings.Contains(r.stderr, "without rank 0") ||
		strings.Contains(r.stderr, "without rank 1") {
		t.Errorf("%q", r.stderr)
	}
}
