package job

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/shm"
)

// trial is what is known of the processes of a job that is being spawned; part.mu guards it.
type trial struct {
	waiting int           // processes that have neither said hello nor ended
	failed  []string      // by process: why it is none of the job; "" as long as it is
	changed chan struct{} // something has happened
	over    chan struct{} // closed when no process is left
}

// Spawned says of a job that is being spawned what its processes do not say.
type Spawned struct {
	By       Spawner            // answers what its ranks ask for
	Programs []*options.Program // by process
	Parent   string             // the port of those who spawn it
	Universe int32
	Plain    bool                             // of programs that do not use MPI
	Lost     func(startup.Lost, outcome.Loss) // that of Tolerate; nil: the job is not fault tolerant
}

// NewSpawned makes the part of a job that is being spawned, on trial. Its processes are ready to start, but for their
// links.
func NewSpawned(s Spawned, list []supervise.Process) (*Part, error) {
	n := len(list)
	p, err := New(layout.Share{N: n}, programs.NewJobID(), nil, list)
	if err != nil {
		return nil, err
	}
	p.once = "it was spawned"
	p.spawner, p.programs, p.parent, p.universe, p.plain = s.By, s.Programs, s.Parent, s.Universe, s.Plain
	if s.Lost != nil {
		p.Tolerate(s.Lost)
	}
	p.trial = &trial{waiting: n, failed: make([]string, n), changed: make(chan struct{}, 1), over: make(chan struct{})}
	if s.Plain {
		p.trial.waiting = 0
	}
	return p, nil
}

func (t *trial) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Failed notes that a process of a job that is being spawned has failed.
func (p *Part) Failed(k int, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trial
	if t.failed[k] == "" {
		if t.failed[k] = why; p.pids[k] == 0 && !p.plain {
			t.waiting--
		}
	}
	t.wake()
}

// Failures returns, by process, why it does not belong to the job, "" as long as it does; waiting is how many have
// neither said hello nor ended.
func (p *Part) Failures() (failed []string, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trial.failed), p.trial.waiting
}

// Changed returns a channel on which something comes when Failures has become another.
func (p *Part) Changed() <-chan struct{} { return p.trial.changed }

// Over returns a channel that is closed when no process of a spawned job is left.
func (p *Part) Over() <-chan struct{} { return p.trial.over }

// Kill ends the processes of a spawned job.
func (p *Part) Kill() { p.set.Kill() }

// Plain reports whether the programs of a spawned job do not use MPI.
func (p *Part) Plain() bool { return p.plain }

// BeginPlain makes all processes the job, of programs that do not use MPI.
func (p *Part) BeginPlain() { p.set.Connected(nil) }

// Begin makes the processes that have a number the job, of this size, and welcomes them: numbers are by their places
// among all that were asked for, and run are the places of the part's processes. It returns false if one of them has
// ended.
func (p *Part) Begin(numbers, run []int, size int) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := make([]int, p.N)
	var pids []uint32
	var spare []int
	var kept []supervise.Process
	for k, at := range run {
		if mine[k] = numbers[at]; mine[k] >= 0 {
			pids, kept = append(pids, p.pids[k]), append(kept, p.bound[k])
		} else {
			spare = append(spare, k)
		}
	}
	if size < p.N { // the memory is for as many as there are
		shared, err := shm.Create(size)
		if err != nil {
			return false, err
		}
		if err := layout.PlaceMemory(shared, kept); err != nil {
			unix.Close(shared)
			return false, err
		}
		unix.Close(p.shared)
		p.shared = shared
	}
	if !p.set.Connected(mine) {
		return false, nil
	}
	if len(spare) > 0 {
		p.set.Kill(spare...)
	}
	p.numbers, p.members = mine, pids
	close(p.welcome)
	return true, nil
}

// Discard closes what a spawned job has open, and reports whether it had anything open. No process is left of it, or
// none was started.
func (p *Part) Discard() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared < 0 {
		return false
	}
	p.closeLives()
	for _, end := range p.ends {
		end.Close()
	}
	close(p.trial.over)
	return true
}
