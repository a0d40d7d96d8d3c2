package launcher

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Ranks under debuggers and other tools (-debug), which run where a user can talk to them.

func tool(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no " + name)
	}
	return file
}

// inFolder starts a job in a folder of its own.
func inFolder(t *testing.T, words ...string) (result, string) {
	t.Helper()
	dir := t.TempDir()
	return startWith(t, []option{func(c *exec.Cmd) { c.Dir = dir }}, words...).wait(), dir
}

// contents is what a file holds; the test fails if it is not there.
func contents(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

var inInit = regexp.MustCompile(`(?m)^#0 .*MPI_Init.*\n#1 .* main \(.*initial\.c:\d+$`)

func TestDebuggersOfSeveralRanksWriteToFiles(t *testing.T) {
	tool(t, "gdb")
	r, dir := inFolder(t, "-n", "3", "-debug", "1-2", "gdb", "-nx", "-batch", "-ex", "break MPI_Init", "-ex", "run", "-ex",
		"bt", "-ex", "continue", "--", program(t, "initial"))
	r.expect(t, 0, "what debuggers and their ranks write is in "+dir+"/gdb.1 and "+dir+"/gdb.2")
	for _, rank := range []string{"1", "2"} {
		if said := contents(t, filepath.Join(dir, "gdb."+rank)); !inInit.MatchString(said) {
			t.Errorf("gdb of rank %s: %s", rank, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "gdb.0")); err == nil {
		t.Error("rank 0, which was not named, has a debugger")
	}
}

func TestADebuggerToWhomNobodyTalksRunsTheProgram(t *testing.T) {
	tool(t, "gdb")
	r, dir := inFolder(t, "-n", "2", "-debug-in", "files", "-debug", "1", program(t, "initial"))
	r.expect(t, 0, "what debuggers and their ranks write is in "+dir+"/gdb.1")
	if said := contents(t, filepath.Join(dir, "gdb.1")); !strings.Contains(said, "exited normally") {
		t.Error(said)
	}
}

func TestToolsThatReportWriteAFileForEachRank(t *testing.T) {
	for _, c := range []struct{ name, options, program, report string }{
		{"strace", "-e trace=execve", program(t, "initial"), `execve("` + program(t, "initial")},
		{"valgrind", "--time-stamp=yes", "/bin/true", "ERROR SUMMARY: 0 errors"}, // a program of MPI takes it many seconds
	} {
		t.Run(c.name, func(t *testing.T) {
			tool(t, c.name)
			r, dir := inFolder(t, append([]string{"-n", "2", "-debug", "1", c.name}, append(strings.Fields(c.options), "--",
				c.program)...)...)
			if strings.Contains(r.stderr, "not permitted") {
				t.Skip(r.stderr)
			}
			file := filepath.Join(dir, c.name+".1")
			r.expect(t, 0, "reports are written to "+file)
			if said := contents(t, file); !strings.Contains(said, c.report) {
				t.Errorf("no %q in %s: %s", c.report, file, said)
			}
		})
	}
}

func TestADebuggerAtTheLaunchersTerminalGetsItsKeys(t *testing.T) {
	tool(t, "gdb")
	master, slave := pty(t)
	defer master.Close()
	shown := newWatcher()
	j := startWith(t, []option{func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		c.Env = append(c.Env, "TERM=dumb")
	}}, "-n", "2", "-debug-in", "here", "-debug", "1", "gdb", "-nx", "-q", "--", program(t, "initial"))
	slave.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			if shown.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	shown.await("(gdb) ", 1)

	fmt.Fprint(master, "\003") // of gdb, and of no rank
	shown.await("Quit", 1)
	fmt.Fprint(master, "run\r")
	shown.await("exited normally", 1)
	fmt.Fprint(master, "quit\r")

	if r := j.wait(); r.code != 0 {
		t.Errorf("exit code %d", r.code)
	}
	<-read
	if strings.Contains(shown.String(), "impirun:") {
		t.Error(shown.String())
	}
}

// window is a terminal emulator for tests: what runs in it reads the file input, and writes the file output beside it.
const window = `#!/bin/sh
shift
exec "$@" <"$(dirname "$0")/input" >"$(dirname "$0")/output.$$" 2>&1
`

func TestDebuggersRunInWindows(t *testing.T) {
	tool(t, "gdb")
	dir := t.TempDir()
	emulator := filepath.Join(dir, "window")
	os.WriteFile(emulator, []byte(window), 0o755)
	os.WriteFile(filepath.Join(dir, "input"), []byte("break MPI_Init\nrun\nbt\ncontinue\nquit\n"), 0o644)
	graphical := environ("TMUX=", "TERM=dumb", "DISPLAY=:99", "TERMINAL="+emulator)
	j := startWith(t, []option{graphical}, "-n", "3", "-debug", "0,2", "gdb", "-nx", "-q", "-ex", "set width 0", "--",
		program(t, "initial"))

	r := j.wait()

	r.expect(t, 0, "")
	files, _ := filepath.Glob(filepath.Join(dir, "output.*"))
	if len(files) != 2 {
		t.Fatalf("%d windows, want 2", len(files))
	}
	for _, file := range files {
		if said := strings.ReplaceAll(contents(t, file), "\r", ""); !inInit.MatchString(said) {
			t.Errorf("%s: %s", file, said)
		}
	}
}

func TestDebuggersRunInPanesOfTmux(t *testing.T) {
	tool(t, "gdb")
	tool(t, "tmux")
	dir := t.TempDir()
	tmux := func(words ...string) string {
		cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(dir, "socket"), "-f", os.DevNull}, words...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "TERM=xterm")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", words, err, out)
		}
		return string(out)
	}
	launcher := filepath.Join(stage(t), "bin", "impirun")
	tmux("new-session", "-d", "-x", "120", "-y", "40", fmt.Sprintf("%s -n 3 -debug 0,2 gdb -nx -q -ex run -ex quit "+
		"-- %s; echo code $? >%[3]s/new; mv %[3]s/new %[3]s/code; tmux wait-for -S over; tmux wait-for seen", launcher,
		program(t, "initial"), dir))
	defer tmux("kill-server")

	tmux("wait-for", "over")

	if code := contents(t, filepath.Join(dir, "code")); code != "code 0\n" {
		t.Errorf("impirun ended with %q", code)
	}
	panes := strings.Fields(tmux("list-panes", "-a", "-F", "#{pane_id}"))
	if len(panes) != 3 {
		t.Fatalf("panes %q, want the launcher's and 2", panes)
	}
	for _, pane := range panes[1:] {
		shown := tmux("capture-pane", "-p", "-J", "-t", pane)
		for !strings.Contains(shown, "Enter closes this terminal") { // it may be on its way; ctest's limit ends a test
			shown = tmux("capture-pane", "-p", "-J", "-t", pane)
		}
		if !strings.Contains(shown, "exited normally") {
			t.Errorf("pane %s: %s", pane, shown)
		}
	}
	tmux("wait-for", "-S", "seen")
}

func TestALauncherAtATerminalOpensATmuxOfItsOwn(t *testing.T) {
	tool(t, "gdb")
	tool(t, "tmux")
	dir := t.TempDir()
	master, slave := pty(t)
	defer master.Close()
	j := startWith(t, []option{environ("TMUX=", "TERM=xterm", "TMPDIR="+dir, "HOME="+dir), func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}}, "-n", "2", "-debug", "all", "gdb", "-nx", "-q", "-ex", "run", "-ex", "quit 3", "--", program(t, "initial"))
	slave.Close()
	shown := newWatcher()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			if shown.Write(b[:n]); err != nil {
				return
			}
			fmt.Fprint(master, "\r") // closes the panes that have ended, and the launcher's at last
		}
	}()

	r := j.wait()

	<-read
	if r.code != 3 || !strings.Contains(shown.String(), "has ended; Enter closes") {
		t.Errorf("exit code %d, want that of gdb: %s", r.code, shown)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left in the folder for temporary files", left[0].Name())
	}
}

func TestALineLeadsToTheDebuggerOfARankOnAnotherMachine(t *testing.T) {
	tool(t, "gdb")
	j := start(t, "-launcher", "fork", "-host", "a:1,b:1", "-n", "2", "-debug", "1", "gdb", "-nx", "-q", "--",
		program(t, "initial"))
	j.stderr.await("\n", 1)
	_, way, found := strings.Cut(strings.TrimSpace(j.stderr.String()), "rank 1 waits for you: ssh -t ")
	words := strings.Fields(way)
	if !found || len(words) != 4 {
		t.Fatalf("stderr: %s", j.stderr)
	}
	there := exec.Command(words[1], words[2:]...) // the other machine is this one
	there.Stdin = strings.NewReader("run\nquit\n")
	said, err := there.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("exited normally")) {
		t.Errorf("%v: %s", err, said)
	}
	if r := j.wait(); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// findTable is what a parallel debugger does with a launcher (MPIR), in gdb.
var findTable = []string{"starti", "set *(int*)&MPIR_being_debugged = 1", "break MPIR_Breakpoint", "continue",
	"output *(int*)&MPIR_debug_state", "echo \\n", "output *(int*)&MPIR_proctable_size", "echo \\n",
	"output (*(char***)&MPIR_proctable)[1]", "echo \\n", "output *(int*)(*(char**)&MPIR_proctable + 40)", "echo \\n",
	"continue"}

func TestAParallelDebuggerFindsTheRanks(t *testing.T) {
	gdb := tool(t, "gdb")
	for machines, words := range map[string][]string{"one": {"-n", "2"},
		"two": {"-launcher", "fork", "-host", "a:1,b:1", "-n", "2"}} {
		t.Run(machines, func(t *testing.T) {
			args := []string{"-nx", "-batch"}
			for _, command := range findTable {
				args = append(args, "-ex", command)
			}
			args = append(args, "--args", filepath.Join(stage(t), "bin", "impirun"))
			said, err := exec.Command(gdb, append(append(args, words...), program(t, "initial"))...).CombinedOutput()
			table := regexp.MustCompile(`(?m)^1\n2\n0x[0-9a-f]+ ".*/initial"\n[1-9]\d*$`)
			if err != nil || !table.Match(said) || !bytes.Contains(said, []byte("exited normally")) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

func TestAToolThatIsNotThereIsNamed(t *testing.T) {
	run(t, "-n", "2", "-debug", "1", "nosuchtool", "-x", "--", program(t, "initial")).expect(t, 127,
		"-debug: rank 1: program nosuchtool not found")
	run(t, "-n", "2", "-debug", "2", program(t, "initial")).expect(t, 2, "there is no rank 2; ranks are 0 to 1")
}

// A rank that is stopped shows its queues, by a script that reads its memory.
func TestGdbShowsTheQueuesOfARank(t *testing.T) {
	tool(t, "gdb")
	j := start(t, words("-n 2", program(t, "stuck"), "tag")...)
	j.stat(func(text string) bool {
		return strings.Contains(text, "rank 0: MPI_Barrier") && strings.Contains(text, "rank 1: MPI_Recv")
	})
	rank := -1
	for _, pid := range marked(j.mark) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(env), "\x00IMPI_RANK=1\x00") {
			rank = pid
		}
	}
	said, _ := exec.Command("gdb", "-nx", "-batch", "-p", fmt.Sprint(rank), "-x",
		filepath.Join(stage(t), "share/libimpi/gdb/libimpi.py"), "-ex", "impi").CombinedOutput()
	for _, want := range []string{"rank 1 in MPI_COMM_WORLD\n", "messages not received:\n",
		"blocked threads:\n  MPI_Recv waits for: receive from rank 0 tag 7 on MPI_COMM_WORLD, 4 bytes\n",
		"\n  from rank 0 tag 8 on MPI_COMM_WORLD, 4 bytes\n"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	j.signal(syscall.SIGTERM)
	j.wait()
}
