package job

import (
	"fmt"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// A Spawner answers what the ranks of a part ask for while they run: jobs to be spawned, and names. It is told of the
// job.
type Spawner interface {
	// Answer returns a request of rank i. It blocks until a job that the rank spawns has begun, or cannot begin.
	Answer(from *Part, i int, r startup.Request) startup.Answer
	// Running says that the first processes of the job run. It does not block.
	Running(job *supervise.Job)
	// Lost says that ranks of a part are lost, for all other jobs of this launcher on this machine. It does not block.
	Lost(of *Part, n startup.Lost)
	// Doom says that the job is to end, and why. It does not block.
	Doom(c supervise.Cause)
}

// ServeBy makes a spawner answer the ranks of the part, which run the plan's programs. universe is MPI_UNIVERSE_SIZE.
func (p *Part) ServeBy(s Spawner, plan *options.Plan, universe int32) {
	p.spawner, p.universe = s, universe
	for i := range p.N {
		p.programs = append(p.programs, layout.ProgramOf(plan, p.First+i))
	}
}

// Program returns what rank i runs.
func (p *Part) Program(i int) *options.Program { return p.programs[i] }

// Gone returns a channel that is closed when the process of rank i has ended.
func (p *Part) Gone(i int) <-chan struct{} { return p.left[i] }

// maxRequests bounds the requests of one rank that have no answer yet.
const maxRequests = 1 << 10

// request has a rank's request answered.
func (p *Part) request(i int, end *startup.LauncherEnd, r startup.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[i] == maxRequests {
		return fmt.Errorf("the process asks for more than %d things at a time", maxRequests)
	}
	p.asked[i]++
	go func() {
		end.Answer(r.ID, p.spawner.Answer(p, i, r)) // a rank that has gone needs none
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked[i]--
	}()
	return nil
}
