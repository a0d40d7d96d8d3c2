package outcome

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// OnSignal calls do at the first signal that asks us to end. stop ends listening.
func OnSignal(do func(syscall.Signal)) (stop func()) {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	over := make(chan struct{})
	go func() {
		select {
		case s := <-c:
			do(s.(syscall.Signal))
		case <-over:
		}
	}()
	return func() { signal.Stop(c); close(over) }
}

// Interrupted is the cause of an end by a signal.
func Interrupted(s syscall.Signal) *supervise.Cause {
	return &supervise.Cause{Code: 128 + int(s), Text: fmt.Sprintf("ended by signal %d (%s)", int(s), unix.SignalName(s))}
}
