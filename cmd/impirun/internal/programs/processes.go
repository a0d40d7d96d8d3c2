// Package programs is what is started: the files of programs, the environment that ranks get, and what brings a program
// to libimpi that was compiled with another MPI.
//
// Flow: a plan and the launcher's environment -> each program is looked for (Find), and refused if it cannot get to
// libimpi (Front, abi.go) -> processes for supervise.Start (Processes) -> while they run, and when all have ended, it
// is noted which of them have loaded another MPI library (Watch), and said if no rank has joined (WarnOfOthers).
package programs

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

// Launch says what a plan's ranks are part of.
type Launch struct {
	Base  []string // the launcher's environment
	Ranks []int    // the plan's ranks among all that the launcher starts; nil: they are all
	Size  int      // their number
}

// rank is that of the plan's rank i.
func (l *Launch) rank(i int) int { return layout.RankIn(l.Ranks, i) }

// Processes makes every rank of the plan ready to start, and returns them in rank order. job is the job's name
// (NewJobID), and shares are those of the clients to which the ranks belong.
func Processes(plan *options.Plan, job string, shares []layout.Share, l Launch) ([]supervise.Process, error) {
	var list []supervise.Process
	client := 0
	for i := range plan.Programs {
		g := &plan.Programs[i]
		path, err := Find(g, l.Base)
		if err != nil {
			return nil, err
		}
		front, err := Front(g, path, plan.ABI, l.Base, l.Size)
		if err != nil {
			return nil, err
		}
		for range g.N {
			rank := len(list)
			for rank >= shares[client].First+shares[client].N {
				client++
			}
			at := Place{Program: g.Number, Rank: l.rank(rank), Size: l.Size, LocalRank: rank - shares[client].First,
				LocalSize: shares[client].N, Verbose: plan.Verbose, Parameters: plan.Parameters,
				Front: front, Preload: Preload(path, g.Dir, front)}
			list = append(list, supervise.Process{
				Path: path, Argv: g.Argv, Dir: g.Dir, Env: Environment(l.Base, g, job, at), Stdin: stdinOf(plan, rank),
			})
		}
	}
	return list, nil
}

// Find returns the file of a program on this machine. base is the environment to start from.
func Find(g *options.Program, base []string) (path string, err error) {
	return supervise.FindProgram(g.Argv[0], g.Dir, searchPath(g, base))
}

// Front returns the folders that a program, whose file is path, needs before those in LD_LIBRARY_PATH to get to
// libimpi, "" if it needs none. It is an error if the program cannot get there. abi is the user's choice
// (options.ABIs), base the environment to start from, and ranks the size of the job.
func Front(g *options.Program, path, abi string, base []string, ranks int) (string, error) {
	return needs{choice: abi, program: path, dir: g.Dir, name: g.Argv[0], env: slices.Concat(base, g.Set),
		ranks: ranks}.front()
}

// searchPath is where a program is looked for: in the PATH that it will see, and before that where it says.
func searchPath(g *options.Program, base []string) string {
	path := ValueIn(append(base[:len(base):len(base)], g.Set...), "PATH")
	if g.Search != "" {
		path = g.Search + string(filepath.ListSeparator) + path
	}
	return path
}

// ValueIn returns the value that an environment gives a variable: the last.
func ValueIn(env []string, name string) (value string) {
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

// NewJobID returns a new name for a job on this machine. It stands in IMPI_JOB, for people who look for its processes.
func NewJobID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
