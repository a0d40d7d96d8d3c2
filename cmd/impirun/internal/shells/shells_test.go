package shells

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestCommandsOfRemoteShells(t *testing.T) {
	t.Setenv("SLURM_NTASKS_PER_NODE", "4")
	for _, tt := range []struct {
		launcher, rsh string
		user          string
		port          int
		want          string
	}{
		{"", "", "", 0, "ssh -o BatchMode=yes -x a"},
		{"ssh", "", "u", 22, "ssh -o BatchMode=yes -x -p 22 -l u a"},
		{"ssh", "/my/ssh -4", "", 0, "/my/ssh -4 -x a"},
		{"rsh", "", "u", 22, "rsh -x -l u a"},
		{"lsf", "", "", 0, "blaunch -x a"},
		{"sge", "", "", 0, "qrsh -inherit -x a"},
		{"fork", "", "", 0, "/bin/sh -c"},
		{"slurm", "/no/srun", "", 0,
			"/no/srun -x --nodes=1 --ntasks=1 --nodelist=a --mpi=none --cpu-bind=none --quiet /bin/sh -c"},
	} {
		s, err := New(&options.Plan{Launcher: tt.launcher, Rsh: tt.rsh, RshExtra: []string{"-x"}})
		if err != nil {
			t.Fatal(err)
		}
		cmd := s.Command("a", tt.user, tt.port, 7)
		script := cmd.Args[len(cmd.Args)-1]
		if got := strings.Join(cmd.Args[:len(cmd.Args)-1], " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.launcher, got, tt.want)
		}
		if !strings.Contains(script, NodeWord) || !strings.Contains(script, "head -c 7") {
			t.Errorf("%s: %q", tt.launcher, script)
		}
		if tt.launcher == "slurm" && slices.Contains(cmd.Env, "SLURM_NTASKS_PER_NODE=4") {
			t.Error("srun is told of the tasks of the job")
		}
	}
	if _, err := New(&options.Plan{Rsh: " "}); err != nil {
		t.Errorf("a command of blanks is as good as none: %v", err)
	}
}

func TestOnlyMachinesThatMayComeAreTriedAgain(t *testing.T) {
	s := &Shell{Launcher: "ssh"}
	for said, want := range map[string]bool{
		"ssh: Could not resolve hostname pi-worker-0.pi: Name or service not known":            true,
		"ssh: Could not resolve hostname w: Temporary failure in name resolution":              true,
		"ssh: connect to host w port 22: Connection refused":                                   true,
		"kex_exchange_identification: Connection closed by remote host":                        true,
		"user@w: Permission denied (publickey).":                                               false,
		"Host key verification failed.":                                                        false,
		"ssh: connect to host w port 22: No route to host":                                     false,
		"sh: impirun: not found":                                                               false,
		"":                                                                                     false,
		"srun: error: Unable to create step for job 17: Requested nodes are busy":              false,
		"Warning: Permanently added 'w' to the list of known hosts.\nssh: connection refused.": true,
	} {
		if got := s.MayComeLater(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

func TestWordsForAShellAreQuoted(t *testing.T) {
	for _, s := range []string{"", "a b", "it's", "$(x)", "a\nb"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes out as %q, %v", s, out, err)
		}
	}
}
