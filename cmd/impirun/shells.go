package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// shell is what starts a command on another machine: ssh, or the command of a resource manager. All of those here hand
// on the standard input and output of the command, on which the launchers talk (frames.go).
type shell struct {
	Launcher string   // one of options.Launchers
	Words    []string // the command
	Extra    []string // that follow it
	Self     string   // where impirun is on this machine, and, preferably, on others
	Overlap  bool     // srun knows --overlap
	Asks     bool     // it may ask the user at the terminal, as one may that he has named
}

// newShell is the shell that a plan asks for.
func newShell(plan *options.Plan) (*shell, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	s := &shell{Launcher: plan.Launcher, Words: strings.Fields(plan.Rsh), Extra: plan.RshExtra, Self: self}
	s.Asks = len(s.Words) > 0
	if s.Launcher == "" {
		s.Launcher = "ssh"
	}
	if len(s.Words) == 0 {
		s.Words = strings.Fields(options.DefaultRsh(s.Launcher))
	}
	if len(s.Words) == 0 && s.Launcher != "fork" {
		return nil, errors.New("-rsh: no command")
	}
	if s.Launcher == "slurm" { // from Slurm 20.11 on a step shares processors only if it says so
		help, err := exec.Command(s.Words[0], "--help").Output()
		s.Overlap = err == nil && strings.Contains(string(help), "--overlap")
	}
	return s, nil
}

// selfPath is where this program is. A program that was sent here, and has no name any more, is found by its process.
func selfPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(self); err != nil {
		return "/proc/self/exe", nil
	}
	return self, nil
}

// command is the command of a node on another machine.
func (s *shell) command(m *member, size int64) *exec.Cmd {
	script := s.script(size)
	words := slices.Concat(s.Words, s.Extra)
	switch s.Launcher {
	case "fork":
		words = []string{"/bin/sh", "-c", script}
	case "slurm":
		words = append(words, "--nodes=1", "--ntasks=1", "--nodelist="+m.Name, "--mpi=none", "--cpu-bind=none", "--quiet")
		if s.Overlap {
			words = append(words, "--overlap")
		}
		words = append(words, "/bin/sh", "-c", script)
	default:
		if s.Launcher == "ssh" && m.Port != 0 {
			words = append(words, "-p", strconv.Itoa(m.Port))
		}
		if m.User != "" {
			words = append(words, "-l", m.User)
		}
		words = append(words, m.Name, "exec sh -c "+quote(script))
	}
	cmd := exec.Command(words[0], words[1:]...)
	if s.Launcher == "slurm" {
		cmd.Env = slices.DeleteFunc(os.Environ(), ofStep)
	}
	return cmd
}

// ofStep says whether a variable tells srun how many tasks to start: ours is a step of one task whatever the job's are.
func ofStep(setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	return slices.Contains([]string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
		"SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_HINT",
		"SLURM_MPI_TYPE", "SLURM_NNODES", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET"}, name)
}

// absent begins the line by which the script below asks for the program; what follows is the machine's architecture.
const absent = "impirun: absent on "

// script starts a node: impirun under the path that it has here, or where the other machine finds it, or, if there is
// none, what comes on standard input: size bytes, in a file that has no name from the beginning.
func (s *shell) script(size int64) string {
	return fmt.Sprintf(`p=%s; [ -x "$p" ] || p=$(command -v impirun) || p=; [ -z "$p" ] || exec "$p" %s; `+
		`echo "%s$(uname -m)"; f=$(mktemp "${TMPDIR:-/tmp}/impirun.XXXXXX") && chmod 700 "$f" && `+
		`exec 4>"$f" 3<"$f" && rm "$f" && head -c %d >&4 && exec 4>&- && exec /proc/self/fd/3 %s %s; exit 126`,
		quote(s.Self), nodeWord, absent, size, nodeWord, sentWord)
}

// architecture is this machine's, as uname -m says it.
func architecture() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}

// later are words with which a remote shell says that a machine is not there yet, or too busy to let us in: its name is
// not known, as of a container whose address is still on its way, or nobody listens.
var later = []string{"could not resolve hostname", "name or service not known", "temporary failure in name resolution",
	"unknown host", "connection refused", "kex_exchange_identification", "ssh_exchange_identification"}

// mayComeLater says whether to try again, by what a remote shell has said.
func (s *shell) mayComeLater(said string) bool {
	said = strings.ToLower(said)
	return slices.ContainsFunc(later, func(w string) bool { return strings.Contains(said, w) })
}

// through is the command's name in messages.
func through(cmd *exec.Cmd) string {
	if cmd.Args[0] == "/bin/sh" {
		return "sh"
	}
	return filepath.Base(cmd.Args[0])
}

// quote makes a word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
