// Package launcher tests impirun as a user meets it: command lines that are wrong, programs that die, signals,
// input and output. It runs the staged programs: IMPI_STAGE names the stage; ctest sets it.
//
// Every case ends with the same questions: the exit code, what was said on stderr, and whether any process of
// the job is left. A case that hangs is ended by patience, which is a safety net and not a measurement: the
// launcher's own limits are shorter.
package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 200 * time.Second // so that it ends hangs alone, also on a machine that does other things

func stage(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IMPI_STAGE")
	if dir == "" {
		t.Skip("IMPI_STAGE is not set: these tests run under make test")
	}
	return dir
}

// result is how one run of a program ended.
type result struct {
	code           int // 128+S if signal S ended the launcher itself
	stdout, stderr string
}

// run runs impirun with words and waits for it.
func run(t *testing.T, words ...string) result {
	t.Helper()
	return start(t, words...).wait()
}

// job is a running impirun.
type job struct {
	t      *testing.T
	cmd    *exec.Cmd
	mark   string // in the environment of everything that belongs to it
	stdout *watcher
	stderr *watcher
	cancel context.CancelFunc

	killed bool // the launcher of one of its machines was killed: what that has started ends when it notices
}

// option changes a job before it starts.
type option func(*exec.Cmd)

func stdin(r io.Reader) option { return func(c *exec.Cmd) { c.Stdin = r } }
func environ(settings ...string) option {
	return func(c *exec.Cmd) { c.Env = append(c.Env, settings...) }
}

func start(t *testing.T, words ...string) *job {
	t.Helper()
	return startWith(t, nil, words...)
}

func startWith(t *testing.T, options []option, words ...string) *job {
	t.Helper()
	return startProgram(t, options, filepath.Join(stage(t), "bin", "impirun"), words...)
}

var jobs struct {
	sync.Mutex
	n int
}

func startProgram(t *testing.T, options []option, program string, words ...string) *job {
	t.Helper()
	jobs.Lock()
	jobs.n++
	mark := fmt.Sprintf("IMPI_TEST_JOB=%d.%d", os.Getpid(), jobs.n)
	jobs.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	j := &job{t: t, cmd: exec.CommandContext(ctx, program, words...), mark: mark, cancel: cancel,
		stdout: newWatcher(), stderr: newWatcher()}
	j.cmd.Env = append(os.Environ(), mark)
	j.cmd.Stdout, j.cmd.Stderr = j.stdout, j.stderr
	for _, o := range options {
		o(j.cmd)
	}
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for _, pid := range marked(mark) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return j
}

// wait returns how the job ended, and fails the test if it had to be ended, or left a process behind.
func (j *job) wait() result {
	j.t.Helper()
	defer j.cancel()
	err := j.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		j.t.Fatal(err)
	}
	status := j.cmd.ProcessState.Sys().(syscall.WaitStatus)
	r := result{code: status.ExitStatus(), stdout: j.stdout.String(), stderr: j.stderr.String()}
	if status.Signaled() {
		r.code = 128 + int(status.Signal())
	}
	// A launcher that was killed waits for nobody, and others' launchers do not wait for all that they have started: these
	// end when they notice.
	if status.Signaled() || j.killed || !strings.HasPrefix(j.cmd.Path, stage(j.t)) {
		for limit := time.Now().Add(patience); len(marked(j.mark)) > 0 && time.Now().Before(limit); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if left := marked(j.mark); len(left) > 0 {
		j.t.Errorf("%q left processes %v behind", j.cmd.Args, left)
	}
	if names := sharedMemory(); len(names) > 0 {
		j.t.Errorf("%q left %q in /dev/shm", j.cmd.Args, names)
	}
	return r
}

func (j *job) signal(s syscall.Signal) { j.cmd.Process.Signal(s) }

// marked lists the living processes that have mark in their environment.
func marked(mark string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file) // empty for a zombie
		if err != nil || !bytes.Contains(append(env, 0), append([]byte(mark), 0)) {
			continue
		}
		var pid int
		fmt.Sscanf(file, "/proc/%d/", &pid)
		pids = append(pids, pid)
	}
	return pids
}

func sharedMemory() []string {
	names, _ := filepath.Glob("/dev/shm/*impi*")
	return names
}

// expect compares a result with an exit code and what one line on stderr must contain ("" is silence).
func (r result) expect(t *testing.T, code int, said string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", r.code, code, r.stderr)
	}
	switch {
	case said == "" && r.stderr != "":
		t.Errorf("stderr is not empty: %q", r.stderr)
	case said != "" && (messages(r.stderr) != 1 || !strings.Contains(r.stderr, said)):
		t.Errorf("stderr is %q, want one message with %q", r.stderr, said)
	}
}

// messages counts those of a text: what is indented belongs to the line above.
func messages(text string) int { return strings.Count(text, "\n") - strings.Count(text, "\n    ") }

// watcher collects output and lets a test wait for a word in it.
type watcher struct {
	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
}

func newWatcher() *watcher {
	w := &watcher{}
	w.more = sync.NewCond(&w.mu)
	return w
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	w.more.Broadcast()
	return len(b), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await returns when the output holds word n times; ctest's limit ends a test where that never comes.
func (w *watcher) await(word string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for strings.Count(w.text.String(), word) < n {
		w.more.Wait()
	}
}

// program returns testdata/name.c as the build has compiled it, beside this test.
func program(t *testing.T, name string) string {
	t.Helper()
	stage(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	return file
}
