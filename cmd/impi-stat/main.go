// Command impi-stat shows what the ranks of running jobs wait for: it asks their launchers on this machine (package
// inquiry). It changes nothing.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/inquiry"
	"github.com/libimpi/libimpi/cmd/internal/usage"
	"github.com/libimpi/libimpi/cmd/internal/version"
)

// Exit codes.
const (
	codeFailed = 1
	codeUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the command. It returns the exit code.
func run(words []string, out, errs io.Writer) int {
	format, pids := inquiry.Text, []int(nil)
	for _, word := range words {
		switch name := strings.TrimLeft(word, "-"); {
		case name != word && name == "json":
			format = inquiry.JSON
		case name != word && (name == "help" || name == "h"):
			fmt.Fprint(out, usage.Stat.Help())
			return 0
		case name != word && (name == "version" || name == "V"):
			fmt.Fprintf(out, "impi-stat (%s)\n", version.Text())
			return 0
		default:
			pid, err := strconv.Atoi(word)
			if err != nil || pid < 1 {
				fmt.Fprintf(errs, "impi-stat: %s is no option, and no process; try impi-stat --help\n", word)
				return codeUsage
			}
			pids = append(pids, pid)
		}
	}
	all, err := inquiry.List()
	if err != nil {
		fmt.Fprintf(errs, "impi-stat: the jobs of this machine cannot be listed: %v\n", err)
		return codeFailed
	}
	jobs, err := choose(all, pids, parentOf)
	if err != nil {
		fmt.Fprintf(errs, "impi-stat: %v\n", err)
		return codeFailed
	}
	code := 0
	for _, j := range jobs {
		text, err := inquiry.Ask(j, format)
		if err != nil {
			fmt.Fprintf(errs, "impi-stat: the job of launcher %d: %v\n", j.PID, err)
			code = codeFailed
			continue
		}
		out.Write(text)
	}
	return code
}

// choose returns the jobs of some processes, which are launchers, or were started by one; of no processes, all jobs of
// this user.
func choose(all []inquiry.Job, pids []int, parent func(pid int) int) (jobs []inquiry.Job, err error) {
	if len(pids) == 0 {
		for _, j := range all {
			if j.UID == os.Geteuid() {
				jobs = append(jobs, j)
			}
		}
		if len(jobs) == 0 {
			return nil, errors.New("no job of this user runs on this machine (ask where its launcher runs)")
		}
		return jobs, nil
	}
	launchers := map[int]inquiry.Job{}
	for _, j := range all {
		launchers[j.PID] = j
	}
	for _, pid := range pids {
		at := pid
		for steps := 0; at > 1 && steps < 64; steps++ {
			if _, ok := launchers[at]; ok {
				break
			}
			at = parent(at)
		}
		j, ok := launchers[at]
		if !ok {
			return nil, fmt.Errorf("process %d is no launcher of a running job, and no process of one", pid)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// parentOf is the parent of a process; 0: there is none, or it is not known.
func parentOf(pid int) int {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
