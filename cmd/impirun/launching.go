package main

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

// launcher is the process that starts branches: the first launcher, or a relay. Its methods are called by a goroutine
// of the branch's own, and may block.
type launcher interface {
	// run starts a command, which ends with this process.
	run(cmd *exec.Cmd) (command, error)
	// hello says that a branch has been reached.
	hello(b *branch)
	// letter takes a letter that has come up. An error: it is nonsense, and no more is heard of the branch.
	letter(b *branch, x letter) error
	// ended says that a branch that was reached says no more.
	ended(b *branch, why error)
	// missed says that a branch was not reached.
	missed(b *branch, why error)
}

// launching is what all branches of a process have in common.
type launching struct {
	by     launcher
	shell  *shells.Shell
	start  startFrame      // without members
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

// newLaunching begins the time for starting. What remote shells and other machines write to stderr goes to err.
func newLaunching(by launcher, start startFrame, limit time.Duration, err io.Writer) *launching {
	l := &launching{by: by, shell: start.Shell, start: start, limit: limit, size: sizeOf(start.Shell.Self), err: err}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, lateError(limit))
	l.time, l.cancel = context.WithCancelCause(ctx)
	context.AfterFunc(l.time, cancel)
	return l
}

// end says that the job is over: nobody is started any more.
func (l *launching) end() { l.cancel(errEnding) }

// isOver says whether nobody is started any more.
func (l *launching) isOver() bool { return l.time.Err() != nil }

// newBranch makes a branch of a launching; follow starts it.
func (l *launching) newBranch(members []member) *branch {
	return &branch{l: l, members: members, open: len(members), mail: newMailbox()}
}

// patience is how long machines are waited for before the user is told, once.
const patience = 1500 * time.Millisecond

// waits notes that a machine will be tried again.
func (l *launching) waits(b *branch, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	if name := b.members[0].Name; !slices.Contains(l.waiting, name) {
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

// command is a running command, through which a node was started.
type command interface {
	Wait() error
	Kill()
}

// child is a command that this process waits for itself.
type child struct{ *exec.Cmd }

func (c child) Kill() { c.Process.Kill() }

// endTime is what a node may take beyond the grace to end its ranks.
const endTime = 5 * time.Second
