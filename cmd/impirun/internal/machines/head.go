// Package machines runs a client on several machines. The first launcher starts a node (node.go) on each, its own
// machine included, and collects and distributes what the nodes have to say.
//
// Flow: a plan and its machines (Run), or a job that ranks spawn (spawned.go) -> branches of a tree (package tree), by
// the remote shell, lead to a node for each machine (RunNode) -> each says where its ranks, or its agent, listen ->
// when all have, the tables are made, with the other clients at the server if there are any (tables.go) -> each node
// gets them -> output, input, and what ranks ask for (asking.go), until each has said how its ranks ended. The first
// that ended badly is the job's cause, and ends the others. Machines that cannot be reached are collected for a moment
// (reach.go), to name them all.
package machines

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/inquire"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport"
)

// head is the launcher of a client on several machines, or of a spawned job on other machines. Its fields are for the
// goroutine of serve, except for those that a lock or a channel guards.
type head struct {
	plan       *options.Plan
	joinPlan   *join.Plan // nil: a job of one client
	nodes      []*nodeLink
	branches   []*tree.Branch
	l          *tree.Launching
	turns      chan func() // what is done by the goroutine of serve
	left       int         // branches that are not over
	exits      job.Exits   // nil: nobody asks for them
	first      int         // its first world rank, once that is known
	hosted     int
	cause      *supervise.Cause
	mild       *supervise.Cause // why the job has not gone well, if it goes on all the same
	session    *client.Session
	joining    bool // join is running, and has not answered on joined yet
	joined     chan joinResult
	lost       chan error     // what the server says of other clients
	tables     *transport.Job // as soon as the nodes have them
	graves     graves
	suspicions []suspicion  // about which nothing is decided yet, the oldest first
	sides      server.Sides // of connections between machines that are cut
	others     job.Others
	visiting   bool // a time is running at whose end machines without ranks are looked after
	spawner    *spawn.Spawner
	work       chan func()          // for the thread that stays; nil in the head of a spawned job
	served     chan struct{}        // closed when serve has returned
	wake       chan struct{}        // a spawned job may have ended
	dooms      chan supervise.Cause // the job is to end
	job        int                  // the number of a spawned job; 0: it was not spawned
	parent     string               // the port of those who have spawned it
	main       *head                // of the job that was not spawned, perhaps itself; nil: that is on this machine alone
	places     []func()             // give back what its processes have of machines
	settled    chan struct{}        // of a spawned job: closed when it has begun, or
	refused    *supervise.Cause     // why it has not
	begun      bool
	over       <-chan time.Time // ticks when nodes that have not ended are to be killed
	killed     bool             // they have been killed
	missing    missing
	progress   *progress   // nil: none is shown
	reports    job.Reports // of the nodes' traffic
	inquests   inquests
	asker      sync.Mutex       // held for one of them
	asks       *inquire.Inquiry // nil: nobody asks
	late       <-chan time.Time // ticks when the time of the job is over; nil: it has none, or has not begun

	printing  sync.Mutex // held for what one frame brings to our stdout or stderr
	unwritten error      // why some of that is lost
}

// nodeLink is a node as the launcher sees it.
type nodeLink struct {
	tree.Member
	branch  *tree.Branch // that leads to it
	reached bool
	started bool // its ranks are running
	hosts   []client.Host
	wants   bool // it has asked for more of our standard input
	ended   bool
	told    bool      // it has said so itself
	asked   time.Time // whether it is there; zero: it has answered
}

// send sends a frame to a node.
func (r *nodeLink) send(m tree.Frame) {
	if x, err := tree.LetterOf(r.Number, m); err == nil {
		r.branch.Put(x)
	}
}

// broadcast sends a frame to all nodes.
func (h *head) broadcast(m tree.Frame) error {
	x, err := tree.LetterOf(tree.Everyone, m)
	if err != nil {
		return err
	}
	for _, b := range h.branches {
		b.Put(x)
	}
	return nil
}

// startAll starts the branches of the tree.
func (h *head) startAll(list []hosts.Machine) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	shell, err := shells.New(h.plan)
	if err != nil {
		return err
	}
	plan := *h.plan
	plan.Hosts, plan.HostFiles, plan.Allocated, plan.Site = nil, nil, nil, ""
	plan.Timeout = 0        // it is counted here
	plan.StdinLater = false // what comes in frames is waited for here
	start := tree.StartFrame{Plan: &plan, Env: os.Environ(), Dir: dir, Size: h.plan.Size(), JobID: programs.NewJobID(),
		Agent: h.joinPlan != nil && h.joinPlan.Agent, Universe: h.spawner.UniverseSize(), Job: h.job, Parent: h.parent,
		Shell: shell}
	h.l = tree.NewLaunching(h, start, startLimit(h.plan, os.Getenv), stderrOf{h})
	var others []tree.Member
	for i := range list {
		m := memberOf(list[i], i)
		m.Taken = h.occupy(&list[i])
		if m.Local && !m.Bind.IsValid() && h.joinPlan == nil && plan.Iface == "" {
			m.Bind = server.UsableAddr() // ssh tells the others where they are, and us nothing
		}
		m.Input = assign(&m, &options.Plan{Stdin: plan.Stdin, StdinRank: plan.StdinRank, StdinLater: h.plan.StdinLater})
		h.nodes = append(h.nodes, &nodeLink{Member: m})
		if m.Local {
			h.grow([]tree.Member{m})
		} else {
			others = append(others, m)
		}
	}
	for _, g := range tree.Groups(others, plan.Branches) {
		h.grow(g)
	}
	return nil
}

// occupy takes the places of our processes on a machine, and returns those that others have.
func (h *head) occupy(m *hosts.Machine) (before []int) {
	before, leave := h.spawner.Occupy(m)
	h.places = append(h.places, leave)
	return before
}

// grow starts a branch.
func (h *head) grow(members []tree.Member) {
	b := h.l.NewBranch(members)
	for _, m := range members {
		h.nodes[m.Number].branch = b
	}
	h.branches = append(h.branches, b)
	h.left++
	go b.Follow()
}

// Letter takes what a node says, on the goroutine of its branch.
func (h *head) Letter(b *tree.Branch, x tree.Letter) error {
	if !b.Has(x.Machine) {
		return fmt.Errorf("not an impirun message: it claims to come from machine %d", x.Machine)
	}
	m, err := x.Frame()
	if err != nil {
		return err
	}
	if m.Output != nil || m.Errors != nil {
		h.print(m)
		return nil
	}
	h.turns <- func() { h.take(h.nodes[x.Machine], m) }
	return nil
}

// print writes the output of ranks. If that fails the job goes on, and lost output becomes the cause of a job that ends
// well otherwise.
func (h *head) print(m tree.Frame) {
	h.printing.Lock()
	defer h.printing.Unlock()
	if h.progress.clear(); m.Output != nil {
		h.progress.end()
	}
	_, err := os.Stdout.Write(m.Output)
	_, errs := os.Stderr.Write(m.Errors)
	if h.unwritten == nil {
		h.unwritten = cmp.Or(err, errs)
	}
}

// stderrOf is our stderr for what remote shells say.
type stderrOf struct{ *head }

func (h stderrOf) Write(b []byte) (int, error) {
	h.print(tree.Frame{Errors: b})
	return len(b), nil
}

// serve acts on what the nodes say, until none is left.
func (h *head) serve(signals <-chan syscall.Signal) {
	defer func() {
		if h.l != nil {
			h.l.End()
		}
		if h.job != 0 && !h.begun {
			h.refused = cmp.Or(h.cause, &supervise.Cause{Code: 1, Text: "no process has called MPI_Init"})
			close(h.settled)
		}
	}()
	for h.left > 0 || h.work != nil && !h.spawner.Idle() {
		select {
		case do := <-h.work:
			do()
		case <-h.wake:
		case c := <-h.dooms:
			h.fail(&c)
		case do := <-h.turns:
			do()
		case <-h.missing.over:
			h.miss()
		case <-h.progress.due():
			h.printing.Lock()
			h.progress.begin()
			h.printing.Unlock()
			h.show()
		case <-h.late:
			go h.timedOut()
		case o := <-h.joined:
			h.joining = false
			h.tell(o)
		case err := <-h.lost:
			h.loseOthers(err)
		case s := <-signals:
			if h.cause == nil {
				c := outcome.Interrupted(s)
				if s == syscall.SIGTERM && h.plan.Site != "" {
					c.Text += ", as a resource manager does when the time is over: " + h.plan.Site
				}
				h.fail(c)
			}
		case <-h.over:
			h.killed = true
			h.kill()
		}
	}
}

// take takes a frame of a node.
func (h *head) take(r *nodeLink, m tree.Frame) {
	switch {
	case m.Reached:
		h.arrive(r)
	case m.Lost != nil:
		h.lose(r.branch, m.Lost)
	case m.Started:
		r.started = true
		if h.late == nil && h.plan.Timeout > 0 {
			h.late = time.After(h.plan.Timeout)
		}
		h.show()
	case m.Ask != nil:
		go h.answer(r, m.Ask)
	case m.Want:
		r.wants = true
		h.pour()
	case m.End != nil && !r.ended:
		r.end()
		r.told = true
		h.reports.Take(r.Number, nil)
		if h.exits != nil && len(m.End.Exits) == len(r.Ranks) {
			h.exits.Add(r.Ranks, m.End.Exits)
		}
		h.pour()
		h.judge(m.End)
		h.lack()
	case m.Traffic != nil:
		h.takeTraffic(r, m.Traffic)
	case m.Report != nil:
		h.inquests.take(r.Number, m.Report)
	case m.Dead != nil:
		h.mourn(r, m.Dead)
	case m.Suspect != nil:
		h.suspects(r, m.Suspect)
	case m.Alive != nil:
		r.hearsAlive(m.Alive)
	case m.Rest != nil:
		h.inquests.rests(r.Number, m.Rest.All)
	case m.Hosts != nil && r.hosts == nil:
		hosts, err := r.take(m.Hosts)
		if err != nil {
			h.fail(&supervise.Cause{Code: 1, Text: fmt.Sprintf("machine %s: %v", r.Name, err)})
			return
		}
		r.hosts = hosts
		if h.hosted++; h.hosted == len(h.nodes) {
			h.joining = true
			go h.join()
		}
		h.lack()
		h.show()
	}
}

// judge makes of a node's end what it means for the others.
func (h *head) judge(m *tree.EndFrame) {
	c := &supervise.Cause{Code: max(1, m.Code&0xff), Text: m.Text, Blamed: m.Blamed, Answer: m.Answer, Died: m.Died,
		Mild: m.Mild, Failure: m.Failure.Checked()}
	trial := h.job != 0 && !h.begun // all of its processes are needed
	switch {
	case m.Code == 0 && trial:
		h.fail(&supervise.Cause{Code: 1, Text: "a process has ended without calling MPI_Init"})
	case m.Code == 0:
	case m.Mild && !trial:
		if c.Outranks(h.mild) {
			h.mild = c
		}
	default:
		h.fail(c)
	}
}

// lack ends a job in which some wait in MPI_Init for ranks of another machine that have ended without calling it. That
// they have ended well is no help.
func (h *head) lack() {
	waits := slices.IndexFunc(h.nodes, func(r *nodeLink) bool { return r.hosts != nil })
	gone := slices.IndexFunc(h.nodes, func(r *nodeLink) bool { return r.hosts == nil && r.told })
	if waits < 0 || gone < 0 || h.cause != nil {
		return
	}
	of := ""
	if h.joinPlan != nil {
		of = fmt.Sprintf(" of client %d", h.joinPlan.Rank)
	}
	c := &supervise.Cause{Code: 1, Text: fmt.Sprintf("rank %d%s on %s ended without calling MPI_Init, which rank %d has "+
		"called", h.nodes[gone].Ranks[0], of, h.nodes[gone].Name, h.nodes[waits].Ranks[0])}
	h.fail(c)
}

// end notes that a node has ended. The last of a branch ends its stream.
func (r *nodeLink) end() {
	r.ended = true
	r.branch.Leave()
}

// take checks a node's hosts.
func (r *nodeLink) take(list []tree.HostFrame) (hosts []client.Host, err error) {
	n := 0
	for _, f := range list {
		h := client.Host{Addr: f.Addr, Machine: f.Machine}
		for _, p := range f.Procs {
			if len(p.HostID) != 16 {
				return nil, fmt.Errorf("invalid host id %.20x: it has %d bytes, not 16", p.HostID, len(p.HostID))
			}
			h.Procs = append(h.Procs, client.Proc{HostID: [16]byte(p.HostID), PID: p.PID})
			n++
		}
		hosts = append(hosts, h)
	}
	if want := len(r.Ranks); n != want {
		return nil, fmt.Errorf("it says that it has %d ranks, and it has %d", n, want)
	}
	return hosts, nil
}

// fail notes the job's cause, and tells the nodes to end. A later cause counts only if it outranks the first one: a
// node may tell us that its ranks lost another rank before the node of that rank can say why.
func (h *head) fail(c *supervise.Cause) {
	if h.cause != nil {
		if !h.killed && c.Outranks(h.cause) {
			h.cause = c
		} else if !h.killed {
			h.cause.Join(c)
		}
		return
	}
	h.cause = c
	switch {
	case h.job == 0:
		h.spawner.Doom(*c)
	case h.begun:
		h.spawner.Fail(*c)
	}
	h.over = time.After(h.plan.Grace + tree.EndTime)
	h.missing.over = nil
	h.broadcast(tree.Frame{End: &tree.EndFrame{Code: c.Code, Text: c.Text, Failure: c.Failure}})
	if h.l != nil {
		h.l.End()
	}
}

// machineOf is where a rank of MPI_COMM_WORLD runs; "" if it is another client's.
func (h *head) machineOf(rank int) string {
	if r := h.nodeOf(int32(rank)); r != nil {
		return r.Name
	}
	return ""
}

// kill kills the commands through which nodes were started. A node that has lost its launcher ends its ranks.
func (h *head) kill() {
	for _, b := range h.branches {
		b.Kill()
	}
}

// memberOf makes a member of a machine.
func memberOf(m hosts.Machine, number int) tree.Member {
	return tree.Member{Number: number, Name: m.Name, User: m.User, Port: m.Port, Local: m.Local, Ranks: m.Ranks,
		Bind: m.Addr}
}
