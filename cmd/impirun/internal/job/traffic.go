package job

import (
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// What the processes of a client have exchanged with other hosts, for whoever watches the job at the server. On one
// machine the agent knows it, or each rank for itself (Part.Traffic); on several, the launcher asks the nodes.

// trafficTime is how long a report waits for ranks. One that computes answers all the same, and one that has stopped
// does not.
const trafficTime = 250 * time.Millisecond

// Reports are the last answers of those who are asked for their traffic: what one has said stands until it says more,
// also after its end. The zero value is good.
type Reports struct {
	mu    sync.Mutex // guards what follows
	rows  [][]wire.Traffic
	asked []bool // it has not answered yet
	left  int    // of those
	all   chan struct{}
}

// Ask asks those of n who do not owe an answer, waits for all, up to limit, and returns what is known. ask sends the
// question, and returns false if there is nobody who would answer.
func (r *Reports) Ask(n int, limit time.Duration, ask func(i int) bool) (rows []wire.Traffic) {
	all := make(chan struct{})
	var list []int
	r.mu.Lock()
	if r.rows == nil {
		r.rows, r.asked = make([][]wire.Traffic, n), make([]bool, n)
	}
	for i, owes := range r.asked {
		if !owes {
			r.asked[i] = true
			list = append(list, i)
		}
	}
	r.left += len(list)
	r.all = all
	r.mu.Unlock()
	for _, i := range list {
		if !ask(i) {
			r.Take(i, nil)
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.rows {
		rows = append(rows, of...)
	}
	return rows
}

// Take takes an answer, or no rows if none will come. If nobody has asked, it is of no interest.
func (r *Reports) Take(i int, rows []wire.Traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil || !r.asked[i] {
		return
	}
	r.asked[i] = false
	if len(rows) > 0 {
		r.rows[i] = rows
	}
	if r.left--; r.left == 0 && r.all != nil {
		close(r.all)
		r.all = nil
	}
}

// Traffic asks the ranks, or the agent, and returns what is known. Ranks are asked by their links.
func (p *Part) Traffic() []wire.Traffic {
	p.mu.Lock()
	agent := p.agent
	p.mu.Unlock()
	if agent != nil {
		return agent.Traffic()
	}
	return p.reports.Ask(p.N, trafficTime, func(i int) bool {
		p.mu.Lock()
		end, can := p.seats[i].inside, p.tabled
		p.mu.Unlock()
		return can && end != nil && end.AskTraffic()
	})
}

// tablesTold notes that all ranks have the job's tables: from then on they can be asked.
func (p *Part) tablesTold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tabled = true
}
