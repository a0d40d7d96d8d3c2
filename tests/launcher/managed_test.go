package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Programs that another process manager starts: mpiexec.hydra of MPICH, in PATH and where tools/peers has put it, and
// Intel's. Where there is none these tests are skipped.

// hydras are the managers.
func hydras(t *testing.T) (list []string) {
	t.Helper()
	peers := filepath.Join(filepath.Dir(stage(t)), "peers")
	for _, file := range []string{"mpiexec.hydra", filepath.Join(peers, "mpich", "bin", "mpiexec.hydra"),
		filepath.Join(peers, "impi-rt", "bin", "mpiexec.hydra")} {
		if path, err := exec.LookPath(file); err == nil {
			list = append(list, path)
		}
	}
	if len(list) == 0 {
		t.Skip("there is no mpiexec.hydra, neither in PATH nor in " + peers)
	}
	return list
}

// hydra is one of them.
func hydra(t *testing.T) string { return hydras(t)[0] }

// under runs a job with a manager.
func under(t *testing.T, manager string, parts ...any) result {
	t.Helper()
	return startProgram(t, nil, manager, words(parts...)...).wait()
}

// sortedLines are the lines of a text, in order.
func sortedLines(text string) []string {
	list := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(list)
	return list
}

// expectLines compares what a good job has printed, line by line in any order.
func (r result) expectLines(t *testing.T, want ...string) {
	t.Helper()
	r.expect(t, 0, "")
	if got := sortedLines(r.stdout); !slices.Equal(got, want) {
		t.Errorf("it has printed %q, want %q", got, want)
	}
}

func TestAnotherManagersRanksAreOneJobThatSharesMemory(t *testing.T) {
	file := program(t, "shares")
	for _, m := range hydras(t) {
		t.Run(m, func(t *testing.T) {
			under(t, m, "-n 1", file).expectLines(t, "0/1 app 0 shares 0")
			under(t, m, "-n 3", file).expectLines(t, "0/3 app 0 shares 0 1 2", "1/3 app 0 shares 0 1 2",
				"2/3 app 0 shares 0 1 2")
			under(t, m, "-n 2", file, ": -n 1", file).expectLines(t, "0/3 app 0 shares 0 1 2", "1/3 app 0 shares 0 1 2",
				"2/3 app 1 shares 0 1 2")
		})
	}
}

// PMI_JOBID is how Slurm says that it speaks PMI-2; MPICH's manager speaks that, too.
func TestAManagerIsSpokenWithByPMI2(t *testing.T) {
	under(t, hydra(t), "-genv PMI_JOBID 7 -n 2", program(t, "shares"), ": -n 1", program(t, "shares")).expectLines(t,
		"0/3 app 0 shares 0 1 2", "1/3 app 0 shares 0 1 2", "2/3 app 1 shares 0 1 2")
}

func TestAManagerIsFoundAtAPort(t *testing.T) {
	under(t, hydra(t), "-pmi-port -n 2", program(t, "shares")).expectLines(t, "0/2 app 0 shares 0 1",
		"1/2 app 0 shares 0 1")
}

func TestProgramsOfAllChaptersRunUnderAnotherManager(t *testing.T) {
	m := hydra(t)
	for _, name := range []string{"pt2pt/order", "pt2pt/traffic", "coll/alltoall", "coll/scan", "comm/split_type",
		"pt2pt/wildcard"} {
		for _, n := range []string{"2", "4"} {
			under(t, m, "-n", n, program(t, "../"+name)).expect(t, 0, "")
		}
	}
}

func TestProcessesAreSpawnedUnderAnotherManager(t *testing.T) {
	for _, name := range []string{"spawn", "names"} {
		under(t, hydra(t), "-n 2", program(t, "../processes/"+name)).expect(t, 0, "")
	}
}

// The code of MPI_Abort is the job's, and one line says who has called it.
func TestAnAbortUnderAnotherManagerEndsTheJobWithItsCode(t *testing.T) {
	file := program(t, "misbehave")
	for _, m := range hydras(t) {
		r := under(t, m, "-n 4", file, "abort 1 42")
		if r.code != 42 || strings.Count(r.stderr, "libimpi: ") != 1 ||
			!strings.Contains(r.stderr, "rank 1 of 4 (") || !strings.Contains(r.stderr, "MPI_Abort(42)") {
			t.Errorf("%s: code %d, %q", m, r.code, r.stderr)
		}
	}
}

// The manager says what has happened, or survivors that have waited for it; nobody is left.
func TestADeadRankUnderAnotherManagerEndsTheJob(t *testing.T) {
	file := program(t, "misbehave")
	for _, m := range hydras(t) {
		for _, do := range []string{"raise 2 9", "no-finalize 1 5", "killed-in-finalize 1"} {
			r := under(t, m, "-n 4", file, do)
			if r.code == 0 || strings.Contains(r.stderr, "libimpi: ") && !strings.Contains(r.stderr, "is lost") {
				t.Errorf("%s: %s: code %d, %q", m, do, r.code, r.stderr)
			}
		}
	}
}

func TestAKilledManagerTakesItsRanksAlong(t *testing.T) {
	for _, m := range hydras(t) {
		j := startProgram(t, nil, m, words("-n 3", program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 3)
		j.signal(syscall.SIGKILL)
		j.cmd.Wait()
		for until := time.Now().Add(patience); len(marked(j.mark)) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: processes %v are left", m, marked(j.mark))
			}
		}
	}
}

func TestProgramsOfSessionsRunUnderAnotherManager(t *testing.T) {
	file := program(t, "sessions")
	for do, code := range map[string]int{"nothing 0": 0, "finalized 1 0": 0, "afterwards 1 3": 3, "abort 2 9": 9} {
		if r := under(t, hydra(t), "-n 4", file, do); r.code != code || code == 0 && r.stderr != "" {
			t.Errorf("%s: code %d, want %d; %q", do, r.code, code, r.stderr)
		}
	}
}

// IMPI_SINGLETON=ok is the user's word, whatever the manager says.
func TestRanksOfAnotherManagerAreAloneIfTheUserSaysSo(t *testing.T) {
	under(t, hydra(t), "-genv IMPI_SINGLETON ok -n 2", program(t, "shares")).expectLines(t, "0/1 app 0 shares 0",
		"0/1 app 0 shares 0")
}

// Processes that do not know each other by their pids, as in containers, do without shared memory.
func TestAnotherManagersRanksInNamespacesAreOneJob(t *testing.T) {
	if out, err := exec.Command("unshare", "-p", "-f", "true").CombinedOutput(); err != nil {
		t.Skipf("no process namespaces: %v, %s", err, out)
	}
	under(t, hydra(t), "-n 3 unshare -p -f", program(t, "shares")).expectLines(t, "0/3 app 0 shares 0",
		"1/3 app 0 shares 1", "2/3 app 0 shares 2")
}

// Two machines, each a network namespace: ranks go to them by turns, so those of a machine do not follow one another.
func TestAnotherManagersRanksOnTwoMachinesAreOneJob(t *testing.T) {
	m := hydra(t)
	n := newNetwork(t, ipv4, 2)
	shell := n.hydraShell(t)
	start := func(file string) (r result) {
		n.machines[0].inside(t, func() {
			r = under(t, m, "-localhost", n.machines[0].addr.String(), "-launcher ssh -launcher-exec", shell,
				n.hosts(0), "-ppn 1 -n 4", file)
		})
		return r
	}
	start(program(t, "shares")).expectLines(t, "0/4 app 0 shares 0 2", "1/4 app 0 shares 1 3", "2/4 app 0 shares 0 2",
		"3/4 app 0 shares 1 3")
	start(program(t, "../pt2pt/order")).expect(t, 0, "")
}

// hydraShell writes a remote shell for a manager, which puts options before the address of the machine to enter. An
// address, because a manager looks names up, and in these networks nobody answers.
func (n *network) hydraShell(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skip(err)
	}
	file, text := filepath.Join(t.TempDir(), "shell"), "#!/bin/sh\nwhile :; do case $1 in\n"
	for _, m := range n.machines {
		text += fmt.Sprintf("%v) ns=/proc/%d/fd/%d; shift; break ;;\n", m.addr, os.Getpid(), m.ns.Fd())
	}
	isolated(t, "-m") // other libraries leave files in /dev/shm if ranks die
	text += "esac; shift; done\nexec nsenter --net=$ns unshare -m sh -c \"mount -t tmpfs none /dev/shm; $*\"\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAReportUnderAnotherManager(t *testing.T) {
	r := under(t, hydra(t), "-n 2 -genv IMPI_REPORT 1", program(t, "negotiate"))
	if r.code != 0 || strings.Count(r.stderr, "libimpi: 2 ranks on ") != 1 || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// hosts names two machines, the first and the next, for a manager of hydraShell's.
func (n *network) hosts(first int) string {
	return fmt.Sprintf("-hosts %v,%v", n.machines[first].addr, n.machines[first+1].addr)
}
