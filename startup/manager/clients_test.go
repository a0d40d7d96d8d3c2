package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/tcp"
)

func TestThePlaceOfAClientIsReadOrRefused(t *testing.T) {
	for text, want := range map[string]string{
		"0@head:5000":     "0 head:5000",
		"31@[fe80::1]:80": "31 [fe80::1]:80",
		"":                "error", "1": "error", "1@": "error", "1@head": "error", "1@head:": "error", "@head:1": "error",
		"32@head:1": "error", "-1@head:1": "error", "one@head:1": "error",
	} {
		rank, server, err := ParsePlace(text)
		got := fmt.Sprint(rank, " ", server)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// serve starts a server for so many clients.
func serve(t *testing.T, clients int) (address string) {
	t.Helper()
	s, err := server.Listen(server.Options{Clients: clients, Bind: netip.MustParseAddr("127.0.0.1"),
		Auth: auth.WithSecret("word")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	return s.Addr().String()
}

// asClient makes the processes of a manager's job a client.
func asClient(rank int32, server string, of ...int) []*joiner {
	list := onMachines(of...)
	for _, j := range list {
		j.among = &Client{Rank: rank, Server: server, Methods: auth.WithSecret("word")}
	}
	return list
}

// Two jobs of managers, of which one may be a process alone, get the tables of one job, and all of their hosts connect.
func TestJobsOfManagersAreClientsOfOneJob(t *testing.T) {
	for _, of := range [][2][]int{{{0}, {0}}, {{0, 0}, {0, 1, 0}}, {{0, 1, 1}, {0, 0, 0, 1}}} {
		t.Run(fmt.Sprint(of), func(t *testing.T) {
			address := serve(t, 2)
			a, b := asClient(0, address, of[0]...), asClient(1, address, of[1]...)
			for _, j := range b {
				j.max = 40 // so that the tables go in many pieces
				j.max = max(j.max, len(j.mineText()))
			}
			joinAll(t, slices.Concat(a, b))
			for c, list := range [][]*joiner{a, b} {
				for r, j := range list {
					checkClient(t, j, c, r, len(a), of[c])
					if j.w.Session != nil {
						defer j.w.Session.Fini()
					}
				}
			}
			connectAll(t, slices.Concat(a, b))
		})
	}
}

// On machines with several processes the first of these is the host of all; world ranks follow the order of the hosts.
func TestMachinesOfAClientHaveAgents(t *testing.T) {
	address := serve(t, 2)
	a, b := asClient(0, address, 0, 1, 0, 2), asClient(1, address, 0, 0, 1, 1, 1)
	for _, j := range slices.Concat(a, b) {
		j.among.Via = client.ViaAgent
	}
	for _, j := range slices.Concat(a, b) {
		j.among.Inside = true                // connections with the other client alone
		j.among.Lost = func(int32, error) {} // at the end
	}
	apart := make(chan error, 2)
	for _, list := range [][]*joiner{a, b} { // a process of its own connects by itself
		for _, j := range list {
			j.joined = func() {
				if j.w.Pipes == nil && j.err == nil {
					go func() { apart <- j.mesh() }()
				}
			}
		}
	}
	joinAll(t, slices.Concat(a, b))
	for range 2 {
		if err := <-apart; err != nil {
			t.Error(err)
		}
	}
	for _, j := range slices.Concat(a, b) {
		agent.CloseSockets(j.sockets...)
	}
	world := map[int32]string{}
	for c, want := range [][]string{{"0 of 0,1", "2 of 2", "1 of 0,1", "3 of 3"},
		{"4 of 4,5", "5 of 4,5", "6 of 6,7,8", "7 of 6,7,8", "8 of 6,7,8"}} {
		for r, j := range [][]*joiner{a, b}[c] {
			if j.err != nil {
				t.Fatalf("client %d, rank %d: %v", c, r, j.err)
			}
			got := fmt.Sprint(j.w.Job.Me, " of ", strings.Trim(strings.ReplaceAll(fmt.Sprint(j.w.Local), " ", ","), "[]"))
			if world[j.w.Job.Me] != "" || got != want[r] {
				t.Errorf("client %d, rank %d: %s, want %s", c, r, got, want[r])
			}
			world[j.w.Job.Me] = got
			several := len(j.w.Local) > 1
			if (j.w.Pipes != nil) != several || (j.w.Agent != nil) != (several && j.w.LocalRank == 0) {
				t.Errorf("client %d, rank %d: pipes %v, agent %v", c, r, j.w.Pipes, j.w.Agent != nil)
			}
			if j.w.Session != nil {
				defer j.w.Session.Fini()
			}
		}
	}
	if hosts := len(a[0].w.Job.Hosts); hosts != 5 {
		t.Errorf("%d hosts", hosts)
	}
}

// To others a client is one host, whose processes name their machines; each of its machines has an agent. A client of
// one machine needs no more than that.
func TestAClientOfSeveralMachinesIsOneHost(t *testing.T) {
	for _, inside := range []bool{false, true} {
		address := serve(t, 3)
		of := [][]int{{0, 1, 0, 2}, {0, 1, 1}, {0, 0}}
		var clients [][]*joiner
		for c, machines := range of {
			clients = append(clients, asClient(int32(c), address, machines...))
		}
		list := slices.Concat(clients...)
		for _, j := range list {
			j.among.Via, j.among.Inside, j.among.Lost = client.ViaOne, inside, func(int32, error) {}
		}
		joinAll(t, list)
		got := ""
		for c, joiners := range clients {
			for r, j := range joiners {
				if j.err != nil {
					t.Fatalf("client %d, rank %d: %v", c, r, j.err)
				}
				got += fmt.Sprint(j.w.Job.Me, " ")
				if len(j.w.Job.Hosts) != 3 || j.w.Pipes == nil || (j.w.Agent != nil) != (j.w.LocalRank == 0) ||
					j.w.Listener != nil {
					t.Errorf("client %d, rank %d: %d hosts, pipes %v, agent %v", c, r, len(j.w.Job.Hosts), j.w.Pipes, j.w.Agent)
				}
				if j.w.Session != nil {
					defer j.w.Session.Fini()
				}
			}
		}
		if got != "0 2 1 3 4 5 6 7 8 " {
			t.Errorf("world ranks %s", got)
		}
		passAround(t, list, inside)
	}
}

// heard counts the packets of each process.
type heard struct {
	from []int
	lost error
}

func (h *heard) Deliver(head *transport.Header, _ []byte) { h.from[head.Src]++ }
func (h *heard) Lost(_ int32, err error)                  { h.lost = err }

// passAround lets all processes send to all with whom their agents connect them.
func passAround(t *testing.T, list []*joiner, inside bool) {
	t.Helper()
	byWorld := slices.Clone(list)
	for _, j := range list {
		byWorld[j.w.Job.Me] = j
	}
	linked := func(a, b int) bool {
		x, y := byWorld[a], byWorld[b]
		return x.client() != y.client() || !inside && x.at != y.at
	}
	hosts, got := make([]*tcp.Host, len(list)), make([]*heard, len(list))
	for i, j := range byWorld {
		got[i] = &heard{from: make([]int, len(list))}
		h, err := tcp.Adopt(agent.View(j.w.Job), agent.ViewHost, agent.ViewSockets(*j.w.Pipes), got[i], func() {},
			tcp.Options{Pipes: true})
		if err != nil {
			t.Fatal(err)
		}
		j.w.Pipes, hosts[i] = nil, h
		defer h.Abort()
	}
	missing := 0
	for a, h := range hosts {
		for b := range hosts {
			if linked(a, b) {
				missing++
				if !h.Send(&transport.Header{Src: int32(a), Dst: int32(b), MsgLen: 1, Len: 1}, []byte{1}) {
					t.Fatalf("process %d has no room for %d", a, b)
				}
			}
		}
	}
	for end := time.Now().Add(time.Minute); missing > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		missing = 0
		for b, h := range hosts {
			h.Poll()
			for a := range hosts {
				if linked(a, b) && got[b].from[a] != 1 {
					missing++
				}
			}
		}
	}
	for i, h := range got {
		if missing > 0 || h.lost != nil {
			t.Errorf("process %d has heard of %v, %v", i, h.from, h.lost)
		}
	}
}

// mesh connects a process that is a host of its own.
func (j *joiner) mesh() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sockets, err := tcp.Mesh(ctx, j.w.Job, j.w.Job.Procs[j.w.Job.Me].Host, j.w.Listener,
		tcp.Options{Apart: make([]bool, len(j.w.Job.Hosts))})
	j.sockets = slices.Concat(sockets...) // until all have connected
	return err
}

// mineText is about what the process's card is like.
func (j *joiner) mineText() string { c := newCard(j.at); return c.encode() }

func checkClient(t *testing.T, j *joiner, client, rank, lower int, of []int) {
	t.Helper()
	if j.err != nil {
		t.Fatalf("client %d, rank %d: %v", client, rank, j.err)
	}
	w, first := j.w, client*lower
	var local []int32
	for i, m := range of {
		if m == of[rank] {
			local = append(local, int32(first+i))
		}
	}
	if int(w.Job.Me) != first+rank || w.Job.Clients != 2 || !slices.Equal(w.Local, local) ||
		w.Local[w.LocalRank] != w.Job.Me || (w.Shared >= 0) != (len(local) > 1) || w.Listener == nil {
		t.Errorf("client %d, rank %d: world rank %d of %d, with %v, memory %d, listener %v", client, rank, w.Job.Me,
			len(w.Job.Procs), w.Local, w.Shared, w.Listener)
	}
	if (w.Session != nil) != (rank == 0) {
		t.Errorf("client %d, rank %d: session %v", client, rank, w.Session)
	}
	if _, err := startup.DecodeJob(startup.EncodeJob(w.Job)); err != nil {
		t.Error(err)
	}
}

// A process that nobody has started with others is a client of one process.
func TestAProcessAloneIsAClient(t *testing.T) {
	address := serve(t, 2)
	other := asClient(1, address, 0, 0)
	var all sync.WaitGroup
	var w Joined
	var err error
	all.Go(func() {
		w, err = Join(context.Background(), Alone{}, nil, Options{Among: &Client{Server: address,
			Methods: auth.WithSecret("word")}})
	})
	joinAll(t, other)
	all.Wait()
	if err != nil || w.Job.Me != 0 || len(w.Job.Procs) != 3 || w.Session == nil || w.Shared >= 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	w.Listener.Close()
	for _, s := range []*client.Session{w.Session, other[0].w.Session} {
		s.Fini()
	}
}

func TestWhatEndsTheAttemptToMeetTheOthersIsToldToAll(t *testing.T) {
	address := serve(t, 2)
	list := asClient(7, address, 0, 1, 0)
	joinAll(t, list)
	for r, j := range list {
		if said := fmt.Sprint(j.err); !strings.Contains(said, "client 7") || j.w.Listener != nil || j.w.Session != nil {
			t.Errorf("rank %d: %s, %+v", r, said, j.w)
		}
	}
}

// waits returns when a client of one process waits at a server for the others, and what it hears then.
func waits(t *testing.T, address string) (hears <-chan error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	waiting, over := make(chan struct{}), make(chan error, 1)
	go func() {
		_, _, err := client.Connect(ctx, address, 0, auth.WithSecret("word"), client.Default(client.Host{
			Addr: netip.MustParseAddrPort("127.0.0.1:1"), Procs: []client.Proc{{PID: 1}}}),
			client.Options{Waiting: func() { close(waiting) }})
		over <- err
	}()
	select {
	case <-waiting:
	case err := <-over:
		t.Fatal(err)
	}
	return over
}

// A client that cannot come says so to the others.
func TestAClientWhoseProcessesDoNotFindEachOtherDeclines(t *testing.T) {
	address := serve(t, 2)
	good, bad := waits(t, address), asClient(1, address, 0, 0)
	bad[0].max = 10 // no card has room
	joinAll(t, bad[:1])
	if said := fmt.Sprint(<-good); !strings.Contains(said, "values of 10 bytes") {
		t.Errorf("the other client hears: %s", said)
	}
}

// The process that knows why a client cannot come says so itself: the others wait for it in vain.
func TestAProcessThatCannotListenDeclinesForItsClient(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	address := serve(t, 2)
	good, bad := waits(t, address), asClient(1, address, 0, 0)
	bad[1].among.Ports = [2]int{port, port}
	joinAll(t, bad[1:])
	if said := fmt.Sprint(<-good); !strings.Contains(said, "client 1 is lost: listening for other clients") {
		t.Errorf("the other client hears: %s", said)
	}
	if own := (*CauseError)(nil); !errors.As(bad[1].err, &own) {
		t.Errorf("somebody else may know better: %v", bad[1].err)
	}
}

// Of what all processes find one makes an error that ends the job; the others leave that to it.
func TestOneProcessIsTheCauseOfWhatAllFind(t *testing.T) {
	unlike := asClient(0, serve(t, 2), 0, 0, 1)
	unlike[2].among = nil
	for _, list := range [][]*joiner{asClient(7, serve(t, 2), 0, 1, 0), unlike} {
		joinAll(t, list)
		for r, j := range list {
			var own *CauseError
			if errors.As(j.err, &own) != (r == 0) {
				t.Errorf("rank %d: %v", r, j.err)
			}
		}
	}
}

// A launcher that does not pass IMPI_JOIN to all machines is noticed at once, and by all.
func TestProcessesOfSeveralClientsAreNotOneClient(t *testing.T) {
	list := asClient(0, serve(t, 2), 0, 0, 1)
	list[2].among = nil
	joinAll(t, list)
	for r, j := range list {
		if said := fmt.Sprint(j.err); !strings.Contains(said, "as client 0, and rank 2 as no client") {
			t.Errorf("rank %d: %s", r, said)
		}
	}
	list = asClient(0, serve(t, 2), 0, 0, 1)
	list[0].among.Via, list[1].among.Via = client.ViaOne, client.ViaOne
	joinAll(t, list)
	for r, j := range list {
		if said := fmt.Sprint(j.err); !strings.Contains(said, "rank 0 and rank 2 do not agree on IMPI_VIA=one") {
			t.Errorf("rank %d: %s", r, said)
		}
	}
}

// A client that ends while agents connect with each other is missed at once: its hosts would be waited for.
func TestAClientThatEndsBeforeAgentsHaveConnectedEndsTheirWait(t *testing.T) {
	address := serve(t, 2)
	a, b := asClient(0, address, 0), asClient(1, address, 0, 0)
	a[0].joined = func() {
		a[0].w.Session.Fail("it has crashed", nil)
		a[0].w.Session = nil
	}
	for _, j := range b {
		j.among.Via, j.among.Ended = client.ViaAgent, func(*client.LostError) {}
	}
	joinAll(t, slices.Concat(a, b))
	var own *CauseError
	if said := fmt.Sprint(b[0].err); !errors.As(b[0].err, &own) || said != "client 0 is lost: it has crashed" {
		t.Errorf("rank 0: %s", said)
	}
	if w := &b[0].w; w.Agent != nil || w.Pipes != nil || w.Session != nil || w.Listener != nil {
		t.Errorf("rank 0 keeps %+v", w)
	}
}
