package job

import (
	"errors"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// ready notes that rank i waits for the job's tables, and where it listens; after the last one this client joins the
// others.
func (p *Part) ready(i int, h client.Host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[i] = h
	if p.hosted++; p.hosted < p.N {
		return
	}
	p.joining = make(chan struct{})
	go func() {
		defer close(p.joining)
		join := p.joinDirect
		if p.joinPlan.Agent {
			join = p.joinAgent
		}
		if err := join(); err != nil {
			p.job.Fail(supervise.Cause{Code: 1, Text: err.Error()})
		}
	}()
}

// joinDirect joins the other clients through the server and hands the tables to the ranks, which then connect
// themselves.
func (p *Part) joinDirect() error {
	tables, first, err := p.connect(p.hosts)
	if err != nil {
		return err
	}
	local := p.worldRanks(first)
	p.formed()
	for i := range p.N {
		mine := *tables
		mine.Me = local[i]
		if p.link(i).Job(&mine, [2]int{-1, -1}, local...) != nil && !p.ft {
			return nil // the rank has ended: the job is over
		}
		p.catchUp(i)
	}
	p.tablesTold()
	return nil
}

// worldRanks are the ranks of this machine, by local rank. first is the client's first in MPI_COMM_WORLD.
func (p *Part) worldRanks(first int) []int32 {
	list := make([]int32, p.N)
	for i := range list {
		list[i] = int32(first + layout.RankIn(p.ranks, i))
	}
	return list
}

// connect joins the other clients through the server. first is the client's first rank in MPI_COMM_WORLD.
func (p *Part) connect(hosts []client.Host) (tables *transport.Job, first int, err error) {
	m := p.joinPlan
	if m.ViaHead != nil {
		tables, first, err := m.ViaHead(hosts)
		if err == nil {
			p.job.First(first)
			p.begins(first, tables)
		}
		return tables, first, err
	}
	if m.Verbose {
		outcome.Complain("joining the server at %s as client %d", m.Address, m.Rank)
	}
	tables, session, err := m.Connect(hosts)
	if err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
	session.Report(p.Traffic)
	m.Peers.Joined(session, int(tables.Clients))
	first = join.FirstRank(tables, m.Rank)
	p.begins(first, tables)
	session.Watch(func(err error) {
		var lost *client.LostError
		var gone *client.RanksError
		switch {
		case errors.As(err, &lost):
			p.lostClient(lost)
		case errors.As(err, &gone):
			p.lostRanks(gone)
		default:
			m.Report(err)
			p.parts(err)
		}
	})
	if m.Verbose {
		outcome.Complain("client %d of %d: datalen %d, ackmark %d, hiwater %d, tagub %d, xsize %d, maxlinear %d", m.Rank,
			tables.Clients, tables.MaxDataLen, tables.AckMark, tables.HiWater, tables.TagUB, tables.XSize, tables.MaxLinear)
		for _, h := range tables.Hosts {
			if h.Client != m.Rank && h.Streams > 1 {
				outcome.Complain("client %d: %d connections with each host of client %d", m.Rank, h.Streams, h.Client)
				break
			}
		}
	}
	p.job.First(first - p.First)
	return tables, first, nil
}

// begins notes the world rank of the client's first rank, and the tables.
func (p *Part) begins(first int, tables *transport.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base, p.tables = first, tables
}

// Joined reports whether this client has joined the others.
func (p *Part) Joined() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session != nil
}

// Finish ends what the part has open: with a farewell to the server if all went well, else with the cause. mu is free
// meanwhile: agent and session wait for those who tell of hosts and clients that are lost, which takes it.
func (p *Part) Finish(cause *supervise.Cause) {
	p.mu.Lock()
	joining := p.joining
	p.mu.Unlock()
	if m := p.joinPlan; m != nil && m.Alone() {
		if cause != nil {
			m.GiveUp(cause, joining)
		} else if joining == nil {
			m.Withdraw()
		}
	}
	p.mu.Lock()
	p.closeLives()
	agent, session := p.agent, p.session
	p.mu.Unlock()
	switch {
	case agent == nil:
	case cause == nil:
		agent.Finish(agentTime)
	default:
		agent.Close()
	}
	switch {
	case session == nil:
	case cause == nil:
		p.joinPlan.Report(session.Fini())
	default:
		session.Fail(cause.Text, cause.Blamed)
	}
}
