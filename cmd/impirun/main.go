// Command impirun starts the ranks of an MPI job on this machine, joins them to the other clients of a job
// that spans machines, and is the IMPI server of such a job. mpirun and mpiexec are the same program.
//
// Flow: command line -> options.Plan -> the allocation, if there is one (hosts) -> one client, or a server and several,
// on this machine (run.go) or one on several (machines) -> startup tells the ranks who they are (job) -> supervise
// answers for the processes -> exit code (outcome).
//
// impirun starts itself as other processes, too. A word that no user says, or nobody but the library, tells them apart:
// a node or relay on another machine (machines), the guard beside the ranks (job), a name server for this machine
// (spawn), the other end of a debugger's terminal (debugger), and a launcher on demand (attend.go).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/debugger"
	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/machines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/serve"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/startup"
)

// Ranks die with the thread that started them: main stays on the main thread, which lives to the end.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) == 3 && os.Args[1] == shells.NodeWord && os.Args[2] == shells.SentWord {
		syscall.CloseOnExec(3) // our own file
		os.Args = os.Args[:2]
	}
	if len(os.Args) == 2 && os.Args[1] == shells.NodeWord {
		os.Exit(machines.RunNode())
	}
	if len(os.Args) == 3 && os.Args[1] == job.GuardWord {
		job.Guard(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == startup.SummonWord {
		os.Exit(outcome.ExitCode(attend()))
	}
	if len(os.Args) > 2 && os.Args[1] == spawn.NamesWord {
		os.Exit(spawn.ServeNamesHere(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == debugger.TerminalWord {
		os.Exit(outcome.ExitCode(debugger.Attend(os.Args[2], strings.Join(os.Args[3:], " "))))
	}
	name := filepath.Base(os.Args[0])
	words, err := options.WithFile(os.Args[1:], os.ReadFile)
	if err != nil {
		outcome.Complain("%v", err)
		os.Exit(outcome.CodeUsage)
	}
	plan, err := options.Parse(words, os.Getenv)
	if err != nil {
		outcome.Complain("%v", err)
		os.Exit(outcome.CodeUsage)
	}
	if err := hosts.Settle(plan, hosts.Surroundings); err != nil {
		outcome.Complain("%v", err)
		os.Exit(outcome.CodeUsage)
	}
	if plan.Verbose {
		if plan.Site != "" && !plan.Explain {
			outcome.Complain("%s: %d machines, by %s", plan.Site, len(plan.Allocated), plan.Launcher)
		}
		for _, note := range plan.Notes {
			outcome.Complain("%s", note)
		}
	}
	if plan.Explain && plan.Mode != options.Help && plan.Mode != options.Version {
		os.Exit(outcome.ExitCode(layout.Explain(plan)))
	}
	switch plan.Mode {
	case options.Help:
		fmt.Print(options.HelpText())
	case options.Version:
		fmt.Printf("%s (%s)\n", name, version.Text())
	case options.Names:
		os.Exit(outcome.ExitCode(serve.Names(plan)))
	case options.Server:
		os.Exit(outcome.ExitCode(serve.Clients(plan)))
	default:
		os.Exit(outcome.ExitCode(run(plan)))
	}
}
