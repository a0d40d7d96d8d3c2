package main

import (
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// launch is what a plan's ranks are part of.
type launch struct {
	base  []string // the launcher's environment
	ranks []int    // the plan's ranks among all that the launcher starts; nil: they are all
	size  int      // their number
}

// rank is that of the plan's rank i.
func (l *launch) rank(i int) int { return layout.RankIn(l.ranks, i) }

// processes makes every rank of the plan ready to start, in rank order.
func processes(plan *options.Plan, job string, shares []layout.Share, l launch) ([]supervise.Process, error) {
	var list []supervise.Process
	client := 0
	for i := range plan.Programs {
		g := &plan.Programs[i]
		path, err := supervise.FindProgram(g.Argv[0], g.Dir, searchPath(g, l.base))
		if err != nil {
			return nil, err
		}
		front, err := needs{choice: plan.ABI, program: path, dir: g.Dir, name: g.Argv[0], env: slices.Concat(l.base, g.Set),
			ranks: l.size}.front()
		if err != nil {
			return nil, err
		}
		for range g.N {
			rank := len(list)
			for rank >= shares[client].First+shares[client].N {
				client++
			}
			at := place{program: g.Number, rank: l.rank(rank), size: l.size, localRank: rank - shares[client].First,
				localSize: shares[client].N, verbose: plan.Verbose, parameters: plan.Parameters,
				front: front, preload: preloadFor(path, g.Dir, front)}
			list = append(list, supervise.Process{
				Path: path, Argv: g.Argv, Dir: g.Dir, Env: environment(l.base, g, job, at), Stdin: stdinOf(plan, rank),
			})
		}
	}
	return list, nil
}

// searchPath is where a program is looked for: in the PATH that it will see, and before that where it says.
func searchPath(g *options.Program, base []string) string {
	path := valueIn(append(base[:len(base):len(base)], g.Set...), "PATH")
	if g.Search != "" {
		path = g.Search + string(filepath.ListSeparator) + path
	}
	return path
}

// valueIn is the value that an environment gives a variable: the last.
func valueIn(env []string, name string) (value string) {
	for _, setting := range env {
		if v, ok := strings.CutPrefix(setting, name+"="); ok {
			value = v
		}
	}
	return value
}

func stdinOf(plan *options.Plan, rank int) supervise.StdinKind {
	switch {
	case plan.Stdin == options.StdinAll:
		return supervise.StdinRelay
	case plan.Stdin != options.StdinOne || plan.StdinRank != rank:
		return supervise.StdinNull
	case plan.StdinLater:
		return supervise.StdinRelay
	}
	return supervise.StdinInherit
}

// newJobID names a job on this machine: in IMPI_JOB, for people who look for its processes.
func newJobID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
