package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// usageFlag as the first argument makes this program run the rest, a file and a command, and add to the file what the
// command used, as the kernel counted it (getrusage). It stands between the launcher and each rank: what the launcher
// uses does not count.
const usageFlag = "-usage"

// runWithUsage runs a job of which each rank is this program again, which runs the job's program. It returns what run
// does, and what the ranks used; they write it to a new file.
func (l *library) runWithUsage(j job, file string) (out string, took float64, used []rankUsage, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", 0, nil, err
	}
	defer os.Remove(file)
	j.path, j.args = self, append([]string{usageFlag, file, j.path}, j.args...)
	if out, took, err = l.run(j); err != nil {
		return out, took, nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return out, took, nil, err
	}
	used, err = parseUsage(string(text), j.ranks)
	return out, took, used, err
}

func usage(file string, command []string) int {
	// A launcher that ends a job may know this process only. The kernel ends the command with the thread that
	// started it.
	runtime.LockOSThread()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	begin := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 1
	}
	if err := note(file, rankUsage{
		wall:     time.Since(begin).Seconds(),
		cpu:      (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		switches: float64(used.Nvcsw + used.Nivcsw),
		peak:     float64(used.Maxrss),
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// rankUsage is what one rank used: seconds from start to end, seconds of processors, context switches of all its
// threads, and at its peak so many KiB of memory.
type rankUsage struct{ wall, cpu, switches, peak float64 }

// note adds a line to a file that all ranks write to; a line is written at once.
func note(file string, u rankUsage) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%f %f %f %f\n", u.wall, u.cpu, u.switches, u.peak)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// parseUsage reads the lines of all ranks.
func parseUsage(text string, ranks int) ([]rankUsage, error) {
	var all []rankUsage
	for line := range strings.Lines(text) {
		var u rankUsage
		if _, err := fmt.Sscan(line, &u.wall, &u.cpu, &u.switches, &u.peak); err != nil {
			return nil, fmt.Errorf("usage %q: %w", line, err)
		}
		all = append(all, u)
	}
	if len(all) != ranks {
		return nil, fmt.Errorf("%d of %d ranks told what they used", len(all), ranks)
	}
	return all, nil
}

// perRank are the means over the ranks: processor seconds, and context switches a second.
func perRank(all []rankUsage) (cpu, switches float64) {
	for _, u := range all {
		cpu += u.cpu
		switches += u.switches / u.wall
	}
	return cpu / float64(len(all)), switches / float64(len(all))
}
