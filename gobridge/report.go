package main

import (
	"fmt"
	"os"
	"time"

	"github.com/libimpi/libimpi/startup"
)

// arriveTime is how long the report waits for the other ranks of this machine, which are all about to attach.
const arriveTime = 2 * time.Second

// report says on stderr by what ranks talk (libimpi/reach), if the user has asked for it. near is how many ranks
// share this machine's memory. Whether this one may read another's memory shows when that one has attached.
func (p *process) report(near int) error {
	wanted, err := parseSwitch("IMPI_REPORT")
	if err != nil || p.engine.Me() != 0 || !wanted && environment(startup.EnvVerbose) == "" {
		return err
	}
	limit := time.Now().Add(arriveTime)
	for i := range near {
		for !p.segment.Arrived(i) && time.Now().Before(limit) {
			time.Sleep(time.Millisecond)
		}
	}
	host, _ := os.Hostname()
	for _, line := range p.engine.Report(host) {
		fmt.Fprintf(os.Stderr, "libimpi: %s\n", line)
	}
	return nil
}
