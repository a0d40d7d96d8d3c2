package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/tcp"
)

// The agent: this process is the one IMPI host of a client, and relays for all of its ranks.
//
// Flow: all ranks are welcomed -> listen -> join the others through the server -> connect to their hosts -> a pair of
// pipes for each rank, handed to it with the tables -> relay, until all have finished.

// meshTime bounds the connections to the other hosts, once all tables are there.
const meshTime = 60 * time.Second

// agentTime is how long the end of a job waits for the last words of the others, whose FINI has been heard.
const agentTime = 2 * time.Second

// joinAgent joins the other clients as the one host of this client, and starts to relay.
func (p *Part) joinAgent() error {
	m := p.joinPlan
	listener, err := tcp.ListenBetween(m.Bind, m.Port, m.PortTo)
	if err != nil {
		return fmt.Errorf("listening for other clients: %w", err)
	}
	defer listener.Close()
	if m.Verbose {
		outcome.Complain("client %d: its agent is listening at %v", m.Rank, listener.Addr())
	}
	host := client.Host{Addr: listener.Addr(), Machine: p.machine(1)}
	for _, pid := range p.pids {
		host.Procs = append(host.Procs, client.Proc{PID: pid})
	}
	tables, first, err := p.connect([]client.Host{host})
	if err != nil {
		return err
	}
	first += layout.RankIn(p.ranks, 0) // those of this machine follow one another
	me := tables.Procs[first].Host
	ctx, cancel := context.WithTimeout(m.Ctx, meshTime)
	defer cancel()
	warn := func(text string) { outcome.Complain("%s", text) }
	peers, err := tcp.Mesh(ctx, tables, me, listener,
		tcp.Options{Warn: warn, Silence: m.Silence, Apart: otherMachines(tables, me)})
	var gone *tcp.HostGone
	if errors.As(err, &gone) { // it may have lost another itself
		p.job.Lost(supervise.Cause{Code: 1, Text: err.Error(), Blamed: other(gone.Client, tables, me)})
		return nil
	}
	if err != nil {
		return err
	}
	return p.relay(tables, first, agent.Config{Job: tables, Host: me, Peers: peers, Silence: m.Silence, Warn: warn,
		Tolerant: p.ft,
		Lost:     func(host int32, err error) { p.lostHost(tables, me, host, err) }})
}

// otherMachines are the hosts of host me's client but itself.
func otherMachines(tables *transport.Job, me int32) []bool {
	list := make([]bool, len(tables.Hosts))
	for i, h := range tables.Hosts {
		list[i] = int32(i) != me && h.Client == tables.Hosts[me].Client
	}
	return list
}

// other is client if that is not host me's own, else nil.
func other(client int32, tables *transport.Job, me int32) *int32 {
	if client == tables.Hosts[me].Client {
		return nil
	}
	return &client
}

// relay gives every rank its pipes and the tables, and starts the agent.
func (p *Part) relay(tables *transport.Job, first int, c agent.Config) error {
	ours, theirs := make([][2]*pipe.End, p.N), make([][2]int, p.N)
	var errs []error
	for i := range p.N {
		var err error
		ours[i], theirs[i], err = agent.Pipes(tables, int32(first+i))
		errs = append(errs, err)
	}
	defer func() {
		for _, fds := range theirs {
			agent.CloseSockets(fds[:]...)
		}
	}()
	a, err := agent.New(c, ours)
	if err = errors.Join(append(errs, err)...); err != nil {
		return err
	}
	p.mu.Lock()
	p.agent = a
	lost := slices.Collect(maps.Keys(p.losses.known))
	p.mu.Unlock()
	p.forgetHosts(lost)
	p.formed()
	for i := range p.N {
		mine := *tables
		mine.Me = int32(first + i)
		if p.link(i).Job(&mine, theirs[i]) != nil && !p.ft {
			return nil // the rank has ended: the job is over
		}
		p.catchUp(i)
	}
	return nil
}
