package launcher

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Jobs that were started separately and meet (MPI 5.0, 11.10).

// in is the working directory in which jobs meet.
func in(dir string) option { return func(c *exec.Cmd) { c.Dir = dir } }

// couples are the ways in which the two jobs are spread.
var couples = [][2]string{{"-n 1", "-n 1"}, {"-n 2", "-n 3"}, {"-n 4", "-n 2"}, {"-clients 2 -n 2", "-n 2"},
	{"-clients 2 -n 4", "-clients 2 -n 2"}, {"-clients 2 -via agent -n 2", "-n 2"}}

func TestJobsThatAreStartedSeparatelyMeet(t *testing.T) {
	file := program(t, "couple")
	for _, do := range []string{"talk", "names"} {
		for _, how := range couples {
			t.Run(do+" "+how[0]+" and "+how[1], func(t *testing.T) {
				here := []option{in(t.TempDir()), ownNames(t)}
				left := startWith(t, here, words(how[0], file, "left", do)...)
				right := startWith(t, here, words(how[1], file, "right", do)...)
				left.wait().expect(t, 0, "")
				right.wait().expect(t, 0, "")
			})
		}
	}
}

func TestJobsJoinOverSockets(t *testing.T) {
	file := program(t, "couple")
	for _, n := range []string{"-n 1", "-n 3"} {
		here := []option{in(t.TempDir())}
		left := startWith(t, here, words(n, file, "left join")...)
		right := startWith(t, here, words(n, file, "right join")...)
		left.wait().expect(t, 0, "")
		right.wait().expect(t, 0, "")
	}
}

func TestJobsMeetInRingsAndTrees(t *testing.T) {
	file := program(t, "couple")
	for _, shape := range []string{"ring", "tree"} {
		for _, n := range []int{3, 7} {
			here := []option{in(t.TempDir())}
			var all []*job
			for i := range n {
				all = append(all, startWith(t, here, words("-n", fmt.Sprint(1+i%2), file, shape, fmt.Sprint(i), fmt.Sprint(n))...))
			}
			for _, j := range all {
				j.wait().expect(t, 0, "")
			}
		}
	}
}

// The job that loses a process of another one is told so, lives, and meets others.
func TestTheDeathOfAnotherJobIsAnErrorAndNotTheEnd(t *testing.T) {
	file := program(t, "couple")
	for _, how := range [][2]string{{"-n 1", "-n 1"}, {"-n 2", "-n 2"}, {"-clients 2 -n 2", "-n 2"}} {
		for _, do := range []string{"later 0", "in-disconnect 0", "later 1", "in-disconnect 1"} {
			if how[1] == "-n 1" && strings.HasSuffix(do, "1") {
				continue
			}
			t.Run(do+" "+how[0]+" and "+how[1], func(t *testing.T) {
				here := []option{in(t.TempDir())}
				left := startWith(t, here, words(how[0], file, "left", do)...)
				right := startWith(t, here, words(how[1], file, "right", do)...)
				if r := right.wait(); r.code != 137 || !strings.Contains(r.stderr, "SIGKILL") {
					t.Errorf("the job that dies ends with %d: %q", r.code, r.stderr)
				}
				second := startWith(t, here, words(how[1], file, "right second")...)
				left.wait().expect(t, 0, "")
				second.wait().expect(t, 0, "")
			})
		}
	}
}

// A job that dies before it connects is not missed: another one may connect at the port.
func TestAJobThatDiesBeforeItConnectsIsNotMissed(t *testing.T) {
	file := program(t, "couple")
	here := []option{in(t.TempDir())}
	left := startWith(t, here, words("-n 2", file, "left before")...)
	if r := startWith(t, here, words("-n 2", file, "right before 0")...).wait(); r.code != 137 {
		t.Errorf("the job that dies ends with %d: %q", r.code, r.stderr)
	}
	right := startWith(t, here, words("-n 2", file, "right after")...)
	second := startWith(t, here, words("-n 2", file, "right second")...)
	left.wait().expect(t, 0, "")
	right.wait().expect(t, 0, "")
	second.wait().expect(t, 0, "")
}

// A process of the other job dies at some moment of proof, meeting, merge or disconnect: the times are drawn, and the
// moments that they hit are others on each machine.
func TestAJobOutlivesOthersThatDieAtAnyMoment(t *testing.T) {
	file := program(t, "couple")
	here := []option{in(t.TempDir())}
	left := startWith(t, here, words("-n 2", file, "left outlive")...)
	for range 12 {
		us := strconv.Itoa(1 + rand.IntN(20000))
		if r := startWith(t, here, words("-n 2", file, "right doomed", us)...).wait(); r.code != 128+int(syscall.SIGALRM) {
			t.Errorf("the job that dies after %s us ends with %d: %q", us, r.code, r.stderr)
		}
	}
	right := startWith(t, here, words("-n 2", file, "right lasting")...)
	left.wait().expect(t, 0, "")
	right.wait().expect(t, 0, "")
}
