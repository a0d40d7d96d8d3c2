package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// Ranks, and agents, say of others that they cannot reach them, or that they break the protocol (startup.Suspects). Most
// of those have died, of which the launcher hears in another way, with a better reason. So only what nobody has said
// after a moment is acted on: ranks of this machine are ended, and about those of others decides who hears both sides,
// which is the first launcher of a client of several machines, or the server of several clients.

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
	text := fmt.Sprintf("rank %d says: %s", by[0], s.Text)
	here, elsewhere := p.unexplained(s.Ranks)
	if len(here) > 0 {
		p.set.Condemn(text, here...)
	}
	if s.Ranks = elsewhere; len(elsewhere) == 0 {
		return
	}
	if p.losses.court != nil {
		p.losses.court(by, s)
		return
	}
	p.mu.Lock()
	session, tables, parted := p.session, p.tables, p.parted
	p.mu.Unlock()
	switch {
	case session == nil:
	case parted == nil:
		Accuse(session, tables, by, s)
	case s.Silent && IsSilent(parted):
		p.job.Fail(CutOff(s.Text))
	default:
		p.lostOthers(tables.Procs[elsewhere[0]].Client, startup.Lost{Ranks: elsewhere, Text: text})
	}
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

// Accuse asks the server to decide about ranks of other clients, by their ranks in the world, that some of ours suspect.
func Accuse(session *client.Session, tables *transport.Job, by []int32, s startup.Suspects) {
	of := map[int32][]int32{}
	for _, r := range s.Ranks {
		c := tables.Procs[r].Client
		of[c] = append(of[c], numberIn(tables, r))
	}
	for c, ranks := range of {
		for _, b := range by {
			session.Suspect(numberIn(tables, b), c, ranks, s.Breach, s.Text)
		}
	}
}

// numberIn is a rank of the world, counted within its client.
func numberIn(tables *transport.Job, rank int32) int32 {
	return int32(slices.Index(RanksOf(tables, tables.Procs[rank].Client), rank))
}

// IsSilent reports whether a connection has ended because nothing came on it: the network may be cut, and the other end
// be well.
func IsSilent(err error) bool { return errors.Is(err, tcp.ErrSilent) || errors.Is(err, unix.ETIMEDOUT) }

// CutOff is why a client ends to which neither the server nor other clients can be reached: they may go on without it,
// and nobody can ask them.
func CutOff(text string) supervise.Cause {
	return supervise.Cause{Code: 1, Text: "nothing is heard of the IMPI server nor of other clients, which go on without " +
		"this one if they can: " + text}
}

// lostHost notes that the agent has lost a host. In a fault-tolerant job all of our ranks suspect all of that host's.
func (p *Part) lostHost(tables *transport.Job, me, host int32, err error) {
	if !p.ft {
		p.job.Lost(supervise.Cause{Code: 1, Text: err.Error(), Blamed: other(tables.Hosts[host].Client, tables, me)})
		return
	}
	s := startup.Suspects{Lost: startup.Lost{Ranks: ranksAt(tables, host), Text: err.Error()}, Silent: IsSilent(err)}
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

// condemn ends ranks of ours that are given up elsewhere.
func (p *Part) condemn(n startup.Lost) {
	here, _ := p.unexplained(n.Ranks)
	if len(here) > 0 {
		p.set.Condemn(n.Text, here...)
	}
}
