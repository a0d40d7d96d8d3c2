// Command impirun starts the ranks of an MPI job on this machine, joins them to the other clients of a job
// that spans machines, and is the IMPI server of such a job. mpirun and mpiexec are the same program.
//
// Flow: command line -> options.Plan -> the allocation, if there is one (site.go) -> one client, or a server and
// several (job.go) -> startup tells the ranks who they are -> supervise answers for the processes -> exit code.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/startup"
)

// Ranks die with the thread that started them: main stays on the main thread, which lives to the end.
func init() { runtime.LockOSThread() }

const codeUsage = 2

func main() {
	if len(os.Args) == 3 && os.Args[1] == nodeWord && os.Args[2] == sentWord {
		syscall.CloseOnExec(3) // our own file
		os.Args = os.Args[:2]
	}
	if len(os.Args) == 2 && os.Args[1] == nodeWord {
		os.Exit(runNode())
	}
	if len(os.Args) == 3 && os.Args[1] == guardWord {
		guard(os.Args[2])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == startup.SummonWord {
		os.Exit(exitCode(attend()))
	}
	if len(os.Args) > 2 && os.Args[1] == namesWord {
		os.Exit(serveNamesHere(os.Args[2:]))
	}
	name := filepath.Base(os.Args[0])
	words, err := options.WithFile(os.Args[1:], os.ReadFile)
	if err != nil {
		complain("%v", err)
		os.Exit(codeUsage)
	}
	plan, err := options.Parse(words, os.Getenv)
	if err != nil {
		complain("%v", err)
		os.Exit(codeUsage)
	}
	if err := settle(plan, surroundings); err != nil {
		complain("%v", err)
		os.Exit(codeUsage)
	}
	if plan.Verbose {
		if plan.Site != "" && !plan.Explain {
			complain("%s: %d machines, by %s", plan.Site, len(plan.Allocated), plan.Launcher)
		}
		for _, note := range plan.Notes {
			complain("%s", note)
		}
	}
	if plan.Explain && plan.Mode != options.Help && plan.Mode != options.Version {
		os.Exit(exitCode(explain(plan)))
	}
	switch plan.Mode {
	case options.Help:
		fmt.Print(options.HelpText())
	case options.Version:
		fmt.Printf("%s (%s)\n", name, version.Text())
	case options.Names:
		os.Exit(exitCode(serveNames(plan)))
	case options.Server:
		os.Exit(exitCode(serve(plan)))
	default:
		os.Exit(exitCode(run(plan)))
	}
}

// complain writes one line to stderr.
func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "impirun: "+format+"\n", args...)
}

// exitCode reports err, unless it was reported before, and answers the code that goes with it.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var ended *endError
	if errors.As(err, &ended) {
		if !ended.quiet {
			complain("%s", ended.cause.Text)
		}
		return ended.cause.Code
	}
	complain("%v", err)
	var start *supervise.StartError
	if errors.As(err, &start) {
		return start.Code
	}
	return 1
}

// endError is a job that was started and ended badly.
type endError struct {
	cause *supervise.Cause
	quiet bool
}

func (e *endError) Error() string { return e.cause.Text }
