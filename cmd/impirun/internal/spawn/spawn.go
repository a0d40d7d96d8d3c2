// Package spawn is what ranks ask for while they run: jobs that they spawn, and names that they publish and look up.
//
// Flow of a job: a rank asks (job.Spawner) -> its request is understood (orders.go), in a node and in the first
// launcher, which says where the job is to run (Ask) -> on the machine of the rank a part is made for the new job, and
// its processes start beside the others, on trial (supervise.Set) -> each says hello, or ends -> when all have, or as
// soon as too few are left, it is decided which processes are the job -> those are welcomed, the others are ended ->
// the rank has its answer. From then on the processes are like all others. Processes on other machines are the business
// of elsewhere.go.
//
// Flow of a name: it is noted in the first launcher (names.go), and at the name server that several launchers have in
// common, unless it is to stay in the job.
package spawn

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// Spawner answers what the ranks of this launcher ask for, and starts it.
type Spawner struct {
	plan     *options.Plan
	base     []string // the environment that programs start from
	jobID    string   // the launcher's, by which its guard knows all that belongs to it
	universe int32
	above    Superior // nil: we are the first launcher
	machines Machines // nil: we are not
	names    *nameBook
	places   occupied
	lost     func(startup.Lost, outcome.Loss) // tells the user of lost ranks; nil: the job is not fault tolerant

	mu     sync.Mutex
	job    *supervise.Job    // of the processes on this machine; nil: there is none
	count  int               // jobs that were spawned
	first  []*job.Part       // of the job that was not spawned
	parts  map[*job.Part]int // those that run on this machine, and their numbers
	remote map[Remote]bool   // those that run on other machines (elsewhere.go)
	away   sync.WaitGroup    // their number
	closed bool              // there will be no more of these
	cause  *supervise.Cause  // why one of these has ended badly
	doomed *supervise.Cause  // the job is to end
}

// Superior is the first launcher, as a node of it sees it.
type Superior interface {
	// Ask hands on a request of a process that runs like a program. It blocks until there is an answer. here is not 0 if
	// the node is to spawn the job itself: then it is the job's number.
	Ask(r startup.Request, like *options.Program) (a startup.Answer, here int)
}

// errSpawn is MPI_ERR_SPAWN.
const errSpawn = startup.CodeSpawn

// New makes the spawner of a first launcher. base is the environment that programs start from, jobID the launcher's
// job, and universe MPI_UNIVERSE_SIZE.
func New(plan *options.Plan, base []string, jobID string, universe int32, m Machines) *Spawner {
	s := &Spawner{plan: plan, base: base, jobID: jobID, universe: universe, machines: m, remote: map[Remote]bool{},
		parts: map[*job.Part]int{}}
	s.names = newNameBook(s, base)
	return s
}

// Below makes the spawner of a node. taken are the places of this machine that have been taken already.
func Below(above Superior, plan *options.Plan, base []string, jobID string, universe int32,
	taken []int) *Spawner {
	s := New(plan, base, jobID, universe, nil)
	s.above = above
	s.places.taken = map[string][]int{"": taken}
	return s
}

// Close frees what the spawner has open, and the names that its ranks have published.
func (s *Spawner) Close() { s.names.close() }

// UniverseSize returns MPI_UNIVERSE_SIZE.
func (s *Spawner) UniverseSize() int32 { return s.universe }

// Running notes the job, whose first processes run.
func (s *Spawner) Running(job *supervise.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job = job
}

// Tolerate makes the jobs that are spawned fault tolerant. say tells the user of ranks that are lost.
func (s *Spawner) Tolerate(say func(startup.Lost, outcome.Loss)) { s.lost = say }

// Serve makes the spawner serve the ranks of one of the plan's parts.
func (s *Spawner) Serve(p *job.Part, plan *options.Plan) {
	p.ServeBy(s, plan, s.universe)
	s.mu.Lock()
	s.first = append(s.first, p)
	s.mu.Unlock()
	s.places.take("", p.N)
}

// Doom ends the jobs on other machines, since the job is to end, and lets none begin.
func (s *Spawner) Doom(c supervise.Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed == nil {
		s.doomed = &c
	}
	for h := range s.remote {
		h.Doom(c)
	}
}

// Lost tells all jobs on this machine but one of ranks of that one that are lost: they may have spawned it, or it them.
// Those on other machines notice by their connections.
func (s *Spawner) Lost(of *job.Part, n startup.Lost) {
	parts, _ := s.Parts()
	s.mu.Lock()
	all := slices.Collect(maps.Keys(parts))
	if !slices.Contains(s.first, of) {
		all = append(all, s.first...)
	}
	s.mu.Unlock()
	for _, p := range all {
		if p != of {
			p.TellOthers(n)
		}
	}
}

// Answer returns a request of rank i of a part.
func (s *Spawner) Answer(from *job.Part, i int, r startup.Request) startup.Answer {
	like := from.Program(i)
	if s.above == nil {
		a, list := s.decide(r, from, from.Gone(i), like, func(where []hosts.Machine) bool {
			return where == nil || allLocal(where)
		})
		if list != nil {
			a = answerOf(s.here(from, i, r.Spawn, list, s.number()))
		}
		return a
	}
	if r.Name != nil {
		like = nil
	}
	a, number := s.above.Ask(r, like)
	if number == 0 {
		return a
	}
	list, err := readOrders(r.Spawn, like, s.base)
	if err != nil {
		return startup.Answer{Err: err}
	}
	return answerOf(s.here(from, i, r.Spawn, list, number))
}

// Ask returns, in the first launcher, a request of a node's process: see Superior.
func (s *Spawner) Ask(r startup.Request, like *options.Program) (a startup.Answer, here int) {
	a, list := s.decide(r, nil, nil, like, func(where []hosts.Machine) bool { return where == nil })
	if list != nil {
		here = s.number()
	}
	return a, here
}

// decide answers, in the first launcher, a request of a process that runs like a program: from is its part, nil if that
// is a node's, and gone is closed when the process has ended. If list is not nil, it is what is to be spawned on the
// process's own machine, as beside says of the machines that the request names (nil: it names none).
func (s *Spawner) decide(r startup.Request, from *job.Part, gone <-chan struct{}, like *options.Program,
	beside func(where []hosts.Machine) bool) (a startup.Answer, list []order) {
	if r.Name != nil {
		port, err := s.names.serve(from, r.Name)
		return startup.Answer{Port: port, Err: err}, nil
	}
	list, err := readOrders(r.Spawn, like, s.base)
	if err != nil {
		return startup.Answer{Err: err}, nil
	}
	where, err := placesOf(list, s.plan)
	if err != nil {
		return startup.Answer{Err: startup.Refuse(startup.ErrInfo, "%v", err)}, nil
	}
	if beside(where) {
		return startup.Answer{}, list
	}
	return answerOf(s.elsewhere(gone, r.Spawn, list, where)), nil
}

func answerOf(s startup.Spawned) startup.Answer { return startup.Answer{Spawned: &s} }

// number is that of the next job.
func (s *Spawner) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return s.count
}

// Parts are the spawned jobs on this machine, with their numbers. away reports whether there are others elsewhere.
func (s *Spawner) Parts() (parts map[*job.Part]int, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.parts), len(s.remote) > 0
}

// Remotes are those that run elsewhere.
func (s *Spawner) Remotes() []Remote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.remote))
}

// HasSpawned reports whether a job has been spawned.
func (s *Spawner) HasSpawned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count > 0
}

// here spawns a job on this machine.
func (s *Spawner) here(from *job.Part, i int, r *startup.Spawn, list []order, number int) startup.Spawned {
	plain := false
	var slots []int // the command of each process
	for k := range list {
		list[k].find(s.base, s.plan.ABI)
		plain = plain || list[k].plain
		for range list[k].program.N {
			slots = append(slots, k)
		}
	}
	failed := make([]string, len(slots))
	var run []int // the processes that can be tried
	for at, k := range slots {
		if failed[at] = list[k].fault; failed[at] == "" {
			run = append(run, at)
		}
	}
	if _, size, ok := choose(list, failed); !ok || size == 0 {
		return nothing(len(slots), whyNot(failed))
	}
	plan := *s.plan
	var err error
	if plan.Place, err = policyOf(list, plan.Place); err != nil {
		return nothing(len(slots), err)
	}
	p, places, processes, err := s.newPart(r, &plan, list, slots, run, number, plain)
	if err != nil {
		return nothing(len(slots), err)
	}
	set, broken, err := s.job.Add(s.setConfig(p, places, list, slots, run, number), processes)
	if err != nil {
		s.discard(p, places)
		return nothing(len(slots), err)
	}
	p.ListenAll(s.job, set)
	s.mu.Lock()
	s.parts[p] = number
	s.mu.Unlock()
	for k, err := range broken {
		if err != nil {
			p.Drain(k)
			p.Failed(k, err.Error())
		}
	}
	settle := s.settle
	if plain {
		settle = s.settlePlain
	}
	return settle(from.Gone(i), p, list, failed, run)
}

// nothing is the answer if there is no job.
func nothing(n int, why error) startup.Spawned {
	a := startup.Spawned{Codes: make([]int32, n), Text: why.Error()}
	for i := range a.Codes {
		a.Codes[i] = errSpawn
	}
	return a
}

// newPart makes the part of a job that is spawned, and its processes, which have places: run are the places of those
// among all that were asked for, and plan says how they are bound.
func (s *Spawner) newPart(r *startup.Spawn, plan *options.Plan, list []order, slots, run []int, number int,
	plain bool) (p *job.Part, places []int, processes []supervise.Process, err error) {
	n := len(run)
	processes = make([]supervise.Process, n)
	before, places := s.places.take("", n)
	how := job.Spawned{By: s, Parent: r.Parent, Universe: s.universe, Plain: plain, Lost: s.lost}
	for k, at := range run {
		o := &list[slots[at]]
		place := programs.Place{Program: slots[at], Rank: k, Size: n, LocalRank: k, LocalSize: n, Verbose: s.plan.Verbose,
			Parameters: s.plan.Parameters, Front: o.front, Preload: programs.Preload(o.path, o.program.Dir, o.front)}
		processes[k].Path, processes[k].Argv, processes[k].Dir = o.path, o.program.Argv, o.program.Dir
		processes[k].Env = programs.Environment(s.base, &o.program, s.jobID, place)
		how.Programs = append(how.Programs, &o.program)
	}
	if err = layout.Bind(plan, processes, nil, number, before); err == nil {
		p, err = job.NewSpawned(how, processes)
	}
	if err != nil {
		s.places.giveBack("", places)
		return nil, nil, nil, err
	}
	return p, places, processes, nil
}

// discard gives up what a job that was spawned has, when no process is left of it, or none was started.
func (s *Spawner) discard(p *job.Part, places []int) {
	s.mu.Lock()
	delete(s.parts, p)
	s.mu.Unlock()
	if p.Discard() {
		s.places.giveBack("", places)
		s.names.forget(p)
	}
}

func (s *Spawner) setConfig(p *job.Part, places []int, list []order, slots, run []int, number int) supervise.SetConfig {
	names := make([]string, len(run))
	for k, at := range run {
		names[k] = fmt.Sprintf(" (%s)", filepath.Base(list[slots[at]].program.Argv[0]))
	}
	return supervise.SetConfig{
		Name: layout.OfJob(number), Names: names, Streams: job.Streams(s.plan, nil, number),
		Drain: p.Drain,
		Ended: func(k int, how string) {
			if p.Plain() {
				return // it has done what it was started for
			}
			text := fmt.Sprintf("program %s (rank %d of spawned job %d) ", p.Program(k).Argv[0], k, number)
			if how == "ended" {
				text += "ended without calling MPI_Init"
			} else {
				text += how + " before MPI_Init had returned"
			}
			if lib := programs.OtherLibrary(list[slots[run[k]]].path); lib != "" {
				text += fmt.Sprintf("; it is linked with another MPI library (%s)", lib)
			}
			p.Failed(k, text)
		},
		Over: func() { s.discard(p, places) },
		Lost: func(k int, l supervise.Loss) { p.Lost(k, l, []*job.Part{p}) },
	}
}

// settle waits until it is clear which processes are the job, and welcomes them. asker is closed when the process that
// has asked is gone; failed is why processes could not be tried.
func (s *Spawner) settle(asker <-chan struct{}, p *job.Part, list []order, failed []string, run []int) startup.Spawned {
	for {
		now, waiting := p.Failures()
		for k, at := range run {
			failed[at] = now[k]
		}
		numbers, size, ok := choose(list, failed)
		if !ok || size == 0 {
			return s.undo(p, len(failed), whyNot(failed))
		}
		begun := false
		if waiting == 0 {
			var err error
			if begun, err = p.Begin(numbers, run, size); err != nil {
				return s.undo(p, len(failed), err)
			}
		}
		if begun {
			a := startup.Spawned{Codes: make([]int32, len(failed)), Size: int32(size)}
			for at, number := range numbers {
				if number < 0 {
					a.Codes[at], a.Text = errSpawn, whyNot(failed).Error()
				}
			}
			return a
		}
		select {
		case <-p.Changed():
		case <-asker:
			return s.undo(p, len(failed), errors.New("the process that has asked has ended"))
		case <-s.job.Ended():
			return nothing(len(failed), supervise.ErrOver)
		}
	}
}

// settlePlain is settle for programs that do not use MPI: all that have been started are well, and there is no job to
// be connected with.
func (s *Spawner) settlePlain(_ <-chan struct{}, p *job.Part, list []order, failed []string,
	run []int) startup.Spawned {
	now, _ := p.Failures()
	for k, at := range run {
		failed[at] = now[k]
	}
	numbers, _, ok := choose(list, failed)
	if !ok {
		return s.undo(p, len(failed), whyNot(failed))
	}
	p.BeginPlain()
	a := startup.Spawned{Codes: make([]int32, len(failed))}
	for at, number := range numbers {
		if number < 0 {
			a.Codes[at], a.Text = errSpawn, whyNot(failed).Error()
		}
	}
	return a
}

// undo ends the processes of a job that has failed, and returns when none is left.
func (s *Spawner) undo(p *job.Part, n int, why error) startup.Spawned {
	p.Kill()
	select {
	case <-p.Over():
	case <-s.job.Ended():
	}
	return nothing(n, why)
}
