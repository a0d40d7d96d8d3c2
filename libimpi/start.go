package libimpi

import (
	stdcontext "context"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/tcp"
)

// Config is what a process has learned of its job before it can take part in it.
type Config struct {
	Job      *transport.Job
	Segment  *shm.Segment     // the machine's; of one rank if the process is alone
	World    []int32          // world rank of each local rank of the segment
	Listener *tcp.Listener    // where higher hosts connect to; nil if they need not
	Agent    *[2]int          // pipes to the client's agent (transport/pipe), the Engine's from now on; nil: we are a host of our own
	Silence  time.Duration    // after which a host of another client of which nothing is heard is lost; 0: never
	NoRead   bool             // never read other processes' memory
	ReadAll  bool             // read every long message that can be read
	Help     Help             // when a thread of our own goes on with long messages
	Warn     func(string)     // told of what a user may want to know; may be nil
	Shared   *Shared          // where to count for the fast path; may be nil
	Quick    *Quick           // the receives that the fast path posts; may be nil
	HeldType HeldType         // the types of such receives
	Started  *PersistentTable // the persistent requests that the fast path starts; may be nil
	OnLost   func(*Error)     // a peer is lost: ends the job
}

// New makes the engine of a process and joins it with its peers. It blocks until all hosts of other clients are
// connected, or ctx is done.
func New(ctx stdcontext.Context, c Config) (*Engine, error) {
	e := &Engine{mu: c.Segment, me: c.Job.Me, job: c.Job, onLost: c.OnLost, tagUB: c.Job.TagUB, maxCID: 1}
	if e.shared = c.Shared; e.shared == nil {
		e.shared = new(Shared)
	}
	if e.requests.quick = c.Quick; c.Quick != nil {
		c.Quick.open()
		e.requests.heldType = c.HeldType
		e.requests.persistent = c.Started
	}
	sent := e.requests.get(nil) // the first slot: SentRequest
	sent.kind, sent.active, sent.done, sent.peer, sent.status = sendRequest, true, true, noPeer, emptyStatus
	if err := e.connect(ctx, c); err != nil {
		return nil, err
	}
	e.reach()
	e.heldAt, e.farAt = limit(e.mu.LocalSize()), limit(len(e.peers)-e.mu.LocalSize())
	e.budget = longSpin
	e.patient = e.neighbours() > e.mu.Cores()
	e.readAll = c.ReadAll || e.patient // the ring needs both sides at once
	e.helper.on = c.Segment.LocalSize() > 1 && (c.Help == HelpAlways || c.Help == HelpWhereFree && !e.patient)
	everybody := make([]int32, len(c.Job.Procs))
	for i := range everybody {
		everybody[i] = int32(i)
	}
	var err error
	if e.world, err = e.newComm(NewGroup(everybody), 0); err != nil {
		return nil, err
	}
	e.world.Name = "MPI_COMM_WORLD"
	if e.job.Clients <= 1 {
		e.world.spare = cids{2, 2 * cidBlock}
		e.maxCID = e.world.spare.end - 1
	}
	if e.self, err = e.newComm(NewGroup([]int32{e.me}), selfCID); err != nil {
		return nil, err
	}
	e.self.Name = "MPI_COMM_SELF"
	e.Progress() // a program that computes first must acknowledge what others send: the watcher begins with a poll
	return e, nil
}

func (e *Engine) connect(ctx stdcontext.Context, c Config) (err error) {
	e.machine = e.me
	if len(c.World) > 0 {
		e.machine = slices.Min(c.World)
	}
	e.alone = c.Segment.LocalSize() == 1
	if e.local, err = shm.New(shm.Config{Segment: c.Segment, World: c.World, Receiver: e, NoRead: c.NoRead}); err != nil {
		return err
	}
	if len(c.World) == len(c.Job.Procs) {
		return nil
	}
	opts := tcp.Options{Warn: c.Warn, Silence: c.Silence, Apart: apart(c.Job, c.World)}
	if c.Agent != nil {
		e.agents, opts.Pipes = 1, true
		e.remote, err = tcp.Adopt(agent.View(c.Job), agent.ViewHost, agent.ViewSockets(*c.Agent), e, e.Progress, opts)
	} else {
		e.nap = tryNaps()
		e.remote, err = tcp.Connect(ctx, c.Job, c.Job.Procs[c.Job.Me].Host, c.Listener, e, e.Progress, opts)
	}
	return err
}

// apart are the hosts of our own client with which we share no memory.
func apart(job *transport.Job, local []int32) []bool {
	list := make([]bool, len(job.Hosts))
	for i, h := range job.Hosts {
		list[i] = h.Client == job.Procs[job.Me].Client
	}
	for _, w := range local {
		list[job.Procs[w].Host] = false
	}
	return list
}

// reach finds the transport to each process.
func (e *Engine) reach() {
	e.peers = make([]peer, len(e.job.Procs))
	for w := range e.peers {
		p := &e.peers[w]
		p.rank, p.local = int32(w), -1
		if int32(w) == e.me {
			continue
		}
		if e.local.Local(int32(w)) >= 0 {
			p.tr, p.limits = e.local, e.local.Limits()
			p.local = e.local.Local(int32(w))
			p.direct = e.local
			continue
		}
		p.tr, p.limits, p.rep, p.stream = e.remote, e.remote.Limits(), datatype.External32, e.remote
		p.limits.Stream = e.remote.Stream(int32(w))
		p.kin = e.job.Hosts[e.job.Procs[w].Host].SameImpl
	}
}

// neighbours is the number of processes that share this machine's cores: those of other clients on it count, too, and so
// do agents. Where a host does not say on which machine it is, its address has to tell.
func (e *Engine) neighbours() int {
	me := &e.job.Procs[e.me]
	mine := &e.job.Hosts[me.Host]
	n := 0
	for i := range e.job.Hosts {
		h := &e.job.Hosts[i]
		switch {
		case h.Machine == 0 || mine.Machine == 0:
			for _, p := range e.job.Procs[h.First : h.First+h.NProcs] {
				if p.HostID == me.HostID {
					n++
				}
			}
		case h.Machine == mine.Machine:
			n += int(h.NProcs) + int(h.Others)
		}
	}
	if mine.Machine == 0 {
		n += e.agents
	}
	return max(n, e.mu.LocalSize()+e.agents)
}

// Me is the process's rank in MPI_COMM_WORLD.
func (e *Engine) Me() int32 { return e.me }

// Job is what the process knows of the job.
func (e *Engine) Job() *transport.Job { return e.job }

// World and Self are the predefined communicators.
func (e *Engine) World() *Comm { return e.world }

// Self is MPI_COMM_SELF.
func (e *Engine) Self() *Comm { return e.self }

// TagUB is the largest tag.
func (e *Engine) TagUB() int32 { return e.tagUB }

// finishTime is how long the end of a job waits for the other hosts.
const finishTime = 30 * time.Second

// Finish ends communication in order (IMPI 0.0, 2.4 and 3.8): a barrier on MPI_COMM_WORLD, then what still
// waits for room, then the connections.
func (e *Engine) Finish() error {
	if err := e.world.Barrier(); err != nil {
		return err
	}
	return e.Leave()
}

// Connected says whether some processes of the job are reached over connections, which Finish ends for good.
func (e *Engine) Connected() bool { return e.remote != nil }

// Leave is Finish without the barrier.
func (e *Engine) Leave() error {
	if err := e.finishRemote(); err != nil {
		return err
	}
	e.retire()
	return nil
}

func (e *Engine) finishRemote() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitFor(func() bool { return len(e.busy) == 0 }, anyPeer)
	if err := e.failure(); err != nil {
		return err
	}
	if e.remote != nil {
		if err := e.remote.Finish(time.Now().Add(finishTime)); err != nil {
			return fmt.Errorf("at the end of the job: %w", err)
		}
	}
	return nil
}

// Abort closes the connections without ceremony: the other clients see that this process has not finished. Threads
// that wait in MPI stay there.
func (e *Engine) Abort() {
	if e.remote == nil {
		return
	}
	e.mu.Lock()
	e.remote.Abort()
	e.mu.Unlock()
	e.retire()
}
