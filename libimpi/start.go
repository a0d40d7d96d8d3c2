package libimpi

import (
	stdcontext "context"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/libimpi/reach"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bulk"
	"github.com/libimpi/libimpi/transport/futex"
)

// Config is what a process has learned of its job before it can take part in it.
type Config struct {
	Job       *transport.Job
	JobID     [16]byte          // the same for all processes of the job and for no others; zero: it is made of Job
	Caller    Caller            // what threads of the program do; may be empty
	Home      transport.Home    // the process's lock, bell, and place in its machine
	Open      transport.Open    // makes its transports
	ReadAll   bool              // read every long message that can be read
	Checks    checks.Set        // what is checked of the program
	Thread    background.Policy // when a thread of our own goes on with long messages
	Shared    *Shared           // where to count for the fast path; may be nil
	Quick     *Quick            // the receives that the fast path posts; may be nil
	HeldType  HeldType          // the types of such receives
	Started   *PersistentTable  // the persistent requests that the fast path starts; may be nil
	OpenBoard func(*Comm) error // calls Comm.OpenBoard and UseBoard, if there is a board; nil: boards are not used
	OnLost    func(*Error)      // a peer is lost: ends the job
	OnGone    func(*Comm)       // a member is lost and the job goes on, or revoked: FastRank has changed. Engine lock held

	// Condemn is told, in a job that is fault tolerant, that this process has found one of the job, which may be itself,
	// to be lost: the launcher has to end it if it lives, and to tell all others. breach says that it has broken the
	// protocol; else it cannot be reached. Called without the lock; nil: nobody is.
	Condemn func(world int32, breach bool, why error)
}

// New makes the engine of a process and joins it with its peers. It blocks until all hosts of other clients are
// connected, or ctx is done.
func New(ctx stdcontext.Context, c Config) (*Engine, error) {
	e := &Engine{mu: futex.On(c.Home.Lock), bell: c.Home.Bell, home: c.Home, me: c.Job.Me, job: c.Job,
		caller: c.Caller}
	debugged.engine.Store(e)
	e.loss.onLost, e.loss.onGone, e.loss.condemn = c.OnLost, c.OnGone, c.Condemn
	e.predefined.tagUB = c.Job.TagUB
	e.collectives.mostTasks = mostTasks
	e.position.jobID, e.guests.nobody = c.JobID, nobody()
	if e.position.jobID == ([16]byte{}) {
		e.position.jobID = jobIDOf(c.Job)
	}
	if e.now = c.Home.Now; e.now == nil {
		e.now = time.Now
	}
	if e.shared = c.Shared; e.shared == nil {
		e.shared = new(Shared)
	}
	e.protocol.Do, e.protocol.Memory, e.protocol.Me = messageEngine{e}, memoryEngine{e}, e.me
	e.protocol.Bounds, e.protocol.Queued = &e.pressure, &e.shared.Queued
	if e.requests.quick = c.Quick; c.Quick != nil {
		c.Quick.open()
		e.requests.heldType = c.HeldType
		e.requests.persistent = c.Started
	}
	sent := e.requests.get(nil) // the first slot: sentRequest
	sent.kind, sent.state.active, sent.state.done, sent.env.peer, sent.status = sendRequest, true, true, noPeer,
		emptyStatus
	if err := e.connect(ctx, c.Open); err != nil {
		return nil, err
	}
	size := len(c.Home.World)
	e.pressure = pressure.Bounds{HeldAt: pressure.Limit(size), RestrainAt: pressure.Limit(len(e.peers) - size),
		Do: actions{e}}
	e.waiting.budget, e.waiting.offers = longSpin, offersFew
	e.setPatient(e.cohabitants() > c.Home.Cores)
	e.collectives.openBoard = c.OpenBoard
	e.SetChecks(c.Checks)
	e.SetReadAll(c.ReadAll)
	if size > 1 && c.Home.Attention != nil && c.Thread.Allows(e.waiting.patient.Load()) {
		e.thread.Use(threadEngine{e}, c.Home.Attention)
	}
	everybody := make([]int32, len(c.Job.Procs))
	for i := range everybody {
		everybody[i] = int32(i)
	}
	var err error
	all := NewGroup(everybody)
	if e.alike(all) {
		e.position.memory = memoryHere()
	}
	if e.predefined.world, err = e.newComm(all, 0); err != nil {
		return nil, err
	}
	e.predefined.world.Name = "MPI_COMM_WORLD"
	ids, first := contexts.New(int(e.job.Clients), int(e.me), len(everybody))
	e.contexts.ids = ids
	e.predefined.world.ids.supply.Stock(first)
	if e.predefined.self, err = e.newComm(NewGroup([]int32{e.me}), contexts.Self); err != nil {
		return nil, err
	}
	e.predefined.self.Name = "MPI_COMM_SELF"
	e.progress() // a program that computes first must acknowledge what others send: the watcher begins with a poll
	return e, nil
}

// setPatient says whether ranks outnumber cores.
func (e *Engine) setPatient(on bool) {
	e.waiting.patient.Store(on)
	bulk.Crowded.Store(on)
}

// Reading is quick, or worth it, if it takes no longer than so many copies of data in the own core's caches. Through
// the ring each line changes cores twice, which may take long: 1 MiB took 47 to 620 us so on a machine whose host moves
// its cores, depending on where they were, and 50 to 80 when it was read, where a read took 5 copies. But where ranks
// outnumber cores, the lines of the ring are often those of the own core.
const (
	worthyReads = 7
	quickReads  = 4
)

// SetReadAll makes long messages inside the machine be read from their senders' memory, or go through the ring.
func (e *Engine) SetReadAll(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var cost direct.Cost
	if e.ways.local.reader != nil {
		cost.Read, cost.Copied = e.ways.local.reader.Cost()
	}
	within := func(copies time.Duration) bool { return cost.Read > 0 && cost.Read <= copies*cost.Copied }
	direct := direct.Rules{Past: bulk.Past(), Writes: e.ways.local.writer != nil, Cost: cost}
	direct.On = on || within(quickReads) || within(worthyReads) && !e.waiting.patient.Load()
	// The ring needs both sides at once, which pays even so where copies between cores are quick.
	direct.ReadAll = on || !direct.On && e.waiting.patient.Load() && !bulk.Strings()
	e.protocol.Rules = direct
}

// SetChecks says what is checked of the program from now on. No collective operation may be under way in the job.
func (e *Engine) SetChecks(s checks.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.collectives.verifies.Store(s.Has(checks.Calls))
	e.collectives.checks.Store(uint32(s))
	e.watch.types = s.Has(checks.Types)
	e.watch.on = e.watch.types || e.watch.counts
	switch {
	case !s.Has(checks.Buffers | checks.Leaks | checks.Threads):
		e.requests.checked = nil
	case e.requests.checked == nil:
		e.requests.checked = checks.NewRequests(s)
		e.requests.checked.Over, e.requests.checked.Where = e.isOver, e.caller.Where
	default:
		e.requests.checked.Set = s
	}
}

// Checks is what is checked.
func (e *Engine) Checks() checks.Set { return checks.Set(e.collectives.checks.Load()) }

// Verifies reports whether collective operations compare their calls.
func (e *Engine) Verifies() bool { return e.collectives.verifies.Load() }

// AvoidBoards keeps collective operations from boards, persistent ones that have been made apart. It has to be the same
// at all processes, and no such operation may be under way in the job.
func (e *Engine) AvoidBoards(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.collectives.noBoards.Store(on)
}

// CollectiveUnderWay reports whether a nonblocking collective operation is.
func (e *Engine) CollectiveUnderWay() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.requests.slots, func(r *Request) bool {
		return r != nil && r.state.active && !r.state.done && r.isTask()
	})
}

// connect opens the transports and finds the one to each process.
func (e *Engine) connect(ctx stdcontext.Context, open transport.Open) error {
	e.position.machine = slices.Min(e.home.World)
	e.position.spread = severalMachines(e.job)
	e.position.alone = len(e.home.World) == 1
	links, err := open(ctx, e, e.progress)
	if err != nil {
		return err
	}
	e.ways.local, e.ways.network, e.position.others = carry(links.Local), carry(links.Network), links.Others
	if e.ways.vendor = carry(links.Vendor); e.ways.vendor.connected() {
		e.ways.library.name, e.ways.library.apart = links.VendorName, links.Apart
		e.guests.far = []*carrier{&e.ways.vendor}
		e.openLines()
	}
	if links.Syscalls {
		e.waiting.nap = tryNaps()
	}
	e.guests.begin = links.Meet
	e.guests.indexer, _ = links.Local.(transport.Indexer)
	e.reachAll()
	return nil
}

func (e *Engine) reachAll() {
	e.peers = make([]peer, len(e.job.Procs))
	e.position.size = int32(len(e.peers))
	for w := range e.peers {
		e.peers[w].Rank = int32(w)
		e.peers[w].stand(-1)
	}
	for local, w := range e.home.World {
		if w != e.me {
			e.peers[w].reachBy(&e.ways.local)
			e.peers[w].stand(local)
		}
	}
	for w := range e.peers {
		p := &e.peers[w]
		if p.tr != nil || p.Rank == e.me {
			continue
		}
		p.rep = datatype.External32
		if e.ways.vendor.connected() && e.job.Procs[w].Client == e.job.Procs[e.me].Client {
			p.reachBy(&e.ways.vendor)
			continue
		}
		p.reachBy(&e.ways.network)
		if !e.job.Hosts[e.job.Procs[w].Host].SameImpl {
			p.hold, p.Holds, p.Pressure.Hears = nil, false, false
		}
	}
}

// Report returns by what the processes of the job talk, as this one sees it, in lines for a user. machine is what this
// machine is called.
func (e *Engine) Report(machine string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := reach.Report{Job: e.job, Near: e.home.World, Agent: e.position.others > 0, Machine: machine,
		Vendor: e.ways.library.name}
	for _, w := range e.home.World {
		if p := &e.peers[w]; p.direct != nil && p.direct.CanRead(w) {
			r.Reads++
		}
	}
	if r.Apart = e.ways.library.apart; r.Apart {
		r.Near = nil
		for w, p := range e.job.Procs {
			if me := &e.job.Procs[e.me]; p.Client == me.Client && p.HostID == me.HostID {
				r.Near = append(r.Near, int32(w))
			}
		}
	}
	return r.Lines()
}

// reachBy makes c the transport to a peer.
func (p *peer) reachBy(c *carrier) {
	p.tr, p.Limits = c.Transport, c.Limits()
	p.direct, p.gather, p.hold, p.stream, p.shutter = c.reader, c.gatherer, c.holder, c.streamer, c.shutter
	if p.Near, p.Holds, p.Streams = p.direct != nil, p.hold != nil, p.stream != nil; p.Streams {
		p.Longest = p.stream.Stream(p.Rank)
	}
	p.Offers = c.offerer
	p.Pressure = pressure.Peer{Rank: p.Rank, Hears: p.Holds, Shuts: p.shutter != nil}
}

// stand says where a peer is: its rank in this machine's segment, or -1.
func (p *peer) stand(local int) { p.local, p.Elsewhere = local, local < 0 }

// cohabitants is the number of processes that share this machine's cores: those of other clients on it count, too, and
// so do agents. Where a host does not say on which machine it is, its address has to tell.
func (e *Engine) cohabitants() int {
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
		n += e.position.others
	}
	return max(n, len(e.home.World)+e.position.others)
}

// Me is the process's rank in MPI_COMM_WORLD.
func (e *Engine) Me() int32 { return e.me }

// Job is what the process knows of the job.
func (e *Engine) Job() *transport.Job { return e.job }

// World and Self are the predefined communicators.
func (e *Engine) World() *Comm { return e.predefined.world }

// Self is MPI_COMM_SELF.
func (e *Engine) Self() *Comm { return e.predefined.self }

// TagUB is the largest tag.
func (e *Engine) TagUB() int32 { return e.predefined.tagUB }

// finishTime is how long the end of a job waits for the other hosts.
const finishTime = 30 * time.Second

// Finish ends communication in order (IMPI 0.0, 2.4 and 3.8): all wait for each other, then for what still waits for
// room, and end the links to guests, and the connections.
func (e *Engine) Finish() error {
	if err := e.meetAtTheEnd(); err != nil {
		return err
	}
	return e.leave(func() bool { return false }) // what nobody has received by now nobody will
}

// Connected reports whether some processes of the job are reached over connections, which Finish ends for good.
func (e *Engine) Connected() bool { return e.ways.network.connected() || e.ways.vendor.connected() }

// MayLeave reports whether a process may end communication while others go on: none of these is of another
// implementation, which would have it end with MPI_Finalize, as all others do.
func (e *Engine) MayLeave() bool { return e.agreed(e.predefined.world.group, sameImpl) }

// Leave is Finish without the barrier: it waits for messages that the program has let go of, too, since their receivers
// may come to them later.
func (e *Engine) Leave() error { return e.leave(e.hasLetGo) }

// hasLetGo reports whether a send is under way that the program does not wait for.
func (e *Engine) hasLetGo() bool {
	return slices.ContainsFunc(e.requests.slots, func(r *Request) bool {
		return r != nil && r.kind == sendRequest && r.state.detached && !r.state.done
	})
}

func (e *Engine) leave(more func() bool) error {
	if err := e.finishRemote(more); err != nil {
		return err
	}
	e.retire()
	e.spares.Release(e.home.Memory)
	return nil
}

func (e *Engine) finishRemote(more func() bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	deadline := e.now().Add(finishTime)
	e.waitFor(func() bool {
		return !e.owes(true) && !more() || e.now().After(deadline) && !e.owes(false)
	}, anyPeer, forEnd)
	if err := e.failure(); err != nil {
		return err
	}
	e.partAll(deadline)
	for _, f := range e.finishers() {
		if err := f.Finish(time.Now().Add(finishTime)); err != nil && !e.job.FaultTolerant {
			return fmt.Errorf("at the end of the job: %w", err)
		}
	}
	return nil
}

// finishers are the transports whose use has to end in order: those to other clients first, which may have to hear from
// all of this one.
func (e *Engine) finishers() (all []transport.Finisher) {
	for _, c := range [...]*carrier{&e.ways.network, &e.ways.vendor} {
		if c.finisher != nil {
			all = append(all, c.finisher)
		}
	}
	return all
}

// Abort closes the connections without ceremony: the other clients see that this process has not finished. Threads
// that wait in MPI stay there.
func (e *Engine) Abort() {
	all := e.finishers()
	if all == nil {
		return
	}
	e.mu.Lock()
	for _, f := range all {
		f.Abort()
	}
	e.mu.Unlock()
	e.retire()
}
