package main

import (
	"fmt"
	"os"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/machines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// A launcher on demand (startup.Summon): a process that nobody has started as part of a job has started us, since it
// wants to spawn others or to publish a name. It is the one rank of our job, and its end of the link is
// startup.SummonFD.
//
// It is not our child: its end is that of the link. What it spawns is like what other ranks spawn. If one of those ends
// badly, it gets SIGTERM, and SIGKILL after the grace.

// attend serves the process that has started us, until that and all that was spawned have ended.
func attend() error {
	plan, err := options.Parse([]string{"-"}, os.Getenv)
	if err != nil {
		return err
	}
	plan.Programs[0].Argv = []string{"the process that runs"}
	end, err := startup.ServeLink(startup.SummonFD)
	if err != nil {
		return fmt.Errorf("%s is for the library's own use: %w", startup.SummonWord, err)
	}
	jobID := programs.NewJobID()
	s := spawn.New(plan, os.Environ(), jobID, hosts.Universe(plan), machines.Here{})
	defer s.Close()
	p := job.Attended(end, jobID)
	s.Serve(p, plan)
	running, err := supervise.Start(supervise.Config{Host: hosts.Hostname(), Grace: plan.Grace, Attend: os.Getppid(),
		Guard: job.GuardCommand(jobID), Doomed: s.Doom}, nil)
	if err != nil {
		return err
	}
	s.Running(running)
	p.Attend(running)
	if cause := s.Finish(running.Wait()); cause != nil {
		return &outcome.Error{Cause: cause, Quiet: !s.HasSpawned()} // of a process that has spawned nothing we need not speak
	}
	return nil
}
