package job

import (
	"slices"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// A fault-tolerant job goes on without ranks that are lost (supervise/lost.go). The others are told of each at once, by
// their links: of ranks of this machine, of other machines (package machines), and of other clients. Those who have not
// the job's tables yet are told after these.

// losses are what the ranks of a part are to be told.
type losses struct {
	list   []startup.Lost // guarded by the part's mu
	known  map[int32]bool // likewise: the ranks in it
	say    func(startup.Lost, outcome.Loss)
	court  Court // about suspects; nil: the server
	others Others
}

// Tolerate makes the part one of a fault-tolerant job. say tells the user, and others, of ranks that are lost. Several
// goroutines may call it.
func (p *Part) Tolerate(say func(startup.Lost, outcome.Loss)) { p.ft, p.losses.say = true, say }

// formed notes that the ranks know of each other, and can go on without one.
func (p *Part) formed() { p.set.Formed(p.First, p.N) }

// Lost tells the ranks of the part, and those of the same job in others, that rank i is lost.
func (p *Part) Lost(i int, l supervise.Loss, others []*Part) {
	rank := p.rank(i)
	if rank < 0 {
		return // of a spawned job: it is none of its ranks
	}
	l.Rank = rank
	n := startup.Lost{Ranks: []int32{int32(rank)}, Text: l.Did}
	known := false
	for _, q := range others {
		fresh := q.TellLost(n)
		known = known || q == p && len(fresh.Ranks) == 0
	}
	if known {
		return // it has been given up before, and ended for that
	}
	p.losses.say(n, outcome.OfRank(l))
	p.mu.Lock()
	session, first, job := p.session, p.base, p.life.name(p.jobID)
	p.mu.Unlock()
	if p.spawner != nil {
		p.spawner.Lost(p, startup.Lost{Ranks: n.Ranks, Text: n.Text, Job: job})
	}
	if session != nil {
		session.Gone([]int32{int32(rank - first)}, n.Text)
	}
}

// TellLost tells the ranks of others that are lost, and returns those of which they had not been told. It does not wait
// for them: one may be stopped.
func (p *Part) TellLost(n startup.Lost) startup.Lost {
	p.mu.Lock()
	n.Ranks = slices.DeleteFunc(slices.Clone(n.Ranks), func(r int32) bool { return p.losses.known[r] })
	if p.losses.known == nil {
		p.losses.known = map[int32]bool{}
	}
	for _, r := range n.Ranks {
		p.losses.known[r] = true
	}
	if len(n.Ranks) > 0 {
		p.losses.list = append(p.losses.list, n)
	}
	p.mu.Unlock()
	p.forgetHosts(n.Ranks)
	p.catchUpAll()
	return n
}

// forgetHosts tells the agent which hosts have no process left, of those of some ranks.
func (p *Part) forgetHosts(ranks []int32) {
	p.mu.Lock()
	agent, tables := p.agent, p.tables
	var gone []int32
	for _, r := range ranks {
		if agent == nil {
			break
		}
		host := tables.Procs[r].Host
		alive := func(r int32) bool { return !p.losses.known[r] }
		if !slices.Contains(gone, host) && !slices.ContainsFunc(ranksAt(tables, host), alive) {
			gone = append(gone, host)
		}
	}
	p.mu.Unlock()
	for _, host := range gone {
		agent.Forget(host)
	}
}

// TellOthers tells the ranks of ranks of another job that are lost.
func (p *Part) TellOthers(n startup.Lost) {
	p.mu.Lock()
	p.losses.list = append(p.losses.list, n)
	p.mu.Unlock()
	p.catchUpAll()
}

func (p *Part) catchUpAll() {
	for i := range p.N {
		go p.catchUp(i)
	}
}

// catchUp tells rank i of losses of which it has not heard, if it has the job's tables, and has not finalized.
func (p *Part) catchUp(i int) {
	if !p.ft {
		return
	}
	s := &p.seats[i]
	s.telling.Lock()
	defer s.telling.Unlock()
	p.mu.Lock()
	end, news := s.inside, p.losses.list[s.told:]
	p.mu.Unlock()
	if end == nil {
		return
	}
	heard := 0
	for _, n := range news {
		if !end.Lost(n) {
			break
		}
		heard++
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.told += heard
}

// lostClient notes that another client is lost: that ends the job, or is the loss of its ranks.
func (p *Part) lostClient(lost *client.LostError) {
	p.mu.Lock()
	ranks := RanksOf(p.tables, lost.Client)
	p.mu.Unlock()
	p.lostOthers(lost.Client, startup.Lost{Ranks: ranks, Text: lost.Error()})
}

// lostRanks notes that the clients go on without some ranks of another client, or of ours, which are ended then.
func (p *Part) lostRanks(gone *client.RanksError) {
	p.mu.Lock()
	n := LostRanks(p.tables, gone)
	p.mu.Unlock()
	switch {
	case gone.Client != p.joinPlan.Rank:
		p.lostOthers(gone.Client, n)
	case p.ft:
		p.Condemn(startup.Lost{Ranks: n.Ranks, Text: gone.Text})
	default:
		p.job.Fail(supervise.Cause{Code: 1, Text: n.Text})
	}
}

func (p *Part) lostOthers(c int32, n startup.Lost) {
	if !p.ft {
		p.job.PeerLost(p.First, p.N, supervise.Cause{Code: 1, Text: n.Text, Blamed: &c})
		return
	}
	p.losses.others.Hear(n.Ranks)
	if n = p.TellLost(n); len(n.Ranks) > 0 {
		p.losses.say(n, LossOf(n))
	}
}

// LostRanks are ranks of another client that are lost, in the world. Those that it does not have are passed over.
func LostRanks(tables *transport.Job, gone *client.RanksError) (n startup.Lost) {
	all := RanksOf(tables, gone.Client)
	for _, r := range gone.Ranks {
		if int(r) < len(all) {
			n.Ranks = append(n.Ranks, all[r])
		}
	}
	n.Text = gone.Error()
	return n
}

// RanksOf are the world ranks of a client.
func RanksOf(tables *transport.Job, c int32) (ranks []int32) {
	if tables == nil {
		return nil
	}
	for r, proc := range tables.Procs {
		if proc.Client == c {
			ranks = append(ranks, int32(r))
		}
	}
	return ranks
}

// LossOf is the loss of several ranks, for the user.
func LossOf(n startup.Lost, machines ...string) outcome.Loss {
	l := outcome.Loss{Machines: machines, Text: n.Text}
	for _, r := range n.Ranks {
		l.Ranks = append(l.Ranks, int(r))
	}
	return l
}

// partOfRank is the part of a process of the job's initial set, and its number there.
func partOfRank(parts []*Part, rank int) (p *Part, i int) {
	for _, p := range parts {
		if i := rank - p.First; i >= 0 && i < p.N {
			return p, i
		}
	}
	return nil, 0
}
