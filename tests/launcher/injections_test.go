package launcher

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Random programs whose ranks die (tests/survive): each seed is a job. ctest runs a few; more, or one again:
//
//	IMPI_STAGE=$PWD/build/stage build/tests/launcher/launcher.test -test.run 'TestRandomProgramsSurvive$' -seeds 100-199
var seeds = flag.String("seeds", "", "first and last seed of random programs whose ranks die")

const bound = 120 * time.Second // of a job, also on a machine that does other things

// injected are the ways in which their ranks are divided, by turns.
var injected = []string{"-n 4", "-n 8", "-clients 2 -n 4", "-n 3", "-clients 3 -n 6", "-n 2",
	"-clients 2 -via agent -n 5", "-n 6"}

// seedsOr are the seeds of the command line, or else some of the test.
func seedsOr(t *testing.T, first, last int) (all []int) {
	if *seeds != "" {
		if n, _ := fmt.Sscanf(*seeds, "%d-%d", &first, &last); n != 2 {
			t.Fatalf("-seeds %q", *seeds)
		}
	}
	for seed := first; seed <= last; seed++ {
		all = append(all, seed)
	}
	return all
}

// injection is a job whose ranks die.
type injection struct {
	t      *testing.T
	what   string // for messages
	folder string // of the ranks' logs
}

func newInjection(t *testing.T, what string) *injection { return &injection{t, what, t.TempDir()} }

// program is its command line.
func (i *injection) program(seed, rounds any, more ...string) []string {
	return words(program(i.t, "inject"), fmt.Sprint(seed), fmt.Sprint(rounds), i.folder, more)
}

// end waits for the jobs in which it runs, and reports whether they ended in time.
func (i *injection) end(jobs ...*job) (all []result) {
	late := time.AfterFunc(bound, func() {
		i.t.Errorf("%s: not over after %v: %s", i.what, bound, i.tails())
		for _, j := range jobs {
			j.cancel()
		}
	})
	defer late.Stop()
	for _, j := range jobs {
		j.killed = true
		all = append(all, j.wait())
	}
	return all
}

// lines are those of the log of a rank.
func (i *injection) lines(rank int) []string {
	text, _ := os.ReadFile(filepath.Join(i.folder, fmt.Sprint(rank)))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// tails are the last lines of all logs.
func (i *injection) tails() string {
	var all strings.Builder
	for rank := range i.ranks() {
		l := i.lines(rank)
		fmt.Fprintf(&all, "\n    rank %d: %s", rank, strings.Join(l[max(0, len(l)-5):], "; "))
	}
	return all.String()
}

func (i *injection) ranks() int {
	names, _ := os.ReadDir(i.folder)
	return len(names)
}

// check compares what the survivors of the job have seen, and returns the ranks that are not among them.
func (i *injection) check() (dead []int) {
	i.t.Helper()
	seen := map[string]string{}
	for rank := range i.ranks() {
		all := i.lines(rank)
		for _, line := range all {
			if strings.HasPrefix(line, "WRONG ") {
				i.t.Errorf("%s: rank %d: %s", i.what, rank, line)
			}
		}
		if !strings.HasSuffix(all[len(all)-1], " done") {
			dead = append(dead, rank)
			continue
		}
		maps.Copy(seen, i.compare(rank, all, seen))
	}
	return dead
}

// compare compares what a survivor has seen with what others have.
func (i *injection) compare(rank int, all []string, seen map[string]string) map[string]string {
	i.t.Helper()
	own := map[string]string{}
	for _, line := range all {
		if rest, ok := strings.CutPrefix(line, "= "); ok {
			what, value, _ := strings.Cut(rest, " ")
			own[what] = value
			if others, ok := seen[what]; ok && others != value {
				i.t.Errorf("%s: rank %d has seen %s in %s, and others %s", i.what, rank, value, what, others)
			}
		}
	}
	return own
}

// finalized reports whether one of the dead has called MPI_Finalize: it may have died after it, which is no loss.
func (i *injection) finalized(dead []int) bool {
	return slices.ContainsFunc(dead, func(rank int) bool {
		all := i.lines(rank)
		return strings.HasSuffix(all[len(all)-1], " finalize")
	})
}

// randomProgram runs that of a seed, whose ranks kill themselves and each other.
func randomProgram(t *testing.T, seed int) {
	t.Helper()
	how := injected[seed%len(injected)]
	i := newInjection(t, fmt.Sprintf("seed %d, %s", seed, how))
	r := i.end(start(t, words("-with-ft ulfm", how, i.program(seed, 12))...))[0]
	dead := i.check()
	if r.code != 0 && !i.finalized(dead) || len(dead) == i.ranks() {
		t.Errorf("%s: code %d (%s)%s", i.what, r.code, r.stderr, i.tails())
	}
	spawned := strings.Count(r.stderr, " of spawned job ")
	if n := strings.Count(r.stderr, "; the job goes on without") - spawned; n != len(dead) && r.code == 0 {
		t.Errorf("%s: %v are dead, and the launcher tells of %d: %s", i.what, dead, n, r.stderr)
	}
}

func TestRandomProgramsSurvive(t *testing.T) {
	for _, seed := range seedsOr(t, 1, 16) {
		if randomProgram(t, seed); t.Failed() {
			return
		}
	}
}

// launcherOf waits until a rank is at its program, and returns the process that has started it.
func (i *injection) launcherOf(rank int) (pid int) {
	for limit := time.Now().Add(bound); ; time.Sleep(time.Millisecond) {
		if l := i.lines(rank); len(l) > 20 {
			fmt.Sscanf(l[0], "0.0 started by %d", &pid)
			return pid
		}
		if time.Now().After(limit) {
			i.t.Fatalf("%s: rank %d does not start", i.what, rank)
		}
	}
}

// ends checks how a job ended from which somebody has taken the given ranks.
func (i *injection) ends(r result, taken ...int) {
	i.t.Helper()
	if dead := i.check(); r.code != 0 || !slices.Equal(dead, taken) {
		i.t.Errorf("%s: code %d, %v are dead (%s)%s", i.what, r.code, dead, r.stderr, i.tails())
	}
}

// withoutMachine kills the launcher of a machine, at a time that depends on the seed.
func withoutMachine(t *testing.T, seed int) {
	t.Helper()
	i := newInjection(t, fmt.Sprintf("seed %d, a machine", seed))
	j := start(t, words("-with-ft ulfm", machines(t), i.program(seed, "-", "0x18"))...)
	node := i.launcherOf(3)
	time.Sleep(time.Duration(seed%50) * time.Millisecond)
	loseMachine(node)
	i.ends(i.end(j)[0], 3, 4)
}

// withoutClient kills that of a client.
func withoutClient(t *testing.T, seed int) {
	t.Helper()
	via := []string{"direct", "agent"}[seed%2]
	i := newInjection(t, fmt.Sprintf("seed %d, a client, %s", seed, via))
	s, address := server(t, with(key), "2")
	line := words("-with-ft ulfm -via", via, "-n 2", i.program(seed, "-", "0xc"))
	first := startWith(t, with(key), words("-client 0", address, line)...)
	second := startWith(t, with(key), words("-client 1", address, line)...)
	launcher := i.launcherOf(3)
	time.Sleep(time.Duration(seed%50) * time.Millisecond)
	syscall.Kill(launcher, syscall.SIGKILL)
	i.ends(i.end(first, second, s)[0], 2, 3)
}

func TestRandomProgramsSurviveMachinesAndClients(t *testing.T) {
	for _, seed := range seedsOr(t, 1, 2) {
		withoutMachine(t, seed)
		withoutClient(t, seed)
	}
}
