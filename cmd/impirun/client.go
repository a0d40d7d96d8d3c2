package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
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

// A part is the ranks of one client, which share this machine's memory, and what the launcher says to them.
//
// Flow: a goroutine for each rank reads its link (listen) -> hello; when all have said it, each is welcomed
// with the shared memory -> in a job of several clients each then says where it listens; when all have, one of
// the goroutines speaks with the server for all (join), and each gets the tables -> finalized, acknowledged.
// Behind an agent (agent.go) nobody says where it listens: when all are welcomed, the launcher does it for them.
//
// The goroutine of a rank never waits for a rank that has ended: drain closes left, which ends every wait.
type part struct {
	layout.Share
	jobID    string
	joinPlan *join.Plan             // nil: a job of one client
	ends     []*startup.LauncherEnd // those of the links that ranks inherit
	door     *startup.Door          // where processes come that have not; nil: there is none
	left     []chan struct{}        // closed when the rank's process has ended
	heard    []chan struct{}        // closed when its link has been read to the end

	job *supervise.Job // set by listenAll
	set *supervise.Set // our ranks in it

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
	agent   *agent.Agent // nil: there is none, or not yet
}

// drainTime bounds how long a link is read after its process has ended, if a child that it left behind keeps the other
// end open. What the process itself had sent is there already.
const drainTime = 500 * time.Millisecond

// newPart makes the links of one client's ranks and puts the ranks' ends into their processes.
func newPart(s layout.Share, jobID string, how *join.Plan, list []supervise.Process) (*part, error) {
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
	if err := servePMI(list[s.First:s.First+s.N], jobID); err != nil {
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
func partOf(s layout.Share, jobID string, how *join.Plan) *part {
	return &part{Share: s, jobID: jobID, joinPlan: how, life: newLife(1, s.N), seats: make([]seat, s.N),
		hosts: make([]client.Host, s.N), asked: make([]int, s.N)}
}

// attended makes the part of a process that runs already, and is the one rank of its job. end is its link.
func attended(end *startup.LauncherEnd, jobID string) *part {
	p := partOf(layout.Share{N: 1}, jobID, nil)
	p.ends = append(p.ends, end)
	p.once = "it was not started by a launcher"
	p.left, p.heard = append(p.left, make(chan struct{})), append(p.heard, make(chan struct{}))
	return p
}

// attend starts to listen to that process, whose end is that of its link.
func (p *part) attend(job *supervise.Job) {
	p.listenAll(job, job.Initial())
	go func() {
		<-p.heard[0]
		close(p.left[0])
		job.Initial().Left(0)
	}()
}

// ofNode says that the part is a node's, which has these ranks of the client. parent is the port of those who have
// spawned them, "" if nobody has.
func (p *part) ofNode(ranks []int, parent string) { p.ranks, p.parent = ranks, parent }

// enoughDescriptors answers an error, before a rank is started, if the launcher may not open as many descriptors as it
// needs. Later this would show as connections that nobody answers.
func enoughDescriptors(ranks int, plans []*join.Plan) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	if need := descriptors(ranks, plans); uint64(need) > limit.Cur {
		return fmt.Errorf("the launcher needs some %d descriptors for %d ranks, and may have %d: raise ulimit -n", need,
			ranks, limit.Cur)
	}
	return nil
}

// descriptors is an upper bound, and not much more, of how many descriptors the launcher needs for its clients' ranks.
func descriptors(ranks int, plans []*join.Plan) int {
	const own, each = 11, 5 // of the launcher, and of a client: its talk with the server, and where it listens
	need := own + 2*ranks   // both ends of all links
	for _, m := range plans {
		if m != nil {
			need += each
		}
		if m != nil && m.Agent { // pipes, and sockets to the others: one at least where we do not know them
			need += 3*ranks/len(plans) + max(1, len(plans)-1)*m.Streams()
		}
	}
	return need
}

// listenAll starts to listen to the ranks of a job that has been started.
func (p *part) listenAll(job *supervise.Job, set *supervise.Set) {
	p.job, p.set = job, set
	for i := range p.N {
		go p.listen(i)
	}
	if p.door != nil {
		go p.door.Serve(p.admit)
	}
}

// drain returns when all has been read that rank i, which has ended, had sent.
func (p *part) drain(i int) {
	close(p.left[i])
	limit := time.Now().Add(drainTime)
	p.ends[i].SetDeadline(limit)
	p.drainSeat(i, limit)
	<-p.heard[i]
	p.ends[i].Close()
}

// listen reads the link of rank i to its end.
func (p *part) listen(i int) {
	defer close(p.heard[i])
	p.read(i, p.ends[i])
}

// read reads a link of rank i to its end, and reports it if that is an error.
func (p *part) read(i int, end *startup.LauncherEnd) {
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
					p.failed(i, fmt.Sprintf("program %s: %v", p.programs[i].Argv[0], err))
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
func (p *part) take(i int, end *startup.LauncherEnd, m startup.Message) error {
	switch m := m.(type) {
	case startup.Hello:
		return p.greet(i, end, m)
	case startup.Host:
		p.ready(i, client.Host{Addr: m.Addr, Machine: wire.Machine{ID: address.Machine()},
			Procs: []client.Proc{{HostID: m.HostID, PID: p.pidOf(i)}}})
	case startup.Finalized:
		p.leave(i, end)
		p.set.Finalized(p.First + i)
		return end.Ack()
	case startup.Abort:
		p.set.Aborted(p.First+i, m.Code, m.Text, m.Answer, m.Client)
	case startup.Request:
		return p.request(i, end, m)
	}
	return nil
}

// greet waits until all ranks have said hello, and welcomes rank i.
func (p *part) greet(i int, end *startup.LauncherEnd, hello startup.Hello) error {
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
		Parent: p.parent, Universe: p.universe}
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

func (p *part) pidOf(i int) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pids[i]
}

// onTrial says whether it is not decided yet who belongs to the job.
func (p *part) onTrial() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trial != nil && !p.plain && p.numbers == nil
}

// ready notes that rank i waits for the job's tables, and where it listens; after the last one this client joins the
// others.
func (p *part) ready(i int, h client.Host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[i] = h
	if p.hosted++; p.hosted < p.N {
		return
	}
	p.joining = make(chan struct{})
	go func() {
		defer close(p.joining)
		join := p.joinDirect
		if p.joinPlan.Agent {
			join = p.joinAgent
		}
		if err := join(); err != nil {
			p.job.Fail(supervise.Cause{Code: 1, Text: err.Error()})
		}
	}()
}

// joinDirect joins the other clients through the server and hands the tables to the ranks, which then connect
// themselves.
func (p *part) joinDirect() error {
	tables, first, err := p.connect(p.hosts)
	if err != nil {
		return err
	}
	local := p.worldRanks(first)
	for i := range p.N {
		mine := *tables
		mine.Me = local[i]
		if p.link(i).Job(&mine, [2]int{-1, -1}, local...) != nil {
			return nil // the rank has ended: the job is over
		}
	}
	return nil
}

// worldRanks are the ranks of this machine, by local rank. first is the client's first in MPI_COMM_WORLD.
func (p *part) worldRanks(first int) []int32 {
	list := make([]int32, p.N)
	for i := range list {
		list[i] = int32(first + layout.RankIn(p.ranks, i))
	}
	return list
}

// connect joins the other clients through the server. first is the client's first rank in MPI_COMM_WORLD.
func (p *part) connect(hosts []client.Host) (tables *transport.Job, first int, err error) {
	m := p.joinPlan
	if m.ViaHead != nil {
		tables, first, err := m.ViaHead(hosts)
		if err == nil {
			p.job.First(first)
		}
		return tables, first, err
	}
	if m.Verbose {
		outcome.Complain("joining the server at %s as client %d", m.Address, m.Rank)
	}
	tables, session, err := m.Connect(hosts)
	if err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
	session.Watch(func(err error) {
		var lost *client.LostError
		switch {
		case errors.As(err, &lost):
			p.job.PeerLost(p.First, p.N, supervise.Cause{Code: 1, Text: err.Error(), Blamed: &lost.Client})
		default:
			m.Report(err)
		}
	})
	if m.Verbose {
		outcome.Complain("client %d of %d: datalen %d, ackmark %d, hiwater %d, tagub %d, xsize %d, maxlinear %d", m.Rank,
			tables.Clients, tables.MaxDataLen, tables.AckMark, tables.HiWater, tables.TagUB, tables.XSize, tables.MaxLinear)
		for _, h := range tables.Hosts {
			if h.Client != m.Rank && h.Streams > 1 {
				outcome.Complain("client %d: %d connections with each host of client %d", m.Rank, h.Streams, h.Client)
				break
			}
		}
	}
	first = join.FirstRank(tables, m.Rank)
	p.job.First(first - p.First)
	return tables, first, nil
}

// joined says whether this client has joined the others.
func (p *part) joined() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session != nil
}

// finish ends what the part has open: with a farewell to the server if all went well, else with the cause.
func (p *part) finish(cause *supervise.Cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.joinPlan; m != nil && m.Alone() {
		joining := p.joining
		p.mu.Unlock()
		if cause != nil {
			m.GiveUp(cause, joining)
		} else if joining == nil {
			m.Withdraw()
		}
		p.mu.Lock()
	}
	p.closeLives()
	p.finishAgent(cause == nil)
	if p.session == nil {
		return
	}
	if cause != nil {
		p.session.Fail(cause.Text, cause.Blamed)
	} else {
		p.joinPlan.Report(p.session.Fini())
	}
}

// anyGreeted says whether one of n ranks from first on has come to join.
func anyGreeted(parts []*part, first, n int) bool {
	for _, p := range parts {
		p.mu.Lock()
		for i := range p.seats {
			if rank := p.First + i; p.seats[i].lives > 0 && rank >= first && rank < first+n {
				p.mu.Unlock()
				return true
			}
		}
		p.mu.Unlock()
	}
	return false
}
