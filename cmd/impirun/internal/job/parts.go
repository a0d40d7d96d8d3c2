package job

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/libimpi/libimpi/cmd/impirun/internal/debugger"
	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
)

// Run starts all processes, waits for their end, and returns why they ended badly, if they did. ranks are theirs, as
// they stand before their output, nil if they count from 0; output are where lines with prefixes go, nil our own;
// started is called when all are running, and late, if not nil, when they have run for the plan's timeout, before they
// are ended.
func Run(plan *options.Plan, list []supervise.Process, parts []*Part, ranks []int, output [2]io.Writer,
	started func(*supervise.Job), late func()) (*supervise.Cause, error) {
	config := supervise.Config{Host: hosts.Hostname(), Ranks: ranks, Grace: plan.Grace, Timeout: plan.Timeout,
		Late: late, Kept: plan.ReportOn, Recovery: plan.Recovery, Streams: Streams(plan, ranks, plan.Spawned), Output: output,
		Guard: GuardCommand(parts[0].jobID)}
	if plan.Mode == options.Client {
		config.Part = fmt.Sprintf(" of client %d", plan.Rank)
	}
	if plan.Spawned != 0 {
		config.Name = layout.OfJob(plan.Spawned)
	}
	config.Drain = func(rank int) {
		if p, i := partOfRank(parts, rank); p != nil {
			p.Drain(i)
		}
	}
	if plan.Recovery {
		config.Lost = func(rank int, l supervise.Loss) {
			if p, i := partOfRank(parts, rank); p != nil {
				p.Lost(i, l, parts)
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
	publish(list, job)
	parts[0].spawner.Running(job)
	for _, p := range parts {
		p.ListenAll(job, job.Initial())
	}
	started(job)
	cause := job.Wait()
	if layout.RankIn(ranks, 0) == 0 { // on several machines one says it
		greeted := func(first, n int) bool { return anyGreeted(parts, first, n) }
		programs.WarnOfOthers(plan, list, greeted, job, watch.End())
	}
	return cause, nil
}

// publish shows the processes to a parallel debugger that has started us, if one has, before any rank is welcomed.
func publish(list []supervise.Process, job *supervise.Job) {
	if !debugger.BeingDebugged() {
		return
	}
	ranks := make([]debugger.Rank, len(list))
	for i, pid := range job.PIDs() {
		program := list[i].Path
		if !filepath.IsAbs(program) {
			program = filepath.Join(list[i].Dir, program)
		}
		program, _ = filepath.Abs(program) // as it is, if our own folder has gone
		ranks[i] = debugger.Rank{Host: hosts.Hostname(), Program: program, PID: pid}
	}
	debugger.Publish(ranks)
}

// FinishAll ends all clients' connections with the server at the same time, and returns when the last is done.
func FinishAll(parts []*Part, cause *supervise.Cause) {
	var done sync.WaitGroup
	for _, p := range parts {
		done.Go(func() { p.Finish(cause) })
	}
	done.Wait()
}

// anyGreeted reports whether one of n ranks from first on has come to join.
func anyGreeted(parts []*Part, first, n int) bool {
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
