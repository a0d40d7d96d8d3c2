// Package shells is how impirun starts itself on other machines: by ssh, or by the command of a resource manager.
//
// Flow: a plan says which command (New) -> the command of a node on a machine (Command) runs impirun there, or asks for
// the program by a line that begins with Absent, and then reads it on its standard input -> a command that has failed
// says on stderr whether to try again (MayComeLater).
package shells

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

// NodeWord makes impirun a node: the launcher starts it so on every machine of a client that has several. SentWord
// after it says that the program was sent there, and that descriptor 3 is its file.
const (
	NodeWord = "--node"
	SentWord = "sent"
)

// Shell is what starts a command on another machine: ssh, or the command of a resource manager. All of those here hand
// on the standard input and output of the command, on which the launchers talk (package tree).
type Shell struct {
	Launcher string   // one of options.Launchers
	Words    []string // the command
	Extra    []string // that follow it
	Self     string   // where impirun is on this machine, and, preferably, on others
	Overlap  bool     // srun knows --overlap
	Asks     bool     // it may ask the user at the terminal, as one may that he has named
}

// New returns the shell that a plan asks for.
func New(plan *options.Plan) (*Shell, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	s := &Shell{Launcher: plan.Launcher, Words: strings.Fields(plan.Rsh), Extra: plan.RshExtra, Self: self}
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

// Self returns where this program is. A program that was sent here, and has no name any more, is found by its process.
func Self() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(self); err != nil {
		return "/proc/self/exe", nil
	}
	return self, nil
}

// Command returns the command of a node on another machine. user and port are the remote shell's, zero if it knows
// them; size is the length of this program, in bytes.
func (s *Shell) Command(name, user string, port int, size int64) *exec.Cmd {
	script := s.script(size)
	words := slices.Concat(s.Words, s.Extra)
	switch s.Launcher {
	case "fork":
		words = []string{"/bin/sh", "-c", script}
	case "slurm":
		words = append(words, "--nodes=1", "--ntasks=1", "--nodelist="+name, "--mpi=none", "--cpu-bind=none", "--quiet")
		if s.Overlap {
			words = append(words, "--overlap")
		}
		words = append(words, "/bin/sh", "-c", script)
	default:
		if s.Launcher == "ssh" && port != 0 {
			words = append(words, "-p", strconv.Itoa(port))
		}
		if user != "" {
			words = append(words, "-l", user)
		}
		words = append(words, name, "exec sh -c "+Quote(script))
	}
	cmd := exec.Command(words[0], words[1:]...)
	if s.Launcher == "slurm" {
		cmd.Env = slices.DeleteFunc(os.Environ(), ofStep)
	}
	return cmd
}

// ofStep reports whether a variable tells srun how many tasks to start: ours is a step of one task whatever the job's
// are.
func ofStep(setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	return slices.Contains([]string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
		"SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_HINT",
		"SLURM_MPI_TYPE", "SLURM_NNODES", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET"}, name)
}

// Absent begins the line by which the script below asks for the program; the machine's architecture follows.
const Absent = "impirun: absent on "

// script starts a node: impirun under the path that it has here, or where the other machine finds it, or, if there is
// none, what comes on standard input: size bytes, in a file that has no name from the beginning.
func (s *Shell) script(size int64) string {
	return fmt.Sprintf(`p=%s; [ -x "$p" ] || p=$(command -v impirun) || p=; [ -z "$p" ] || exec "$p" %s; `+
		`echo "%s$(uname -m)"; f=$(mktemp "${TMPDIR:-/tmp}/impirun.XXXXXX") && chmod 700 "$f" && `+
		`exec 4>"$f" 3<"$f" && rm "$f" && head -c %d >&4 && exec 4>&- && exec /proc/self/fd/3 %s %s; exit 126`,
		Quote(s.Self), NodeWord, Absent, size, NodeWord, SentWord)
}

// Architecture returns that of this machine, as uname -m says it.
func Architecture() string {
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

// MayComeLater reports whether to try again, by what a remote shell has said on stderr.
func (s *Shell) MayComeLater(said string) bool {
	said = strings.ToLower(said)
	return slices.ContainsFunc(later, func(w string) bool { return strings.Contains(said, w) })
}

// Through returns the name of a command in messages.
func Through(cmd *exec.Cmd) string {
	if cmd.Args[0] == "/bin/sh" {
		return "sh"
	}
	return filepath.Base(cmd.Args[0])
}

// Quote returns s as one word for a shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
