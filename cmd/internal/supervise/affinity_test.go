package supervise

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestARankIsBoundBeforeItRunsAndTheLauncherIsNot(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	own, err := CPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range own {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := Process{Path: shell, Argv: []string{"sh", "-c", "grep Cpus_allowed_list /proc/self/status"}, CPUs: []int{cpu}}
		pid, err := p.start([3]uintptr{0, w.Fd(), 2}, false)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		text, _ := io.ReadAll(r)
		r.Close()
		if child, err := os.FindProcess(pid); err == nil {
			child.Wait()
		}
		if words := strings.Fields(string(text)); len(words) != 2 || words[1] != strconv.Itoa(cpu) {
			t.Errorf("bound to CPU %d, and it is %q", cpu, text)
		}
		if now, err := CPUs(); err != nil || !slices.Equal(now, own) {
			t.Errorf("the launcher's own CPUs were %v and are %v, %v", own, now, err)
		}
	}
}

func TestARankThatCannotBeBoundIsNotStarted(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := Process{Path: "/bin/sh", Argv: []string{"sh"}, CPUs: []int{maxCPU - 1}}
	if pid, err := p.start([3]uintptr{0, 1, 2}, false); err == nil || !strings.Contains(err.Error(), "CPUs 1023") {
		t.Errorf("pid %d, %v", pid, err)
	}
}
