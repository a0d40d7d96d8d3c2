package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/gobridge/vendor"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/links"
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
		return err
	}
	link, w, err := startup.Attach(lookupEnv)
	if foreign := (*startup.ForeignError)(nil); errors.Is(err, startup.ErrSingleton) || errors.As(err, &foreign) {
		return p.startWithout(err)
	}
	if err != nil {
		return err
	}
	p.link, p.spawnedBy, p.universe = link, w.Parent, w.Universe
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
	return p.join(job, w, listener, sockets)
}

// join builds the engine on what the launcher gave.
func (p *process) join(job *transport.Job, w startup.Welcome, listener *tcp.Listener, agent *[2]int) (err error) {
	if p.vendor != nil {
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
		Warn:   func(s string) { fmt.Fprintf(os.Stderr, "libimpi: %s\n", s) },
	}
	if p.vendor != nil {
		if reach.Vendor, err = p.startVendor(job); err != nil {
			return err
		}
	}
	reach.Meet = meetConfig(job, w, reach)
	p.meeting = reach.Meet
	p.engine, err = libimpi.New(ctx, libimpi.Config{
		Job: job, JobID: jobID(job, w), Home: p.segment.Home(world), Open: reach.Open,
		ReadAll: environment("IMPI_SINGLE_COPY") == "1", Thread: set.thread, Verify: set.verify, OnLost: lost,
		Shared: fastShared(), Quick: fastQuick(), HeldType: heldType, Started: fastPersistent(),
		OnGone: func(c *libimpi.Comm) {
			if b, ok := c.Bridge.(*communicator); ok { // the program has it already
				b.showLocal(p.engine)
			}
		},
		OpenBoard: func(c *libimpi.Comm) error { return c.Bridge.(*communicator).openBoard() },
	})
	if err != nil {
		return err
	}
	conceal(p.engine)
	if p.link != nil {
		p.watchLauncher()
	}
	return p.report(len(world))
}

// joinSettings are the settings that join hands on.
type joinSettings struct {
	silence time.Duration
	thread  background.Policy
	verify  bool
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
	if set.verify, err = parseSwitch("IMPI_CHECK"); err != nil {
		return set, err
	}
	if err := coll.Choose(environment("IMPI_ALGORITHM")); err != nil {
		return set, fmt.Errorf("IMPI_ALGORITHM: %v", err)
	}
	if reproduce, err := parseSwitch("IMPI_REPRODUCIBLE"); err != nil {
		return set, err
	} else if reproduce {
		coll.Reproduce()
	}
	if job.Clients == 1 {
		parameters, _, err := coll.ReadTold(environment(startup.EnvParameters))
		if err != nil {
			return set, fmt.Errorf("%s, which a launcher sets: %v", startup.EnvParameters, err)
		}
		coll.Tune(parameters)
	}
	if environment(startup.EnvVerbose) != "" {
		coll.Count(true)
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

// watchLauncher ends the process with its launcher.
func (p *process) watchLauncher() {
	p.link.Watch(func(err error) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", whoAmI(), err)
		unix.Exit(1)
	})
}

// jobID tells this job from all others. That of a launcher is the same for all ranks of it; where a job has several,
// the engine takes the job's tables, which all clients have (zero).
func jobID(job *transport.Job, w startup.Welcome) (id [16]byte) {
	switch {
	case job.Clients > 1:
	case w.JobID == "":
		rand.Read(id[:])
	default:
		sum := sha256.Sum256([]byte(w.JobID))
		copy(id[:], sum[:])
	}
	return id
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
