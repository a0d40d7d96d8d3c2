package manager

import (
	"context"
	"net/netip"
	"slices"

	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// A client of which other clients can reach one machine only, that of rank 0 (client.ViaOne). To them it is one IMPI
// host. Inside, each machine has an agent (agent.go), and that of rank 0, the gate, relays for all of them. So rank 0
// listens twice: for other clients, and, as all others do, for machines of its own.
//
// Flow: the tables of the whole job have one host of this client -> crossing makes tables of them in which its machines
// are hosts -> the agents connect with each other by these, and the gate with other clients by those of the job.

// listenInside opens the listener for other machines of this client, and on rank 0 that for other clients.
func (j *joining) listenInside() (l *tcp.Listener, err error) {
	if j.id.Rank == 0 {
		if j.outside, err = j.listenOutside(); err != nil {
			return nil, err
		}
	}
	return j.listen(), nil
}

// oneHost reports whether this client has several machines and is one host to others.
func (j *joining) oneHost() bool {
	return j.among.Via == client.ViaOne && len(hostsOf(j.cards, true)) > 1
}

// joined makes one host of several, with the address of the first. Each process names its machine itself. On which
// machine the host is says nobody: it is on several.
func joined(hosts []client.Host, at netip.AddrPort) []client.Host {
	if len(hosts) == 1 {
		hosts[0].Addr = at
		return hosts
	}
	one := client.Host{Addr: at}
	for _, h := range hosts {
		for _, p := range h.Procs {
			p.HostID = wire.EncodeAddr(h.Addr.Addr())
			one.Procs = append(one.Procs, p)
		}
	}
	return []client.Host{one}
}

// crossing is how packets come from machines of a client to other clients.
type crossing struct {
	job         *transport.Job // with a host for each machine of the client
	first, last int32          // of these, the gate and the last
	me          int32          // of these, that of this process
}

// newCrossing makes the tables of the agents of a client whose one host in the tables of the job has those cards.
func (j *joining) newCrossing(job *transport.Job) (*crossing, error) {
	machines, err := j.hosts(true)
	if err != nil {
		return nil, err
	}
	own := job.Procs[job.Me].Host
	c := &crossing{job: new(transport.Job), first: own, last: own + int32(len(machines)) - 1}
	*c.job = *job
	c.job.Hosts, c.job.Procs = slices.Clone(job.Hosts[:own]), slices.Clone(job.Procs)
	next := job.Hosts[own].First
	for _, m := range machines {
		h := job.Hosts[own]
		h.Addr, h.Machine, h.First, h.NProcs = m.Addr, m.Machine.ID, next, int32(len(m.Procs))
		next += h.NProcs
		c.job.Hosts = append(c.job.Hosts, h)
	}
	c.job.Hosts = append(c.job.Hosts, job.Hosts[own+1:]...)
	for i, h := range c.job.Hosts {
		for r := h.First; r < h.First+h.NProcs; r++ {
			c.job.Procs[r].Host = int32(i)
		}
	}
	c.me = c.job.Procs[job.Me].Host
	return c, nil
}

// peersAcross connects this machine's agent with the others of its client, and the gate with those of other clients.
func (j *joining) peersAcross(ctx context.Context, config *agent.Config, near, outside *tcp.Listener,
	o tcp.Options) error {
	c, err := j.newCrossing(config.Job)
	if err != nil {
		return err
	}
	peers, err := c.connect(ctx, config.Job, near, outside, !j.among.Inside, o)
	config.Job, config.Host, config.Peers, config.Gate = c.job, c.me, peers, &c.first
	return err
}

// meshed is what Mesh has answered, to whom.
type meshed struct {
	peers  [][]int
	err    error
	inside bool
}

// connect returns the sockets of this machine's agent, by the crossing's hosts. outside is the gate's listener for
// other clients.
func (c *crossing) connect(ctx context.Context, job *transport.Job, near, outside *tcp.Listener, all bool,
	o tcp.Options) (peers [][]int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results, n := make(chan meshed, 2), 1
	go func() { results <- c.meshInside(ctx, near, all, o) }()
	if outside != nil {
		n++
		go func() {
			sockets, err := tcp.Mesh(ctx, job, c.first, outside, o)
			results <- meshed{peers: sockets, err: err}
		}()
	}
	peers = make([][]int, len(c.job.Hosts))
	for range n {
		m := <-results
		switch {
		case m.err != nil && err == nil: // of two the first: the other one is its consequence
			err = m.err
			cancel(err)
		case m.inside:
			copy(peers[c.first:], m.peers)
		case m.err == nil:
			copy(peers, m.peers[:c.first])
			copy(peers[c.last+1:], m.peers[c.first+1:])
		}
	}
	if err != nil {
		for _, fds := range peers {
			agent.CloseSockets(fds...)
		}
		return nil, err
	}
	return peers, nil
}

// meshInside connects the machines of the client: all with each other, or all with the gate.
func (c *crossing) meshInside(ctx context.Context, l *tcp.Listener, all bool, o tcp.Options) meshed {
	hosts := slices.Clone(c.job.Hosts[c.first : c.last+1])
	lowest := hosts[0].First
	inside := *c.job
	inside.Clients, inside.Hosts, inside.Procs = 1, hosts, nil
	o.Apart = make([]bool, len(hosts))
	for i := range hosts {
		h := &hosts[i]
		for _, p := range c.job.Procs[h.First : h.First+h.NProcs] {
			p.Host, p.Client = int32(i), 0
			inside.Procs = append(inside.Procs, p)
		}
		h.First, h.Client = h.First-lowest, 0
		o.Apart[i] = all || i == 0 || c.me == c.first
	}
	peers, err := tcp.Mesh(ctx, &inside, c.me-c.first, l, o)
	return meshed{peers: peers, err: err, inside: true}
}
