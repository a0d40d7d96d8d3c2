package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// enoughDescriptors refuses a job that needs more open files than the limit leaves: without some of its connections
// it would wait for an answer that cannot come.
func enoughDescriptors(plan *options.Plan) error {
	need := descriptors(plan)
	null, err := os.Open(os.DevNull)
	if err != nil {
		return tooFew(need)
	}
	defer null.Close()
	var taken []int
	defer func() {
		for _, fd := range taken {
			unix.Close(fd)
		}
	}()
	for range need {
		fd, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return tooFew(need)
		}
		taken = append(taken, fd)
	}
	return nil
}

func tooFew(need int) error {
	var limit unix.Rlimit
	unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return fmt.Errorf("the limit of open files (ulimit -n) is %d, and this job needs %d beside those that are open now",
		limit.Cur, need)
}

// descriptors is how many open files a job needs here, at least: some of our own, a link to each rank; with a server
// of our own both ends of each client's connection, and behind agents the pipes of each rank and both ends of each
// connection.
func descriptors(plan *options.Plan) int {
	const own = 6
	n := own + plan.Size()
	if k := plan.Clients; k > 0 {
		n += 1 + 2*k
		if plan.Via == options.ViaAgent {
			n += plan.Size() + k + k*(k-1)*or(plan.Values.Streams, 1)
		}
	}
	return n
}
