package main

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"github.com/libimpi/libimpi/cmd/impirun/internal/debugger"
	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/inquire"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/machines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
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
	if plan.Through {
		return through(plan)
	}
	plan.StdinLater = supervise.InBackground(0)
	list, err := hosts.Of(plan)
	if err != nil {
		return err
	}
	if err := plan.CheckDebug(); err != nil {
		return err
	}
	if plan.Mode == options.Run && plan.Clients == 0 {
		plan.Parameters = programs.Parameters(plan)
	}
	if done, err := layout.ShowMap(plan, list); done || err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(m hosts.Machine) bool { return !m.Local }) {
		return machines.Run(plan, list)
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
	if done, err := debugger.InsideTmux(plan); done {
		return err
	}
	return runHere(plan, bind)
}

// machineOf returns where ranks run, if all of the job do here.
func machineOf(plan *options.Plan) func(rank int) string {
	if plan.Mode == options.Client {
		return nil
	}
	return func(rank int) string { return hosts.Hostname() }
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
	if err := job.EnoughDescriptors(plan.Size(), joins); err != nil {
		return err
	}
	spawner := spawn.New(plan, os.Environ(), jobID, hosts.Universe(plan), machines.Here{})
	defer spawner.Close()
	say := func(_ startup.Lost, l outcome.Loss) {
		if !plan.Quiet {
			l.Say(plan.JSON, machineOf(plan))
		}
	}
	if plan.Recovery {
		spawner.Tolerate(say)
	}
	parts := make([]*job.Part, len(shares))
	for i, s := range shares {
		if parts[i], err = job.New(s, jobID, joins[i], ranks); err != nil {
			return err
		}
		if spawner.Serve(parts[i], plan); plan.Recovery {
			parts[i].Tolerate(say)
		}
	}
	end, err := debugger.Prepare(plan, ranks, debugger.Job{Name: jobID, Env: os.Environ()})
	if err != nil {
		return err
	}
	defer end()
	var running *supervise.Job
	var asks *inquire.Inquiry
	cause, err := job.Run(plan, ranks, parts, nil, [2]io.Writer{}, func(j *supervise.Job) {
		running = j
		asks = inquire.Open(inquiryOf(plan, parts, spawner, j, joins[0], jobID))
	}, func() { asks.Report(inquire.AtTimeout) })
	if err != nil {
		return err
	}
	asks.Close()
	cause = spawner.Finish(cmp.Or(cause, running.NoSurvivor()))
	job.FinishAll(parts, cause)
	if plan.Exits {
		ends := job.Exits{}
		first, list := running.Exits()
		ends.Add(nil, list)
		ends.Say(first, len(list), outcome.Complain)
	}
	if cause != nil {
		return &outcome.Error{Cause: cause, Quiet: plan.Quiet, Objects: plan.JSON, MachineOf: machineOf(plan),
			Hint: programs.HowToSurvive(plan, cause)}
	}
	if parts[0].Joined() { // not if the programs never called MPI_Init
		farewell()
	}
	return nil
}
