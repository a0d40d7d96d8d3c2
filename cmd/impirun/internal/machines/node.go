package machines

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

	"github.com/libimpi/libimpi/cmd/impirun/internal/debugger"
	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
)

// node starts the ranks of one machine and reports to the launcher. It does what the launcher does on one machine
// (package job), except that the launcher joins the other clients for all nodes.
type node struct {
	frames *tree.Frames
	start  *tree.StartFrame
	self   *tree.Member         // what of it is ours
	plan   *options.Plan        // likewise: our own ranks
	feed   *os.File             // the other end of our standard input, if it comes in frames
	input  chan tree.InputFrame // what has come of standard input; at most one frame, since we ask for each

	mu    sync.Mutex // guards what follows
	job   *supervise.Job
	ended *supervise.Cause // the launcher has ended the job
	told  chan tree.JobFrame
	part  *job.Part // nil: there is none yet

	spawner *spawn.Spawner // with part

	reporting bool // its traffic

	waiting waiting // for the launcher

	asked  uint64                           // requests to the launcher so far
	asking map[uint64]chan tree.AnswerFrame // those without an answer
	alone  chan struct{}                    // closed when the launcher says no more
}

// RunNode is the whole of a node, or of a relay. It returns the exit code, which is not that of the ranks: the launcher
// has that in the end frame, and a remote shell, such as srun, would have its own words about it.
func RunNode() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGQUIT) // a terminal sends it to the launcher too, which ends us
	up, start, err := tree.Begin()
	if errors.Is(err, io.EOF) {
		return 0 // the job was over before there was anything to do here
	}
	if err != nil {
		outcome.Complain("%v", err)
		return outcome.CodeUsage
	}
	if len(start.Members) > 1 {
		return tree.RunRelay(up, start)
	}
	n, output, err := newNode(up, start)
	if err != nil {
		return codeOf(up.Send(tree.Frame{End: &tree.EndFrame{Code: 1, Text: err.Error()}}))
	}
	go n.listen()
	end := tree.EndFrame{}
	if cause, err := n.run(); err != nil {
		end = tree.EndFrame{Code: exitOf(err), Text: err.Error()}
	} else if cause != nil {
		end = tree.EndFrame{Code: cause.Code, Text: cause.Text, Blamed: cause.Blamed, Answer: cause.Answer,
			Died: cause.Died, Mild: cause.Mild, Failure: cause.Failure}
	}
	if n.job != nil {
		_, end.Exits = n.job.Exits()
	}
	if n.wasCutOff() {
		return 1
	}
	unix.Close(1) // no rank is left: the end of the pipe
	output.Wait()
	return codeOf(n.frames.Send(tree.Frame{End: &end}))
}

// codeOf is the exit code of a node whose last frame has been sent, or not.
func codeOf(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func exitOf(err error) int {
	var start *supervise.StartError
	if errors.As(err, &start) {
		return start.Code
	}
	return 1
}

// newNode replaces standard output by a pipe, which ranks inherit and whose contents are sent in frames. output waits
// until all that was written has been sent.
func newNode(up *tree.Frames, start *tree.StartFrame) (n *node, output *sync.WaitGroup, err error) {
	n = &node{frames: up, start: start, self: &start.Members[0],
		told: make(chan tree.JobFrame, 1), input: make(chan tree.InputFrame, 1),
		asking: map[uint64]chan tree.AnswerFrame{}, alone: make(chan struct{})}
	n.plan = ownPlan(n.self, *start.Plan)
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
			if k > 0 && n.frames.Send(tree.Frame{Output: buf[:k]}) != nil || err != nil {
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
		frameWriter(func(b []byte) error { return n.frames.Send(tree.Frame{Output: b}) }),
		frameWriter(func(b []byte) error { return n.frames.Send(tree.Frame{Errors: b}) }),
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
	s, plan, ranks := n.start, n.plan, n.self.Ranks
	if err := os.Chdir(s.Dir); err != nil {
		outcome.Complain("warning: %v; staying in the home directory", err)
	}
	list, err := programs.Processes(plan, s.JobID, []layout.Share{{N: plan.Size()}},
		programs.Launch{Base: s.Env, Ranks: ranks, Size: s.Size})
	if err != nil {
		return nil, err
	}
	if err := layout.Bind(plan, list, ranks, s.Job, n.self.Taken); err != nil {
		return nil, fmt.Errorf("machine %s: %w", hosts.Hostname(), err)
	}
	at, err := n.address()
	if err != nil {
		return nil, err
	}
	silence, err := tcp.ParseSilence(programs.ValueIn(s.Env, "IMPI_SILENCE"))
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.waiting.limit = answerTime(silence)
	n.mu.Unlock()
	m := &join.Plan{Ctx: context.Background(), Silence: silence, Bind: at, Values: plan.Values, Agent: s.Agent,
		Port: plan.Port, PortTo: plan.PortTo, Verbose: plan.Verbose, ViaHead: n.joinOthers}
	if err := supervise.EnoughProcesses(plan.Size()); err != nil {
		return nil, err
	}
	if err := job.EnoughDescriptors(plan.Size(), []*join.Plan{m}); err != nil {
		return nil, err
	}
	p, err := job.New(layout.Share{N: plan.Size()}, s.JobID, m, list)
	if err != nil {
		return nil, err
	}
	spawner := spawn.Below(n, plan, s.Env, s.JobID, s.Universe, n.self.Taken)
	n.hasPart(p, spawner)
	p.OfNode(ranks, s.Parent)
	spawner.Serve(p, plan)
	n.tolerate()
	if s.Job != 0 {
		plan.Spawned, plan.Debug = s.Job, nil
	}
	debugged := debugger.Job{Name: s.JobID, Ranks: ranks, Far: true}
	if n.self.Local {
		debugged.Env = s.Env
	}
	end, err := debugger.Prepare(plan, list, debugged)
	if err != nil {
		return nil, err
	}
	defer end()
	cause, err := job.Run(plan, list, []*job.Part{p}, ranks, n.output(), func(job *supervise.Job) {
		n.frames.Send(tree.Frame{Started: true})
		n.serveInput()
		go n.watchRest(p)
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.job = job; n.ended != nil {
			job.Fail(*n.ended)
		}
	}, nil)
	if err == nil {
		p.Finish(cause)
	}
	return cause, err
}

// address is where this machine's ranks listen: as the user says of this machine, or of all; towards the server; where
// the launcher's ssh has come in, unless a resource manager has handed that variable on from another machine; or what
// the machine knows best.
func (n *node) address() (netip.Addr, error) {
	if n.self.Bind.IsValid() {
		return n.self.Bind, nil
	}
	if n.plan.Iface != "" {
		return address.On(n.plan.Iface)
	}
	if n.plan.Mode == options.Client {
		return client.AddressTowards(n.plan.Address)
	}
	if words := strings.Fields(os.Getenv("SSH_CONNECTION")); len(words) == 4 && hosts.IsOurs(words[2]) {
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
		m, err := n.frames.Receive()
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
			n.end(&supervise.Cause{Code: max(1, m.End.Code&0xff), Text: m.End.Text, Answer: true,
				Failure: m.End.Failure.Checked()})
		case m.Answer != nil:
			n.answered(*m.Answer)
		case m.Traffic != nil:
			n.reportTraffic()
		case m.Report != nil:
			go n.tellReport(m.Report)
		case m.Dead != nil:
			n.hearDead(m.Dead.Lost)
		case m.Alive != nil:
			n.hearsAlive(m.Alive)
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
	var list []tree.HostFrame
	for _, h := range hosts {
		f := tree.HostFrame{Addr: h.Addr, Machine: h.Machine}
		for _, p := range h.Procs {
			f.Procs = append(f.Procs, tree.ProcFrame{HostID: p.HostID[:], PID: p.PID})
		}
		list = append(list, f)
	}
	if err := n.frames.Send(tree.Frame{Hosts: list}); err != nil {
		return nil, 0, err
	}
	told := <-n.told
	tables, err := startup.DecodeJob(told.Tables)
	if err == nil && (told.First < 0 || told.First+n.start.Size > len(tables.Procs)) {
		err = fmt.Errorf("the launcher says that the client's ranks begin with %d of %d", told.First, len(tables.Procs))
	}
	return tables, told.First, err
}

// ownPlan is what a machine runs of the whole plan.
func ownPlan(m *tree.Member, plan options.Plan) *options.Plan {
	plan.Programs = layout.ProgramsOf(plan.Programs, m.Ranks)
	assign(m, &plan)
	return &plan
}
