package job

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport"
)

// Ranks, and agents, say of others that they cannot reach them, or that they break the protocol (startup.Suspects).
// Most of those have died, of which the launcher hears in another way, with a better reason. So only what nobody has
// said after a moment is acted on: ranks of this machine are ended, and about those of others decides who hears both
// sides, which is the first launcher of a client of several machines, or the server of several clients.

// SuspectTime is that moment.
const SuspectTime = time.Second

// Court is who decides about ranks of other machines: they are suspected by some of ours.
type Court func(by []int32, s startup.Suspects)

// Sue makes another than the server decide.
func (p *Part) Sue(c Court) { p.losses.court = c }

// suspects takes what rank i says of others.
func (p *Part) suspects(i int, s startup.Suspects) {
	by := []int32{int32(p.rank(i))}
	switch {
	case !p.ft || by[0] < 0:
	case s.Breach:
		p.accuse(by, s)
	default:
		time.AfterFunc(SuspectTime, func() { p.accuse(by, s) })
	}
}

// accuse acts on what ranks say of others of whom it is not known that they are lost.
func (p *Part) accuse(by []int32, s startup.Suspects) {
	here, elsewhere := p.unexplained(s.Ranks)
	if len(here) > 0 {
		p.set.Condemn(fmt.Sprintf("rank %d says: %s", by[0], s.Text), here...)
	}
	if s.Ranks = elsewhere; len(elsewhere) == 0 {
		return
	}
	if p.losses.court != nil {
		p.losses.court(by, s)
		return
	}
	p.mu.Lock()
	session, tables := p.session, p.tables
	p.mu.Unlock()
	if session != nil {
		p.obey(p.losses.others.Suspect(session, tables, by, s, p.joinPlan.Silence))
	} else {
		p.lostOthers(-1, s.Lost) // nobody knows better
	}
}

// obey does what the client makes of others without the server.
func (p *Part) obey(r Ruling) {
	switch {
	case r.CutOff != nil:
		p.job.Fail(r.Cause())
	case len(r.Ranks) > 0:
		p.lostOthers(-1, r.Lost)
	}
}

// parts notes that the server has gone. Alone that ends nothing (IMPI 0.0, 2.4).
func (p *Part) parts(why error) {
	p.mu.Lock()
	tables := p.tables
	p.mu.Unlock()
	p.obey(p.losses.others.Part(tables, p.joinPlan.Rank, p.joinPlan.Silence, why))
}

// unexplained are ranks that are not known to be lost: those of this machine, by their places in the set, and others.
func (p *Part) unexplained(ranks []int32) (here []int, elsewhere []int32) {
	mine := map[int32]int{}
	for i := range p.N {
		mine[int32(p.rank(i))] = p.First + i
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range ranks {
		i, ok := mine[r]
		switch {
		case p.losses.known[r]:
		case ok:
			here = append(here, i)
		case p.tables != nil && int(r) < len(p.tables.Procs):
			elsewhere = append(elsewhere, r)
		}
	}
	return here, elsewhere
}

// lostHost notes that the agent has lost a host. In a fault-tolerant job all of our ranks suspect all of that host's.
func (p *Part) lostHost(tables *transport.Job, me, host int32, err error) {
	if !p.ft {
		p.job.Lost(supervise.Cause{Code: 1, Text: err.Error(), Blamed: other(tables.Hosts[host].Client, tables, me)})
		return
	}
	s := startup.Suspects{Lost: startup.Lost{Ranks: ranksAt(tables, host), Text: err.Error()}}
	time.AfterFunc(SuspectTime, func() { p.accuse(p.living(), s) })
}

// ranksAt are the world ranks of a host.
func ranksAt(tables *transport.Job, host int32) (ranks []int32) {
	for r, x := range tables.Procs {
		if x.Host == host {
			ranks = append(ranks, int32(r))
		}
	}
	return ranks
}

// living are the world ranks of this machine that are not lost, or all if none is left.
func (p *Part) living() (ranks []int32) {
	all := make([]int32, p.N)
	for i := range all {
		all[i] = int32(p.rank(i))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range all {
		if !p.losses.known[r] {
			ranks = append(ranks, r)
		}
	}
	if len(ranks) == 0 {
		return all
	}
	return ranks
}

// Condemn ends ranks of ours that are given up elsewhere.
func (p *Part) Condemn(n startup.Lost) {
	here, _ := p.unexplained(n.Ranks)
	if len(here) > 0 {
		p.set.Condemn(n.Text, here...)
	}
}
