package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/cmd/internal/tuned"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup"
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
	joins, farewell, err := join.Plans(ctx, plan, bind)
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
		spawner.serve(parts[i], plan)
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
	config.Doomed = parts[0].spawner.Doom
	var watch *programs.Lookout
	if plan.ABI != options.ABINative && !plan.Quiet && programs.ValueIn(list[0].Env, startup.EnvSize) != "1" {
		watch = programs.Watch(list)
	}
	defer watch.End()
	job, err := supervise.Start(config, list)
	if err != nil {
		return nil, err
	}
	parts[0].spawner.Running(job)
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
