package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/inquire"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/machines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// inquiryOf is how the ranks of a job on this machine are asked what they wait for.
func inquiryOf(plan *options.Plan, parts []*job.Part, spawner *spawn.Spawner, running *supervise.Job,
	joins *join.Plan, jobID string) inquire.Config {
	rests := make([]job.Rest, len(parts))
	c := inquire.Config{
		Name:   fmt.Sprintf("job %s of %s, launcher %d", jobID, filepath.Base(plan.Programs[0].Argv[0]), os.Getpid()),
		Signal: plan.ReportOn, Deadlock: plan.Deadlock, Objects: plan.JSON, After: plan.DeadlockAfter,
		States: func(limit time.Duration) (ranks []stat.Rank, whole bool) {
			all, away := spawner.Parts()
			for _, p := range parts {
				all[p] = 0
			}
			elsewhere := make(chan []stat.Rank, 1)
			go func() { elsewhere <- machines.StatesElsewhere(spawner, limit) }()
			ranks = job.StatesOf(all, limit)
			return append(ranks, <-elsewhere...), !away
		},
		Rest: func() bool {
			rest := true
			for i, p := range parts {
				rest = rests[i].All(p) && rest
			}
			return rest
		},
		Say:    func(text string) { os.Stderr.WriteString(text) },
		Abort:  func(why string) { running.Fail(supervise.Cause{Code: 1, Text: why}) },
		Second: plan.Mode == options.Client && plan.Rank != 0,
	}
	if plan.Mode == options.Client {
		c.Others = &joins.Peers
	}
	return c
}
