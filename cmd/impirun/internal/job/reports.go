package job

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup"
)

// What the ranks of this machine wait for, for whoever asks the launcher: each is asked by its link, all at the same
// time. What is known of one that does not answer is what the kernel says of its process.

// round is one question to all ranks.
type round struct {
	mu      sync.Mutex // guards what follows
	number  uint32
	waiting []bool // by local rank: it has not answered yet
	answers []*report.Process
	left    int
	all     chan struct{} // closed when left is 0
}

// take notes an answer. One to another question is of no interest.
func (r *round) take(i int, number uint32, p *report.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number != r.number || r.waiting == nil || !r.waiting[i] {
		return
	}
	r.waiting[i], r.answers[i] = false, p
	if r.left--; r.left == 0 {
		close(r.all)
	}
}

// leave notes that a rank will not answer.
func (r *round) leave(i int) {
	r.mu.Lock()
	number := r.number
	r.mu.Unlock()
	r.take(i, number, nil)
}

// begin makes a round of questions to n ranks, and returns its number.
func (r *round) begin(n int) (number uint32, all <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	r.waiting, r.answers, r.left = make([]bool, n), make([]*report.Process, n), n
	for i := range r.waiting {
		r.waiting[i] = true
	}
	r.all = make(chan struct{})
	return r.number, r.all
}

// end returns the answers, and ends the round.
func (r *round) end() []*report.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = nil
	return r.answers
}

// States asks all ranks of the part what they wait for, and returns what they have said within limit. number is the
// part's job, if it was spawned, else 0. One caller at a time is served.
func (p *Part) States(number int, limit time.Duration) []stat.Rank {
	p.asker.Lock()
	defer p.asker.Unlock()
	before := p.samples()
	id, all := p.round.begin(p.N)
	deadline := time.Now().Add(limit)
	entering := make([]bool, p.N)
	for i := range p.N {
		end := p.inside(i)
		if end == nil || !end.AskReport(id, time.Until(deadline)) {
			entering[i] = end != nil && end.Entering()
			p.round.leave(i)
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
	list := make([]stat.Rank, 0, p.N)
	for i, answer := range p.round.end() {
		r := stat.Rank{Job: number, Rank: p.rank(i), Process: answer}
		if r.Rank < 0 {
			continue // of a spawned job: it is none of its ranks
		}
		if answer != nil {
			answer.Rank = r.Rank
			p.sites.fill(answer)
		} else {
			r.State, r.Detail = p.silent(i, entering[i], before[i])
		}
		list = append(list, r)
	}
	return list
}

// answered takes the report of a rank. One that makes no sense says nothing.
func (p *Part) answered(i int, r startup.Report) {
	said, err := report.Parse(r.Text)
	if err != nil {
		said = nil
	}
	p.round.take(i, r.Number, said)
}

func (p *Part) inside(i int) *startup.LauncherEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seats[i].inside
}

// rank is the rank of local rank i in its MPI_COMM_WORLD; -1: it has none.
func (p *Part) rank(i int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.numbers != nil {
		return p.numbers[i]
	}
	return p.base + layout.RankIn(p.ranks, i)
}

// silent is what is known of a rank that has not answered.
func (p *Part) silent(i int, entering bool, before sample) (state stat.State, detail string) {
	p.mu.Lock()
	s := &p.seats[i]
	gone, lives, inside, pid := s.gone, s.lives, s.inside != nil, s.pid
	p.mu.Unlock()
	select {
	case <-p.left[i]:
		gone = true
	default:
	}
	switch {
	case gone:
		return stat.Ended, ""
	case lives == 0:
		return stat.Outside, ""
	case !inside:
		return stat.Finalized, ""
	}
	now := sampleOf(pid)
	detail = "process " + strconv.Itoa(pid)
	switch {
	case now.state == 'T' || now.state == 't':
		return stat.Stopped, detail
	case now.state == 'D':
		return stat.Disk, detail + ", in " + wchan(pid)
	case entering:
		return stat.Entering, ""
	case now.state == 'R' || now.ticks > before.ticks && before.state != 0:
		return stat.Running, detail
	}
	return stat.Mute, detail
}

// sample is what the kernel says of a process: the letter of its state, and the processor time that it has used, in
// ticks, of which there are 100 in a second.
type sample struct {
	state byte // 0: it is not known
	ticks uint64
}

// sampleOf reads fields 3, 14 and 15 of /proc/PID/stat.
func sampleOf(pid int) (s sample) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 13 {
		return s
	}
	user, _ := strconv.ParseUint(fields[11], 10, 64)
	system, _ := strconv.ParseUint(fields[12], 10, 64)
	return sample{fields[0][0], user + system}
}

// wchan is where in the kernel a process waits.
func wchan(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/wchan")
	if err != nil || len(b) == 0 || string(b) == "0" {
		return "the kernel"
	}
	return string(b)
}

// samples are those of the ranks that are in MPI.
func (p *Part) samples() []sample {
	list := make([]sample, p.N)
	for i := range list {
		if pid := p.pidInside(i); pid != 0 {
			list[i] = sampleOf(pid)
		}
	}
	return list
}

// pidInside is the process that is rank i, if it is in MPI; else 0.
func (p *Part) pidInside(i int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seats[i].inside == nil {
		return 0
	}
	return p.seats[i].pid
}

// Rest notices when all ranks of a part sleep, without a word from them. The zero value is good, for one goroutine.
type Rest struct {
	last []sample
	at   []int // in which look that was
	look int
}

// restTicks is how much processor time a rank may use between two looks and still be at rest.
const restTicks = 3

// All reports whether no rank has used processor time since the last look, and some are in MPI. A rank that does ends
// the look, so that a busy job costs nothing.
func (r *Rest) All(p *Part) bool {
	if r.last == nil {
		r.last, r.at, r.look = make([]sample, p.N), make([]int, p.N), 1
	}
	r.look++
	rest, some := true, false
	for i := range p.N {
		pid := p.pidInside(i)
		if pid == 0 {
			continue
		}
		some = true
		now, was, fresh := sampleOf(pid), r.last[i], r.at[i] == r.look-1
		r.last[i], r.at[i] = now, r.look
		busy := now.state == 'R' || now.ticks < was.ticks || now.ticks-was.ticks > restTicks
		switch {
		case fresh && busy:
			return false
		case !fresh || busy:
			rest = false // the others need a fresh sample, too
		}
	}
	return rest && some
}

// StatesOf asks all parts at the same time. The numbers are those of spawned jobs, or 0.
func StatesOf(parts map[*Part]int, limit time.Duration) []stat.Rank {
	var mu sync.Mutex
	var lists [][]stat.Rank
	var asked sync.WaitGroup
	for p, number := range parts {
		asked.Go(func() {
			list := p.States(number, limit)
			mu.Lock()
			defer mu.Unlock()
			lists = append(lists, list)
		})
	}
	asked.Wait()
	return slices.Concat(lists...)
}
