package spawn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// Jobs that ranks spawn on machines that they name. Such a job has a head of its own in the first launcher, with a node
// on each of its machines, as a job that was started on several machines has (package machines): the shells through
// which nodes run are children of the launcher.
//
// Until all of its processes have called MPI_Init, what goes wrong is the answer to the rank that has asked. After that
// it is the end of all. A job on several machines is started as a whole, or not at all.

// Machines makes jobs on other machines, and is told by the spawner what concerns the job that was not spawned, if that
// is on several machines itself.
type Machines interface {
	// Job makes a job, which Serve starts. It does not block.
	Job(s *Spawner, j Elsewhere) Remote
	// Doom says that all jobs are to end. It does not block.
	Doom(c supervise.Cause)
	// Rouse says that a spawned job is over. It does not block.
	Rouse()
}

// Elsewhere is a job that is to run on other machines.
type Elsewhere struct {
	Plan   *options.Plan
	Where  []hosts.Machine
	Number int    // of the job
	Parent string // the port of those who spawn it
}

// Remote is a job on other machines.
type Remote interface {
	// Serve starts the job, and returns when no process of it is left: why it has not gone well, if that has ended
	// nobody; else nil.
	Serve() (mild *supervise.Cause)
	// Settled returns a channel that is closed when the job has begun, or cannot begin.
	Settled() <-chan struct{}
	// Refused returns, after that, why it cannot; nil if it has.
	Refused() *supervise.Cause
	// Doom ends it. It does not block.
	Doom(c supervise.Cause)
}

// placesOf are the machines that the commands of a request name; nil if none does. A command that names none, when
// others do, runs on the launcher's machine.
func placesOf(list []order, site *options.Plan) ([]hosts.Machine, error) {
	var where []hosts.Machine
	said, first := false, 0
	for i := range list {
		o := &list[i]
		said = said || len(o.hosts)+len(o.hostFiles) > 0
		own := options.Plan{Hosts: o.hosts, HostFiles: o.hostFiles, PerHost: o.perHost,
			Site: site.Site, Allocated: site.Allocated, Programs: []options.Program{{N: o.program.N}}}
		if o.inTurn {
			own.Place.Map = placement.Node
		}
		more, err := hosts.Of(&own)
		if err != nil {
			return nil, err
		}
		if len(o.hosts)+len(o.hostFiles) == 0 { // as ever, beside its parent
			more = nil
		}
		if len(o.hosts)+len(o.hostFiles) == 0 && o.program.N > 0 {
			more = []hosts.Machine{{Name: hosts.Hostname(), Local: true, Ranks: layout.UpTo(o.program.N)}}
		}
		for _, m := range more {
			for k := range m.Ranks {
				m.Ranks[k] += first
			}
			where = append(where, m)
		}
		first += o.program.N
	}
	if !said {
		return nil, nil
	}
	all, at := hosts.Merged(where)
	for i := range all {
		all[i].Ranks = nil
	}
	for i, m := range where {
		all[at[i]].Ranks = append(all[at[i]].Ranks, m.Ranks...)
	}
	return all, nil
}

// allLocal reports whether all are this machine.
func allLocal(list []hosts.Machine) bool {
	return !slices.ContainsFunc(list, func(m hosts.Machine) bool { return !m.Local })
}

// elsewhere spawns a job on the given machines.
func (s *Spawner) elsewhere(asker <-chan struct{}, r *startup.Spawn, list []order,
	where []hosts.Machine) startup.Spawned {
	plan := *s.plan
	plan.Mode, plan.Clients, plan.Stdin, plan.StdinRank = options.Run, 0, options.StdinNone, 0
	plan.Programs, plan.Timeout = nil, 0 // that of the whole job counts
	plan.Show = options.Show{Bindings: s.plan.Show.Bindings}
	var err error
	if plan.Place, err = policyOf(list, plan.Place); err != nil {
		return nothing(total(list), err)
	}
	for i := range list {
		if f := list[i].fault; f != "" {
			return nothing(total(list), errors.New(f))
		}
		if list[i].plain {
			return nothing(total(list), fmt.Errorf("program %s does not use MPI (info key ompi_non_mpi): that works only on "+
				"the machine of the process that asks, without a host", list[i].program.Argv[0]))
		}
		if g := list[i].program; g.N > 0 {
			if list[i].accept.best(g.N) != g.N {
				return nothing(total(list), fmt.Errorf("%d processes of %s are not among the acceptable numbers, and on other "+
					"machines there is no other", g.N, g.Argv[0]))
			}
			g.Number = i
			plan.Programs = append(plan.Programs, g)
		}
	}
	if len(plan.Programs) == 0 {
		return nothing(0, errors.New("no process was asked for"))
	}
	j := s.machines.Job(s, Elsewhere{Plan: &plan, Where: where, Number: s.number(), Parent: r.Parent})
	if err := s.enlist(j); err != nil {
		return nothing(total(list), err)
	}
	go func() { s.leave(j, j.Serve()) }()
	select {
	case <-j.Settled():
	case <-asker:
		j.Doom(supervise.Cause{Code: 1, Text: "the process that has asked has ended"})
		<-j.Settled()
	}
	if c := j.Refused(); c != nil {
		return nothing(total(list), errors.New(c.Text))
	}
	return startup.Spawned{Codes: make([]int32, total(list)), Size: int32(plan.Size())}
}

func total(list []order) (n int) {
	for i := range list {
		n += list[i].program.N
	}
	return n
}

// enlist notes a job on other machines, which the launcher waits for.
func (s *Spawner) enlist(j Remote) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed != nil || s.closed {
		return supervise.ErrOver
	}
	s.remote[j] = true
	s.away.Add(1)
	return nil
}

// leave notes that no process of such a job is left. mild is why it has not gone well, if it has not, and ended nobody.
func (s *Spawner) leave(j Remote, mild *supervise.Cause) {
	s.mu.Lock()
	delete(s.remote, j)
	if mild != nil && (s.cause == nil || mild.Outranks(s.cause)) {
		s.cause = mild
	}
	s.mu.Unlock()
	s.away.Done()
	s.machines.Rouse()
}

// Idle reports whether no job runs on other machines, and then lets none begin.
func (s *Spawner) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = len(s.remote) == 0
	return s.closed
}

// Fail ends everything because a job on other machines has ended badly.
func (s *Spawner) Fail(c supervise.Cause) {
	s.mu.Lock()
	job := s.job
	if s.cause == nil || c.Outranks(s.cause) {
		s.cause = &c
	}
	s.mu.Unlock()
	if job != nil {
		job.Fail(c)
	}
	s.machines.Doom(c)
}

// Finish waits for the jobs on other machines, and returns cause, or why one of them has ended badly
// if that is nil.
func (s *Spawner) Finish(cause *supervise.Cause) *supervise.Cause {
	s.away.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if cause == nil {
		return s.cause
	}
	return cause
}

// LocalJob returns the job of the processes on this machine; nil: there is none.
func (s *Spawner) LocalJob() *supervise.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.job
}
