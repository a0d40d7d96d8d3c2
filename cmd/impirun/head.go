package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/boot"
	"github.com/libimpi/libimpi/transport/boot/client"
	"github.com/libimpi/libimpi/transport/boot/server"
)

// A client of several machines. The launcher starts a node (node.go) on each, its own machine included, and collects
// and distributes what the nodes have to say.
//
// Flow: a node for each machine, over the remote shell -> each says where its ranks, or its agent, listen -> when all
// have, the tables are made, with the other clients at the server if there are any -> each node gets them -> output,
// until each has said how its ranks ended. The first that ended badly is the job's cause, and ends the others.
type head struct {
	plan     *options.Plan
	joinPlan *joinPlan // nil: a job of one client
	nodes    []*nodeLink
	events   chan event
	left     int
	hosted   int
	cause    *supervise.Cause
	session  *client.Session
	joining  bool // join is running, and has not answered on joined yet
	joined   chan outcome
	lost     chan *client.LostError
	spawner  *spawner
	work     chan func()          // for the thread that stays; nil in the head of a spawned job
	served   chan struct{}        // closed when serve has returned
	wake     chan struct{}        // a spawned job may have ended
	dooms    chan supervise.Cause // the job is to end
	job      int                  // the number of a spawned job; 0: it was not spawned
	parent   string               // the port of those who have spawned it
	settled  chan struct{}        // of a spawned job: closed when it has begun, or
	refused  *supervise.Cause     // why it has not
	begun    bool
	over     <-chan time.Time // ticks when nodes that have not ended are to be killed
	killed   bool             // they have been killed

	printing  sync.Mutex // held for what one frame brings to our stdout or stderr
	unwritten error      // why some of that is lost
}

// nodeLink is a node as the launcher sees it.
type nodeLink struct {
	machine machine
	first   int // its first rank among the client's
	cmd     command
	through string // the command's name
	frames  *frames
	stdin   io.Closer
	stdout  io.Closer
	hosts   []client.Host
	input   inputKind // what it gets of our standard input
	wants   bool      // it has asked for more
	ended   bool
}

// event is what a node says, or err: it says no more.
type event struct {
	node *nodeLink
	m    frame
	err  error
}

// outcome is what join answers.
type outcome struct {
	tables  *transport.Job
	first   int // our first rank in MPI_COMM_WORLD
	session *client.Session
	err     error
}

// endTime is what a node may take beyond the grace to end its ranks.
const endTime = 5 * time.Second

// runMachines runs a plan on several machines.
func runMachines(plan *options.Plan, list []machine) error {
	if plan.Clients > 0 {
		return fmt.Errorf("-clients starts all clients on this machine, and %s is another", list[len(list)-1].name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	joins, _, err := joinPlans(ctx, plan, netip.Addr{}) // each machine says where its ranks listen
	if err != nil {
		return err
	}
	h := &head{plan: plan, joinPlan: joins[0], events: make(chan event), joined: make(chan outcome, 1),
		lost: make(chan *client.LostError, 1), work: make(chan func()), served: make(chan struct{}),
		wake: make(chan struct{}, 1), dooms: make(chan supervise.Cause, 1)}
	h.spawner = newSpawner(plan, os.Environ(), "", universe(plan))
	h.spawner.head = h
	defer h.spawner.names.close()
	signals := make(chan syscall.Signal, 1)
	defer onSignal(func(s syscall.Signal) { signals <- s })()
	if err := h.startAll(list); err != nil {
		h.kill()
		return err
	}
	h.serve(signals)
	close(h.served)
	h.cause = h.spawner.finish(h.cause)
	if h.cause == nil && h.unwritten != nil {
		h.cause = &supervise.Cause{Code: 1, Text: fmt.Sprintf("output of ranks is lost: %v", h.unwritten)}
	}
	if m := h.joinPlan; m != nil && h.joining {
		if h.cause != nil {
			m.cancel(errors.New(h.cause.Text))
		}
		h.session = (<-h.joined).session // the server has heard why
	} else if m != nil && h.cause != nil && h.hosted < len(h.nodes) {
		m.giveUp(h.cause, nil)
	}
	cancel()
	if h.session != nil {
		if h.cause != nil {
			h.session.Fail(h.cause.Text, h.cause.Blamed)
		} else {
			h.session.Fini()
		}
	}
	if h.cause != nil {
		return &endError{h.cause, plan.Quiet}
	}
	return nil
}

func (h *head) startAll(list []machine) error {
	jobID, first := newJobID(), 0
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, m := range list {
		plan := *h.plan
		plan.Programs = cutPrograms(plan.Programs, first, m.n)
		plan.Hosts, plan.HostFiles = nil, nil
		start := &startFrame{Version: nodeVersion, Plan: &plan, Env: os.Environ(), Dir: dir, First: first,
			Size: h.plan.Size(), JobID: jobID, Bind: m.addr, Agent: h.joinPlan != nil && h.joinPlan.agent,
			Universe: h.spawner.universe, Job: h.job, Parent: h.parent}
		if m.local && !m.addr.IsValid() && h.joinPlan == nil && plan.Iface == "" {
			start.Bind = server.UsableAddr() // ssh tells the others where they are, and us nothing
		}
		start.Input = assign(&plan, m, first)
		r := &nodeLink{machine: m, first: first, input: start.Input}
		if err := h.startNode(r, start); err != nil {
			return err
		}
		first += m.n
	}
	return nil
}

// cutPrograms are the programs of n ranks from first on.
func cutPrograms(programs []options.Program, first, n int) (list []options.Program) {
	for _, g := range programs {
		skip := min(first, g.N)
		first -= skip
		g.N = min(g.N-skip, n)
		n -= g.N
		if g.N > 0 {
			list = append(list, g)
		}
	}
	return list
}

// startNode starts a node and tells it what to do.
func (h *head) startNode(r *nodeLink, start *startFrame) (err error) {
	cmd, err := nodeCommand(h.plan.Rsh, r.machine)
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if r.input == inputOwn {
		cmd.ExtraFiles = []*os.File{os.Stdin} // inputFD
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if h.work != nil { // we are on the thread that stays
		r.cmd, err = child{cmd}, cmd.Start()
	} else {
		r.cmd, err = h.spawner.run(cmd)
	}
	if err != nil {
		return fmt.Errorf("machine %s: %w", r.machine.name, err)
	}
	r.through = cmd.Args[0]
	r.stdin, r.stdout, r.frames = in, out, &frames{in: out, out: in}
	h.nodes = append(h.nodes, r)
	h.left++
	go h.listen(r)
	go r.frames.send(frame{Start: start}) // a command that reads nothing must not hold us up; its end tells
	return nil
}

// nodeCommand is the command of a node: our own program on this machine, or impirun through the remote shell on
// another, preferably under the path that it has here.
func nodeCommand(rsh string, m machine) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if m.local {
		return exec.Command(self, nodeWord), nil
	}
	words := strings.Fields(rsh)
	if len(words) == 0 {
		return nil, errors.New("-rsh: no command")
	}
	script := "p=" + quote(self) + `; [ -x "$p" ] || p=impirun; exec "$p" ` + nodeWord
	return exec.Command(words[0], append(words[1:], m.name, "exec sh -c "+quote(script))...), nil
}

// quote makes a word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// listen hears a node to its end.
func (h *head) listen(r *nodeLink) {
	for {
		m, err := r.frames.receive()
		if err == nil && (m.Output != nil || m.Errors != nil) {
			h.print(m)
			continue
		}
		if err != nil {
			status := r.finish(err != io.EOF)
			if err == io.EOF || errors.Is(err, os.ErrClosed) {
				err = errors.New("the connection has ended")
			}
			if status != nil {
				err = fmt.Errorf("%w (%s: %w)", err, r.through, status)
			}
			h.events <- event{r, frame{}, err}
			return
		}
		h.events <- event{r, m, nil}
	}
}

// print writes the output of ranks. If that fails the job goes on, and lost output becomes the cause of a job that ends
// well otherwise.
func (h *head) print(m frame) {
	h.printing.Lock()
	defer h.printing.Unlock()
	_, err := os.Stdout.Write(m.Output)
	_, errs := os.Stderr.Write(m.Errors)
	if h.unwritten == nil {
		h.unwritten = cmp.Or(err, errs)
	}
}

// finish waits for the end of a node's command. If atOnce is set, because the node sends nonsense, it is killed first.
func (r *nodeLink) finish(atOnce bool) error {
	r.stdin.Close()
	if atOnce {
		r.cmd.Kill()
	}
	defer r.stdout.Close()
	defer time.AfterFunc(endTime, func() { r.cmd.Kill() }).Stop()
	return r.cmd.Wait()
}

// serve acts on what the nodes say, until none is left.
func (h *head) serve(signals <-chan syscall.Signal) {
	defer func() {
		if h.job != 0 && !h.begun {
			h.refused = cmp.Or(h.cause, &supervise.Cause{Code: 1, Text: "no process has called MPI_Init"})
			close(h.settled)
		}
	}()
	for h.left > 0 || h.work != nil && !h.spawner.idle() {
		select {
		case do := <-h.work:
			do()
		case <-h.wake:
		case c := <-h.dooms:
			h.fail(&c)
		case e := <-h.events:
			h.take(e)
		case o := <-h.joined:
			h.joining = false
			h.tell(o)
		case err := <-h.lost:
			if !h.plan.Recovery {
				h.fail(&supervise.Cause{Code: 1, Text: err.Error(), Blamed: &err.Client, Answer: true})
			}
		case s := <-signals:
			if h.cause == nil {
				h.fail(interrupted(s))
			}
		case <-h.over:
			h.killed = true
			h.kill()
		}
	}
}

func (h *head) take(e event) {
	switch {
	case e.err != nil:
		h.left--
		if !e.node.ended {
			h.fail(&supervise.Cause{Code: 1, Text: fmt.Sprintf("machine %s: %v", e.node.machine.name, e.err)})
		}
		e.node.ended = true
		h.pour()
	case e.m.Ask != nil:
		go h.answer(e.node, e.m.Ask)
	case e.m.Want:
		e.node.wants = true
		h.pour()
	case e.m.End != nil:
		e.node.ended = true
		e.node.stdin.Close()
		h.pour()
		if e.m.End.Code == 0 && h.job != 0 && !h.begun {
			h.fail(&supervise.Cause{Code: 1, Text: "a process has ended without calling MPI_Init"})
		}
		if e.m.End.Code != 0 {
			h.fail(&supervise.Cause{Code: max(1, e.m.End.Code&0xff),
				Text: e.m.End.Text, Blamed: e.m.End.Blamed, Answer: e.m.End.Answer})
		}
	case e.m.Hosts != nil && e.node.hosts == nil:
		hosts, err := e.node.take(e.m.Hosts)
		if err != nil {
			h.fail(&supervise.Cause{Code: 1, Text: fmt.Sprintf("machine %s: %v", e.node.machine.name, err)})
			return
		}
		e.node.hosts = hosts
		if h.hosted++; h.hosted == len(h.nodes) {
			h.joining = true
			go h.join()
		}
	}
}

// take checks a node's hosts.
func (r *nodeLink) take(list []hostFrame) (hosts []client.Host, err error) {
	n := 0
	for _, f := range list {
		h := client.Host{Addr: f.Addr, Machine: f.Machine}
		for _, p := range f.Procs {
			if len(p.HostID) != 16 {
				return nil, errors.New("a host id that is none")
			}
			h.Procs = append(h.Procs, client.Proc{HostID: [16]byte(p.HostID), PID: p.PID})
			n++
		}
		hosts = append(hosts, h)
	}
	if n != r.machine.n {
		return nil, fmt.Errorf("it says that it has %d ranks, and it has %d", n, r.machine.n)
	}
	return hosts, nil
}

// fail notes the job's cause, and tells the nodes to end. A later cause counts only if it outranks the first one: a
// node may tell us that its ranks lost another rank before the node of that rank can say why.
func (h *head) fail(c *supervise.Cause) {
	if h.cause != nil {
		if !h.killed && c.Outranks(h.cause) {
			h.cause = c
		}
		return
	}
	h.cause = c
	switch {
	case h.job == 0:
		h.spawner.doom(*c)
	case h.begun:
		h.spawner.fail(*c)
	}
	h.over = time.After(h.plan.Grace + endTime)
	for _, r := range h.nodes {
		if !r.ended {
			go r.frames.send(frame{End: &endFrame{Code: c.Code, Text: c.Text}})
		}
	}
}

// kill kills the commands through which nodes were started. A node that has lost its launcher ends its ranks.
func (h *head) kill() {
	for _, r := range h.nodes {
		r.stdin.Close()
		r.cmd.Kill()
	}
}

// join makes the tables: with the other clients at the server, or of this one alone.
func (h *head) join() {
	var o outcome
	var hosts []client.Host
	for _, r := range h.nodes {
		hosts = append(hosts, r.hosts...)
	}
	if m := h.joinPlan; m != nil {
		o.tables, o.session, o.err = client.Connect(m.ctx, m.address, m.rank, m.methods, m.contribution(hosts), m.options())
		if o.err == nil {
			o.first = firstRank(o.tables, m.rank)
		}
	} else {
		o.tables, o.err = client.Alone(client.Default(hosts...))
	}
	h.joined <- o
}

// tell gives the tables to all nodes.
func (h *head) tell(o outcome) {
	if o.err != nil {
		h.fail(&supervise.Cause{Code: 1, Text: o.err.Error()})
		return
	}
	if h.session = o.session; o.session != nil {
		o.session.Watch(func(err error) {
			var lost *client.LostError
			if errors.As(err, &lost) {
				select {
				case h.lost <- lost:
				default: // one is enough
				}
			}
		})
	}
	if h.job != 0 && h.cause == nil {
		h.begun = true
		close(h.settled)
	}
	b := boot.EncodeJob(o.tables)
	for _, r := range h.nodes {
		go r.frames.send(frame{Job: &jobFrame{Tables: b, First: o.first + r.first}})
	}
}
