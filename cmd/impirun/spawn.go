package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/shm"
)

// Jobs that ranks spawn on this machine.
//
// Flow: a rank asks (part.take) -> a goroutine of its own reads the request (orders.go) -> a part is made for the
// new job, and its processes start beside the others, on trial (supervise.Set) -> each says hello, or ends -> when all
// have, or as soon as too few are left, it is decided which processes are the job -> those are welcomed, the others are
// ended -> the rank has its answer. From then on the processes are like all others.
//
// Processes on other machines are the business of elsewhere.go.

// spawner starts what the ranks of this launcher ask for.
type spawner struct {
	plan     *options.Plan
	base     []string // the environment that programs start from
	jobID    string   // the launcher's, by which its guard knows all that belongs to it
	universe int32
	above    superior // nil: we are the first launcher
	names    *nameBook
	places   occupied

	mu     sync.Mutex
	job    *supervise.Job   // of the processes on this machine; nil: there is none
	head   *head            // of the job that was not spawned, if that is on several machines
	count  int              // jobs that were spawned
	remote map[*head]bool   // those that run on other machines (elsewhere.go)
	away   sync.WaitGroup   // their number
	closed bool             // there will be no more of these
	cause  *supervise.Cause // why one of these has ended badly
	doomed *supervise.Cause // the job is to end
}

// superior is the first launcher, as a node of it sees it.
type superior interface {
	// ask hands on a request. here is not 0 if the node is to spawn the job itself: then it is the job's number.
	ask(r startup.Request, like *options.Program) (a startup.Answer, here int)
}

// maxRequests bounds the requests of one rank that have no answer yet.
const maxRequests = 1 << 10

// errSpawn is MPI_ERR_SPAWN.
const errSpawn = startup.CodeSpawn

func newSpawner(plan *options.Plan, base []string, jobID string, universe int32) *spawner {
	s := &spawner{plan: plan, base: base, jobID: jobID, universe: universe, remote: map[*head]bool{}}
	s.names = newNameBook(s, base)
	return s
}

// serve is told of the job when its first processes run.
func (s *spawner) serve(job *supervise.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job = job
}

// spawn makes the spawner serve the ranks of one of the plan's parts.
func (p *part) spawn(s *spawner, plan *options.Plan) {
	p.spawner, p.universe = s, s.universe
	s.places.take("", p.N)
	for i := range p.N {
		p.programs = append(p.programs, layout.ProgramOf(plan, p.First+i))
	}
}

// doom is told that the job is to end.
func (s *spawner) doom(c supervise.Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed == nil {
		s.doomed = &c
	}
	for h := range s.remote {
		h.doom(c)
	}
}

// request has a rank's request answered.
func (p *part) request(i int, end *startup.LauncherEnd, r startup.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[i] == maxRequests {
		return fmt.Errorf("the process asks for more than %d things at a time", maxRequests)
	}
	p.asked[i]++
	go func() {
		end.Answer(r.ID, p.spawner.answer(p, i, r)) // a rank that has gone needs none
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked[i]--
	}()
	return nil
}

// answer answers a request of rank i of a part.
func (s *spawner) answer(from *part, i int, r startup.Request) startup.Answer {
	like := from.programs[i]
	if s.above == nil {
		a, list := s.decide(r, from, from.left[i], like, func(where []hosts.Machine) bool {
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
	a, number := s.above.ask(r, like)
	if number == 0 {
		return a
	}
	list, err := readOrders(r.Spawn, like, s.base)
	if err != nil {
		return startup.Answer{Err: err}
	}
	return answerOf(s.here(from, i, r.Spawn, list, number))
}

// decide answers, in the first launcher, a request of a process that runs like a program: from is its part, nil if that
// is a node's, and gone is closed when the process has ended. If list is not nil, it is what is to be spawned on the
// process's own machine, as beside says of the machines that the request names (nil: it names none).
func (s *spawner) decide(r startup.Request, from *part, gone <-chan struct{}, like *options.Program,
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
func (s *spawner) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return s.count
}

// trial is what is known of the processes of a job that is being spawned; part.mu guards it.
type trial struct {
	waiting int           // processes that have neither said hello nor ended
	failed  []string      // by process: why it is none of the job; "" as long as it is
	changed chan struct{} // something has happened
	over    chan struct{} // closed when no process is left
}

func (t *trial) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// here spawns a job on this machine.
func (s *spawner) here(from *part, i int, r *startup.Spawn, list []order, number int) startup.Spawned {
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
	p, processes, err := s.newPart(r, &plan, list, slots, run, number, plain)
	if err != nil {
		return nothing(len(slots), err)
	}
	set, broken, err := s.job.Add(s.setConfig(p, list, slots, run, number), processes)
	if err != nil {
		p.discard()
		return nothing(len(slots), err)
	}
	p.listenAll(s.job, set)
	for k, err := range broken {
		if err != nil {
			p.drain(k)
			p.failed(k, err.Error())
		}
	}
	settle := s.settle
	if plain {
		settle = s.settlePlain
	}
	return settle(from.left[i], p, list, failed, run)
}

// nothing is the answer if there is no job.
func nothing(n int, why error) startup.Spawned {
	a := startup.Spawned{Codes: make([]int32, n), Text: why.Error()}
	for i := range a.Codes {
		a.Codes[i] = errSpawn
	}
	return a
}

// newPart makes the part of a job that is spawned, and its processes: run are the places of those among all that were
// asked for, and plan says how they are bound.
func (s *spawner) newPart(r *startup.Spawn, plan *options.Plan, list []order, slots, run []int, number int,
	plain bool) (*part, []supervise.Process, error) {
	n := len(run)
	processes := make([]supervise.Process, n)
	before, places := s.places.take("", n)
	err := layout.Bind(plan, processes, nil, number, before)
	var p *part
	if err == nil {
		p, err = newPart(layout.Share{N: n}, programs.NewJobID(), nil, processes)
	}
	if err != nil {
		s.places.giveBack("", places)
		return nil, nil, err
	}
	p.places, p.once = places, "it was spawned"
	p.spawner, p.parent, p.universe = s, r.Parent, s.universe
	p.trial = &trial{waiting: n, failed: make([]string, n), changed: make(chan struct{}, 1), over: make(chan struct{})}
	if plain {
		p.trial.waiting = 0
	}
	p.plain = plain
	for k, at := range run {
		o := &list[slots[at]]
		place := programs.Place{Program: slots[at], Rank: k, Size: n, LocalRank: k, LocalSize: n, Verbose: s.plan.Verbose,
			Parameters: s.plan.Parameters, Front: o.front, Preload: programs.Preload(o.path, o.program.Dir, o.front)}
		processes[k].Path, processes[k].Argv, processes[k].Dir = o.path, o.program.Argv, o.program.Dir
		processes[k].Env = append(programs.Environment(s.base, &o.program, s.jobID, place), p.door.Env(k))
		p.programs = append(p.programs, &o.program)
	}
	return p, processes, servePMI(processes, p.jobID)
}

func (s *spawner) setConfig(p *part, list []order, slots, run []int, number int) supervise.SetConfig {
	names := make([]string, len(run))
	for k, at := range run {
		names[k] = fmt.Sprintf(" (%s)", filepath.Base(list[slots[at]].program.Argv[0]))
	}
	return supervise.SetConfig{
		Name: layout.OfJob(number), Names: names, Streams: streams(s.plan, nil, number),
		Drain: p.drain,
		Ended: func(k int, how string) {
			text := fmt.Sprintf("program %s (rank %d of spawned job %d) ", p.programs[k].Argv[0], k, number)
			if how == "ended" {
				text += "ended without calling MPI_Init"
			} else {
				text += how + " before MPI_Init had returned"
			}
			if lib := programs.OtherLibrary(list[slots[run[k]]].path); lib != "" {
				text += fmt.Sprintf("; it is linked with another MPI library (%s)", lib)
			}
			p.failed(k, text)
		},
		Over: func() { p.discard() },
	}
}

// jobPrefix stands before such a rank in prefixes of output.
func jobPrefix(number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("s%d:", number)
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

// settle waits until it is clear which processes are the job, and welcomes them. asker is closed when the process that
// has asked is gone; failed is why processes could not be tried.
func (s *spawner) settle(asker <-chan struct{}, p *part, list []order, failed []string, run []int) startup.Spawned {
	for {
		p.mu.Lock()
		for k, at := range run {
			failed[at] = p.trial.failed[k]
		}
		waiting := p.trial.waiting
		p.mu.Unlock()
		numbers, size, ok := choose(list, failed)
		if !ok || size == 0 {
			return s.undo(p, len(failed), whyNot(failed))
		}
		begun := false
		if waiting == 0 {
			var err error
			if begun, err = p.begin(numbers, run, size); err != nil {
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
		case <-p.trial.changed:
		case <-asker:
			return s.undo(p, len(failed), errors.New("the process that has asked has ended"))
		case <-s.job.Ended():
			return nothing(len(failed), supervise.ErrOver)
		}
	}
}

// settlePlain is settle for programs that do not use MPI: all that have been started are well, and there is no job to
// be connected with.
func (s *spawner) settlePlain(_ <-chan struct{}, p *part, list []order, failed []string, run []int) startup.Spawned {
	all := make([]int, len(run))
	p.mu.Lock()
	for k, at := range run {
		failed[at], all[k] = p.trial.failed[k], k
	}
	p.mu.Unlock()
	numbers, _, ok := choose(list, failed)
	if !ok {
		return s.undo(p, len(failed), whyNot(failed))
	}
	p.set.Connected(nil)
	a := startup.Spawned{Codes: make([]int32, len(failed))}
	for at, number := range numbers {
		if number < 0 {
			a.Codes[at], a.Text = errSpawn, whyNot(failed).Error()
		}
	}
	return a
}

// undo ends the processes of a job that has failed, and answers when none is left.
func (s *spawner) undo(p *part, n int, why error) startup.Spawned {
	p.set.Kill()
	select {
	case <-p.trial.over:
	case <-s.job.Ended():
	}
	return nothing(n, why)
}

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

// discard closes what a job that was spawned has open. No process is left of it, or none was started.
func (p *part) discard() {
	p.mu.Lock()
	if p.shared < 0 {
		p.mu.Unlock()
		return
	}
	p.closeLives()
	for _, end := range p.ends {
		end.Close()
	}
	close(p.trial.over)
	p.mu.Unlock()
	p.spawner.places.giveBack("", p.places)
	p.spawner.names.forget(p)
}
