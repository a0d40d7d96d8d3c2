// Package job is the ranks of a job on this machine: what the launcher says to them, and why the job ends.
//
// Flow: processes that are ready to start, and how their clients join each other -> a Part for each client, with the
// links of its ranks (New) -> all processes start (Run) -> the goroutine of each rank reads its link: hello, where it
// listens, what it asks for (requests.go), its end (part.go, lives.go) -> each client joins the others (client.go,
// agent.go) -> the processes end, and Run returns the job's cause, nil if all went well -> the server is told of it
// (Finish). Ranks write to the streams that the plan says (Streams). A guard (guard.go) ends what they leave if the
// launcher is killed.
//
// A spawned job is a Part on trial (NewSpawned): it runs beside the others, and whoever spawns it decides which of its
// processes belong to it (trial.go).
package job

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/wire"
)

// A Part is the ranks of one client, which share this machine's memory, and what the launcher says to them.
//
// Flow: a goroutine for each rank reads its link (listen) -> hello; when all have said it, each is welcomed
// with the shared memory -> in a job of several clients each then says where it listens; when all have, one of
// the goroutines speaks with the server for all (join), and each gets the tables -> finalized, acknowledged.
// Behind an agent (agent.go) nobody says where it listens: when all are welcomed, the launcher does it for them.
//
// The goroutine of a rank never waits for a rank that has ended: drain closes left, which ends every wait.
type Part struct {
	layout.Share
	jobID    string
	joinPlan *join.Plan             // nil: a job of one client
	ends     []*startup.LauncherEnd // those of the links that ranks inherit
	door     *startup.Door          // where processes come that have not; nil: there is none
	left     []chan struct{}        // closed when the rank's process has ended
	heard    []chan struct{}        // closed when its link has been read to the end

	job *supervise.Job // set by listenAll
	set *supervise.Set // our ranks in it

	reports Reports // of the ranks' traffic

	ft     bool // the job is fault tolerant
	losses losses

	asker sync.Mutex // held for one round
	round round      // of questions what ranks wait for
	sites sites      // of the calls in which they are

	spawner  Spawner            // answers what ranks ask for
	programs []*options.Program // by local rank
	parent   string             // the port of those who have spawned us
	universe int32
	plain    bool                // spawned, of programs that do not use MPI
	once     string              // why its ranks have one MPI life; "": they may have several
	ranks    []int               // of a node: the ranks among the client's, by local rank; nil: they follow one another
	bound    []supervise.Process // spawned: only their CPUs are read

	mu      sync.Mutex // guards what follows
	asked   []int      // by local rank: requests without an answer
	trial   *trial     // of a job that was spawned; nil: it was not
	numbers []int      // and by process, its rank; nil: it is the place, or not known yet
	members []uint32   // and by rank, their pids
	*life              // that in which ranks are greeted
	old     *life      // the one before, of which the memory is still open; nil: there is none
	seats   []seat     // by local rank
	hosts   []client.Host
	hosted  int
	joining chan struct{} // closed when the attempt to join the others is over; nil: it has not begun
	session *client.Session
	agent   *agent.Agent   // nil: there is none, or not yet
	tabled  bool           // the ranks have the job's tables
	base    int            // world rank of the client's first rank, as soon as that is known
	tables  *transport.Job // of an IMPI job, as soon as they are known
}

// drainTime bounds how long a link is read after its process has ended, if a child that it left behind keeps the other
// end open. What the process itself had sent is there already.
const drainTime = 500 * time.Millisecond

// New makes the part of one client: the links of its ranks, whose ends it puts into their processes. how is how it
// joins the others, nil in a job of one client.
func New(s layout.Share, jobID string, how *join.Plan, list []supervise.Process) (*Part, error) {
	shared, err := shm.Create(s.N)
	if err != nil {
		return nil, err
	}
	if err := layout.PlaceMemory(shared, list[s.First:s.First+s.N]); err != nil {
		unix.Close(shared)
		return nil, err
	}
	p := partOf(s, jobID, how)
	p.shared, p.bound, p.once = shared, slices.Clone(list[s.First:s.First+s.N]), onlyOnce(how, list[s.First:s.First+s.N])
	name := fmt.Sprintf("impi_%s_%d_%d", jobID, os.Getpid(), s.First)
	if err := servePMI(list[s.First:s.First+s.N], name); err != nil {
		unix.Close(shared)
		return nil, err
	}
	for i := range s.N {
		end, child, err := startup.NewLauncherEnd()
		if err != nil {
			unix.Close(shared)
			for k, end := range p.ends {
				end.Close()
				list[s.First+k].Link.Close()
			}
			return nil, fmt.Errorf("the link to rank %d: %w", s.First+i, err)
		}
		list[s.First+i].Link = child
		p.ends = append(p.ends, end)
		p.left = append(p.left, make(chan struct{}))
		p.heard = append(p.heard, make(chan struct{}))
	}
	return p, p.openDoor(list[s.First : s.First+s.N])
}

// partOf makes a part without links and shared memory.
func partOf(s layout.Share, jobID string, how *join.Plan) *Part {
	return &Part{Share: s, base: s.First, jobID: jobID, joinPlan: how, life: newLife(1, s.N), seats: make([]seat, s.N),
		hosts: make([]client.Host, s.N), asked: make([]int, s.N)}
}

// Attended makes the part of a process that runs already, and is the one rank of its job. end is its link.
func Attended(end *startup.LauncherEnd, jobID string) *Part {
	p := partOf(layout.Share{N: 1}, jobID, nil)
	p.ends = append(p.ends, end)
	p.once = "it was not started by a launcher"
	p.left, p.heard = append(p.left, make(chan struct{})), append(p.heard, make(chan struct{}))
	return p
}

// Attend starts to listen to the process of Attended, whose end is that of its link.
func (p *Part) Attend(job *supervise.Job) {
	p.ListenAll(job, job.Initial())
	go func() {
		<-p.heard[0]
		close(p.left[0])
		job.Initial().Left(0)
	}()
}

// OfNode tells the part that it is a node's, which has these ranks of the client. parent is the port of those who have
// spawned them, "" if nobody has.
func (p *Part) OfNode(ranks []int, parent string) { p.ranks, p.parent = ranks, parent }

// ListenAll starts to listen to the ranks, which have been started as a set of the job.
func (p *Part) ListenAll(job *supervise.Job, set *supervise.Set) {
	p.job, p.set = job, set
	for i := range p.N {
		go p.listen(i)
	}
	if p.door != nil {
		go p.door.Serve(p.admit)
	}
}

// Drain returns when all has been read that rank i, which has ended, had sent.
func (p *Part) Drain(i int) {
	close(p.left[i])
	p.round.leave(i)
	limit := time.Now().Add(drainTime)
	p.ends[i].SetDeadline(limit)
	p.drainSeat(i, limit)
	<-p.heard[i]
	p.ends[i].Close()
}

// listen reads the link of rank i to its end.
func (p *Part) listen(i int) {
	defer close(p.heard[i])
	p.read(i, p.ends[i])
}

// read reads a link of rank i to its end, and reports it if that is an error.
func (p *Part) read(i int, end *startup.LauncherEnd) {
	for {
		m, err := end.Next()
		if err == nil {
			err = p.take(i, end, m)
		}
		if err != nil {
			// The end of the link, or a rank that does not read, is ignored here: how the process ends will tell.
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrDeadlineExceeded) &&
				!errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, net.ErrClosed) {
				if p.onTrial() {
					p.Failed(i, fmt.Sprintf("program %s: %v", p.programs[i].Argv[0], err))
					p.set.Kill(i)
					return
				}
				p.job.Fail(supervise.Cause{Code: 1, Text: fmt.Sprintf("rank %d: %v", p.First+layout.RankIn(p.ranks, i), err)})
			}
			return
		}
	}
}

// take acts on one message of rank i, on one of its links.
func (p *Part) take(i int, end *startup.LauncherEnd, m startup.Message) error {
	switch m := m.(type) {
	case startup.Hello:
		return p.greet(i, end, m)
	case startup.Host:
		p.ready(i, client.Host{Addr: m.Addr, Machine: p.machine(0),
			Procs: []client.Proc{{HostID: m.HostID, PID: p.pidOf(i)}}})
	case startup.Finalized:
		p.leave(i, end)
		p.set.Finalized(p.First + i)
		return end.Ack()
	case startup.Abort:
		m.Text = p.sites.place(m.Error, m.Text)
		if m.Error != nil && m.Error.Signal != 0 {
			p.set.Crashed(p.First+i, m.Error)
			return nil
		}
		p.set.Aborted(p.First+i, m.Code, m.Text, m.Answer, m.Client, m.Error)
	case startup.Request:
		return p.request(i, end, m)
	case startup.Traffic:
		p.reports.Take(i, m.Rows)
	case startup.Report:
		p.answered(i, m)
	case startup.Suspects:
		p.suspects(i, m)
	}
	return nil
}

// machine is where the hosts of the ranks are, each of which needs so many other processes.
func (p *Part) machine(others uint32) wire.Machine {
	return wire.Machine{ID: address.Machine(), Others: others, Crowded: p.N > runtime.NumCPU()}
}

// greet waits until all ranks have said hello, and welcomes rank i.
func (p *Part) greet(i int, end *startup.LauncherEnd, hello startup.Hello) error {
	now, refusal := p.arrive(i, end, hello)
	if refusal != "" {
		return end.Refuse(refusal)
	}
	select {
	case <-now.welcome:
	case <-p.left[i]:
		return nil
	}
	rank, pids := i, now.pids
	if p.numbers != nil {
		if rank, pids = p.numbers[i], p.members; rank < 0 {
			return nil // it is being ended
		}
	}
	w := startup.Welcome{LocalRank: int32(rank), LocalSize: int32(len(pids)), JobID: now.name(p.jobID), Shared: now.shared,
		Parent: p.parent, Universe: p.universe, FT: p.ft}
	switch {
	case p.joinPlan == nil:
		w.Job = startup.OneClient(pids...)
		w.Job.Me = int32(rank)
	case p.joinPlan.Agent:
		w.IMPI, w.Agent = true, true
	default:
		w.IMPI, w.Bind, w.Ports = true, p.joinPlan.Bind, [2]int{p.joinPlan.Port, p.joinPlan.PortTo}
	}
	if err := end.Welcome(w); err != nil || !w.Agent {
		p.catchUp(i)
		return err
	}
	p.ready(i, client.Host{})
	return nil
}

// maxPID is above all process ids of Linux.
const maxPID = 1 << 22

// distinct is the number that tells rank i from the others of this machine: its process id, unless another has that,
// too, because each is in a container with process ids of its own.
func distinct(pids []uint32, i int, pid uint32) uint32 {
	if slices.Contains(pids, pid) {
		return maxPID + 1 + uint32(i)
	}
	return pid
}

func (p *Part) pidOf(i int) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pids[i]
}

// onTrial reports whether it is not decided yet who belongs to the job.
func (p *Part) onTrial() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trial != nil && !p.plain && p.numbers == nil
}
