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

// longestCall is what a call of a survivor may take. It is more than a loss needs to become known, and much more than
// the programs stop a rank. But a machine that does other things may keep a rank from running that all others wait for:
// so programs are held to it only where many are started, or by hand, and what a rank has waited for a CPU is allowed.
const longestCall = 5 * time.Second

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
	t       *testing.T
	what    string // for messages
	folder  string // of the ranks' logs
	scratch string // a folder for files, in memory: the disk may need long to synchronize one

	dead []int // the ranks that are not among the survivors
	slowest
}

// slowest is a bound on the longest call of the survivors of a job.
type slowest struct {
	took    time.Duration
	starved time.Duration // how long one of them was ready to run and did not, in the whole job
	where   string
}

func (s *slowest) longer(other slowest) {
	if other.took > s.took {
		*s = other
	}
}

func newInjection(t *testing.T, what string) *injection {
	i := &injection{t: t, what: what, folder: t.TempDir()}
	var err error
	if i.scratch, err = os.MkdirTemp("/dev/shm", "inject"); err != nil {
		i.scratch = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(i.scratch) })
	return i
}

// program is its command line.
func (i *injection) program(seed, rounds any, more ...string) []string {
	return words(program(i.t, "inject"), fmt.Sprint(seed), fmt.Sprint(rounds), i.folder, i.scratch, more)
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
	defer os.RemoveAll(i.scratch) // not later: there may be thousands of jobs
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

// tails are the last lines of all logs, and how long ago they were written: a rank that hangs has not written for long.
func (i *injection) tails() string {
	var all strings.Builder
	for rank := range i.ranks() {
		l := i.lines(rank)
		fmt.Fprintf(&all, "\n    rank %d, %v ago: %s", rank, i.age(rank), strings.Join(l[max(0, len(l)-5):], "; "))
	}
	return all.String()
}

// age is how long ago a rank has written the last line of its log.
func (i *injection) age(rank int) time.Duration {
	info, err := os.Stat(filepath.Join(i.folder, fmt.Sprint(rank)))
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime()).Round(time.Millisecond)
}

func (i *injection) ranks() int {
	names, _ := os.ReadDir(i.folder)
	return len(names)
}

// check compares what the survivors of the job have seen.
func (i *injection) check() {
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
			i.dead = append(i.dead, rank)
			continue
		}
		i.time(rank, all)
		maps.Copy(seen, i.compare(rank, all, seen))
	}
}

// time reads how long the longest call of a survivor took.
func (i *injection) time(rank int, all []string) {
	for _, line := range all {
		_, numbers, ok := strings.Cut(line, " longest ")
		if !ok {
			continue
		}
		var took, starved float64
		if n, _ := fmt.Sscanf(numbers, "%f starved %f", &took, &starved); n != 2 {
			i.t.Errorf("%s: rank %d: %s", i.what, rank, line)
		}
		_, after, _ := strings.Cut(numbers, " after ")
		most := max(i.starved, seconds(starved))
		i.longer(slowest{took: seconds(took), where: fmt.Sprintf("%s, rank %d: %s", i.what, rank, after)})
		i.starved = most
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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
func (i *injection) finalized() bool {
	return slices.ContainsFunc(i.dead, func(rank int) bool {
		all := i.lines(rank)
		return strings.HasSuffix(all[len(all)-1], " finalize")
	})
}

// randomProgram runs that of a seed, whose ranks kill themselves and each other.
func randomProgram(t *testing.T, seed int) *injection {
	t.Helper()
	how := injected[seed%len(injected)]
	i := newInjection(t, fmt.Sprintf("seed %d, %s", seed, how))
	r := i.end(start(t, words("-with-ft ulfm", how, i.program(seed, 12))...))[0]
	i.check()
	if r.code != 0 && !i.finalized() || len(i.dead) == i.ranks() {
		t.Errorf("%s: code %d (%s)%s", i.what, r.code, r.stderr, i.tails())
	}
	spawned := strings.Count(r.stderr, " of spawned job ")
	if n := strings.Count(r.stderr, "; the job goes on without") - spawned; n != len(i.dead) && r.code == 0 {
		t.Errorf("%s: %v are dead, and the launcher tells of %d: %s", i.what, i.dead, n, r.stderr)
	}
	return i
}

// injections runs jobs of each kind with each seed, until one fails, and tells how long their calls took at most. This
// is bounded if there are many, or somebody has started them by hand.
func injections(t *testing.T, many bool, all []int, kinds ...func(*testing.T, int) *injection) {
	t.Helper()
	var jobs, deaths int
	var worst slowest
	for n := 0; n < len(all)*len(kinds) && !t.Failed(); n++ {
		i := kinds[n%len(kinds)](t, all[n/len(kinds)])
		jobs, deaths = jobs+1, deaths+len(i.dead)
		worst.longer(i.slowest)
		if (many || *seeds != "") && i.took-i.starved > longestCall {
			t.Errorf("a call took %v, and no rank waited longer than %v for a CPU: %s", i.took, i.starved, i.where)
		}
	}
	t.Logf("%d jobs, %d deaths; no call took longer than %v, in a job of which a rank waited %v for a CPU (%s)", jobs,
		deaths, worst.took, worst.starved, worst.where)
}

func TestRandomProgramsSurvive(t *testing.T) { injections(t, false, seedsOr(t, 1, 8), randomProgram) }

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
func (i *injection) ends(r result, taken ...int) *injection {
	i.t.Helper()
	if i.check(); r.code != 0 || !slices.Equal(i.dead, taken) {
		i.t.Errorf("%s: code %d, %v are dead (%s)%s", i.what, r.code, i.dead, r.stderr, i.tails())
	}
	return i
}

// withoutMachine kills the launcher of a machine, at a time that depends on the seed.
func withoutMachine(t *testing.T, seed int) *injection {
	t.Helper()
	i := newInjection(t, fmt.Sprintf("seed %d, a machine", seed))
	j := start(t, words("-with-ft ulfm", machines(t), i.program(seed, "-", "0x18"))...)
	node := i.launcherOf(3)
	time.Sleep(time.Duration(seed%50) * time.Millisecond)
	loseMachine(node)
	return i.ends(i.end(j)[0], 3, 4)
}

// withoutClient kills that of a client.
func withoutClient(t *testing.T, seed int) *injection {
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
	return i.ends(i.end(first, second, s)[0], 2, 3)
}

func TestRandomProgramsSurviveMachinesAndClients(t *testing.T) {
	injections(t, false, seedsOr(t, 1, 2), withoutMachine, withoutClient)
}
