package main

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/transport/shm"
)

// trial is what is known of the processes of a job that is being spawned; part.mu guards it.
type trial struct {
	waiting int           // processes that have neither said hello nor ended
	failed  []string      // by process: why it is none of the job; "" as long as it is
	changed chan struct{} // something has happened
	over    chan struct{} // closed when no process is left
}

// spawned is what is known of a job that is being spawned beside its processes.
type spawned struct {
	by       Spawner            // answers its ranks
	programs []*options.Program // by process
	parent   string             // the port of those who spawn it
	universe int32
	plain    bool // of programs that do not use MPI
}

// newSpawned makes the part of a job that is being spawned, on trial. Its processes are ready to start, but for their
// links.
func newSpawned(s spawned, list []supervise.Process) (*part, error) {
	n := len(list)
	p, err := newPart(layout.Share{N: n}, programs.NewJobID(), nil, list)
	if err != nil {
		return nil, err
	}
	p.once = "it was spawned"
	p.spawner, p.programs, p.parent, p.universe, p.plain = s.by, s.programs, s.parent, s.universe, s.plain
	p.trial = &trial{waiting: n, failed: make([]string, n), changed: make(chan struct{}, 1), over: make(chan struct{})}
	if s.plain {
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

// failed notes that a process of a job that is being spawned has failed.
func (p *part) failed(k int, why string) {
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

// failures are, by process, why it is none of the job, "" as long as it is; waiting is how many have neither said hello
// nor ended.
func (p *part) failures() (failed []string, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trial.failed), p.trial.waiting
}

// changed tells when failures has become another.
func (p *part) changed() <-chan struct{} { return p.trial.changed }

// over is closed when no process of a spawned job is left.
func (p *part) over() <-chan struct{} { return p.trial.over }

// kill ends the processes of a spawned job.
func (p *part) kill() { p.set.Kill() }

// beginPlain makes all processes the job, of programs that do not use MPI.
func (p *part) beginPlain() { p.set.Connected(nil) }

// begin makes the processes that have a number the job, and welcomes them. It answers false if one of them has ended.
func (p *part) begin(numbers, run []int, size int) (bool, error) {
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

// discard closes what a job that was spawned has open, and says whether it had. No process is left of it, or none was
// started.
func (p *part) discard() bool {
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
