package main

import (
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

func run(plan *options.Plan) error {
	if err := checkHosts(plan); err != nil {
		return err
	}
	list, err := processes(plan, newJobID(), split(plan.Size(), max(1, plan.Clients)))
	if err != nil {
		return err
	}
	job, err := supervise.Start(supervise.Config{Host: hostname(), Grace: plan.Grace, Timeout: plan.Timeout,
		Recovery: plan.Recovery, Prefix: prefixes(plan)}, list)
	if err != nil {
		return err
	}
	if cause := job.Wait(); cause != nil {
		return &endError{cause, plan.Quiet}
	}
	return nil
}

