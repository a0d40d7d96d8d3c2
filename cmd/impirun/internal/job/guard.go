package job

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
)

// The guard ends what the ranks have started when the launcher itself is killed. The kernel then kills the ranks, but
// not their children, which nobody would look after any more. They are known by the job's name in their environment,
// whatever session or process group they have gone to.
//
// Flow: the launcher starts the guard beside its ranks, and ends it when nobody is left -> the guard reads its
// standard input, a pipe of which the launcher has the other end -> the end of it: the launcher has gone without
// ending us.

// GuardWord makes impirun a guard; the job's name follows.
const GuardWord = "--guard"

// GuardCommand returns the command of a job's guard; none if we do not know where we are.
func GuardCommand(job string) []string {
	self, err := shells.Self()
	if err != nil {
		return nil
	}
	return []string{self, GuardWord, job}
}

// Guard waits for the launcher's end and kills the job's processes, until none is found: one may have started another.
func Guard(job string) {
	io.Copy(io.Discard, os.Stdin)
	for range 100 {
		list := processesOf(job)
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// processesOf lists the processes of a job on this machine. Those of other users, and zombies, show no environment.
func processesOf(job string) (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + name + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+programs.EnvJob+"="+job+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
