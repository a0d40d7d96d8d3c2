package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/address"
	"github.com/libimpi/libimpi/transport/boot"
	"github.com/libimpi/libimpi/transport/boot/client"
	"github.com/libimpi/libimpi/transport/boot/server"
	"github.com/libimpi/libimpi/transport/tcp"
)

// nodeWord makes impirun a node: the launcher starts it so on every machine of a client that has several.
const nodeWord = "--node"

// node starts the ranks of one machine and reports to the launcher. It does what the launcher does on one machine
// (client.go, agent.go), except that the launcher joins the other clients for all nodes.
type node struct {
	frames *frames
	start  *startFrame
	feed   *os.File        // the other end of our standard input, if it comes in frames
	input  chan inputFrame // what has come of standard input; at most one frame, since we ask for each

	mu    sync.Mutex // guards what follows
	job   *supervise.Job
	ended *supervise.Cause // the launcher has ended the job
	told  chan jobFrame

	asked  uint64                      // requests to the launcher so far
	asking map[uint64]chan answerFrame // those without an answer
	alone  chan struct{}               // closed when the launcher says no more
}

// runNode is the whole of a node. It answers the exit code, which the launcher ignores: it has the end frame.
func runNode() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGQUIT) // a terminal sends it to the launcher too, which ends us
	n, output, err := newNode()
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	go n.listen()
	end := endFrame{}
	if cause, err := n.run(); err != nil {
		end = endFrame{Code: exitOf(err), Text: err.Error()}
	} else if cause != nil {
		end = endFrame{cause.Code, cause.Text, cause.Blamed, cause.Answer}
	}
	unix.Close(1) // no rank is left: the end of the pipe
	output.Wait()
	n.frames.send(frame{End: &end})
	return end.Code
}

func exitOf(err error) int {
	var start *supervise.StartError
	if errors.As(err, &start) {
		return start.Code
	}
	return 1
}

// newNode reads what to do. It replaces standard output by a pipe, which ranks inherit and whose contents are sent in
// frames. output waits until all that was written has been sent.
func newNode() (n *node, output *sync.WaitGroup, err error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	in, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	n = &node{frames: &frames{in: os.NewFile(uintptr(in), "launcher"), out: os.NewFile(uintptr(fd), "launcher")},
		told: make(chan jobFrame, 1), input: make(chan inputFrame, 1),
		asking: map[uint64]chan answerFrame{}, alone: make(chan struct{})}
	m, err := n.frames.receive()
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s is for impirun's own use: %w", nodeWord, err)
	case m.Start == nil || m.Start.Plan == nil || m.Start.Version != nodeVersion || m.Start.Plan.Size() < 1 ||
		m.Start.First < 0 ||
		m.Start.Size-m.Start.First < m.Start.Plan.Size():
		return nil, nil, fmt.Errorf("the launcher is of another release")
	}
	n.start = m.Start
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	if err := errors.Join(n.takeInput(null), unix.Dup3(int(w.Fd()), 1, 0)); err != nil {
		return nil, nil, err
	}
	output = new(sync.WaitGroup)
	output.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			k, err := r.Read(buf)
			if k > 0 && n.frames.send(frame{Output: buf[:k]}) != nil || err != nil {
				r.Close() // ranks learn it as they would of a closed pipe
				return
			}
		}
	})
	return n, output, nil
}

// output is where lines with prefixes go: into frames of their own, so that they stay whole.
func (n *node) output() [2]io.Writer {
	return [2]io.Writer{
		frameWriter(func(b []byte) error { return n.frames.send(frame{Output: b}) }),
		frameWriter(func(b []byte) error { return n.frames.send(frame{Errors: b}) }),
	}
}

// frameWriter sends what is written in one frame.
type frameWriter func([]byte) error

func (send frameWriter) Write(b []byte) (int, error) {
	if err := send(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// run starts the ranks and waits for their end.
func (n *node) run() (*supervise.Cause, error) {
	s, plan := n.start, n.start.Plan
	if err := os.Chdir(s.Dir); err != nil {
		complain("warning: %v; staying in the home directory", err)
	}
	list, err := processes(plan, s.JobID, []share{{0, plan.Size()}}, launch{base: s.Env, first: s.First, size: s.Size})
	if err != nil {
		return nil, err
	}
	bind, err := n.address()
	if err != nil {
		return nil, err
	}
	silence, err := tcp.ParseSilence(valueIn(s.Env, "IMPI_SILENCE"))
	if err != nil {
		return nil, err
	}
	m := &joinPlan{ctx: context.Background(), silence: silence, bind: bind, values: plan.Values, agent: s.Agent,
		port: plan.Port, portTo: plan.PortTo, verbose: plan.Verbose, viaHead: n.joinOthers}
	if err := enoughDescriptors(plan.Size(), []*joinPlan{m}); err != nil {
		return nil, err
	}
	p, err := newPart(share{0, plan.Size()}, s.JobID, m, list)
	if err != nil {
		return nil, err
	}
	spawner := newSpawner(plan, s.Env, s.JobID, s.Universe)
	spawner.above = n
	p.spawn(spawner, plan)
	if s.Job != 0 {
		p.parent, plan.Spawned = s.Parent, s.Job
	}
	cause, err := runParts(plan, list, []*part{p}, s.First, n.output(), func(job *supervise.Job) {
		n.serveInput()
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.job = job; n.ended != nil {
			job.Fail(*n.ended)
		}
	})
	if err == nil {
		p.finish(cause)
	}
	return cause, err
}

// address is where this machine's ranks listen: as the user says of this machine, or of all; towards the server; where
// the launcher's ssh has come in; or what the machine knows best.
func (n *node) address() (netip.Addr, error) {
	if n.start.Bind.IsValid() {
		return n.start.Bind, nil
	}
	if n.start.Plan.Iface != "" {
		return address.On(n.start.Plan.Iface)
	}
	if n.start.Plan.Mode == options.Client {
		return addressTowards(n.start.Plan.Address)
	}
	if words := strings.Fields(os.Getenv("SSH_CONNECTION")); len(words) == 4 {
		if a, err := netip.ParseAddr(words[2]); err == nil {
			return a.Unmap().WithZone(""), nil
		}
	}
	return server.UsableAddr(), nil
}

// listen hears the launcher until it has no more to say.
func (n *node) listen() {
	defer close(n.alone)
	for {
		m, err := n.frames.receive()
		switch {
		case err != nil:
			if err != io.EOF {
				err = fmt.Errorf("the launcher: %w", err)
			} else {
				err = errors.New("the launcher has gone")
			}
			n.end(&supervise.Cause{Code: 1, Text: err.Error()})
			return
		case m.End != nil:
			// An end of our own may be the first yet.
			n.end(&supervise.Cause{Code: max(1, m.End.Code&0xff), Text: m.End.Text, Answer: true})
		case m.Answer != nil:
			n.answered(*m.Answer)
		case m.Input != nil:
			select {
			case n.input <- *m.Input:
			default: // we had not asked
			}
		case m.Job != nil:
			select {
			case n.told <- *m.Job:
			default:
			}
		}
	}
}

func (n *node) end(c *supervise.Cause) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = c
	if n.job != nil {
		n.job.Fail(*c)
	}
}

// joinOthers lets the launcher join the other clients with our hosts. It waits for as long as the launcher does.
func (n *node) joinOthers(hosts []client.Host) (*transport.Job, int, error) {
	var list []hostFrame
	for _, h := range hosts {
		f := hostFrame{Addr: h.Addr, Machine: h.Machine}
		for _, p := range h.Procs {
			f.Procs = append(f.Procs, procFrame{p.HostID[:], p.PID})
		}
		list = append(list, f)
	}
	if err := n.frames.send(frame{Hosts: list}); err != nil {
		return nil, 0, err
	}
	told := <-n.told
	tables, err := boot.DecodeJob(told.Tables)
	if err == nil && (told.First < 0 || told.First+n.start.Plan.Size() > len(tables.Procs)) {
		err = fmt.Errorf("the launcher says that our ranks begin with %d of %d", told.First, len(tables.Procs))
	}
	return tables, told.First, err
}
