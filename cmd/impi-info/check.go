package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// impi-info --check says what this machine allows jobs, a line for each thing that is tested, and what to do where
// something is missing. Tests do what a job would do, as far as that is possible: they map memory, read from another
// process, and open connections.
//
// Flow: check -> the machine (check_machine.go), other processes (check_process.go), hosts (check_network.go) ->
// report.

// state is how a test has ended.
type state string

const (
	fine   state = "ok"
	note   state = "note" // jobs run, but not at their best
	failed state = "fail" // jobs of some kind do not run
)

// finding is what one test says.
type finding struct {
	Name  string `json:"name"`
	State state  `json:"state"`
	Is    string `json:"is"` // what is so
	Do    string `json:"do"` // what to do about it; empty if there is nothing to do
}

func ok(name, format string, a ...any) finding {
	return finding{Name: name, State: fine, Is: fmt.Sprintf(format, a...)}
}

// check tests the installation at prefix, this machine, and the way to each host.
func check(prefix string, hosts []string) []finding {
	system := os.DirFS("/")
	list := []finding{installation(prefix), sharedMemory()}
	list = append(list, otherProcesses(system)...)
	list = append(list, limits()...)
	list = append(list, restrictions(system)...)
	list = append(list, clock(system), loopback())
	for _, host := range hosts {
		list = append(list, reach(host)...)
	}
	return list
}

// report prints the findings and returns the exit code.
func report(list []finding, asJSON bool) int {
	code := 0
	for _, f := range list {
		if f.State == failed {
			code = codeFailed
		}
	}
	if asJSON {
		if bad := print(os.Stdout, list); bad != 0 {
			return bad
		}
		return code
	}
	for _, f := range list {
		fmt.Printf("%-5s %-18s %s\n", f.State, f.Name, f.Is)
		if f.Do != "" {
			fmt.Printf("%-5s %-18s -> %s\n", "", "", f.Do)
		}
	}
	return code
}

func installation(prefix string) finding {
	var missing []string
	for _, p := range files(prefix) {
		if !p.There {
			missing = append(missing, p.Path)
		}
	}
	if missing != nil {
		return finding{"installation", failed, "missing: " + strings.Join(missing, ", "), "install libimpi as a whole; " +
			"a program is compiled and started by the files of one installation"}
	}
	return ok("installation", "complete, at %s", prefix)
}

// line is the first line of a file of the system; "" if there is none.
func line(system fs.FS, path string) string {
	text, err := fs.ReadFile(system, path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
