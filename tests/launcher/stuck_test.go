package launcher

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// says makes sure that an output has all lines, as far as their beginnings say.
func says(t *testing.T, output string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains("\n"+output, "\n"+want) {
			t.Errorf("no line begins with %q in:\n%s", want, output)
		}
	}
}

func TestAtTheTimeoutItIsSaidWhatRanksDo(t *testing.T) {
	t.Parallel()
	file := program(t, "stuck")
	for where, ranks := range map[string]string{"-n 3": "0,2", machines(t): "0,2-4"} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := run(t, words(where, "-timeout 1", file, "tag")...)
			if r.code != 124 {
				t.Errorf("code %d", r.code)
			}
			says(t, r.stderr, "impirun: what ranks do as the timeout is over:\n",
				"  ranks "+ranks+": MPI_Barrier on MPI_COMM_WORLD",
				"  rank 1: MPI_Recv from rank 0 tag 7 on MPI_COMM_WORLD (count 1, datatype MPI_INT)",
				"  missing in MPI_Barrier on MPI_COMM_WORLD: rank 1 (MPI_Recv from rank 0 tag 7 on MPI_COMM_WORLD",
				"  likely mistake: rank 1 waits for tag 7 from rank 0, which has sent tag 8 on MPI_COMM_WORLD\n",
				"  waiting in a circle: rank 0 (MPI_Barrier",
				"  queues of rank 1: not received: from rank 0 tag 8 on MPI_COMM_WORLD (4 bytes)\n",
				"impirun: the job has not ended within the timeout of 1s\n")
		})
	}
}

func TestADeadlockIsSaidAndEndsTheJobIfTheUserWants(t *testing.T) {
	t.Parallel()
	file := program(t, "stuck")
	for where, n := range map[string]int{"-n 2": 2, machines(t): 5} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := run(t, words(where, "-deadlock abort:0.2 -timeout 50", file, "ring")...)
			if r.code != 1 {
				t.Errorf("code %d", r.code)
			}
			list := map[int]string{2: "0,1", 5: "0-4"}[n]
			says(t, r.stderr, "impirun: deadlock: no call of ranks "+list+" can return, since nothing is under way; rank 0 ",
				"  rank 0: MPI_Recv from rank 1 tag 7 on MPI_COMM_WORLD",
				fmt.Sprintf("  rank %d: MPI_Recv from rank 0 tag 7 on MPI_COMM_WORLD", n-1),
				"impirun: the job is in a deadlock (-deadlock abort)\n")
		})
	}
}

// A rank that sleeps outside of MPI for longer than that takes is no deadlock.
func TestARankThatSleepsIsNoDeadlock(t *testing.T) {
	t.Parallel()
	run(t, words("-deadlock abort:0.1 -n 2", program(t, "stuck"), "sleeps")...).expect(t, 0, "")
}

// stat asks impi-stat about a job until that is so.
func (j *job) stat(is func(text string) bool, options ...string) string {
	j.t.Helper()
	words := append(options, strconv.Itoa(j.cmd.Process.Pid))
	for limit := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		text, err := exec.Command(filepath.Join(stage(j.t), "bin", "impi-stat"), words...).CombinedOutput()
		if is(string(text)) {
			return string(text)
		}
		if time.Now().After(limit) {
			j.t.Fatalf("impi-stat says last: %s, %v", text, err)
		}
	}
}

func TestImpiStatAndASignalTellWhatRanksDo(t *testing.T) {
	t.Parallel()
	j := start(t, words("-report-on USR1 -n 3", program(t, "stuck"), "computes")...)
	waits := func(text string) bool { return strings.Contains(text, "ranks 0,2: MPI_Barrier") }
	text := j.stat(waits)
	says(t, text, "  rank 1: computing; its last call was MPI_Comm_size",
		"  missing in MPI_Barrier on MPI_COMM_WORLD: rank 1 (computing")
	if text := j.stat(func(text string) bool { return true }, "--json"); !strings.Contains(text, `"ranks": "0,2"`) {
		t.Errorf("as JSON: %s", text)
	}
	j.signal(syscall.SIGUSR1) // of which ranks would die
	j.stderr.await("impirun: what ranks do:\n  ranks 0,2: MPI_Barrier", 1)
	var pid int
	if _, err := fmt.Sscan(j.stdout.String(), &pid); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGSTOP)
	j.stat(func(text string) bool {
		return strings.Contains(text, fmt.Sprintf("rank 1: stopped by a signal or a debugger, process %d", pid))
	})
	j.signal(syscall.SIGTERM)
	if r := j.wait(); r.code != 128+int(syscall.SIGTERM) {
		t.Errorf("code %d, %s", r.code, r.stderr)
	}
}

func TestRanksThatWereSpawnedOnOtherMachinesAreAsked(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"-n 2", "-host m0:1,m1:1 -n 2"} {
		j := start(t, words("-launcher fork", where, program(t, "stuck"), "spawns")...)
		j.stat(func(text string) bool {
			return strings.Contains(text, "\n  ranks 0,1: MPI_Recv from rank 0 tag 4 on an intercommunicator") &&
				strings.Contains(text, "\n  ranks 0,1 of spawned job 1: MPI_Recv from rank 0 tag 3 on MPI_COMM_PARENT")
		})
		j.signal(syscall.SIGTERM)
		j.wait()
	}
}
