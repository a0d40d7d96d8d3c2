package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/cmd/internal/tuned"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/tcp"
)

// run starts the plan's ranks as one client, or as several with a server among them, and waits for their end.
func run(plan *options.Plan) error {
	if n, err := strconv.Atoi(os.Getenv(startup.EnvSize)); err == nil && n > 1 && os.Getenv(startup.EnvRank) == "0" &&
		!plan.Quiet && startup.Inherited(os.LookupEnv) {
		outcome.Complain("warning: this is rank 0 of a job of %d ranks, each of which starts a job of its own; leave one of "+
			"the two launchers out, as of a script that has its own (-q if it is meant)", n)
	}
	plan.StdinLater = supervise.InBackground(0)
	list, err := hosts.Of(plan)
	if err != nil {
		return err
	}
	if plan.Mode == options.Run && plan.Clients == 0 {
		plan.Parameters = parameters(plan)
	}
	if done, err := layout.ShowMap(plan, list); done || err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(m hosts.Machine) bool { return !m.Local }) {
		return runMachines(plan, list)
	}
	var bind netip.Addr
	if len(list) > 0 {
		bind = list[0].Addr
	}
	if plan.Mode == options.Client && plan.Iface != "" && !bind.IsValid() {
		if bind, err = address.On(plan.Iface); err != nil {
			return err
		}
	}
	return runHere(plan, bind)
}

// parameters are those by which all ranks choose collective algorithms, for startup.EnvParameters: nothing if no file
// says any. Clients would have to agree on them, and use those that are built in. A file that cannot be used is worth a
// warning, and no more.
func parameters(plan *options.Plan) string {
	env := os.Environ()
	if len(plan.Programs) > 0 {
		env = append(env, plan.Programs[0].Set...)
	}
	prefix, err := install.Prefix()
	if err != nil {
		return ""
	}
	p, from, err := tuned.Find(func(name string) string { return programs.ValueIn(env, name) }, prefix)
	if err != nil {
		outcome.Complain("warning: %v; the parameters that are built in are used", err)
	}
	if from == "" {
		return ""
	}
	return p.Told(from)
}

// runHere runs a plan on this machine. bind is where the ranks of a client listen, if the user has said so.
func runHere(plan *options.Plan, bind netip.Addr) error {
	shares := layout.Split(plan.Size(), max(1, plan.Clients))
	jobID := programs.NewJobID()
	ranks, err := programs.Processes(plan, jobID, shares, programs.Launch{Base: os.Environ(), Size: plan.Size()})
	if err != nil {
		return err
	}
	if err := layout.Bind(plan, ranks, nil, 0, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	joins, farewell, err := joinPlans(ctx, plan, bind)
	if err != nil {
		return err
	}
	if err := supervise.EnoughProcesses(plan.Size()); err != nil {
		return err
	}
	if err := enoughDescriptors(plan.Size(), joins); err != nil {
		return err
	}
	spawner := newSpawner(plan, os.Environ(), jobID, hosts.Universe(plan))
	defer spawner.names.close()
	parts := make([]*part, len(shares))
	for i, s := range shares {
		if parts[i], err = newPart(s, jobID, joins[i], ranks); err != nil {
			return err
		}
		parts[i].spawn(spawner, plan)
	}
	var job *supervise.Job
	cause, err := runParts(plan, ranks, parts, nil, [2]io.Writer{}, func(j *supervise.Job) { job = j })
	if err != nil {
		return err
	}
	cause = spawner.finish(cause)
	finishAll(parts, cause)
	if plan.Exits {
		ends := exits{}
		first, list := job.Exits()
		ends.add(nil, list)
		ends.say(first, len(list), outcome.Complain)
	}
	if cause != nil {
		return &outcome.Error{Cause: cause, Quiet: plan.Quiet}
	}
	if parts[0].joined() { // not if the programs never called MPI_Init
		farewell()
	}
	return nil
}

// runParts starts all processes and answers why they ended badly, if they did. ranks are theirs, as they stand before
// their output, nil if they count from 0; output are where lines with prefixes go, nil our own; started is called when
// all are running.
func runParts(plan *options.Plan, list []supervise.Process, parts []*part, ranks []int, output [2]io.Writer,
	started func(*supervise.Job)) (*supervise.Cause, error) {
	config := supervise.Config{Host: hosts.Hostname(), Ranks: ranks, Grace: plan.Grace, Timeout: plan.Timeout,
		Recovery: plan.Recovery, Streams: streams(plan, ranks, plan.Spawned), Output: output,
		Guard: guardCommand(parts[0].jobID)}
	if plan.Mode == options.Client {
		config.Part = fmt.Sprintf(" of client %d", plan.Rank)
	}
	if plan.Spawned != 0 {
		config.Name = layout.OfJob(plan.Spawned)
	}
	config.Drain = func(rank int) {
		for _, p := range parts {
			if i := rank - p.First; i >= 0 && i < p.N {
				p.drain(i)
			}
		}
	}
	config.Doomed = parts[0].spawner.doom
	var watch *programs.Lookout
	if plan.ABI != options.ABINative && !plan.Quiet && programs.ValueIn(list[0].Env, startup.EnvSize) != "1" {
		watch = programs.Watch(list)
	}
	defer watch.End()
	job, err := supervise.Start(config, list)
	if err != nil {
		return nil, err
	}
	parts[0].spawner.serve(job)
	for _, p := range parts {
		p.listenAll(job, job.Initial())
	}
	started(job)
	cause := job.Wait()
	if layout.RankIn(ranks, 0) == 0 { // on several machines one says it
		greeted := func(first, n int) bool { return anyGreeted(parts, first, n) }
		programs.WarnOfOthers(plan, list, greeted, job, watch.End())
	}
	return cause, nil
}

// finishAll ends all clients' connections with the server at the same time, and returns when the last is done.
func finishAll(parts []*part, cause *supervise.Cause) {
	var done sync.WaitGroup
	for _, p := range parts {
		done.Go(func() { p.finish(cause) })
	}
	done.Wait()
}

// joinPlans says how each client joins the others: not at all (nil), through the server that the user named, or through
// a server of our own. farewell waits until our own server has finished.
func joinPlans(ctx context.Context, plan *options.Plan,
	bind netip.Addr) (list []*joinPlan, farewell func(), err error) {
	farewell = func() {}
	switch {
	case plan.Mode == options.Client:
		m := &joinPlan{address: plan.Address, rank: int32(plan.Rank), values: plan.Values, verbose: plan.Verbose,
			outbound: plan.Outbound, bind: bind, join: plan.Limits.Join}
		m.ctx, m.cancel = context.WithCancelCause(ctx)
		if err := reachable(plan.Address); err != nil {
			return nil, nil, err
		}
		if m.silence, err = tcp.ParseSilence(os.Getenv("IMPI_SILENCE")); err != nil {
			return nil, nil, err
		}
		if m.methods, err = auth.FromEnv(os.LookupEnv); err == nil && !bind.IsValid() {
			m.bind, err = addressTowards(plan.Address)
		}
		if m.port, m.portTo = plan.Port, plan.PortTo; err == nil {
			m.choose(plan.Via)
		}
		return []*joinPlan{m}, farewell, err
	case plan.Clients > 0:
		return ownServer(ctx, plan)
	}
	return []*joinPlan{nil}, farewell, nil
}

// reachable is an error if a server is on this machine, and no process of the machine can be reached. Names are looked
// up only where that may be so.
func reachable(at string) error {
	if address.Loopback() == nil {
		return nil
	}
	tcp, err := net.ResolveTCPAddr("tcp", at)
	if err != nil { // connecting to it will fail, and say so
		return nil
	}
	if err := address.Reachable(tcp.AddrPort().Addr()); err != nil {
		return fmt.Errorf("the server at %s is on this machine: %w", at, err)
	}
	return nil
}

// addressTowards is the address of this machine that a route to the server uses: other clients can reach the
// server, so the same way most likely leads to us. Nothing is sent.
func addressTowards(address string) (netip.Addr, error) {
	c, err := net.Dial("udp", address)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("the server's address %s: %w", address, err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// ownServer starts a server for the plan's clients on this machine. Its errors are not reported: they show in a client
// or in a rank, which reports them.
func ownServer(ctx context.Context, plan *options.Plan) ([]*joinPlan, func(), error) {
	methods, err := ownMethods()
	if err != nil {
		return nil, nil, err
	}
	silence, err := tcp.ParseSilence(os.Getenv("IMPI_SILENCE"))
	if err != nil {
		return nil, nil, err
	}
	if err := address.Loopback(); err != nil {
		return nil, nil, err
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	s, err := server.Listen(server.Options{Clients: plan.Clients, Bind: loopback, Auth: methods,
		// No deadlines: our own ranks, whose ends we see, may take their time before MPI_Init.
		GatherTimeout: math.MaxInt64, RemindTime: math.MaxInt64})
	if err != nil {
		return nil, nil, err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(ctx)
	}()
	list := make([]*joinPlan, plan.Clients)
	for i := range list {
		list[i] = &joinPlan{ctx: ctx, address: s.Addr().String(), rank: int32(i), methods: methods, bind: loopback,
			values: plan.Values, agent: plan.Via == options.ViaAgent, verbose: plan.Verbose, silence: silence}
	}
	return list, func() { <-served }, nil
}

// ownMethods are the methods that the user enabled, and, unless there is one already, a secret that nobody knows.
func ownMethods() (auth.Methods, error) {
	return auth.FromEnv(func(name string) (string, bool) {
		value, set := os.LookupEnv(name)
		if name == auth.EnvSecret && value == "" && os.Getenv(auth.EnvSecretFile) == "" {
			return rand.Text(), true
		}
		return value, set
	})
}
