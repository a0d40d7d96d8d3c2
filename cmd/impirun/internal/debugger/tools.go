// Package debugger starts ranks under debuggers and other tools, and brings the terminals of those to whom people talk
// to where these people are.
//
// Flow: a plan names ranks and tools (options.Debug), and their processes are ready to start -> Prepare makes of each
// the command of its tool (tools.go), with a file of its own for what a tool reports, and decides where tools run that
// people talk to (place.go) -> these get pseudo-terminals, each of which a unix socket hands out (terminals.go) -> a
// pane of tmux, or a window, runs impirun as the other end (Attend, attend.go) -> when all have come, the job starts.
// Terminals of ranks on other machines, and of gdbserver, are not shown: a line says how to get there.
//
// A tool is the launcher's child, as a rank is: it inherits the rank's environment, CPUs and link to the launcher, and
// is ended with the job.
package debugger

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// command is how a rank is started under a tool.
type command struct {
	words  []string // the first is the tool, as the user says it
	tool   []string // that and the user's options
	file   string   // where the tool reports to; "": not to a file of ours
	talks  bool     // people talk to it
	serves bool     // a debugger talks to it
}

// site is what a command depends on beside its words.
type site struct {
	rank         int
	dir          string // where files of tools go
	suppressions string // for valgrind; "": there are none
	queues       string // a script for gdb that shows them; "": there is none
}

// commandOf returns the command that starts a program, whose file is path, under a tool. Options that the user gives
// come behind ours, so that his hold.
func commandOf(tool []string, path string, argv []string, at site) command {
	program := append([]string{path}, argv[1:]...)
	report := func(name string) string { return filepath.Join(at.dir, name+"."+strconv.Itoa(at.rank)) }
	name, opts := filepath.Base(tool[0]), tool[1:]
	switch name {
	case "gdb":
		if !slices.Contains(opts, "--args") && !slices.Contains(opts, "-args") {
			opts = append(slices.Clone(opts), "--args")
		}
		var ours []string
		if at.queues != "" {
			ours = []string{"-x", at.queues}
		}
		return command{words: slices.Concat(tool[:1], ours, opts, program), talks: true}
	case "gdbserver": // "-": the connection is its standard input and output
		return command{words: slices.Concat(tool, []string{"-"}, program), serves: true}
	case "lldb":
		return command{words: slices.Concat(tool, []string{"--"}, program), talks: true}
	case "valgrind":
		c := command{file: report(name)}
		ours := []string{"--log-file=" + c.file}
		if says(opts, "--log-file") || says(opts, "--log-fd") || says(opts, "--log-socket") {
			c.file, ours = "", nil
		}
		if at.suppressions != "" {
			ours = append(ours, "--suppressions="+at.suppressions)
		}
		c.words = slices.Concat(tool[:1], ours, opts, program)
		return c
	case "perf":
		return perf(tool[0], opts, program, report)
	case "strace":
		c := command{file: report(name)}
		ours := []string{"-f", "-o", c.file}
		if says(opts, "-o") || says(opts, "--output") {
			c.file, ours = "", []string{"-f"}
		}
		c.words = slices.Concat(tool[:1], ours, opts, program)
		return c
	}
	c := command{talks: true}
	for _, word := range tool {
		c.words = append(c.words, strings.ReplaceAll(word, "%r", strconv.Itoa(at.rank)))
	}
	c.words = append(c.words, program...)
	return c
}

// perf is the command of perf: record, unless the user says another.
func perf(tool string, opts, program []string, report func(string) string) command {
	sub := "record"
	if len(opts) > 0 && !strings.HasPrefix(opts[0], "-") {
		sub, opts = opts[0], opts[1:]
	}
	names := map[string]string{"record": "perf.data", "stat": "perf.stat", "trace": "perf.trace"}
	c := command{words: []string{tool, sub}}
	if name := names[sub]; name != "" && !says(opts, "-o") && !says(opts, "--output") {
		c.file = report(name)
		c.words = append(c.words, "-o", c.file)
	}
	c.words = slices.Concat(c.words, opts, []string{"--"}, program)
	return c
}

// says reports whether options hold one, as "-o FILE", "-oFILE" or "--output=FILE".
func says(opts []string, name string) bool {
	return slices.ContainsFunc(opts, func(o string) bool {
		long := strings.HasPrefix(name, "--")
		return o == name || long && strings.HasPrefix(o, name+"=") || !long && strings.HasPrefix(o, name)
	})
}

// defaultTool is the debugger that there is. find looks a command up.
func defaultTool(find func(string) (string, error)) []string {
	if _, err := find("gdb"); err != nil {
		if _, err := find("lldb"); err == nil {
			return []string{"lldb"}
		}
	}
	return []string{"gdb"} // if it is missing, the error names it
}

// alone are the words that follow the name of a debugger to whom nobody talks: it runs the program, shows where that
// has stopped if it has, and ends as it did. None, if the user's own options say what to do.
func alone(tool []string) []string {
	if len(tool) == 0 {
		return nil
	}
	for _, word := range []string{"-x", "--command", "-ex", "--eval-command", "-batch", "--batch", "-o", "-s", "-b"} {
		if says(tool[1:], word) {
			return nil
		}
	}
	switch filepath.Base(tool[0]) {
	case "gdb":
		// After an error in the last command, as that of bt when the program has ended, gdb would end with code 1.
		return []string{"-batch", "-return-child-result", "-ex", "run", "-ex", "bt", "-ex", "echo"}
	case "lldb":
		return []string{"-b", "-o", "run", "-k", "bt", "-k", "quit 1"}
	}
	return nil
}

// bare is the command of a rank that only gets a terminal.
func bare(path string, argv []string) command {
	return command{words: append([]string{path}, argv[1:]...), talks: true}
}

// filesOf are the files of a job's tools, in a few words: the pattern of those of many ranks.
func filesOf(files []string) string {
	if len(files) < 3 {
		return strings.Join(files, " and ")
	}
	return files[0] + " to " + files[len(files)-1]
}

// scripted reports whether a debugger takes its commands from options: nobody has to talk to it.
func scripted(d *options.Debug) bool {
	return slices.ContainsFunc(d.Tool, func(word string) bool {
		return word == "-batch" || word == "--batch" || word == "-b" && filepath.Base(d.Tool[0]) == "lldb"
	})
}
