package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
)

// Jobs that ranks spawn on machines that they name. Such a job has a head of its own in the first launcher, with a node
// on each of its machines, as a job that was started on several machines has (head.go, node.go): the shells through
// which nodes run are children of the launcher.
//
// Until all of its processes have called MPI_Init, what goes wrong is the answer to the rank that has asked. After that
// it is the end of all. A job on several machines is started as a whole, or not at all.

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

// allLocal says whether all are this machine.
func allLocal(list []hosts.Machine) bool {
	return !slices.ContainsFunc(list, func(m hosts.Machine) bool { return !m.Local })
}

// elsewhere spawns a job on the given machines.
func (s *spawner) elsewhere(asker <-chan struct{}, r *startup.Spawn, list []order,
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
	h := &head{plan: &plan, spawner: s, turns: make(chan func()), joined: make(chan joinResult, 1),
		lost: make(chan *client.LostError, 1), wake: make(chan struct{}, 1), dooms: make(chan supervise.Cause, 1),
		job: s.number(), parent: r.Parent, settled: make(chan struct{})}
	if err := s.enlist(h); err != nil {
		return nothing(total(list), err)
	}
	if err := h.startAll(where); err != nil {
		h.fail(&supervise.Cause{Code: 1, Text: err.Error()})
	}
	go func() {
		h.serve(nil)
		s.leave(h)
	}()
	select {
	case <-h.settled:
	case <-asker:
		h.doom(supervise.Cause{Code: 1, Text: "the process that has asked has ended"})
		<-h.settled
	}
	if h.refused != nil {
		return nothing(total(list), errors.New(h.refused.Text))
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
func (s *spawner) enlist(h *head) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doomed != nil || s.closed {
		return supervise.ErrOver
	}
	s.remote[h] = true
	s.away.Add(1)
	return nil
}

// leave notes that no process of such a job is left.
func (s *spawner) leave(h *head) {
	s.mu.Lock()
	delete(s.remote, h)
	if h.mild != nil && (s.cause == nil || h.mild.Outranks(s.cause)) {
		s.cause = h.mild
	}
	main := s.head
	s.mu.Unlock()
	for machine, own := range h.places {
		s.places.giveBack(machine, own)
	}
	s.away.Done()
	if main != nil {
		main.rouse()
	}
}

// idle says whether no job runs on other machines, and then lets none begin.
func (s *spawner) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = len(s.remote) == 0
	return s.closed
}

// fail ends everything because a job on other machines has ended badly.
func (s *spawner) fail(c supervise.Cause) {
	s.mu.Lock()
	job, main := s.job, s.head
	if s.cause == nil || c.Outranks(s.cause) {
		s.cause = &c
	}
	s.mu.Unlock()
	if job != nil {
		job.Fail(c)
	}
	if main != nil {
		main.doom(c)
	}
}

// finish waits for the jobs on other machines, and answers why one of them has ended badly, if cause does not say it.
func (s *spawner) finish(cause *supervise.Cause) *supervise.Cause {
	s.away.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if cause == nil {
		return s.cause
	}
	return cause
}

// Run starts a command that ends with this launcher.
func (h *head) Run(cmd *exec.Cmd) (tree.Command, error) { return h.spawner.run(cmd) }

// run starts a command that ends with this launcher.
func (s *spawner) run(cmd *exec.Cmd) (tree.Command, error) {
	s.mu.Lock()
	job, main := s.job, s.head
	s.mu.Unlock()
	if job != nil {
		return job.Accompany(cmd)
	}
	return main.begin(cmd)
}

// doom tells a head to end its processes.
func (h *head) doom(c supervise.Cause) {
	select {
	case h.dooms <- c:
	default: // it was told before
	}
}

// rouse makes serve look again whether it is over.
func (h *head) rouse() {
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

// answer answers a request of a node's rank.
func (h *head) answer(r *nodeLink, a *tree.AskFrame) {
	reply := tree.AnswerFrame{ID: a.ID}
	defer func() { r.send(tree.Frame{Answer: &reply}) }()
	if a.Name == nil && (a.Spawn == nil || a.Like == nil) {
		reply.Answer = startup.Answer{Err: startup.Refuse(startup.ErrRefused, "the node asks for nothing")}
		return
	}
	answer, list := h.spawner.decide(startup.Request{Spawn: a.Spawn, Name: a.Name}, nil, nil, a.Like,
		func(where []hosts.Machine) bool { return where == nil })
	if reply.Answer = answer; list != nil {
		reply.Here = h.spawner.number()
	}
}

// ask is a node's way to the first launcher.
func (n *node) ask(r startup.Request, like *options.Program) (startup.Answer, int) {
	n.mu.Lock()
	n.asked++
	id, to := n.asked, make(chan tree.AnswerFrame, 1)
	n.asking[id] = to
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.asking, id)
		n.mu.Unlock()
	}()
	gone := startup.Answer{Err: startup.Refuse(startup.ErrUnreachable, "the first launcher of the job cannot be asked")}
	if n.frames.Send(tree.Frame{Ask: &tree.AskFrame{ID: id, Spawn: r.Spawn, Name: r.Name, Like: like}}) != nil {
		return gone, 0
	}
	select {
	case a := <-to:
		return a.Answer, a.Here
	case <-n.alone:
		return gone, 0
	}
}

// answered hands an answer to who waits for it.
func (n *node) answered(a tree.AnswerFrame) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if to := n.asking[a.ID]; to != nil {
		delete(n.asking, a.ID)
		to <- a
	}
}
