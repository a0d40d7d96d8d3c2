package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/libimpi/libimpi/gobridge/pmix"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/manager"
	"github.com/libimpi/libimpi/startup/manager/pmi"
	"golang.org/x/sys/unix"
)

// Processes that another process manager has started (startup/manager).

// managers are the ways to find it, in the order in which they are asked.
var managers = []manager.Opener{pmi.Open, pmix.Open}

// findManager returns the manager that has started this process; nil: none has, or the user wants the process alone.
func findManager(env manager.Env) (manager.Manager, error) {
	if alone, _ := env(startup.EnvSingleton); alone == "ok" {
		return nil, nil
	}
	for _, open := range managers {
		if m, err := open(env); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

// startWithout joins the job of another manager, or makes one of this process alone. none is why there is no launcher
// of ours.
func (p *process) startWithout(none error) error {
	if p.vendor != nil {
		return p.startByVendor(none)
	}
	m, err := findManager(lookupEnv)
	switch {
	case err != nil:
		return err
	case m != nil:
		return p.startManaged(m)
	case errors.Is(none, startup.ErrSingleton):
		return p.startAlone()
	}
	return none
}

// startManaged joins the job of a manager.
func (p *process) startManaged(m manager.Manager) error {
	p.manager = m
	join := manager.Join
	if p.vendor != nil {
		join = manager.JoinApart
	}
	w, listener, err := join(context.Background(), m, func(err error) {
		fmt.Fprintf(os.Stderr, "%s: %s is lost: %v\n", whoAmI(), m.Name(), err)
		unix.Exit(1)
	})
	if err != nil {
		p.awaitManager(true) // if others have gone meanwhile, it ends the job and knows why
		return err
	}
	if listener != nil {
		defer listener.Close()
	}
	p.universe = w.Universe
	return p.join(w.Job, w, listener, nil)
}

// finishManaged tells the manager that this process ends in order.
func (p *process) finishManaged() error {
	m := p.manager
	if m == nil {
		return nil
	}
	p.manager = nil
	if err := m.Finalize(context.Background()); err != nil {
		return err
	}
	return m.Close()
}

// lossTime is how long a process that has lost another waits for the manager, which may know better why the job ends.
const lossTime = 3 * time.Second

// awaitManager gives the manager time to end the job, and this process with it, if another is lost.
func (p *process) awaitManager(loss bool) {
	if loss && p != nil && p.manager != nil {
		time.Sleep(lossTime)
	}
}

// abortManaged has the manager end the job. It returns false if there is none, or none that listens.
func (p *process) abortManaged(code int, text string) bool {
	if p == nil || p.manager == nil {
		return false
	}
	awaitReader(unix.Stderr, relayTime)
	return p.manager.Abort(code, text) == nil
}

// relayTime is how long a manager may take to read why a process ends the job: what it has not read when it is told to,
// it drops.
const relayTime = 200 * time.Millisecond

// awaitReader waits until another process has read all that was written to a pipe or a socket, or limit is over.
func awaitReader(fd int, limit time.Duration) {
	for end := time.Now().Add(limit); unread(fd) > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// unread is how many bytes wait in a pipe or a socket for the process at its other end. Of anything else it is 0.
func unread(fd int) int {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	request := uint(unix.TIOCINQ) // of both ends of a pipe
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
	case unix.S_IFSOCK:
		request = unix.SIOCOUTQ
	default:
		return 0
	}
	n, err := unix.IoctlGetInt(fd, request)
	if err != nil {
		return 0
	}
	return n
}
