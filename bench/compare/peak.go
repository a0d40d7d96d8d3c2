package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// peakFlag as the first argument makes this program run the rest as a command and print, after peakMark, the
// command's peak resident set in KiB, as the kernel counted it (getrusage).
const (
	peakFlag = "-peak-of"
	peakMark = "peak-kib "
)

func peak(command []string) int {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 1
	}
	fmt.Printf("%s%d\n", peakMark, usage.Maxrss)
	return 0
}
