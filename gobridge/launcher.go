package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/gobridge/calling"
	"github.com/libimpi/libimpi/gobridge/pmix"
	"github.com/libimpi/libimpi/gobridge/vendor"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/links"
	"github.com/libimpi/libimpi/startup/manager"
	"github.com/libimpi/libimpi/startup/manager/pmi"
	"github.com/libimpi/libimpi/startup/ports"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// How a process joins its job (init.go says when).

// onOneMachine reports whether all processes have the same address, and with it the same clock.
func onOneMachine(j *transport.Job) bool {
	for _, p := range j.Procs {
		if p.HostID != j.Procs[0].HostID {
			return false
		}
	}
	return true
}

// joinTime bounds the connections to other clients' hosts, once all tables are there.
const joinTime = 60 * time.Second

// start finds the job and joins it.
func (p *process) start() (err error) {
	if p.vendor, err = vendor.Load(environment(startup.EnvLocal)); err != nil {
		return p.declines(err)
	}
	link, w, err := startup.Attach(lookupEnv)
	if err == nil && environment(startup.EnvJoin) != "" {
		return fmt.Errorf("%s is for ranks that another launcher starts; impirun has the option -client", startup.EnvJoin)
	}
	if foreign := (*startup.ForeignError)(nil); errors.Is(err, startup.ErrSingleton) || errors.As(err, &foreign) {
		return p.startWithout(err)
	}
	if err != nil {
		return err
	}
	p.link, p.spawnedBy, p.universe = link, w.Parent, w.Universe
	if w.FT && p.vendor != nil {
		return fmt.Errorf("the job is fault tolerant (-with-ft), and the library of %s ends with the first rank that is "+
			"lost: leave out one of the two", startup.EnvLocal)
	}
	job, listener, sockets := w.Job, (*tcp.Listener)(nil), (*[2]int)(nil)
	if w.IMPI && !w.Agent {
		if listener, err = tcp.ListenBetween(w.Bind, w.Ports[0], w.Ports[1]); err != nil {
			return fmt.Errorf("listening for other clients at %v: %w", w.Bind, err)
		}
		defer listener.Close()
		if err := link.Host(startup.Host{Addr: listener.Addr(), PID: uint32(os.Getpid())}); err != nil {
			return err
		}
	}
	if job == nil {
		var agent [2]int
		if job, agent, err = link.Job(0); err != nil {
			return err
		}
		w.Local = link.Local()
		if w.Agent {
			sockets = &agent
		}
	}
	job.FaultTolerant = w.FT
	return p.join(job, w, listener, sockets)
}

// join builds the engine on what the launcher gave.
func (p *process) join(job *transport.Job, w startup.Welcome, listener *tcp.Listener, agent *[2]int) (err error) {
	if p.sharesNothing() {
		w = apart(w, job.Me)
	}
	fd := w.Shared
	if fd < 0 {
		if fd, err = shm.Create(1); err != nil {
			return err
		}
		w.LocalRank, w.LocalSize = 0, 1
	}
	if p.segment, err = shm.Attach(fd, int(w.LocalRank)); err != nil {
		return err
	}
	set, err := p.settings(job)
	if err != nil {
		return err
	}
	world, err := localRanks(job, w)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	reach := links.Config{
		Job: job, Segment: p.segment, World: world, Listener: listener, Agent: agent, Silence: set.silence,
		NoRead: environment("IMPI_SINGLE_COPY") == "0",
		Warn:   warn,
	}
	if p.vendor != nil {
		if reach.Vendor, err = p.startVendor(job, world); err != nil {
			return err
		}
	}
	reach.Meet = meetConfig(job, w, reach)
	p.meeting = reach.Meet
	p.engine, err = libimpi.New(ctx, libimpi.Config{
		Job: job, JobID: jobID(job, w), Home: p.segment.Home(world), Open: reach.Open,
		ReadAll: environment("IMPI_SINGLE_COPY") == "1", Thread: set.thread, Checks: set.checks, OnLost: lost,
		Caller: caller, Shared: fastShared(), Quick: fastQuick(), HeldType: heldType, Started: fastPersistent(),
		OnGone: retreat, Condemn: p.condemning(job.Me),
		OpenBoard: func(c *libimpi.Comm) error { return c.Bridge.(*communicator).openBoard() },
	})
	if err != nil {
		return err
	}
	inspect(p.engine, set.checks)
	p.tellTraffic()
	calling.Started()
	if p.link != nil {
		p.tellState()
		p.watchLauncher()
		p.link.Losses(p.hearLoss)
	}
	return p.report(len(world))
}

// joinSettings are the settings that join hands on.
type joinSettings struct {
	silence time.Duration
	thread  background.Policy
	checks  checks.Set
}

// settings reads the settings of a job that is about to begin, and does what those want that concern the process as a
// whole.
func (p *process) settings(job *transport.Job) (set joinSettings, err error) {
	if set.silence, err = tcp.ParseSilence(environment("IMPI_SILENCE")); err != nil {
		return set, err
	}
	if set.thread, err = background.ParsePolicy(environment("IMPI_PROGRESS")); err != nil {
		return set, err
	}
	if set.checks, err = checks.Parse(environment("IMPI_CHECK")); err != nil {
		return set, fmt.Errorf("IMPI_CHECK: %v", err)
	}
	if err := choose.Choose(environment("IMPI_ALGORITHM")); err != nil {
		return set, fmt.Errorf("IMPI_ALGORITHM: %v", err)
	}
	if reproduce, err := parseSwitch("IMPI_REPRODUCIBLE"); err != nil {
		return set, err
	} else if reproduce {
		choose.Reproduce()
	}
	if job.Clients == 1 {
		parameters, _, err := choose.ReadTold(environment(startup.EnvParameters))
		if err != nil {
			return set, fmt.Errorf("%s, which a launcher sets: %v", startup.EnvParameters, err)
		}
		choose.Tune(parameters)
	}
	if environment(startup.EnvVerbose) != "" {
		choose.Count(true)
	}
	p.connectTime, err = parseConnectTime(environment("IMPI_CONNECT_TIMEOUT"))
	return set, err
}

// meetConfig is how this process meets those of other jobs: at the address that the launcher has chosen, unless it is
// good for this machine only, and with TLS if the job itself uses it.
func meetConfig(job *transport.Job, w startup.Welcome, reach links.Config) ports.Config {
	c := ports.Config{Ports: w.Ports, Silence: reach.Silence, Warn: reach.Warn}
	if !w.Bind.IsLoopback() {
		c.Bind = w.Bind
	}
	_, c.Sealed = lookupEnv(auth.EnvTLS)
	for _, h := range job.Hosts {
		c.Sealed = c.Sealed || h.Sealed
	}
	return c
}

// tellTraffic makes this process answer who asks what it has exchanged with other hosts: its launcher, or the server of
// the clients that it speaks with itself.
func (p *process) tellTraffic() {
	switch {
	case p.link != nil:
		p.link.Report(p.engine.Traffic)
	case p.session != nil && p.agent != nil:
		p.session.Report(p.agent.Traffic)
	case p.session != nil:
		p.session.Report(p.engine.Traffic)
	}
}

// caller is what the engine learns of the program's threads.
var caller = libimpi.Caller{Call: calling.Call, Name: calling.Name, Trace: calling.Trace, Where: whereIs}

// tellState makes this process answer its launcher's questions about what it does: to the engine's state it adds what
// the bridge alone knows.
func (p *process) tellState() {
	p.link.Tell(func() []byte {
		s := p.engine.State()
		s.PID, s.LastCall = os.Getpid(), calling.Last()
		s.Machine, _ = os.Hostname()
		if n, known := calling.Threads(); p.severalCall() && (!known || n > s.ThreadCount) {
			s.Open = cmp.Or(s.Open, "threads of the program that are not in MPI")
		}
		s.AddArgs()
		for i := range s.Threads {
			s.Threads[i].Returns = calling.Places(s.Threads[i].Returns)
		}
		text, _ := s.Encode()
		return text
	})
}

// watchLauncher ends the process with its launcher.
func (p *process) watchLauncher() {
	p.link.Watch(func(err error) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", whoAmI(), err)
		unix.Exit(1)
	})
}

// condemning tells the launcher of ranks that this one goes on without, or ends this one, as others go on without it.
func (p *process) condemning(me int32) func(world int32, breach bool, why error) {
	link := p.link
	return func(world int32, breach bool, why error) {
		switch {
		case world == me:
			fmt.Fprintf(os.Stderr, "%s: the job goes on without this rank: %v\n", whoAmI(), why)
			unix.Exit(1)
		case link != nil:
			// If it cannot be told it has gone, which ends this process.
			link.Suspect(startup.Suspects{Lost: startup.Lost{Ranks: []int32{world}, Text: why.Error()}, Breach: breach})
		}
	}
}

// jobID tells this job from all others. That of a launcher is the same for all ranks of it; where a job has several,
// the engine takes the job's tables, which all clients have (zero).
func jobID(job *transport.Job, w startup.Welcome) (id [16]byte) {
	switch {
	case job.Clients > 1:
	case w.JobID == "":
		rand.Read(id[:])
	default:
		id = hashOf(w.JobID)
	}
	return id
}

// hashOf is the name of a job as its launcher gives it, in the engine's length.
func hashOf(name string) [16]byte {
	sum := sha256.Sum256([]byte(name))
	return [16]byte(sum[:16])
}

// hearLoss takes the launcher's word that ranks are lost.
func (p *process) hearLoss(n startup.Lost) {
	if n.Job != "" {
		p.engine.LostGuests(hashOf(n.Job), n.Ranks, errors.New(n.Text))
		return
	}
	p.engine.LostElsewhere(n.Ranks, errors.New(n.Text))
}

// localRanks are the world ranks of the processes that share this machine's memory, by their place in it: ranks of one
// client.
func localRanks(job *transport.Job, w startup.Welcome) ([]int32, error) {
	world := w.Local
	if world == nil {
		for r := range w.LocalSize {
			world = append(world, job.Me-w.LocalRank+r)
		}
	}
	if int(w.LocalSize) != len(world) || world[w.LocalRank] != job.Me {
		return nil, fmt.Errorf("the launcher says that rank %d is the %dth of %d processes that share memory, %v", job.Me,
			w.LocalRank, w.LocalSize, world)
	}
	for _, r := range world {
		if r < 0 || int(r) >= len(job.Procs) || job.Procs[r].Client != job.Procs[job.Me].Client {
			return nil, fmt.Errorf("the launcher says that rank %d shares memory with rank %d, which the job's tables do not "+
				"have in its client", job.Me, r)
		}
	}
	return world, nil
}

// startAlone makes a job of one process.
func (p *process) startAlone() error {
	job := &transport.Job{
		Clients: 1, Hosts: []transport.Host{{NProcs: 1}},
		Procs:      []transport.Proc{{HostID: netip.IPv6Loopback().As16(), PID: int64(os.Getpid())}},
		MaxDataLen: 1, TagUB: 1<<31 - 1, AckMark: 1, HiWater: 1,
	}
	return p.join(job, startup.Welcome{LocalSize: 1, Shared: -1}, nil, nil)
}

// Processes that another process manager has started (startup/manager).

// managers are the ways to find it, in the order in which they are asked.
var managers = []manager.Opener{pmi.Open, pmix.Open}

// findManager returns the manager that has started this process; nil: none has, or the user wants the process alone.
func findManager(env manager.Env) (manager.Manager, error) {
	if alone, _ := env(startup.EnvSingleton); alone == "ok" {
		return nil, nil
	}
	for _, open := range managers {
		if m, err := open(env); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

// startWithout joins the job of another manager, or makes one of this process alone. none is why there is no launcher
// of ours.
func (p *process) startWithout(none error) error {
	if p.vendor != nil {
		return p.startByVendor(none)
	}
	m, err := findManager(lookupEnv)
	switch {
	case err != nil:
		return err
	case m != nil:
		return p.startManaged(m)
	case !errors.Is(none, startup.ErrSingleton):
		return none
	case environment(startup.EnvJoin) != "":
		return p.startManaged(manager.Alone{})
	}
	return p.startAlone()
}

// startManaged joins the job of a manager.
func (p *process) startManaged(m manager.Manager) error {
	p.manager = m
	among, err := p.amongClients()
	if first := m.Identity().Rank == 0; err != nil {
		if first && among != nil && among.Methods.Mask() != 0 {
			among.Decline(err)
		}
		p.awaitManager(!first, joinLossTime) // all ranks have the same settings
		return err
	}
	known := make(chan struct{}) // closed when this process knows what Join has returned
	if among != nil {
		among.Ended = func(err *client.LostError) {
			<-known
			lostClient(err)
		}
	}
	w, err := manager.Join(context.Background(), m, func(err error) {
		fmt.Fprintf(os.Stderr, "%s: %s is lost: %v\n", whoAmI(), m.Name(), err)
		unix.Exit(1)
	}, manager.Options{Apart: p.sharesNothing(), Among: among})
	if own := (*manager.CauseError)(nil); err != nil {
		p.awaitManager(!errors.As(err, &own), joinLossTime) // if others have gone meanwhile, it ends the job and knows why
		return err
	}
	if w.Listener != nil {
		defer w.Listener.Close()
	}
	p.universe, p.among = w.Universe, among
	p.session, p.agent = w.Session, w.Agent
	close(known)
	return p.join(w.Job, w.Welcome, w.Listener, w.Pipes)
}

// amongClients reads how the processes of a manager join an IMPI server as one client; nil: they are a job of their
// own. With an error it returns what it has read before, from which a server that can be told is known.
func (p *process) amongClients() (*manager.Client, error) {
	place := environment(startup.EnvJoin)
	if place == "" {
		return nil, nil
	}
	c, err := &manager.Client{Plain: environment("IMPI_PLAIN") == "1", Inside: p.vendor != nil, Warn: warn,
		Lost: lostHost}, error(nil)
	if c.Rank, c.Server, err = manager.ParsePlace(place); err != nil {
		return nil, fmt.Errorf("%s: %w", startup.EnvJoin, err)
	}
	if c.Methods, err = auth.FromEnv(lookupEnv); err != nil {
		return nil, err
	}
	if c.Silence, err = tcp.ParseSilence(environment("IMPI_SILENCE")); err != nil {
		return c, err
	}
	if via := environment("IMPI_VIA"); via != "" {
		if c.Via, err = client.ParseVia(via); err != nil {
			return c, fmt.Errorf("IMPI_VIA: %w", err)
		}
	}
	if ports := environment(startup.EnvPort); ports != "" {
		if c.Ports[0], c.Ports[1], err = client.ParsePorts(ports); err != nil {
			return c, fmt.Errorf("%s: %w", startup.EnvPort, err)
		}
	}
	if err = c.Values.FromEnv(environment); err == nil {
		err = c.Values.Check()
	}
	return c, err
}

func warn(text string) { fmt.Fprintf(os.Stderr, "libimpi: %s\n", text) }

// lostHost ends the job because the agent in this process has lost a host of a client.
func lostHost(of int32, err error) {
	endJob(startup.Abort{Code: 1, Text: err.Error(), Answer: true, Client: &of})
}

// lostClient ends the job because the server says that another client has ended.
func lostClient(err *client.LostError) {
	why := startup.Abort{Code: 1, Text: err.Error(), Answer: true, Client: &err.Client}
	select {
	case serverSays <- why:
	default:
	}
	endJob(why)
}

// serverSays has the server's first word that another client has ended.
var serverSays = make(chan startup.Abort, 1)

// finishManaged tells the manager that this process ends in order.
func (p *process) finishManaged() error {
	m := p.manager
	if m == nil {
		return nil
	}
	p.manager = nil
	if err := m.Finalize(context.Background()); err != nil {
		return err
	}
	return m.Close()
}

// lossTime is how long a process that has lost another waits for the manager, which may know better why the job ends.
const lossTime = 3 * time.Second

// joinLossTime is the same before it has joined: another process may have to tell a server why first.
const joinLossTime = lossTime + client.DeclineTime

// awaitCause gives others time to say better why the job ends, if this process knows only that it has lost one: the
// manager, which ends it, too, or the server of the clients. It may have lost another client because a process of its
// own has called MPI_Abort, whose code counts.
func (p *process) awaitCause(why startup.Abort) startup.Abort {
	if !why.Answer || p == nil || p.manager == nil || p.manager.Identity().Size == 1 {
		return why
	}
	select {
	case said := <-serverSays:
		return said
	case <-time.After(lossTime):
		return why
	}
}

// awaitManager gives the manager time to end the job, and this process with it, if another is lost.
func (p *process) awaitManager(loss bool, limit time.Duration) {
	if loss && p != nil && p.manager != nil && p.manager.Identity().Size > 1 {
		time.Sleep(limit)
	}
}

// abortManaged has the manager end the job. It returns false if there is none, or none that listens.
func (p *process) abortManaged(code int, text string) bool {
	if p == nil || p.manager == nil {
		return false
	}
	awaitReader(unix.Stderr, relayTime)
	return p.manager.Abort(code, text) == nil
}

// relayTime is how long a manager may take to read why a process ends the job: what it has not read when it is told to,
// it drops.
const relayTime = 200 * time.Millisecond

// awaitReader waits until another process has read all that was written to a pipe or a socket, or limit is over.
func awaitReader(fd int, limit time.Duration) {
	for end := time.Now().Add(limit); unread(fd) > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// unread is how many bytes wait in a pipe or a socket for the process at its other end. Of anything else it is 0.
func unread(fd int) int {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	request := uint(unix.TIOCINQ) // of both ends of a pipe
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
	case unix.S_IFSOCK:
		request = unix.SIOCOUTQ
	default:
		return 0
	}
	n, err := unix.IoctlGetInt(fd, request)
	if err != nil {
		return 0
	}
	return n
}

// Clients whose ranks talk to each other by another MPI library (IMPI_LOCAL, gobridge/vendor): those on different
// machines, or all of them (vendor.Library.Only). The library is started by whoever has started the ranks:
//
//	our launcher        -> Attach, the job's tables -> the library starts, by the PMI-1 that the launcher speaks
//	the library's own   -> the library starts, and is the manager of the job (startByVendor)

// startByVendor joins the processes that the library has found. none is why there is no launcher of ours.
func (p *process) startByVendor(none error) error {
	if err := p.launchVendor(); err != nil {
		return p.declines(err)
	}
	if foreign := (*startup.ForeignError)(nil); errors.As(none, &foreign) && p.vendor.Size() == 1 && !p.alone() {
		if foreign.Size > 1 {
			return p.declines(p.vendor.Unlike(foreign.Launcher, foreign.Size, environment(startup.EnvJoin)))
		}
		return none
	}
	return p.startManaged(p.vendor.Manager())
}

func (p *process) launchVendor() error {
	defer pmi.KeepFromChildren(lookupEnv)
	defer p.makesWill()()
	return p.vendor.Start()
}

// makesWill has the server of the clients told if the library's MPI_Init ends this process, as many do if they cannot
// start, or if their launcher has lost another one. One process is enough, rank 0: a launcher ends all of its job. The
// result takes that back.
func (p *process) makesWill() (revoke func()) {
	c, _ := p.amongClients()
	if rank, told := startup.ForeignRank(lookupEnv); c == nil || c.Methods.Mask() == 0 || told && rank != "0" {
		return func() {}
	}
	return c.Will(fmt.Sprintf("a process has ended in MPI_Init of %s (%s=%s)", p.vendor.Name(), startup.EnvLocal,
		environment(startup.EnvLocal)))
}

// declines tells the server of the clients why this one will not come, if it is one, and returns that. Each of its
// processes does, as none knows of the others.
func (p *process) declines(why error) error {
	if c, _ := p.amongClients(); c != nil && c.Methods.Mask() != 0 {
		c.Decline(why)
	}
	return why
}

// alone reports whether the user wants each process to be alone.
func (p *process) alone() bool { return environment(startup.EnvSingleton) == "ok" }

// startVendor starts the library, unless it has told us of the job already, and finds out which process of the client
// is which of the library. It does nothing, and returns nil, if near, who share memory with this process, are all of
// the client: the library has nothing to carry.
func (p *process) startVendor(job *transport.Job, near []int32) (*links.Vendor, error) {
	size := 0
	for i := range job.Procs {
		if job.Procs[i].Client == job.Procs[job.Me].Client {
			size++
		}
	}
	if len(near) == size && !p.vendor.Only {
		return nil, nil
	}
	if p.vendor.Size() == 0 {
		if err := p.launchVendor(); err != nil {
			return nil, err
		}
	}
	if p.vendor.Size() != size {
		join := ""
		if job.Clients > 1 {
			join = fmt.Sprintf("%d@HOST:PORT", job.Procs[job.Me].Client)
		}
		return nil, p.vendor.Unlike("libimpi's launcher", size, join)
	}
	world, err := p.vendor.Gather(job.Me)
	if err != nil {
		return nil, err
	}
	for i, w := range world {
		if w < 0 || int(w) >= len(job.Procs) || job.Procs[w].Client != job.Procs[job.Me].Client {
			return nil, fmt.Errorf("rank %d of %s is rank %d of MPI_COMM_WORLD, which is not of this client", i,
				p.vendor.Name(), w)
		}
	}
	return &links.Vendor{MPI: p.vendor, World: world, Rank: p.vendor.Rank(), Name: p.vendor.Name(),
		Apart: p.vendor.Only}, nil
}

// sharesNothing reports whether ranks of this client share no memory, since another library carries all that they say.
func (p *process) sharesNothing() bool { return p.vendor != nil && p.vendor.Only }

// apart is a welcome of a process that shares no memory with others.
func apart(w startup.Welcome, me int32) startup.Welcome {
	if w.Shared >= 0 {
		unix.Close(w.Shared)
	}
	w.Shared, w.LocalRank, w.LocalSize, w.Local = -1, 0, 1, []int32{me}
	return w
}

// arriveTime is how long the report waits for the other ranks of this machine, which are all about to attach.
const arriveTime = 2 * time.Second

// report says on stderr by what ranks talk (libimpi/reach), if the user has asked for it. near is how many ranks
// share this machine's memory. Whether this one may read another's memory shows when that one has attached.
func (p *process) report(near int) error {
	wanted, err := parseSwitch("IMPI_REPORT")
	if err != nil || p.engine.Me() != 0 || !wanted && environment(startup.EnvVerbose) == "" {
		return err
	}
	limit := time.Now().Add(arriveTime)
	for i := range near {
		for !p.segment.Arrived(i) && time.Now().Before(limit) {
			time.Sleep(time.Millisecond)
		}
	}
	host, _ := os.Hostname()
	for _, line := range p.engine.Report(host) {
		fmt.Fprintf(os.Stderr, "libimpi: %s\n", line)
	}
	return nil
}
