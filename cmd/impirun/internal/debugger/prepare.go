package debugger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// Job is what Prepare has to know of the processes beside the plan.
type Job struct {
	Name  string   // its name on this machine (programs.NewJobID)
	Ranks []int    // the ranks of the processes; nil: from 0 on
	Env   []string // of the launcher with which the user speaks
	Far   bool     // that is another process, perhaps on another machine
}

// talker is a process to whose tool people talk.
type talker struct {
	process *supervise.Process
	rank    int
	title   string
	tool    []string // the tool and the user's options; none: there is no tool
}

// leave makes a tool do without its user.
func (t *talker) leave() {
	if words := alone(t.tool); words != nil {
		t.process.Argv = slices.Concat(t.process.Argv[:1], words, t.process.Argv[1:])
	}
}

// Prepare makes the processes of the ranks that the plan names start their tools, and returns when the terminals of
// these are open. end is to be called when the processes have ended.
func Prepare(plan *options.Plan, list []supervise.Process, job Job) (end func(), err error) {
	if len(plan.Debug) == 0 {
		return func() {}, nil
	}
	at := site{suppressions: shared("valgrind.supp"), queues: shared("gdb", "libimpi.py")}
	if at.dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	var talkers, servers []talker
	var files []string
	scripts := true
	for i := range list {
		at.rank = layout.RankIn(job.Ranks, i)
		d := plan.DebugOf(at.rank)
		if d == nil {
			continue
		}
		c, err := start(&list[i], d, at, job.Far)
		if err != nil {
			return nil, fmt.Errorf("-debug: rank %d: %w", at.rank, err)
		}
		t := talker{&list[i], at.rank, fmt.Sprintf("rank %d: %s", at.rank, strings.Join(c.words, " ")), c.tool}
		switch {
		case c.file != "":
			files = append(files, c.file)
		case c.serves:
			servers = append(servers, t)
		case c.talks:
			talkers, scripts = append(talkers, t), scripts && scripted(d)
		}
	}
	if len(files) > 0 && !plan.Quiet {
		outcome.Complain("reports are written to %s", filesOf(files))
	}
	served, err := serve(servers, job)
	if err != nil {
		return nil, err
	}
	talked, err := talk(plan, list, talkers, scripts, at.dir, job)
	return func() { closeAll(served); closeAll(talked) }, err
}

// talk brings tools to where people talk to them. scripts: they need not, since options say what the tools are to do.
func talk(plan *options.Plan, list []supervise.Process, talkers []talker, scripts bool, dir string,
	job Job) ([]*terminal, error) {
	if len(talkers) == 0 {
		return nil, nil
	}
	where := plan.DebugIn
	if scripts && (where == "" || where == options.InAuto) {
		if where = options.InHere; len(talkers) > 1 || job.Far {
			where = options.InFiles
		}
	}
	where, err := placeOf(where, len(talkers), look(job.Far, func(name string) string { return valueIn(job.Env, name) }))
	if err != nil {
		return nil, err
	}
	switch where {
	case options.InHere:
		talkHere(list, talkers[0])
		return nil, nil
	case options.InFiles:
		return nil, writeToFiles(plan, talkers, dir)
	}
	return open(talkers, where, job)
}

// shared is a file of the installation that a tool reads: what valgrind cannot know of the library, and a script for
// gdb; "": it is not installed.
func shared(name ...string) string {
	prefix, err := install.Prefix()
	if err != nil {
		return ""
	}
	file := filepath.Join(slices.Concat([]string{prefix, "share", "libimpi"}, name)...)
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// start makes a process start a tool.
// far: on another machine, perhaps, where there is gdbserver rather than gdb.
func start(p *supervise.Process, d *options.Debug, at site, far bool) (command, error) {
	find := func(name string) (string, error) { return supervise.FindProgram(name, p.Dir, valueIn(p.Env, "PATH")) }
	if d.Bare {
		return bare(p.Path, p.Argv), nil
	}
	tool := d.Tool
	if len(tool) == 0 {
		tool = defaultTool(find)
	}
	file, err := find(tool[0])
	if err != nil && far && tool[0] == "gdb" {
		if server, err := find("gdbserver"); err == nil {
			tool, file = []string{"gdbserver"}, server
		}
	}
	if file == "" {
		return command{}, err
	}
	c := commandOf(tool, p.Path, p.Argv, at)
	c.tool = tool
	p.Path, p.Argv = file, c.words
	return c, nil
}

// talkHere gives a tool the launcher's own terminal.
func talkHere(list []supervise.Process, t talker) {
	for i := range list {
		list[i].Stdin = supervise.StdinNull
	}
	t.process.Stdin, t.process.Talked = supervise.StdinInherit, isTerminal(0)
	if isNull(0) {
		t.leave()
	}
}

// writeToFiles gives what each tool writes a file, named after the tool and the rank.
func writeToFiles(plan *options.Plan, talkers []talker, dir string) error {
	var files []string
	for _, t := range talkers {
		name := filepath.Join(dir, fmt.Sprintf("%s.%d", filepath.Base(t.process.Argv[0]), t.rank))
		f, err := os.Create(name)
		if err != nil {
			return fmt.Errorf("a file for the debugger of rank %d: %w", t.rank, err)
		}
		t.process.Files[1], t.process.Files[2] = f, f
		t.leave()
		files = append(files, name)
	}
	if !plan.Quiet {
		outcome.Complain("what debuggers and their ranks write is in %s", filesOf(files))
	}
	return nil
}

// open makes a terminal for each tool, and shows it. It returns those that are not shown.
func open(talkers []talker, where string, job Job) (list []*terminal, err error) {
	if list, err = terminalsOf(talkers, job, newTerminal); err != nil {
		return nil, err
	}
	if err := show(list, where, job.Env); err != nil {
		closeAll(list)
		return nil, err
	}
	for i, t := range talkers {
		list[i].give(t.process)
	}
	if where != onSocket {
		closeAll(list) // whoever shows a terminal has it alone: when it is closed, the tool gets SIGHUP
		return nil, nil
	}
	for _, t := range list {
		outcome.Complain("rank %d waits for you: %s", t.rank, wayTo(t, "ssh -t", job))
	}
	return list, nil
}

// serve makes the connections of gdbserver.
func serve(servers []talker, job Job) ([]*terminal, error) {
	list, err := terminalsOf(servers, job, newConnection)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		servers[i].process.Files[0], servers[i].process.Files[1] = t.slave, t.slave
		t.slave = nil
		outcome.Complain("rank %d waits for you: gdb -ex 'target remote | %s'", t.rank, wayTo(t, "ssh", job))
	}
	return list, nil
}

func terminalsOf(talkers []talker, job Job,
	makeOne func(job string, rank int, title string) (*terminal, error)) (list []*terminal, err error) {
	for _, t := range talkers {
		made, err := makeOne(job.Name, t.rank, t.title)
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, made)
	}
	return list, nil
}

func closeAll(list []*terminal) {
	for _, t := range list {
		t.close()
	}
}

// wayTo is the command that leads to a terminal that is not shown.
func wayTo(t *terminal, ssh string, job Job) string {
	self, err := shells.Self()
	if err != nil {
		self = "impirun"
	}
	command := fmt.Sprintf("%s %s %s", self, TerminalWord, t.name)
	if job.Far {
		command = fmt.Sprintf("%s %s %s", ssh, hosts.Hostname(), command)
	}
	return command
}
