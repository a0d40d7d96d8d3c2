package manager

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// A manager's job as one client among others: a cluster with its own launcher. Its IMPI hosts are its processes, or its
// machines (agent.go), or it is one host (gate.go).
//
// Flow: each listens at the address by which it would reach the server -> the cards of all (join.go) -> rank 0 joins
// the other clients through the server, with these hosts -> it hands the tables of the whole job to the others, by the
// manager, and keeps the connection to the server.

// Client is such a job's place among the clients.
type Client struct {
	Rank    int32
	Server  string // HOST:PORT
	Methods auth.Methods
	Values  client.Values
	Plain   bool       // say nothing beyond IMPI 0.0
	Via     client.Via // which processes connect to other clients
	Inside  bool       // another library carries what goes between machines of this client
	Ports   [2]int
	Silence time.Duration // after which the server, or a host, is lost if nothing is heard of it; 0: never

	Warn func(text string)             // of what a user may want to know
	Lost func(client int32, err error) // an agent has lost a host of a client

	Ended func(*client.LostError) // rank 0, which has joined, hears that another client has ended. May be nil
}

// ParsePlace reads R@HOST:PORT: client R of the server at that address.
func ParsePlace(text string) (rank int32, server string, err error) {
	number, server, found := strings.Cut(text, "@")
	n, wrong := strconv.ParseInt(number, 10, 32)
	_, port, failed := net.SplitHostPort(server)
	if !found || wrong != nil || n < 0 || n >= wire.MaxClients || failed != nil || port == "" {
		return 0, "", fmt.Errorf("%.100q is not R@HOST:PORT: R is the rank of the client, 0 to %d, and HOST:PORT is where "+
			"the IMPI server listens", text, wire.MaxClients-1)
	}
	return int32(n), server, nil
}

// Broadcaster is a Manager that can hand much to all processes at once.
type Broadcaster interface {
	// Broadcast returns what rank 0 has given. All processes call it.
	Broadcast(ctx context.Context, mine []byte) ([]byte, error)
}

// listenAmong opens the listener for processes of other machines and clients.
func (j *joining) listenAmong() (*tcp.Listener, error) {
	if j.among.Via == client.ViaOne {
		return j.listenInside()
	}
	l, err := j.listenOutside()
	if err == nil {
		j.mine.addr = l.Addr()
	}
	return l, err
}

// listenOutside opens a listener at which other clients can reach this process.
func (j *joining) listenOutside() (*tcp.Listener, error) {
	bind, err := client.AddressTowards(j.among.Server)
	if err != nil {
		return nil, err
	}
	l, err := tcp.ListenBetween(bind, j.among.Ports[0], j.among.Ports[1])
	if err != nil {
		return nil, fmt.Errorf("listening for other clients at %v: %w", bind, err)
	}
	return l, nil
}

// What rank 0 hands to the others: one of these, and tables or a text.
const (
	tellsTables = 'T'
	tellsError  = 'E'
)

// joinClients joins the other clients. What is known of our own client is in w, and becomes that of the whole job.
func (j *joining) joinClients(ctx context.Context, w *Joined) error {
	var told []byte
	var failed error
	if j.id.Rank == 0 {
		var job *transport.Job
		if job, w.Session, failed = j.connect(ctx); failed != nil {
			told = append([]byte{tellsError}, failed.Error()...)
			if ctx.Err() == nil {
				failed = &CauseError{failed}
			}
		} else {
			w.Session.Watch(j.clientEnded)
			told = append([]byte{tellsTables}, startup.EncodeJob(job)...)
		}
	}
	told, err := j.fromFirst(ctx, told)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if len(told) == 0 || told[0] != tellsTables {
		return fmt.Errorf("rank 0 could not join the other clients: %s", told[min(1, len(told)):])
	}
	if w.Job, err = startup.DecodeJob(told[1:]); err != nil {
		return err
	}
	return j.place(w)
}

// clientEnded takes the end of another client: it ends Join, or is the caller's afterwards. The end of the server,
// which comes here, too, ends nothing (IMPI 0.0, 2.4).
func (j *joining) clientEnded(err error) {
	var other *client.LostError
	if !errors.As(err, &other) {
		return
	}
	j.mu.Lock()
	joined := j.joined
	if j.ended == nil {
		j.ended = other
	}
	j.mu.Unlock()
	if !joined {
		j.cancel(other)
	} else if j.among.Ended != nil {
		j.among.Ended(other)
	}
}

// connect joins the server as the client.
func (j *joining) connect(ctx context.Context) (*transport.Job, *client.Session, error) {
	agents, conn := j.among.Via.Agent(j.among.Server)
	hosts, err := j.hosts(agents)
	if err != nil {
		return nil, nil, err
	}
	if j.outside != nil {
		hosts = joined(hosts, j.outside.Addr())
	}
	var own *wire.Own
	if !j.among.Plain {
		mine := wire.Mine()
		if own = &mine; len(hosts) < len(j.cards) {
			own.Stream = agent.Stream
		}
		if agents { // they relay packets of IMPI's
			own.Flags &^= wire.FlagShort
		}
	}
	j.met = true
	return client.Connect(ctx, j.among.Server, j.among.Rank, j.among.Methods, j.among.Values.Contribution(own, hosts...),
		client.Options{Conn: conn, Silence: j.among.Silence, Absent: j.among.absent})
}

// hosts are the IMPI hosts of the client, as the cards say.
func (j *joining) hosts(agents bool) (hosts []client.Host, err error) {
	pids := pidsOf(j.cards)
	for _, ranks := range hostsOf(j.cards, agents) {
		c := j.cards[ranks[0]]
		if !c.addr.IsValid() {
			return nil, fmt.Errorf("rank %d has no address at which others can reach it", ranks[0])
		}
		h := client.Host{Addr: c.addr, Machine: wire.Machine{ID: c.machine}}
		for _, r := range ranks {
			h.Procs = append(h.Procs, client.Proc{PID: pids[r]})
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// oneClient returns an error if the processes of a manager do not join as one client, or all as none.
func oneClient(cards []card) error {
	for r, c := range cards {
		if c.client != cards[0].client {
			return fmt.Errorf("rank 0 joins an IMPI server as %s, and rank %d as %s: all ranks need the same %s, which "+
				"Open MPI's launchers pass to other machines only with -x %[4]s", clientText(cards[0].client), r,
				clientText(c.client), startup.EnvJoin)
		}
		if c.gate != cards[0].gate {
			return fmt.Errorf("rank 0 and rank %d do not agree on IMPI_VIA=%v: all ranks need the same, which Open MPI's "+
				"launchers pass to other machines only with -x IMPI_VIA", r, client.ViaOne)
		}
	}
	return nil
}

func clientText(number uint8) string {
	if number == 0 {
		return "no client"
	}
	return fmt.Sprint("client ", number-1)
}

// absent tells the user that no server answers.
func (c *Client) absent(limit time.Duration) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf("client %d is waiting for an IMPI server at %s for up to %v (IMPI_JOIN)", c.Rank, c.Server, limit))
	}
}

// decline tells the server that this client will not come, unless it has been asked already. Rank 0 does so, or the
// process that alone knows why.
func (j *joining) decline(why error) {
	var own *CauseError
	if c := j.among; c != nil && !j.met && (j.id.Rank == 0 || errors.As(why, &own)) {
		c.Decline(why)
	}
}

// Decline tells the server that this client, which has not joined, will not come.
func (c *Client) Decline(why error) {
	if !c.Plain {
		client.Decline(context.Background(), c.Server, c.Rank, c.Methods, why, client.Options{Silence: c.Silence})
	}
}

// Will tells the server why this client, which has not joined, will have ended if this process ends before it calls
// what Will returns. A server that is not there, or does not know wills, is no reason to wait.
func (c *Client) Will(why string) (revoke func()) {
	if c.Plain {
		return func() {}
	}
	revoke, _ = client.Will(context.Background(), c.Server, c.Rank, c.Methods, why, client.Options{Silence: c.Silence})
	return revoke
}

// Report tells the server why this client, which has joined, ends; the server tells the other clients. Any process can
// do so. It takes a second at most.
func (c *Client) Report(why string) {
	if !c.Plain {
		client.Report(context.Background(), c.Server, c.Rank, c.Methods, why, client.Options{Silence: c.Silence})
	}
}

// place finds this process in the tables of the whole job, whose ranks in MPI_COMM_WORLD follow the order of the hosts.
func (j *joining) place(w *Joined) error {
	key, procs, hosts := secret(j.cards, "hosts"), 0, 0
	for h := range w.Job.Hosts {
		if host := &w.Job.Hosts[h]; host.Client == j.among.Rank {
			host.Key = key
			procs, hosts = procs+int(host.NProcs), hosts+1
		}
	}
	list := hostsOf(j.cards, hosts < len(j.cards))
	if procs != len(j.cards) || hosts != len(list) && !j.oneHost() {
		return j.alike(fmt.Errorf("the tables of the job have %d processes on %d hosts of client %d, which has %d on %d",
			procs, hosts, j.among.Rank, len(j.cards), len(list)))
	}
	first := slices.IndexFunc(w.Job.Procs, func(p transport.Proc) bool { return p.Client == j.among.Rank })
	at := func(rank int32) int32 { return int32(first + slices.Index(slices.Concat(list...), rank)) }
	w.Job.Me = at(int32(j.id.Rank))
	for i, r := range w.Local {
		w.Local[i] = at(r)
	}
	return nil
}

const toldKey = "told"

// fromFirst returns what rank 0 has. A manager that takes short values only gets it in pieces.
func (j *joining) fromFirst(ctx context.Context, mine []byte) ([]byte, error) {
	if b, can := j.Manager.(Broadcaster); can {
		return b.Broadcast(ctx, mine)
	}
	if j.id.Size == 1 {
		return mine, nil
	}
	if j.id.Rank == 0 {
		text, n := base64.RawURLEncoding.EncodeToString(mine), 0
		for piece := range slices.Chunk([]byte(text), j.id.MaxValue) {
			n++
			if err := j.Put(fmt.Sprint(toldKey, "-", n), string(piece)); err != nil {
				return nil, err
			}
		}
		if err := j.Put(toldKey, strconv.Itoa(n)); err != nil {
			return nil, err
		}
	}
	if err := j.Fence(ctx); err != nil || j.id.Rank == 0 {
		return mine, err
	}
	count, err := j.Get(ctx, 0, toldKey)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > math.MaxInt32/j.id.MaxValue {
		return nil, fmt.Errorf("rank 0 says that it has left %.20q pieces", count)
	}
	var text strings.Builder
	for i := range n {
		piece, err := j.Get(ctx, 0, fmt.Sprint(toldKey, "-", i+1))
		if err != nil {
			return nil, err
		}
		text.WriteString(piece)
	}
	return base64.RawURLEncoding.DecodeString(text.String())
}
