package tree

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
)

// Launcher is the process that starts branches: the first launcher, or a relay. Its methods are called by a goroutine
// of the branch's own, and may block.
type Launcher interface {
	// Run starts a command, which ends with this process.
	Run(cmd *exec.Cmd) (Command, error)
	// Hello says that a branch has been reached.
	Hello(b *Branch)
	// Letter takes a letter that has come up. An error: it is nonsense, and no more is heard of the branch.
	Letter(b *Branch, x Letter) error
	// Ended says that a branch that was reached says no more.
	Ended(b *Branch, why error)
	// Missed says that a branch was not reached.
	Missed(b *Branch, why error)
}

// Launching is what all branches of a process have in common.
type Launching struct {
	by     Launcher
	shell  *shells.Shell
	start  StartFrame      // without members
	time   context.Context // over when the time for starting is, or nobody is to be started any more
	cancel context.CancelCauseFunc
	limit  time.Duration // that time
	size   int64         // of this program, in bytes
	err    io.Writer     // where what remote shells and other machines write to stderr goes

	mu      sync.Mutex // guards what follows
	waiting []string   // machines that are tried again
	since   time.Time  // from when on
	told    bool       // the user knows
}

// NewLaunching begins the time for starting. What remote shells and other machines write to stderr goes to err.
func NewLaunching(by Launcher, start StartFrame, limit time.Duration, err io.Writer) *Launching {
	l := &Launching{by: by, shell: start.Shell, start: start, limit: limit, size: sizeOf(start.Shell.Self), err: err}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, lateError(limit))
	l.time, l.cancel = context.WithCancelCause(ctx)
	context.AfterFunc(l.time, cancel)
	return l
}

// End ends the time for starting, since the job is over: nobody is started any more.
func (l *Launching) End() { l.cancel(errEnding) }

// Over reports whether nobody is started any more.
func (l *Launching) Over() bool { return l.time.Err() != nil }

// NewBranch makes a branch; Follow starts it.
func (l *Launching) NewBranch(members []Member) *Branch {
	return &Branch{l: l, Members: members, open: len(members), mail: newMailbox()}
}

// patience is how long machines are waited for before the user is told, once.
const patience = 1500 * time.Millisecond

// waits notes that a machine will be tried again.
func (l *Launching) waits(b *Branch, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	if name := b.Members[0].Name; !slices.Contains(l.waiting, name) {
		l.waiting = append(l.waiting, name)
	}
	if l.told || time.Since(l.since) < patience {
		return
	}
	l.told = true
	fmt.Fprintf(l.err, "impirun: waiting for %s, which cannot be reached yet: %s. It is tried again until %v are over "+
		"(-deadline start)\n", strings.Join(l.waiting, ", "), reason, l.limit)
}

// lateError is why a machine that has not answered in time was not reached.
func lateError(limit time.Duration) error {
	return fmt.Errorf("no answer within %v (-deadline start)", limit.Round(time.Millisecond))
}

// sizeOf is the length of this program, which may be sent to others.
func sizeOf(self string) int64 {
	info, err := os.Stat(self)
	if err != nil {
		info, err = os.Stat("/proc/self/exe")
	}
	if err != nil {
		return 0
	}
	return info.Size()
}

// errEnding is why nobody is started any more.
var errEnding = fmt.Errorf("the job is over")

// Command is a running command, through which a node was started.
type Command interface {
	Wait() error // blocks until it has ended
	Kill()
}

// Child is a command that this process waits for itself.
type Child struct{ *exec.Cmd }

// Kill kills the command.
func (c Child) Kill() { c.Process.Kill() }

// EndTime is what a node may take beyond the grace to end its ranks.
const EndTime = 5 * time.Second
