package job

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/shm"
)

// A rank is the process that the launcher has started. It may be a script that runs one MPI program after the other:
// then each is a life of the rank's, and what the programs of one life share is new in the next.
//
// A program of a rank finds the launcher by the link that it has inherited, or by the part's door (startup.Door). At
// most one of a rank is in MPI at a time.

// life is from MPI_Init to MPI_Finalize of all ranks of a part.
type life struct {
	number  int
	pids    []uint32 // by local rank, 0: no hello yet
	greeted int
	shared  int           // descriptor of the memory that the ranks share
	welcome chan struct{} // closed when all have greeted
}

func newLife(number, n int) *life {
	return &life{number: number, pids: make([]uint32, n), shared: -1, welcome: make(chan struct{})}
}

// name is the id of the job that the ranks of a life are.
func (l *life) name(job string) string {
	if l.number == 1 {
		return job
	}
	return fmt.Sprintf("%s.%d", job, l.number)
}

// seat is what is known of one rank's programs.
type seat struct {
	lives  int                    // in which it was so far
	inside *startup.LauncherEnd   // of the program that is in MPI; nil: none is
	last   *startup.LauncherEnd   // of the last that was
	pid    int                    // of that, as it sees itself
	guests []*startup.LauncherEnd // those that have come through the door
	heard  sync.WaitGroup         // those that are being read
	gone   bool                   // the rank has ended: nobody is let in any more
	told   int                    // of how many losses it has heard

	telling sync.Mutex // held while it is told, so that it hears all in their order
}

// onlyOnce returns why the ranks of a part may have one life only.
func onlyOnce(how *join.Plan, ranks []supervise.Process) string {
	switch {
	case how != nil:
		return "the job has several clients, or machines"
	case len(ranks) > 0 && programs.ValueIn(ranks[0].Env, startup.EnvLocal) != "":
		return "its ranks talk by another MPI library (" + startup.EnvLocal + ")"
	}
	return ""
}

// openDoor makes a door for the ranks of a part, and tells it to their processes.
func (p *Part) openDoor(list []supervise.Process) (err error) {
	if p.door, err = startup.OpenDoor(p.N); err != nil {
		return fmt.Errorf("the launcher's socket: %w", err)
	}
	for i := range list {
		list[i].Env = append(list[i].Env, p.door.Env(i))
	}
	return nil
}

// admit serves a program of rank i that has come through the door.
func (p *Part) admit(i int, end *startup.LauncherEnd) {
	defer end.Close()
	s := &p.seats[i]
	p.mu.Lock()
	if s.gone {
		p.mu.Unlock()
		return
	}
	s.guests = append(s.guests, end)
	s.heard.Add(1)
	p.mu.Unlock()
	defer s.heard.Done()
	p.read(i, end)
	if pid, was := p.abandoned(i, end); was {
		p.set.Abandoned(p.First+i, pid)
	}
}

// drainSeat reads what the programs of rank i, which has ended, have sent through the door.
func (p *Part) drainSeat(i int, limit time.Time) {
	s := &p.seats[i]
	p.mu.Lock()
	s.gone = true
	for _, end := range s.guests {
		end.SetDeadline(limit)
	}
	p.mu.Unlock()
	s.heard.Wait()
}

// abandoned forgets a link that is at its end, and reports whether a program was in MPI by it.
func (p *Part) abandoned(i int, end *startup.LauncherEnd) (pid int, was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.seats[i]
	s.guests = slices.DeleteFunc(s.guests, func(g *startup.LauncherEnd) bool { return g == end })
	return s.pid, s.inside == end
}

// arrive notes a hello, of which life it is, and who has said it; after the last one all are welcome. refusal says why
// the program cannot be the rank.
func (p *Part) arrive(i int, end *startup.LauncherEnd, hello startup.Hello) (now *life, refusal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.seats[i]
	if s.inside != nil {
		return nil, fmt.Sprintf("process %d is in MPI as the same rank, %d; a rank's next program may call MPI_Init after "+
			"that has called MPI_Finalize. To start processes from a rank, use MPI_Comm_spawn", s.pid,
			p.First+layout.RankIn(p.ranks, i))
	}
	if s.lives == p.life.number {
		if refusal := p.nextLife(); refusal != "" {
			return nil, refusal
		}
	}
	s.inside, s.last, s.pid, s.lives = end, end, hello.PID, p.life.number
	p.set.Initialized(p.First + i)
	p.pids[i] = distinct(p.pids, i, uint32(hello.PID))
	p.greeted++
	switch {
	case p.trial != nil && !p.plain: // settle decides
		if p.trial.failed[i] == "" {
			p.trial.waiting--
		}
		p.trial.wake()
	case p.greeted == p.N:
		p.closeOld()
		if p.joinPlan == nil {
			p.formed()
		}
		close(p.welcome)
	}
	return p.life, ""
}

// nextLife begins a life: its first rank has come, which was in all before. p.mu is held.
func (p *Part) nextLife() (refusal string) {
	if p.once != "" {
		return fmt.Sprintf("another MPI program of this rank has ended, and there can be no second one, since %s; start "+
			"each with an impirun of its own", p.once)
	}
	shared, err := shm.Create(p.N)
	if err == nil {
		err = layout.PlaceMemory(shared, p.bound)
	}
	if err != nil {
		unix.Close(shared)
		return fmt.Sprintf("no memory for a second program: %v", err)
	}
	p.old, p.life = p.life, newLife(p.life.number+1, p.N)
	p.shared = shared
	return ""
}

// leave notes that a program of rank i has finalized.
func (p *Part) leave(i int, end *startup.LauncherEnd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &p.seats[i]; s.inside == end {
		s.inside = nil
		p.reports.Take(i, nil) // it answers no more
		p.round.leave(i)
	}
}

// link is that of the program of rank i that is in MPI, or was last.
func (p *Part) link(i int) *startup.LauncherEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := p.seats[i].last; end != nil {
		return end
	}
	return p.ends[i]
}

// closeOld closes the memory of the life before, which all have that are in the present one. p.mu is held.
func (p *Part) closeOld() {
	if p.old != nil {
		unix.Close(p.old.shared)
		p.old = nil
	}
}

// closeLives closes the memory of all lives, and the door. p.mu is held.
func (p *Part) closeLives() {
	p.closeOld()
	unix.Close(p.shared)
	p.shared = -1
	if p.door != nil {
		p.door.Close()
	}
}
