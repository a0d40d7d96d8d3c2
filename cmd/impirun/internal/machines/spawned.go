package machines

import (
	"os/exec"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// Doom tells a head to end its processes.
func (h *head) Doom(c supervise.Cause) {
	select {
	case h.dooms <- c:
	default: // it was told before
	}
}

// Rouse makes serve look again whether it is over.
func (h *head) Rouse() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// begin starts a command on the thread that stays, and with which the command would end.
func (h *head) begin(cmd *exec.Cmd) (tree.Command, error) {
	done := make(chan error, 1)
	select {
	case h.work <- func() { done <- cmd.Start() }:
		return tree.Child{Cmd: cmd}, <-done
	case <-h.served:
		return nil, supervise.ErrOver
	}
}

// Run starts a command that ends with this launcher, beside the processes of its job on this machine if it has one.
func (h *head) Run(cmd *exec.Cmd) (tree.Command, error) {
	if h.main != nil {
		return h.main.begin(cmd)
	}
	return h.spawner.LocalJob().Accompany(cmd)
}

// Here makes the jobs that ranks spawn on other machines (spawn.Machines), for a launcher whose own job is on its
// machine.
type Here struct{}

// Job makes such a job.
func (Here) Job(s *spawn.Spawner, j spawn.Elsewhere) spawn.Remote { return newSpawned(s, j, nil) }

// Doom does nothing: the launcher's own job is told by the spawner itself.
func (Here) Doom(supervise.Cause) {}

// Rouse does nothing: the launcher waits by Spawner.Finish.
func (Here) Rouse() {}

// Job makes a job that ranks spawn on other machines, for a launcher whose own job is on several.
func (h *head) Job(s *spawn.Spawner, j spawn.Elsewhere) spawn.Remote { return newSpawned(s, j, h) }

// spawned is a job on other machines that ranks have spawned.
type spawned struct {
	*head
	where []hosts.Machine
}

func newSpawned(s *spawn.Spawner, j spawn.Elsewhere, main *head) *spawned {
	return &spawned{where: j.Where, head: &head{plan: j.Plan, spawner: s, main: main, turns: make(chan func()),
		joined: make(chan joinResult, 1), lost: make(chan error, 1), wake: make(chan struct{}, 1),
		dooms: make(chan supervise.Cause, 1), job: j.Number, parent: j.Parent, settled: make(chan struct{}),
		served: make(chan struct{})}}
}

// Serve starts the job and waits for its end.
func (j *spawned) Serve() (mild *supervise.Cause) {
	if err := j.startAll(j.where); err != nil {
		j.fail(&supervise.Cause{Code: 1, Text: err.Error()})
	}
	j.serve(nil)
	close(j.served)
	for _, leave := range j.places {
		leave()
	}
	return j.mild
}

func (j *spawned) Settled() <-chan struct{}  { return j.settled }
func (j *spawned) Refused() *supervise.Cause { return j.refused }
