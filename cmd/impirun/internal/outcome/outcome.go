// Package outcome is how impirun ends, whichever of its processes it is: what it writes to stderr, and its exit code.
//
// Flow: what went wrong is an Error with its cause, or another error -> ExitCode writes one line of it, unless that has
// been said before, and returns the code. A process that serves others is ended by a signal (OnSignal), which then is
// its cause (Interrupted).
package outcome

import (
	"errors"
	"fmt"
	"os"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// CodeUsage is the exit code after a command line, or a message of another impirun, that makes no sense.
const CodeUsage = 2

// Complain writes one line to stderr.
func Complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "impirun: "+format+"\n", args...)
}

// Error is a job that was started and ended badly.
type Error struct {
	Cause *supervise.Cause
	Quiet bool // nothing is to be said of it: the user wants that, or has been told
}

func (e *Error) Error() string { return e.Cause.Text }

// ExitCode reports err, unless it was reported before, and returns the code that goes with it.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var ended *Error
	if errors.As(err, &ended) {
		if !ended.Quiet {
			Complain("%s", ended.Cause.Text)
		}
		return ended.Cause.Code
	}
	Complain("%v", err)
	var start *supervise.StartError
	if errors.As(err, &start) {
		return start.Code
	}
	return 1
}
